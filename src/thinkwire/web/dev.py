"""`python -m thinkwire.web.dev`: the web app alone on a loopback port, simulated unless told otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from pathlib import Path
from typing import Any

import click

from thinkwire.client.engine import Client
from thinkwire.store import open_store


@click.command()
@click.option("--port", type=int, default=8018, help="0 takes any.")
@click.option("--sim/--no-sim", default=True, help="Simulated providers.")
@click.option("--auth", is_flag=True, help="With accounts.")
@click.option("--workspace", type=click.Path(path_type=Path), help="The folder that tools work in.")
def main(**options: Any) -> None:
    """Serve the web app for tests and for work on its pages."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(**options))


async def serve(*, port: int, sim: bool, auth: bool, workspace: Path | None) -> None:
    import uvicorn

    from thinkwire.web.app import create

    with socket.create_server(("127.0.0.1", port), backlog=256) as listener:
        async with Client(sim=sim) as client, await open_store() as store:
            app: Any = create(
                client,
                store,
                simulated=sim,
                auth=auth,
                redis_url=os.environ.get("THINKWIRE_REDIS_URL"),
                workspace=workspace,
            )
            config = uvicorn.Config(
                app, log_level="warning", proxy_headers=False, timeout_graceful_shutdown=1, lifespan="on"
            )
            token = app.state.web.start_token
            print(token.url(f"http://127.0.0.1:{listener.getsockname()[1]}"), flush=True)
            print(f"with live reload (npm run dev): {token.url('http://localhost:5173')}", flush=True)
            await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    main()
