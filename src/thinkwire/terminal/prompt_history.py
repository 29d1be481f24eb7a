"""What was typed before: a file in the state folder, newest last."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from thinkwire.config.paths import make_folder, state_folder

MOST = 1_000
_LONGEST = 20_000


class PromptHistory:
    """Lines typed, and where one stands among them. A file that cannot be used is as good as none."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_folder() / "history.jsonl"
        self.entries = _read(self._path)
        self._at = len(self.entries)
        self._draft = ""

    def add(self, text: str) -> None:
        """Remembers a text; the same twice in a row counts once."""
        if text.strip() and len(text) <= _LONGEST and self.entries[-1:] != [text]:
            self.entries.append(text)
            _append(self._path, text)
        self._at = len(self.entries)

    def before(self, draft: str) -> str | None:
        """The text before the one shown; the draft is kept for the way back."""
        if self._at == 0:
            return None
        if self._at == len(self.entries):
            self._draft = draft
        self._at -= 1
        return self.entries[self._at]

    def after(self) -> str | None:
        """The text after the one shown, the draft at last."""
        if self._at >= len(self.entries):
            return None
        self._at += 1
        return self._draft if self._at == len(self.entries) else self.entries[self._at]

    def newest(self) -> Iterator[str]:
        """Every text once, the newest first."""
        return iter(dict.fromkeys(reversed(self.entries)))


def _read(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    entries = []
    for line in lines[-MOST:]:
        try:
            text = json.loads(line)
        except ValueError:
            continue
        if isinstance(text, str):
            entries.append(text)
    if len(lines) > MOST * 2:
        _rewrite(path, entries)
    return entries


def _append(path: Path, text: str) -> None:
    try:
        make_folder(path.parent)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(text) + "\n")
    except OSError:
        return


def _rewrite(path: Path, entries: list[str]) -> None:
    aside = path.with_suffix(".new")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in entries)
        os.replace(aside, path)
    except OSError:
        return
