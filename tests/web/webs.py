"""A web app on a real socket, in front of strict simulators, and a browser without a screen."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import uvicorn

from thinkwire.client.engine import Client
from thinkwire.providers import default_providers
from thinkwire.store import Store, open_store
from thinkwire.web.app import create
from thinkwire.web.auth.start_token import StartToken
from thinkwire.web.state import AppState

TOKEN = "the-start-token-of-the-tests"
MODEL = "anthropic/claude-opus-5-5"


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: Any
    headers: Any


class Browser:
    """A session with a cookie jar that repeats the CSRF cookie, as the pages do."""

    def __init__(self, base: str, http: aiohttp.ClientSession) -> None:
        self.base = base
        self.http = http
        self.headers: dict[str, str] = {}

    def csrf(self) -> str:
        found = [cookie.value for cookie in self.http.cookie_jar if cookie.key == "thinkwire_csrf"]
        return found[0] if found else ""

    def request(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        headers = {"x-csrf-token": self.csrf(), **self.headers, **more.pop("headers", {})}
        if body is not None:
            more["data"] = json.dumps(body)
            headers["content-type"] = "application/json"
        return self.http.request(method, self.base + path, headers=headers, **more)

    async def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Answer:
        async with self.request(method, path, body, **more) as reply:
            raw = await reply.read()
            is_json = reply.content_type == "application/json"
            return Answer(reply.status, json.loads(raw) if is_json and raw else raw, reply.headers)

    async def get(self, path: str, **more: Any) -> Any:
        answer = await self.ask("GET", path, **more)
        assert answer.status == 200, answer
        return answer.body

    async def post(self, path: str, body: Any = None, status: int | None = None, **more: Any) -> Any:
        answer = await self.ask("POST", path, {} if body is None else body, **more)
        assert answer.status == status if status else answer.status < 300, answer
        return answer.body

    async def patch(self, path: str, body: Any) -> Any:
        answer = await self.ask("PATCH", path, body)
        assert answer.status == 200, answer
        return answer.body

    async def talk(self, **body: Any) -> str:
        """A new conversation's address."""
        body = body if "agent_id" in body else {"model": MODEL, **body}
        return f"/api/conversations/{(await self.post('/api/conversations', body))['id']}"

    async def say(self, talk: str, text: str, **more: Any) -> list[dict[str, Any]]:
        """The frames of the whole answer."""
        async with self.request("POST", f"{talk}/chat", {"message": {"text": text}, **more}) as reply:
            assert reply.status == 200, await reply.text()
            return [frame async for _, frame in frames(reply)]

    async def messages(self, talk: str) -> list[dict[str, Any]]:
        return list((await self.get(f"{talk}/messages"))["messages"])


async def frames(reply: aiohttp.ClientResponse) -> AsyncIterator[tuple[int, dict[str, Any]]]:
    """The numbered frames of a stream; it must end properly to end."""
    number = 0
    async for raw in reply.content:
        line = raw.decode().rstrip("\n")
        if line.startswith("id: "):
            number = int(line[4:])
        elif line == "data: [DONE]":
            return
        elif line.startswith("data: "):
            yield number, json.loads(line[6:])
    raise EOFError("the stream broke off")


def folded(told: list[dict[str, Any]]) -> dict[str, Any]:
    """What an AI SDK front end makes of frames: a UI message."""
    message: dict[str, Any] = {"parts": [], "metadata": {}}
    open_parts: dict[str, dict[str, Any]] = {}
    for frame in told:
        kind = frame["type"]
        if kind in ("start", "finish", "message-metadata"):
            message["id"] = frame.get("messageId", message.get("id"))
            message["metadata"] |= frame.get("messageMetadata", {})
        elif kind.startswith(("text-", "reasoning-")):
            _fold_text(message, frame, open_parts)
        elif kind.startswith("tool-"):
            _fold_tool(message, frame)
        elif kind == "file" or kind.startswith("data-"):
            _fold_data(message, frame)
    assert not open_parts
    return message


