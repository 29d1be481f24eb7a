"""Access keys made while a gateway runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.gateway.gateways import Served
from thinkwire.gateway.auth.keys import KeyFile

PATIENCE = 10.0


async def new_key(served: Served, folder: Path, name: str = "somebody", models: tuple[str, ...] = ()) -> str:
    """A key that the gateway knows by now; from then on everybody needs one."""
    made, secret = KeyFile(folder / "access.toml").create(name, models=models)
    async with asyncio.timeout(PATIENCE):
        while not served.parts.keys.is_current(made.tenant):
            await asyncio.sleep(0.01)
    return secret
