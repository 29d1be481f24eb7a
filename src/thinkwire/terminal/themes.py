"""Themes: dark, light, high contrast. Thinking is shaded: lighter in dark themes, darker in light ones."""

from __future__ import annotations

import os

from textual.theme import Theme

from thinkwire.config.paths import config_folder

DARK = Theme(
    name="dark",
    primary="#8fb3e8",
    secondary="#b7a3e0",
    accent="#d9b36c",
    warning="#d9b36c",
    error="#e88388",
    success="#8ec58a",
    foreground="#d6dae2",
    background="#15171c",
    surface="#1a1d23",
    panel="#22262e",
    dark=True,
)
LIGHT = Theme(
    name="light",
    primary="#2f5fa8",
    secondary="#6a4fa3",
    accent="#8a5a00",
    warning="#8a5a00",
    error="#b3262e",
    success="#2c6e2f",
    foreground="#23262d",
    background="#fcfcfa",
    surface="#f4f4f0",
    panel="#e8e8e2",
    dark=False,
)
HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#ffff00",
    secondary="#00ffff",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff6666",
    success="#66ff66",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    text_alpha=1.0,
    variables={"text-muted": "#e0e0e0", "text-disabled": "#c0c0c0"},
)
ALL = {theme.name: theme for theme in (DARK, LIGHT, HIGH_CONTRAST)}

_LIGHT_BACKGROUNDS = ("7", "15")


def usual_theme() -> str:
    """What the user's file says, else what the terminal tells about its background, else dark."""
    if (named := _remembered()) in ALL:
        return named
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in _LIGHT_BACKGROUNDS else DARK.name


def _remembered() -> str:
    """The theme in the user's file. The first frame cannot wait until all settings are loaded and checked."""
    try:
        text = (config_folder() / "config.toml").read_text("utf-8")
    except (OSError, UnicodeError):
        return ""
    if "theme" not in text:
        return ""
    import tomllib

    try:
        table = tomllib.loads(text).get("terminal")
    except (ValueError, RecursionError):
        return ""
    return str(table.get("theme")) if isinstance(table, dict) else ""
