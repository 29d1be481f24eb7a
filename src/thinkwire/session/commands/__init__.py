"""Slash commands, for any face: a table, functions that answer with lines, and completion."""

from thinkwire.session.commands.completion import Completion, fuzzy
from thinkwire.session.commands.reply import (
    Action,
    After,
    Begin,
    Candidate,
    Choose,
    Command,
    Copy,
    Export,
    GoOn,
    Look,
    Quit,
    Reply,
    Retry,
)
from thinkwire.session.commands.table import COMMANDS, complete, is_command, run_command
from thinkwire.session.commands.talk import THEME, THEMES
from thinkwire.session.commands.thinking import level_shown, next_level, what_happens_to_thinking

__all__ = [
    "COMMANDS",
    "THEME",
    "THEMES",
    "Action",
    "After",
    "Begin",
    "Candidate",
    "Choose",
    "Command",
    "Completion",
    "Copy",
    "Export",
    "GoOn",
    "Look",
    "Quit",
    "Reply",
    "Retry",
    "complete",
    "fuzzy",
    "is_command",
    "level_shown",
    "next_level",
    "run_command",
    "what_happens_to_thinking",
]
