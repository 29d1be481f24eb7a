"""Children with a process group of their own and bounded output, ended with everything they began."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

GRACE = 1.0
"""Seconds between asking a group to end and ending it."""
LAST_READS = 16
DRAIN = 0.2
"""Seconds in which what a finished child wrote is still read, when others keep its output open."""


class ProcessResult(msgspec.Struct, frozen=True):
    """How a child ended: its output, how many bytes are missing from the middle of it, and its code."""

    output: bytes
    missing: int
    code: int | None
    """None when it was stopped for taking too long; negative for a signal."""


class BoundedOutput:
    """Keeps the beginning and the end of what is written to it."""

    def __init__(self, limit: int) -> None:
        self.half = limit // 2
        self.head = bytearray()
        self.tail: deque[bytes] = deque()
        self.tail_size = 0
        self.total = 0
        self.closed = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.total += len(data)
        room = self.half - len(self.head)
        self.head += data[:room]
        if len(data) > room:
            self.tail.append(data[room:])
            self.tail_size += len(self.tail[-1])
        while self.tail and self.tail_size - len(self.tail[0]) >= self.half:
            self.tail_size -= len(self.tail.popleft())

    @property
    def missing(self) -> int:
        """The number of bytes between beginning and end that are not kept."""
        return self.total - len(self.head) - min(self.half, self.tail_size)

    def text(self) -> bytes:
        between = f"\n[… {self.missing:,} bytes left out …]\n".encode() if self.missing else b""
        return bytes(self.head) + between + b"".join(self.tail)[-self.half :]


@contextmanager
def captured(limit: int) -> Iterator[tuple[int, BoundedOutput]]:
    """A descriptor for a child to write to, and what of it is kept. The caller closes the descriptor."""
    loop = asyncio.get_running_loop()
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    ends = BoundedOutput(limit)

    def read() -> bool:
        try:
            data = os.read(reader, 65536)
        except BlockingIOError:
            return False
        if data:
            ends.write(data)
        else:
            loop.remove_reader(reader)
            ends.closed.set()
        return bool(data)

    loop.add_reader(reader, read)
    try:
        yield writer, ends
    finally:
        loop.remove_reader(reader)
        # What was written before the end is still there; a bound, since others may go on writing.
        for _ in range(LAST_READS):
            if not read():
                break
        os.close(reader)


async def run(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str],
    timeout: float,
    limit: int,
    keep: Sequence[int] = (),
) -> ProcessResult:
    """Run a program without input until it ends or its time is over; cancelling ends it and its children."""
    with captured(limit) as (writer, ends):
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=cwd,
                env=dict(env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                start_new_session=True,
                pass_fds=tuple(keep),
            )
        finally:
            os.close(writer)
        code = await _wait(process, timeout)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                await ends.closed.wait()
        return ProcessResult(ends.text(), ends.missing, code)


async def _wait(process: asyncio.subprocess.Process, timeout: float) -> int | None:
    """The exit code; None when the time was over. Whatever happens, nothing of the group is left."""
    try:
        async with asyncio.timeout(timeout):
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    try:
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await process.wait()
    finally:
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
