"""TensorZero's embedded gateway, on the port that it takes: `python gateway.py CONFIG PORT_FILE`."""

import asyncio
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tensorzero.tensorzero import _start_http_gateway


async def main(config: str, port_file: str) -> None:
    gateway = await _start_http_gateway(
        config_file=config, clickhouse_url=None, postgres_url=None, valkey_url=None, async_setup=True
    )
    Path(port_file).write_text(str(urlsplit(gateway.base_url).port))
    await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
