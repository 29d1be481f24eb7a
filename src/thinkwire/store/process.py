"""Who is writing a message, and whether that process still lives."""

from __future__ import annotations

import os
import socket
import sys
from functools import cache
from pathlib import Path

SILENT = 30.0
"""Seconds after which a message of another machine's process counts as abandoned."""
BEAT = 10.0
"""Seconds between two signs of life."""


def this_process() -> str:
    """Machine, process id and start time: what tells this process from every other."""
    return f"{_machine()} {os.getpid()} {_started(os.getpid())}"


def is_gone(writer: str | None, updated: float, now: float) -> bool:
    """A process of this machine is asked for; of another, silence is the only sign."""
    machine, pid, started = (writer or "").split(" ", 2) if writer else ("", "", "")
    if machine == _machine() and pid.isdigit() and sys.platform != "win32":
        return not _lives(int(pid), started)
    return now - updated > SILENT


@cache
def _machine() -> str:
    """The host name, and on Linux the boot and the process namespace, since containers may share a name."""
    parts = [socket.gethostname().replace(" ", "-")]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(os.readlink("/proc/self/ns/pid"))
    except OSError:
        pass
    return "/".join(parts)


def _lives(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return _started(pid) == started


def _started(pid: int) -> str:
    """The start time in the kernel's ticks, `gone` for a process that nobody has reaped, "" if not told."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "gone" if fields[0] in "ZX" else fields[19]
