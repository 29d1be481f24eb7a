"""Puts the peers into `build/bench/`, each into an environment of its own: `python -m bench.install [NAME]`.

What cannot be had is named and left out; the benchmark runs with the rest. nginx comes from the system
(`apt-get install nginx-light`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.machine import BUILD, ROOT

PEERS = ROOT / "bench" / "peers"
_STAMP = ".installed"


def install(name: str) -> str:
    """One peer; says what came of it."""
    wanted, there = PEERS / name, BUILD / name
    listed = wanted / "requirements.txt"
    listed = listed if listed.exists() else wanted / "package.json"
    stamp = there / _STAMP
    if stamp.exists() and stamp.read_text() == listed.read_text():
        return "there already"
    try:
        (_install_python if listed.suffix == ".txt" else _install_node)(name, there, listed)
    except subprocess.CalledProcessError as error:
        return f"left out: {(error.stderr or str(error)).strip().splitlines()[-1][:200]}"
    stamp.write_text(listed.read_text())
    return "installed"


def _install_python(name: str, there: Path, listed: Path) -> None:
    uv = ROOT / "scripts" / "uv"
    _run([uv, "venv", "--quiet", "--clear", "--python", ROOT / ".venv" / "bin" / "python", there])
    own = ["--editable", f"{ROOT}[gateway,store]"] if name == "own" else []
    _run(
        [
            uv,
            "pip",
            "install",
            "--quiet",
            "--python",
            there / "bin" / "python",
            "--requirements",
            listed,
            *own,
        ]
    )


def _install_node(name: str, there: Path, listed: Path) -> None:
    there.mkdir(parents=True, exist_ok=True)
    shutil.copy(listed, there / "package.json")
    folder = ROOT / ".venv" / "bin"
    path = f"{folder}:{os.environ['PATH']}"
    _run([folder / "npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=there, path=path)


def _run(command: list[str | Path], *, cwd: Path = ROOT, path: str | None = None) -> None:
    env = {**os.environ, **({"PATH": path} if path else {})}
    subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True, text=True, timeout=900)


def main(names: list[str]) -> None:
    for name in names or sorted(folder.name for folder in PEERS.iterdir() if folder.is_dir()):
        print(f"{name:12} {install(name)}", flush=True)
    if shutil.which("nginx") is None:
        print("nginx        left out: apt-get install nginx-light")


if __name__ == "__main__":
    main(sys.argv[1:])
