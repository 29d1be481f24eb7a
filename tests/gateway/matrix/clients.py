"""Clients of the four dialects, written by hand: what they know, they know from their own wire."""

from __future__ import annotations

import http.client
import json
import queue
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from tests.gateway.gateways import WEATHER, Served
from thinkwire import dialects
from thinkwire.errors import Failure
from thinkwire.events import Answer, Event, collect
from thinkwire.gateway.telemetry.record import RequestRecord
from thinkwire.messages import Text, Thinking, ToolResult, Turn
from thinkwire.reasoning.explain import merged
from thinkwire.request import Request, Tool

PATIENCE = 10.0
TOOLS = (Tool("get_weather", "Weather of a city.", WEATHER),)

PATHS = {
    "anthropic": "/v1/messages?beta=true",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
}
THINKING: dict[str, dict[str, Any]] = {
    "anthropic": {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
    },
    "openai-chat": {"reasoning_effort": "high"},
    "openai-responses": {
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    },
    "gemini": {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"}}},
}
"""How the newest client of each dialect asks for thinking that can be seen."""
HEADERS = {
    "anthropic": {"x-api-key": "any", "anthropic-version": "2023-06-01"},
    "openai-chat": {"authorization": "Bearer any"},
    "openai-responses": {"authorization": "Bearer any"},
    "gemini": {"x-goog-api-key": "any"},
}


class Said(NamedTuple):
    """What one request came to: the answer as the client read it, its bytes, and the gateway's own record."""

    status: int
    headers: dict[str, str]
    raw: bytes
    answer: Answer
    record: RequestRecord


class Talker:
    """One client on one connection, which stays open."""

    def __init__(self, served: Served, ingress: str) -> None:
        self.ingress = ingress
        self.wire = dialects.get(ingress)
        self.records: queue.SimpleQueue[RequestRecord] = queue.SimpleQueue()
        served.parts.observers += (self.records.put,)
        address = urlsplit(served.url)
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)

    def close(self) -> None:
        self._connection.close()

    def ask(self, model: str, turns: list[Turn], *, stream: bool, thinks: bool = True) -> Said:
        """One request with the whole history, as this client's wire has it."""
        return self.post(model, self.body(model, turns, stream=stream, thinks=thinks), stream=stream)

    def plan(self, model: str, turns: list[Turn]) -> str:
        """The body that the provider would get, as text."""
        body = self.body(model, turns, stream=False)
        said = self.post(model, body, stream=False, **{"x-thinkwire-explain": "true"})
        return json.dumps(json.loads(said.raw)["body"])

    def body(self, model: str, turns: list[Turn], *, stream: bool, thinks: bool = True) -> dict[str, Any]:
        request = Request(
            model=model,
            turns=tuple(turns),
            system=(Text("Be brief."),),
            tools=TOOLS,
            max_tokens=32_000,
            stream=stream if self.ingress != "gemini" else None,
        )
        body = self.wire.encode_request(request).body
        return merged(body, THINKING[self.ingress]) if thinks else body

    def post(self, model: str, body: dict[str, Any], *, stream: bool, **headers: str) -> Said:
        """A body of this client's wire. A streamed answer is read as it comes, the other at its end."""
        told = {"content-type": "application/json", **HEADERS[self.ingress], **headers}
        self._connection.request("POST", self.path(model, stream), json.dumps(body).encode(), told)
        try:
            reply = self._connection.getresponse()
            given = {name.lower(): value for name, value in reply.getheaders()}
            raw, answer = self._read(reply, given, stream)
        except BaseException:
            self._connection.close()
            raise
        return Said(reply.status, given, raw, answer, self._record(given["x-thinkwire-request-id"]))

    def path(self, model: str, stream: bool) -> str:
        if self.ingress != "gemini":
            return PATHS[self.ingress]
        return f"/v1beta/models/{model}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"

    def _read(
        self, reply: http.client.HTTPResponse, headers: dict[str, str], stream: bool
    ) -> tuple[bytes, Answer]:
        if reply.status >= 400 or not stream:
            raw = reply.read()
            if reply.status < 400:
                return raw, self._decode(json.loads(raw))
            return raw, Answer(Turn("assistant"), failure=self.wire.decode_error(reply.status, headers, raw))
        decoder, events, pieces = self.wire.stream_decoder(), list[Event](), list[bytes]()
        while piece := reply.read1():
            pieces.append(piece)
            events += decoder.feed(piece)
        return b"".join(pieces), collect([*events, *decoder.close()])

    def _decode(self, body: dict[str, Any]) -> Answer:
        """A whole answer; a plan is none."""
        return Answer(Turn("assistant")) if "controls" in body else self.wire.decode_response(body)

    def _record(self, request_id: str) -> RequestRecord:
        while (record := self.records.get(timeout=PATIENCE)).id != request_id:
            pass
        return record


def failure_of(said: Said) -> Failure:
    """The failure that the client was told."""
    failure = said.answer.failure
    assert failure is not None, said.raw
    return failure


def question(text: str) -> Turn:
    return Turn("user", (Text(text),))


def results(turn: Turn) -> Turn:
    """What the client's tools gave back."""
    return Turn("user", tuple(ToolResult(call.id, (Text("mild"),), call.name) for call in turn.tool_calls))


def forgetful(turn: Turn) -> Turn:
    """What Cline, Continue and summarising agents keep of an answer: words and calls."""
    kept = [block for block in turn.blocks if not isinstance(block, Thinking)]
    bare = tuple(
        msgspec.structs.replace(block, seal=None, extras={}) if hasattr(block, "seal") else block
        for block in kept
    )
    return Turn("assistant", bare)
