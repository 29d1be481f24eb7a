"""The load: bare sockets that ask again and again, and write down how long each answer took.

`python -m bench.load '{"port": …, "path": …, "body": …, "headers": {}, "connections": 64, "seconds": 2}'`
prints what it saw as JSON. Nothing is asked after `seconds`, nor after `total` requests; what was asked is
waited for. With `aside` it keeps to the upper half of the cores.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from typing import Any

from bench.machine import stand_aside

_PATIENCE = 120.0


class Asker(asyncio.Protocol):
    """One connection: asks, reads to the end of the answer, asks again."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._head = b""
        self._left = -1
        self._tail = b""
        self._first = 0.0
        self._waits = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.ask()

    def ask(self) -> None:
        if not self._load.take():
            self._transport.close()
            return
        self._waits = True
        self._head, self._left, self._tail, self._first = b"", -1, b"", 0.0
        self._began = time.perf_counter()
        self._transport.write(self._load.request)

    def data_received(self, data: bytes) -> None:
        if self._left == -1:
            self._head += data
            head, found, data = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            self._begin(head)
        if not self._first and b"data" in data:
            self._first = time.perf_counter()
        self._load.bytes += len(data)
        if self._left == -2:
            self._tail = (self._tail + data)[-7:]
            if self._tail == b"\r\n0\r\n\r\n":
                self._finish()
            return
        self._left -= len(data)
        if self._left <= 0:
            self._finish()

    def _begin(self, head: bytes) -> None:
        status = int(head[9:12])
        if status != 200:
            self._load.fail(f"status {status}")
        lower = head.lower()
        at = lower.find(b"\r\ncontent-length:")
        self._left = int(lower[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else -2
        if self._left == -2:
            self._tail = b"\r\n"

    def _finish(self) -> None:
        self._waits = False
        now = time.perf_counter()
        self._load.took.append(now - self._began)
        if self._first:
            self._load.first.append(self._first - self._began)
        self._load.finish_one()
        self.ask()

    def connection_lost(self, error: Exception | None) -> None:
        self._load.closed(unfinished=self._waits)


class Load:
    """What is asked, how often, and what was seen."""

    def __init__(self, order: dict[str, Any]) -> None:
        body = order["body"].encode()
        headers = {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(len(body))}
        headers |= order.get("headers", {})
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.request = f"POST {order['path']} HTTP/1.1\r\n{lines}\r\n".encode() + body
        self.order = order
        self.took: list[float] = []
        self.first: list[float] = []
        self.bytes = 0
        self.failure: str | None = None
        self.done = asyncio.Event()
        self._total = order.get("total", sys.maxsize)
        self._until = time.perf_counter() + order.get("seconds", _PATIENCE)
        self._asked = self._finished = 0

    def take(self) -> bool:
        """Whether there is another request to make."""
        if self._asked >= self._total or (self._asked and time.perf_counter() > self._until):
            self._total = self._asked
            if self._finished >= self._total:
                self.done.set()
            return False
        self._asked += 1
        return True

    def finish_one(self) -> None:
        self._finished += 1

    def fail(self, why: str) -> None:
        self.failure = self.failure or why
        self.done.set()

    def closed(self, *, unfinished: bool) -> None:
        if unfinished and not self.done.is_set():
            self.fail("a connection was closed before its answer was over")


async def run(order: dict[str, Any]) -> dict[str, Any]:
    stand_aside(order.get("aside", False))
    loop, load = asyncio.get_running_loop(), Load(order)
    began = time.perf_counter()
    for _ in range(order["connections"]):
        await loop.create_connection(lambda: Asker(load), "127.0.0.1", order["port"])
    try:
        await asyncio.wait_for(load.done.wait(), order.get("patience", _PATIENCE))
    except TimeoutError:
        load.fail("nothing more came in time")
    return {
        "seconds": time.perf_counter() - began,
        "finished": len(load.took),
        "bytes": load.bytes,
        "failure": load.failure,
        "took": spread(load.took),
        "first": spread(load.first),
    }


def spread(times: list[float]) -> dict[str, float] | None:
    """Median and 99th percentile, in milliseconds."""
    if not times:
        return None
    ordered = sorted(times)
    return {
        "p50": statistics.median(ordered) * 1000,
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1000,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.loads(sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read())))))
