"""Earlier conversations in a list, and conversations as files."""

from __future__ import annotations

import time
from pathlib import Path

from thinkwire.session.formatting import one_line
from thinkwire.terminal.chat.conversations import Earlier

_WHEN = len("16 Nov 12:50  ")


def shown(earlier: Earlier) -> str:
    """An earlier conversation in one line."""
    when = time.strftime("%d %b %H:%M", time.localtime(earlier.when))
    return f"{when}  {earlier.title}  · {earlier.model}"


def shown_to_choose(earlier: Earlier) -> str:
    """An earlier conversation in two lines: when and what it was; who answered, and the words looked for."""
    first, _, model = shown(earlier).rpartition("  · ")
    return f"{first}\n{' ' * _WHEN}{' · '.join(filter(None, [model, one_line(earlier.words)]))}"


def exported(folder: Path, name: str, data: bytes) -> tuple[bool, str]:
    """Writes a new file; one that is there already stays as it is."""
    path = folder / Path(name).expanduser()
    try:
        with open(path, "xb") as file:
            file.write(data)
    except FileExistsError:
        return False, f"✗ {path} is there already; /export OTHER-NAME"
    except OSError as error:
        return False, f"✗ {path} cannot be written: {error.strerror}"
    return True, f"✓ Written to {path}"
