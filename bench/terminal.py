"""How the terminal bears a long answer: input latency and memory while 200 kB of thinking and text stream in.

    .venv/bin/python bench/terminal.py [--kind prose|list|code|mixed] [--size 200000]

A key is pressed all the time; the latency is the time until the app has dealt with it. Nothing is sent.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from textual.events import Key

from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Finished, Started
from thinkwire.messages import Block, Text, Thinking
from thinkwire.session import Happening, Run, TurnEnded
from thinkwire.terminal.app import Chat
from thinkwire.terminal.desk import Desk, Options
from thinkwire.usage import Usage

DELTA = 12
KINDS = {
    "prose": "Every even square is the square of an even number, and **that** is all we need here.\n\n",
    "list": "- one thing that is worth saying, and\n- another with `code` in it\n",
    "code": "```python\nfor n in range(10):\n    print(n * n)  # squares\n```\n\nAnd so on.\n\n",
}
KINDS["mixed"] = KINDS["prose"] * 3 + "## A heading\n\n" + KINDS["list"] * 4 + "\n" + KINDS["code"]


async def streamed(text: str, seconds: float) -> AsyncGenerator[list[Happening], None]:
    """A fifth of it is thinking."""
    cut = len(text) // 5
    yield [Started()]
    count = len(text) // DELTA
    parts: list[tuple[Block, str]] = [(Thinking(), text[:cut]), (Text(), text[cut:])]
    pause = 0.02
    batch = max(1, round(count * pause / seconds))
    for index, (block, part) in enumerate(parts):
        yield [BlockStarted(index, block)]
        deltas: list[Happening] = [
            BlockGrew(index, part[at : at + DELTA]) for at in range(0, len(part), DELTA)
        ]
        for at in range(0, len(deltas), batch):
            yield deltas[at : at + batch]
            await asyncio.sleep(pause)
        yield [BlockEnded(index)]
    usage = Usage(input_total=1, output_visible=1, output_reasoning=1, output_total=2)
    yield [Finished("stop", usage), TurnEnded("complete", usage=usage)]


def share(values: tuple[float, ...], at: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * at))]


def memory() -> float:
    """Megabytes that are in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def typed(app: Chat) -> tuple[float, float]:
    """Seconds until a key that was pressed is in the prompt, by the clock and of computing."""
    before, pressed, cpu = len(app.prompt.text), time.monotonic(), time.process_time()
    app.post_message(Key("x", "x"))
    while len(app.prompt.text) == before:
        await asyncio.sleep(0.001)
    return time.monotonic() - pressed, time.process_time() - cpu


async def main(kind: str, size: int, seconds: float) -> None:
    piece = KINDS[kind]
    text = (piece * (size // len(piece) + 1))[:size]
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Options(sim=True, save=False, folder=Path(folder), model="claude-opus-5-5"))
        app = Chat(lambda: desk)
        async with app.run_test(size=(100, 40)):
            await app.ready.wait()
            chatting = app.chatting
            assert chatting is not None
            chatting._know_prices()
            before, cpu, began = memory(), time.process_time(), time.monotonic()
            run = Run(streamed(text, seconds))
            chatting._start(run)
            latencies: list[tuple[float, float]] = []
            while not run.done or app.activity.display:
                latencies.append(await typed(app))
                await asyncio.sleep(0.15)
            took = time.monotonic() - began
            print(
                f"{kind}: {size:,} characters in {took:.1f} s (sent in {seconds:.0f} s), "
                f"CPU {time.process_time() - cpu:.1f} s, memory {before:.0f} -> {memory():.0f} MB"
            )
            for name, values in zip(
                ("by the clock", "of computing"), zip(*latencies, strict=True), strict=True
            ):
                median, most, worst = (1000 * share(values, at) for at in (0.5, 0.95, 1))
                print(f"  a key took {median:.0f} ms (median), {most:.0f} (95 %), {worst:.0f} (worst) {name}")
        await chatting.aclose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    for kind in given.kind or ["prose", "mixed"]:
        asyncio.run(main(kind, given.size, given.seconds))