def _fold_text(message: dict[str, Any], frame: dict[str, Any], open_parts: dict[str, dict[str, Any]]) -> None:
    name, _, step = frame["type"].rpartition("-")
    if step == "start":
        part = {"type": name, "text": "", "state": "streaming"}
        if "providerMetadata" in frame:
            part["providerMetadata"] = frame["providerMetadata"]
        open_parts[frame["id"]] = part
        message["parts"].append(part)
    elif step == "delta":
        open_parts[frame["id"]]["text"] += frame["delta"]
    else:
        open_parts.pop(frame["id"])["state"] = "done"


def _fold_data(message: dict[str, Any], frame: dict[str, Any]) -> None:
    same = [part for part in message["parts"] if frame.get("id") and part.get("id") == frame["id"]]
    if same:
        same[0]["data"] = frame["data"]
    else:
        message["parts"].append(frame)


def _fold_tool(message: dict[str, Any], frame: dict[str, Any]) -> None:
    found = [part for part in message["parts"] if part.get("toolCallId") == frame["toolCallId"]]
    if not found:
        part = {"type": "dynamic-tool", "toolCallId": frame["toolCallId"], "toolName": frame["toolName"]}
        message["parts"].append(part)
        found = [part]
    part = found[-1]
    match frame["type"]:
        case "tool-input-start":
            part["state"] = "input-streaming"
        case "tool-input-available":
            part |= {"state": "input-available", "input": frame["input"]}
        case "tool-output-available":
            part |= {"state": "output-available", "output": frame["output"]}
        case "tool-output-error":
            part |= {"state": "output-error", "errorText": frame["errorText"]}


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """The application on a loopback socket, in the running loop."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    task = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.002)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


class Served(NamedTuple):
    url: str
    web: AppState
    store: Store
    stack: AsyncExitStack
    app: Any

    async def browser(self) -> Browser:
        """A new one, with its first page loaded: at the address that the server printed."""
        browser = await self.stranger()
        await sign_in(browser)
        await browser.get("/api/me")
        return browser

    async def stranger(self) -> Browser:
        """A new one that has never been here and does not know the start token."""
        jar = aiohttp.CookieJar(unsafe=True)
        return Browser(self.url, await self.stack.enter_async_context(aiohttp.ClientSession(cookie_jar=jar)))

    async def account(self, name: str = "ada", **more: Any) -> Browser:
        """A browser that is signed in as somebody new."""
        from thinkwire.web.auth.security import digest, new_token

        user = await self.store.create_user(name, "no password", **more)
        browser = await self.browser()
        token = new_token()
        await self.store.sign_in(user.id, digest(token), 9e9)
        browser.http.cookie_jar.update_cookies({"thinkwire_session": token})
        await browser.get("/api/me")
        return browser


async def sign_in(browser: Browser, token: str = TOKEN) -> None:
    """Opens the address with the start token, as a person does; a server with accounts ignores it."""
    answer = await browser.ask("GET", f"/?token={token}", allow_redirects=False)
    assert (answer.status, answer.headers.get("location")) == (303, "/"), answer


@asynccontextmanager
async def web_app(
    url: str, bases: dict[str, str], folder: Path | None, *, keys: bool = True, **options: Any
) -> AsyncIterator[Served]:
    async with AsyncExitStack() as stack:
        client = Client(
            keys=dict.fromkeys(bases, "simulated") if keys else {},
            bases=bases if keys else {},
            learned_facts=False,
            retries=0,
            sim=False,
        )
        await stack.enter_async_context(client)
        store = await stack.enter_async_context(await open_store(url))
        how: dict[str, Any] = {"simulated": False, "auth": False, "workspace": folder, "check_every": 0.1}
        how["start_token"] = StartToken(TOKEN, "the secret of the cookies of the tests")
        app: Any = create(client, store, **how | options)
        base = await stack.enter_async_context(served(app))
        yield Served(base, app.state.web, store, stack, app)


def all_bases(address: str) -> dict[str, str]:
    return {name: f"{address}/{name}" for name in default_providers()}
