"""Every operation, asked for what its document allows and for what it does not: no answer is a breakdown."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.web.webs import MODEL, TOKEN, all_bases, web_app
from thinkwire.messages import Text, Turn
from thinkwire.sim.fixture import Running
from thinkwire.web.openapi import document

DOCUMENT = document()
PARTS = DOCUMENT["components"]["schemas"]
CASES = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]
WORDS = st.sampled_from(
    ["", "a", "../..", "0" * 26, "%00", "ünïcode ✓", "x" * 300, "null", "-1", "\x00", "'; --"]
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema allows, roughly."""
    if "$ref" in schema:
        return fitting(PARTS[schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return st.one_of(*map(fitting, schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object":
            return _object(schema)
        case "array":
            return st.lists(fitting(schema.get("items", {})), max_size=2)
        case "string":
            return WORDS | st.just(MODEL)
        case "integer" | "number":
            return st.integers(int(schema.get("minimum", 0)), int(schema.get("maximum", 100)))
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
    return JUNK


def _object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    known = {name: fitting(part) for name, part in schema.get("properties", {}).items()}
    needed = {name: known.pop(name) for name in schema.get("required", ()) if name in known}
    return st.fixed_dictionaries(needed, optional=known)


class Server:
    """An app in a thread of its own, for tests that block."""

    def __init__(self, url: str, ids: dict[str, str]) -> None:
        self.port = int(url.rpartition(":")[2])
        self.ids = ids
        self.cookie = self.csrf = ""
        _, headers, _ = self.ask("GET", f"/?token={TOKEN}")
        self.cookie = headers["set-cookie"].partition(";")[0]
        _, headers, _ = self.ask("GET", "/api/me")
        csrf = headers["set-cookie"].partition(";")[0]
        self.cookie, self.csrf = f"{self.cookie}; {csrf}", csrf.partition("=")[2]

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, Any, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            headers = {"cookie": self.cookie, "x-csrf-token": self.csrf}
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()


@contextmanager
def running(url: str, bases: dict[str, str], folder: Path) -> Iterator[Server]:
    ready = threading.Event()
    found: list[Server | tuple[str, dict[str, str]]] = []
    ends: list[Any] = []

    async def run() -> None:
        end = asyncio.Event()
        async with web_app(url, bases, folder) as app:
            talk = await app.store.create_conversation("Talk", model=MODEL)
            said = await app.store.append(talk.id, Turn("user", (Text("Hello"),)))
            agent = await app.store.create_agent("Ada")
            ids = {"conversations": talk.id, "messages": said.id, "agents": agent.id}
            found.append((app.url, ids))
            ends.append((asyncio.get_running_loop(), end))
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="web app under test")
    thread.start()
    try:
        assert ready.wait(20)
        yield Server(*found[0])  # type: ignore[misc]
    finally:
        loop, end = ends[0]
        loop.call_soon_threadsafe(end.set)
        thread.join()


@pytest.fixture(scope="module")
def server(
    simulator: Running, empty_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("fuzz")
    shutil.copy(empty_store, folder / "web.db")
    with running(f"sqlite:///{folder / 'web.db'}", all_bases(simulator.url), folder) as one:
        yield one


@pytest.mark.parametrize(("path", "method"), CASES)
@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_request_breaks_the_server(server: Server, path: str, method: str, data: st.DataObject) -> None:
    operation = DOCUMENT["paths"][path][method]
    status, headers, raw = server.ask(
        method.upper(), _address(server, path, operation, data), _body(operation, data)
    )
    assert status < 500, (status, raw)
    if status >= 400:
        error = json.loads(raw)["error"]
        assert error["kind"]
        assert error["message"]
        assert error["advice"] in ("retry", "fix_request", "fix_key", "report")
    elif headers["content-type"] == "application/json":
        json.loads(raw)
    if 200 <= status < 300 and status != 204:
        media = headers.get_content_type()
        promised = operation["responses"][str(status)]["content"]
        assert media in promised or f"{media.partition('/')[0]}/*" in promised, (media, promised)


def _address(server: Server, path: str, operation: Any, data: st.DataObject) -> str:
    what = path.split("/")[2]
    id = data.draw(WORDS | st.just(server.ids.get(what, "x")))
    address = path.replace("{id}", quote(id, safe="") or "_").replace("{number}", "0")
    asked: dict[str, Any] = {}
    for parameter in operation["parameters"]:
        if parameter["in"] == "query" and data.draw(st.booleans()):
            asked[parameter["name"]] = data.draw(fitting(parameter["schema"]) | WORDS)
    return f"{address}?{urlencode(asked)}" if asked else address


def _body(operation: Any, data: st.DataObject) -> bytes | None:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    value = data.draw(st.one_of(fitting(content["schema"]), JUNK, st.just("BROKEN")))
    return b'{"broken": ' if value == "BROKEN" else json.dumps(value).encode()


def test_the_document_is_whole() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    text = json.dumps(DOCUMENT)
    for name in re.findall(r'"#/components/schemas/(\w+)"', text):
        assert name in PARTS
    ids = [
        operation["operationId"] for methods in DOCUMENT["paths"].values() for operation in methods.values()
    ]
    assert len(ids) == len(set(ids))
