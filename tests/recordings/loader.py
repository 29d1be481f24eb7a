"""The recordings as values: what was asked, what came back, and the bytes that carried it.

Nothing of the package under test is used here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import pytest
from _pytest.mark import ParameterSet

from tests.support import recordings_root

DIALECTS = {
    "anthropic-messages": "anthropic",
    "openai-chat": "openai-chat",
    "ollama-native": "openai-chat",
    "openai-responses": "openai-responses",
    "gemini-generate": "gemini",
}
"""The wire of a recording and the dialect that reads it."""

READ_ONLY = {"ollama-native"}
"""Wires whose answers are read, but which nobody speaks to us and which we do not write."""

EXCLUDED = {"bedrock-converse", "bedrock-invoke", "cohere-v2", "gemini-interactions"}
"""Wires that are recorded but that no dialect speaks."""

DONE = "[DONE]"

Kind = Literal["json", "stream", "error"]


@dataclass(frozen=True)
class Recording:
    """One HTTP exchange."""

    id: str
    label: str
    """The wire, as the file says."""
    wire: str
    """The wire, as it is."""
    features: frozenset[str]
    request: dict[str, Any] | None
    status: int
    headers: dict[str, str]
    framing: str
    body: Any
    chunk_lengths: tuple[int, ...]

    @property
    def in_scope(self) -> bool:
        return self.wire in DIALECTS

    @property
    def dialect(self) -> str:
        return DIALECTS[self.wire]

    @property
    def kind(self) -> Kind:
        if self.status >= 400:
            return "error"
        return "json" if self.framing == "json" else "stream"

    @cached_property
    def data(self) -> bytes:
        """The body as it travelled. Where the framing was not recorded, the wire's own is put back."""
        match self.framing:
            case "json" | "json-array":
                text = json.dumps(self.body, ensure_ascii=False)
            case "jsonl-chunks":
                text = "".join(f"data: {line}\n\n" for line in self.body.split("\n") if line.strip())
            case _:
                text = self.body
        return text.encode()

    @cached_property
    def frames(self) -> list[Any]:
        """The payloads of a stream in their order: parsed JSON, or `[DONE]`."""
        match self.framing:
            case "json-array":
                return list(self.body)
            case "ndjson" | "jsonl-chunks":
                return [json.loads(line) for line in self.body.split("\n") if line.strip()]
            case "sse":
                return [data if data == DONE else json.loads(data) for data in sse_data(self.body)]
        raise ValueError(f"{self.id}: {self.framing} is not a stream")

    @property
    def chunks(self) -> list[bytes]:
        """The network reads as they arrived, where their lengths were recorded."""
        ends = [sum(self.chunk_lengths[: count + 1]) for count in range(len(self.chunk_lengths))]
        return [self.data[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def sse_data(text: str) -> Iterator[str]:
    """The `data` of each server-sent event; one that the stream's end cut off counts."""
    data: list[str] = []
    for line in [*re.split(r"\r\n|\n|\r", text), ""]:
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data).strip()
            data = []


def folder() -> Path | None:
    """The set to read: `dev` of the recordings, or the folder itself if it has no sets in it."""
    root = recordings_root()
    if root is None:
        return None
    return root / "dev" if (root / "dev").is_dir() else root


@cache
def everything() -> tuple[Recording, ...]:
    base = folder()
    return () if base is None else tuple(_load(path, base) for path in sorted(base.glob("*/*.json")))


def answers(*kinds: Kind, written: bool = False) -> list[ParameterSet]:
    """One parameter per answer of these kinds; on request only those of wires that we write, too."""
    return _params(lambda item: item.kind in kinds and not (written and item.wire in READ_ONLY))


def requests() -> list[ParameterSet]:
    """One parameter per recorded request of the wires that we write."""
    return _params(lambda item: item.request is not None and item.wire not in READ_ONLY)


def dialect_of(recording: Recording) -> str:
    """The group of a recording in tests that run over all of them."""
    return recording.dialect


def _params(select: Callable[[Recording], bool]) -> list[ParameterSet]:
    """The recordings in scope; without the folder, one that is skipped for that reason."""
    if folder() is None:
        return [pytest.param(None, id="none", marks=pytest.mark.needs("recordings"))]
    return [pytest.param(item, id=item.id) for item in everything() if item.in_scope and select(item)]


def _load(path: Path, base: Path) -> Recording:
    data = json.loads(path.read_text(encoding="utf-8"))
    response = data["response"]
    return Recording(
        id=str(path.relative_to(base).with_suffix("")),
        label=data["dialect"],
        wire=_wire(data["dialect"], response),
        features=frozenset(data["features"]),
        request=data["request"] and data["request"]["body"],
        status=response["status"],
        headers=response["headers"] or {},
        framing=response["framing"],
        body=response["body"],
        chunk_lengths=tuple(response.get("chunk_lengths") or ()),
    )


def _wire(label: str, response: dict[str, Any]) -> str:
    """Two recordings of Azure's DeepSeek are labelled as Responses and hold Chat Completions."""
    body = response["body"]
    first = json.loads(body.split("\n")[0]) if response["framing"] == "jsonl-chunks" else body
    if label == "openai-responses" and isinstance(first, dict) and "choices" in first:
        return "openai-chat"
    return label
