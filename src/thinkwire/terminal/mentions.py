"""Files in what is typed: `@path` completes, and the file goes along with the message."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from thinkwire.messages import Document, Image
from thinkwire.session.attachments import attachment
from thinkwire.session.commands import Candidate, Completion, fuzzy

_BEGUN = re.compile(r'(?:^|(?<=\s))@(?P<path>"[^"]*|[^\s"]*)$')
_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"(?P<quoted>[^"]+)"|(?P<bare>[^\s"]+))')
_TRAILING = ".,;:!?)]}'"
_MOST_SEEN = 2_000


def mentioned(text: str, folder: Path) -> list[Path]:
    """The files that a text mentions, each once. `@name` that is no file is a word like others."""
    found: dict[Path, None] = {}
    for mention in _MENTION.finditer(text):
        for name in _readings(mention["quoted"], mention["bare"]):
            path = folder / os.path.expanduser(name)
            if path.is_file():
                found[path] = None
                break
    return list(found)


def attachments(text: str, folder: Path) -> list[Image | Document]:
    """What goes along with a text; MalformedInput says which file cannot."""
    return [attachment(path) for path in mentioned(text, folder)]


def _readings(quoted: str | None, bare: str | None) -> Iterator[str]:
    if quoted:
        yield quoted
    elif bare:
        yield bare
        yield bare.rstrip(_TRAILING)


def complete_mention(text: str, folder: Path) -> Completion | None:
    """Files for an `@path` that is being typed at the end of a text; None when there is none."""
    begun = _BEGUN.search(text)
    if begun is None:
        return None
    typed = begun["path"].lstrip('"')
    parent, _, name = typed.rpartition("/")
    place = folder / os.path.expanduser(parent + "/" if parent or typed.startswith("/") else "")
    prefix = typed[: len(typed) - len(name)]
    entries = (_candidate(prefix, entry) for entry in _entries(place) if _wanted(entry, name))
    return Completion(begun.start(), fuzzy(f"@{typed}", entries))


def _entries(place: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as entries:
            found = [entry for _, entry in zip(range(_MOST_SEEN), entries, strict=False)]
    except OSError:
        return []
    return sorted(found, key=lambda entry: entry.name.lower())


def _wanted(entry: os.DirEntry[str], name: str) -> bool:
    return name.startswith(".") or not entry.name.startswith(".")


def _candidate(prefix: str, entry: os.DirEntry[str]) -> Candidate:
    tail = "/" if entry.is_dir() else ""
    path = f"{prefix}{entry.name}{tail}"
    return Candidate(f'@"{path}"' if " " in path and not tail else f"@{path}")
