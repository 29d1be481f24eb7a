"""`thinkwire serve` as a process, in front of strict simulators that write down what they are asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from thinkwire.providers import default_providers
from thinkwire.sim.app import Simulator
from thinkwire.sim.server import running_simulator

PATIENCE = 30.0
MAPPED = {"claude-*": "xai/grok-4.5", "gpt-*": "deepseek/deepseek-v4-pro", "gemini-*": "moonshot/kimi-k3"}
"""Where the names lead that clients know by themselves."""


@dataclass
class Seen:
    """One request to a provider, and its answer as far as it has gone."""

    path: str
    status: int = 0
    rule: str = ""
    body: bytearray = field(default_factory=bytearray)
    told: bytearray = field(default_factory=bytearray)

    @property
    def provider(self) -> str:
        return self.path.split("/")[1]

    @property
    def asked(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def answer(self) -> str:
        return self.told.decode("utf-8", "replace")


class Watched(Simulator):
    """Simulators that remember everything."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Seen] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        seen = Seen(scope["path"])
        self.seen.append(seen)

        async def hear() -> Any:
            message = await receive()
            seen.body += message.get("body", b"")
            return message

        async def tell(message: Any) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                seen.rule = dict(message["headers"]).get(b"x-sim-rule", b"").decode()
            seen.told += message.get("body", b"")
            await send(message)

        await super().__call__(scope, hear, tell)


class World(NamedTuple):
    """A gateway and the providers behind it."""

    url: str
    providers: Watched

    @contextmanager
    def watch(self) -> Iterator[list[Seen]]:
        """What the providers are asked inside the block; there when it is over."""
        found: list[Seen] = []
        start = len(self.providers.seen)
        yield found
        found += self.providers.seen[start:]


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """A gateway that knows all providers, each at the address of its simulator."""
    providers = Watched()
    with ExitStack() as stack:
        base = stack.enter_context(running_simulator(providers))
        known = default_providers()
        lines = [f'[[map]]\nfrom = "{names}"\nto = "{model}"\n' for names, model in MAPPED.items()]
        lines += [f'[providers.{name}]\nbase_url = "{base}/{name}"\n' for name in known]
        config = folder / "gateway.toml"
        config.write_text("".join(lines))
        keys = {name: "upstream-key" for provider in known.values() for name in provider.keys}
        url = stack.enter_context(served(folder, "--no-sim", "--config", str(config), keys=keys))
        yield World(url, providers)


@contextmanager
def served(folder: Path, *options: str, keys: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of a gateway that runs with these options and keys, and none of this machine's."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    own = {f"THINKWIRE_{what}": str(folder / what.lower()) for what in ("STATE", "CONFIG", "DATA")}
    command = [sys.executable, "-m", "thinkwire", "serve", "--port", "0", *options]
    log = folder / "gateway.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=kept | own | dict(keys or {}), stdout=output, stderr=subprocess.STDOUT
        )
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"gateway at (http://\S+)", log.read_text())
        try:
            if found and httpx2.get(f"{found[1]}/readyz").status_code == 200:
                return found[1]
        except httpx2.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"the gateway did not start: {log.read_text()}")
