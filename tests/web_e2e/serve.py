"""The web app in a process of its own, with simulators that can be held in the middle of a word.

A piece of an answer with HOLD in it waits until the file `release` appears in the working folder.
Titles are made of the same words and never wait: they would take what lets the next answer go on.
A rate limit says how long to wait.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn

from thinkwire.client.engine import Client
from thinkwire.providers import default_providers
from thinkwire.session.summary import NAME_IT
from thinkwire.sim import Simulator
from thinkwire.sim.chaos import Message, Receive, Send
from thinkwire.sim.server import running_simulator
from thinkwire.store import open_store
from thinkwire.web.app import create

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.web_e2e.plays import PLAYS

RELEASE = Path("release")


class Staged(Simulator):
    """Simulators that know a few plays, and keep an answer back where they are told to."""

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        held = True

        async def received() -> Message:
            nonlocal held
            message = await receive()
            if body := message.get("body"):
                held = held and said(NAME_IT) not in body
                for question, play in PLAYS.items():
                    body = body.replace(said(question), said(f"{question} {play}"))
                message["body"] = body
            return message

        async def sent(message: Message) -> None:
            if message.get("status") == 429:
                message["headers"] = [*message.get("headers", []), (b"retry-after", b"3")]
            if held and b"HOLD" in message.get("body", b""):
                while not RELEASE.exists():
                    await asyncio.sleep(0.02)
                RELEASE.unlink()
            await send(message)

        await super().__call__(scope, received, sent)


def said(text: str) -> bytes:
    """A text as it stands in a request."""
    return json.dumps(text, ensure_ascii=False)[1:-1].encode()


async def serve(port: int, *, auth: bool, client: Client, simulated: bool) -> None:
    with socket.create_server(("127.0.0.1", port), backlog=256) as listener:
        async with client, await open_store() as store:
            app = create(client, store, simulated=simulated, auth=auth, workspace=Path.cwd(), check_every=0.5)
            config = uvicorn.Config(
                app, log_level="warning", proxy_headers=False, timeout_graceful_shutdown=1, lifespan="on"
            )
            print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
            await uvicorn.Server(config).serve(sockets=[listener])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--auth", action="store_true")
    parser.add_argument("--no-sim", action="store_true")
    asked = parser.parse_args()
    if asked.no_sim:
        asyncio.run(serve(asked.port, auth=asked.auth, client=Client(sim=False), simulated=False))
        return
    with running_simulator(Staged()) as address:
        names = list(default_providers())
        client = Client(
            sim=False,
            retries=0,
            bases={name: f"{address}/{name}" for name in names},
            keys=dict.fromkeys(names, "simulated"),
        )
        asyncio.run(serve(asked.port, auth=asked.auth, client=client, simulated=True))


if __name__ == "__main__":
    main()
