"""Where things are kept: in $THINKWIRE_CONFIG, $THINKWIRE_STATE, $THINKWIRE_DATA, else the usual folders."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

NAME = "thinkwire"


def config_folder() -> Path:
    """What the user wrote: settings, profiles, keys, tables of models."""
    return _own("THINKWIRE_CONFIG") or Path(_usual().user_config_dir(NAME, appauthor=False))


def state_folder() -> Path:
    """What thinkwire learnt."""
    return _own("THINKWIRE_STATE") or Path(_usual().user_state_dir(NAME, appauthor=False))


def data_folder() -> Path:
    """What the user made: conversations."""
    return _own("THINKWIRE_DATA") or Path(_usual().user_data_dir(NAME, appauthor=False))


def _own(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named) if named else None


def _usual() -> ModuleType:
    """Loaded when no variable decides."""
    import platformdirs

    return platformdirs
