"""How the terminal bears a long answer: what a key takes, how far drawing is behind, what it weighs.

    .venv/bin/python -m bench.terminal [--kind KIND] [--size 200000] [--seconds 20] [--earlier 0]

Every kind of text runs in a process of its own. A key is pressed all the time; the latency is the time until
the app has dealt with it. "Behind" is the age of the newest words on the screen. Nothing is sent.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from textual.events import Key

from thinkwire.events import BlockEnded, BlockGrew, BlockStarted, Finished, Started
from thinkwire.messages import Block, Text, Thinking
from thinkwire.session import Run, SessionEvent, TurnEnded
from thinkwire.terminal.app import Chat
from thinkwire.terminal.chat.conversations import ConversationManager, Options
from thinkwire.terminal.markdown.widget import MarkdownView
from thinkwire.usage import Usage

DELTA = 12
_SENTENCE = "Every even square is the square of an even number, and **that** is all we need here."
_PROSE = f"{_SENTENCE}\n\n"
_LIST = "- one thing that is worth saying, and\n- another with `code` in it\n"
_CODE = "for n in range(10):\n    print(n * n)  # squares\n"
_FENCED = f"```python\n{_CODE}```\n\nAnd so on.\n\n"
KINDS: dict[str, tuple[str, str]] = {
    "prose": ("", _PROSE),
    "mixed": ("", _PROSE * 3 + "## A heading\n\n" + _LIST * 4 + "\n" + _FENCED),
    "list": ("", _LIST),
    "small blocks": ("", "Yes.\n\n- no\n\n`maybe`\n\n> so\n\n"),
    "one paragraph": ("", f"{_SENTENCE} "),
    "one code block": ("```python\n", _CODE),
    "one table": (
        "| number | square | remark |\n|---|---|---|\n",
        "| 123,456 | 15,241,383,936 | even, and so is its **square** |\n",
    ),
}
"""How the text begins, and what is said again and again."""


class Sent:
    """What was sent and when; how old the newest words on the screen are."""

    def __init__(self) -> None:
        self._sent: list[tuple[int, float]] = [(0, time.monotonic())]
        self._shown = 0
        self.behind: list[float] = []

    def send(self, characters: int) -> None:
        self._sent.append((self._sent[-1][0] + characters, time.monotonic()))

    def show(self, characters: int) -> None:
        """So many more of them are on the screen now."""
        self._shown += characters
        while len(self._sent) > 1 and self._sent[0][0] < self._shown:
            self._sent.pop(0)
        self.behind.append(time.monotonic() - self._sent[0][1])


async def streamed(
    thinking: str, text: str, seconds: float, sent: Sent
) -> AsyncGenerator[list[SessionEvent], None]:
    yield [Started()]
    rate = (len(thinking) + len(text)) / seconds
    began, so_far = time.monotonic(), 0
    parts: list[tuple[Block, str]] = [(Thinking(), thinking), (Text(), text)]
    for index, (block, part) in enumerate(parts):
        yield [BlockStarted(index, block)]
        at = 0
        while at < len(part):
            await asyncio.sleep(0.02)
            due = int((time.monotonic() - began) * rate) - so_far
            deltas: list[SessionEvent] = [
                BlockGrew(index, part[here : here + DELTA])
                for here in range(at, min(at + due, len(part)), DELTA)
            ]
            characters = min(len(deltas) * DELTA, len(part) - at)
            at, so_far = at + characters, so_far + characters
            sent.send(characters)
            yield deltas
        yield [BlockEnded(index)]
    usage = Usage(input_total=1, output_visible=1, output_reasoning=1, output_total=2)
    yield [Finished("stop", usage), TurnEnded("complete", usage=usage)]


def share(values: tuple[float, ...] | list[float], at: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * at))]


def memory() -> float:
    """Megabytes that are in use now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def typed(app: Chat) -> tuple[float, float]:
    """Seconds until a key that was pressed is in the prompt, by the clock and of computing."""
    before, pressed, cpu = len(app.prompt.text), time.monotonic(), time.process_time()
    app.post_message(Key("x", "x"))
    while len(app.prompt.text) == before:
        await asyncio.sleep(0.001)
    return time.monotonic() - pressed, time.process_time() - cpu


def watch(sent: Sent) -> None:
    """From now on, every text tells when its words are on the screen."""
    add = MarkdownView.add

    def told(prose: MarkdownView, text: str) -> None:
        add(prose, text)
        prose.call_after_refresh(sent.show, len(text))

    MarkdownView.add = told  # type: ignore[method-assign]


async def earlier(app: Chat, messages: int) -> None:
    """So many short answers stand above already."""
    for _ in range(messages):
        await app.talk.put(MarkdownView(_PROSE * 4, classes="answer"))


async def main(kind: str, given: argparse.Namespace) -> None:
    begin, piece = KINDS[kind]
    thought = (begin + piece * (given.thinking // len(piece) + 1))[: given.thinking]
    text = (begin + piece * (given.size // len(piece) + 1))[: given.size - given.thinking]
    with tempfile.TemporaryDirectory() as folder:
        desk = ConversationManager(Options(sim=True, save=False, folder=Path(folder)))
        app = Chat(lambda: desk)
        app.alone = True
        async with app.run_test(size=(100, 40)):
            await app.ready.wait()
            chatting = app.chatting
            assert chatting is not None
            chatting._know_prices()
            await earlier(app, given.earlier)
            idle = [(await typed(app))[0] for _ in range(200)]
            sent = Sent()
            watch(sent)
            before, cpu, began = memory(), time.process_time(), time.monotonic()
            run = Run(streamed(thought, text, given.seconds, sent))
            chatting._start(run)
            latencies: list[tuple[float, float]] = []
            while not run.done or app.activity.display:
                latencies.append(await typed(app))
                await asyncio.sleep(0.05)
            took, used = time.monotonic() - began, time.process_time() - cpu
            after = memory()
        await chatting.aclose()
    clock, computing = zip(*latencies, strict=True)
    print(
        f"{kind}: {given.size:,} characters in {took:.1f} s (sent in {given.seconds:.0f}), CPU {used:.1f} s, "
        f"memory {before:.0f} + {after - before:.1f} MB\n"
        f"  a key before, with nothing to draw, {1000 * share(idle, 0.5):.0f} ms in the median, "
        f"{1000 * share(idle, 1):.0f} at worst; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores\n"
        f"  a key {1000 * share(clock, 0.5):.0f} ms in the median, {1000 * share(clock, 0.99):.0f} in 99 %, "
        f"{1000 * share(clock, 1):.0f} at worst ({1000 * share(computing, 1):.0f} of computing)\n"
        f"  behind {share(sent.behind, 0.5):.2f} s in the median, {share(sent.behind, 1):.2f} at worst",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--thinking", type=int, default=100_000, help="how much of it is thinking")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--earlier", type=int, default=0, help="answers that stand above already")
    given = parser.parse_args()
    kinds = given.kind or list(KINDS)
    if len(kinds) == 1:
        asyncio.run(main(kinds[0], given))
    else:
        numbers = [f"--{name}={getattr(given, name)}" for name in ("size", "thinking", "seconds", "earlier")]
        for kind in kinds:
            command = [sys.executable, "-m", "bench.terminal", "--kind", kind, *numbers]
            subprocess.run(command, check=True)
