"""Where things are kept on a machine: $THINKWIRE_CONFIG and $THINKWIRE_STATE, else the XDG folders."""

from __future__ import annotations

import os
from pathlib import Path


def config_folder() -> Path:
    """What the user wrote: keys, tables of models."""
    return _folder("THINKWIRE_CONFIG", "XDG_CONFIG_HOME", ".config")


def state_folder() -> Path:
    """What thinkwire learnt."""
    return _folder("THINKWIRE_STATE", "XDG_STATE_HOME", ".local/state")


def _folder(own: str, shared: str, usual: str) -> Path:
    if os.environ.get(own):
        return Path(os.environ[own])
    return Path(os.environ.get(shared) or Path.home() / usual) / "thinkwire"
