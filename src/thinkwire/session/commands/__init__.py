"""Slash commands, for any face: a table, functions that answer with lines, and completion."""

from thinkwire.session.commands.completion import Completion, fuzzy
from thinkwire.session.commands.conversation import THEME, THEMES
from thinkwire.session.commands.result import (
    Action,
    After,
    ApplyTheme,
    Candidate,
    Choose,
    Command,
    Continue,
    Copy,
    Export,
    Quit,
    Reply,
    Retry,
    StartConversation,
)
from thinkwire.session.commands.table import COMMANDS, complete, is_command, run_command
from thinkwire.session.commands.thinking import level_shown, next_level, what_happens_to_thinking

__all__ = [
    "COMMANDS",
    "THEME",
    "THEMES",
    "Action",
    "After",
    "ApplyTheme",
    "Candidate",
    "Choose",
    "Command",
    "Completion",
    "Continue",
    "Copy",
    "Export",
    "Quit",
    "Reply",
    "Retry",
    "StartConversation",
    "complete",
    "fuzzy",
    "is_command",
    "level_shown",
    "next_level",
    "run_command",
    "what_happens_to_thinking",
]
