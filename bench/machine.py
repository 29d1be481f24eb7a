"""Processes and their cost, as the kernel counts it: user and system time of a process and its children."""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ALL_THREADS = 2
"""Which clock of a process: what the scheduler gave all its threads (CPUCLOCK_SCHED in the kernel)."""


class Used(NamedTuple):
    """CPU seconds so far, and resident memory in MB."""

    cpu: float
    memory: float


@cache
def _cores() -> list[int]:
    """The cores that this process began with; asked for when they are needed, since only Linux tells."""
    return sorted(os.sched_getaffinity(0))


def stand_aside(aside: bool) -> None:
    """Leaves this process the upper half of the cores, or all that it had."""
    cores = _cores()
    os.sched_setaffinity(0, cores[len(cores) // 2 :] if aside else cores)


def family(pid: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _stat(int(entry.name))) is not None:
            children.setdefault(int(stat[1]), []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def used(pid: int) -> Used:
    """What a process and all below it have used."""
    group = family(pid)
    stats = [stat for one in group if (stat := _stat(one)) is not None]
    return Used(sum(map(_cpu, group)), sum(int(stat[21]) for stat in stats) * _PAGE / 1e6)


def _cpu(pid: int) -> float:
    """Seconds of all threads of a process, by its own clock: `/proc` counts in hundredths."""
    try:
        return time.clock_gettime((~pid << 3) | _ALL_THREADS)
    except OSError:
        return 0.0


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on; names may hold spaces and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str | Path], log: Path, *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process while the block runs, in a group of its own; its output goes to a file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            env={**_plain_environment(), **(env or {})},
            cwd=cwd or ROOT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _end(process)


def _plain_environment() -> dict[str, str]:
    """Ours, without proxies and keys: everything measured is on this machine."""
    hidden = ("_PROXY", "_API_KEY", "_BASE_URL", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.upper().endswith(hidden)}


def _end(process: subprocess.Popen[bytes]) -> None:
    for sign, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    process.wait(5)


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until somebody accepts there; TimeoutError when nobody does."""
    for _ in _patiently(process):
        with socket.socket() as sock:
            sock.settimeout(1)
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return


def wait_for_file(path: Path, process: subprocess.Popen[bytes]) -> int:
    """The number in a file, when it is there."""
    for _ in _patiently(process):
        if path.exists() and (text := path.read_text()):
            return int(text)
    raise AssertionError


def _patiently(process: subprocess.Popen[bytes], seconds: float = 90) -> Iterator[None]:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if process.poll() is not None:
            raise TimeoutError(f"ended with {process.returncode}")
        yield
        time.sleep(0.005)
    raise TimeoutError("did not listen in time")


def described() -> dict[str, str]:
    """The machine, in a few words."""
    cpu = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    memory = next((line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), "0")
    return {
        "processor": f"{os.cpu_count()} x {cpu}",
        "memory": f"{int(memory) / 1e6:.0f} GB",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
        "load at start": f"{os.getloadavg()[0]:.1f}",
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
