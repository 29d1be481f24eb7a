"""Cost against size: history, body, tools, conversations kept. Nothing may grow faster than its size.

`python -m bench.growth OUT [quick]` runs in thinkwire's own environment.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench import wire

Curve = list[tuple[int, float]]
"""Size, and CPU milliseconds there."""

HISTORY = (10, 50, 200, 500, 1000, 2000)
BODIES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
TOOLS = (1, 8, 32, 128, 512)
TALKS = (100, 1_000, 10_000, 100_000)


def long_talk(turns: int) -> bytes:
    """A conversation in Anthropic's dialect; every fourth turn thinks and calls a tool."""
    said: list[dict[str, Any]] = []
    for n in range(turns // 4):
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "tool_0", "input": {"field_0": f"n = {n}"}}
        thought = {
            "type": "thinking",
            "thinking": "Let me look at the cases one by one. " * 4,
            "signature": "",
        }
        said += [
            {"role": "user", "content": f"And for {n}?"},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "I look."}, call]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "odd"}],
            },
            {"role": "assistant", "content": "It is odd, as before. " * 4},
        ]
    said.append({"role": "user", "content": "So?"})
    return _request(messages=said, tools=wire.tools(1))


def _request(**more: Any) -> bytes:
    body = {"model": "deepseek/deepseek-v4-pro", "max_tokens": 1000, "messages": [], **more}
    return json.dumps(body).encode()


def _asks(text: str, **more: Any) -> bytes:
    return _request(messages=[{"role": "user", "content": text}], **more)


async def cpu_ms(work: Callable[[], Awaitable[Any]], *, least: float = 0.2, times: int = 7) -> float:
    """CPU milliseconds of one run: the best of several, because others use this machine too."""
    await work()
    best, spent, ran = math.inf, 0.0, 0
    while spent < least or ran < times:
        began = time.process_time()
        await work()
        took = time.process_time() - began
        best, spent, ran = min(best, took), spent + max(took, 1e-4), ran + 1
    return best * 1000


async def of_requests(folder: Path, most: float) -> dict[str, Curve]:
    """Translated requests through a whole gateway, without sockets."""
    from bench.inside import inside

    curves: dict[str, Curve] = {"history, turns": [], "body, bytes": [], "tools": []}
    async with inside(folder) as gateway:

        async def at(name: str, size: int, body: bytes) -> None:
            took = await cpu_ms(lambda: gateway.ask("messages→chat", body=body))
            curves[name].append((size, took))

        for size in (size for size in HISTORY if size <= most * 2000):
            await at("history, turns", size, long_talk(size))
        for size in (size for size in BODIES if size <= most * 10_000_000):
            await at("body, bytes", size, _asks("Why is it odd? " * (size // 15)))
        for size in (size for size in TOOLS if size <= most * 512):
            await at("tools", size, _asks("Why?", tools=wire.tools(size)))
    return curves


async def of_store(folder: Path, most: float) -> dict[str, Curve]:
    """A turn kept, the newest conversations listed, and a search, in a store with so many of them."""
    from thinkwire.messages import Text, Turn
    from thinkwire.store import open_store

    file = folder / "talks.db"
    curves: dict[str, Curve] = {}
    turn = Turn("user", (Text("And then?"),))
    async with await open_store(f"sqlite:///{file}") as store:
        talk = await store.create_conversation("Squares", "claude-opus-5")
        await store.append(talk.id, Turn("user", (Text("Why are odd squares odd?"),)))
    for size in (size for size in TALKS if size <= most * 100_000):
        _fill(file, talk.id, size)
        async with await open_store(f"sqlite:///{file}") as store:
            works: dict[str, Callable[[], Awaitable[Any]]] = {
                "store: append, talks": partial(store.append, talk.id, turn),
                "store: list, talks": store.conversations,
                "store: search, talks": partial(store.search, "rarest"),
            }
            for name, work in works.items():
                curves.setdefault(name, []).append((size, await cpu_ms(work)))
    return curves


def _fill(file: Path, like: str, size: int) -> None:
    """Copies one conversation until there are so many; one in a hundred has the word that is searched for."""
    with sqlite3.connect(file) as database:
        database.row_factory = sqlite3.Row
        there = database.execute("SELECT count(*) FROM conversations").fetchone()[0]
        talk = dict(database.execute("SELECT * FROM conversations WHERE id = ?", (like,)).fetchone())
        of_talk = "SELECT * FROM messages WHERE conversation_id = ? LIMIT 1"
        row = dict(database.execute(of_talk, (like,)).fetchone())
        del row["number"]
        for n in range(there, size):
            copied = {**talk, "id": f"{like[:20]}-{n:012d}", "head": None}
            text = "the rarest of words" if n % 100 == 0 else row["text"]
            said = {**row, "id": f"{row['id'][:20]}-{n:012d}", "conversation_id": copied["id"], "text": text}
            _insert(database, "conversations", copied)
            _insert(database, "messages", said)
    database.close()


def _insert(database: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
    names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values()))


def exponent(curve: Curve) -> float | None:
    """The power of the size with which the cost grows at the end of a curve; 1 is linear."""
    if len(curve) < 3:
        return None
    (a, low), (b, high) = curve[-2], curve[-1]
    return math.log(max(high, 1e-6) / max(low, 1e-6)) / math.log(b / a)


def bend(curve: Curve) -> int | None:
    """The size at which the fixed cost is doubled: where the curve leaves the floor."""
    return next((size for size, cost in curve if cost > 2 * curve[0][1]), None)


async def main(out: Path, most: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        os.environ["THINKWIRE_CONFIG"] = os.environ["THINKWIRE_STATE"] = name
        curves = await of_requests(Path(name), most) | await of_store(Path(name), most)
    told = {
        name: {"points": curve, "exponent": exponent(curve), "bend": bend(curve)}
        for name, curve in curves.items()
    }
    out.write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), 0.1 if "quick" in sys.argv[2:] else 1))
