"""The table of commands, and how one is found, run and completed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from thinkwire.errors import ThinkwireError
from thinkwire.reasoning.levels import LEVELS
from thinkwire.session.commands import conversation as talk
from thinkwire.session.commands import inspect as looking
from thinkwire.session.commands import settings as setting
from thinkwire.session.commands import thinking
from thinkwire.session.commands.completion import Completion, fuzzy
from thinkwire.session.commands.result import After, Candidate, Command, Reply, lines
from thinkwire.session.session import Busy, Session

_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w-]*|\??)(?:\s+(?P<rest>.*))?", re.DOTALL)
_ALIASES = {
    "exit": "quit",
    "q": "quit",
    "?": "help",
    "clear": "new",
    "models": "model",
    "reasoning": "effort",
}


def is_command(text: str) -> bool:
    """`/name …` is a command; `/etc/passwd is a file` and `// comment` are words for the model."""
    return _COMMAND.fullmatch(text.strip()) is not None


async def run_command(session: Session, text: str) -> Reply:
    """What a command answers; whatever is wrong with it is said in its lines."""
    found = _COMMAND.fullmatch(text.strip())
    name = found["name"].lower() if found else ""
    command = COMMANDS.get(_ALIASES.get(name, name))
    if found is None or command is None:
        return Reply((_unknown(name),), failed=True)
    if session.busy and not command.while_answering:
        return Reply(
            (f"/{command.name} has to wait: the model is answering. Esc interrupts it.",), failed=True
        )
    try:
        return await command.run(session, (found["rest"] or "").strip())
    except Busy:
        return lines("The model is answering; this counts from the next turn on.", action=After(text))
    except ThinkwireError as error:
        return Reply((str(error),), failed=True)


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    hint = f"did you mean /{near[0]}?" if near else "/help lists them."
    return f"There is no command /{name}; {hint}"


async def _help(session: Session, rest: str) -> Reply:
    """All commands, or one."""
    name = rest.removeprefix("/")
    if name:
        command = COMMANDS.get(_ALIASES.get(name, name))
        if command is None:
            return Reply((_unknown(name),), failed=True)
        return lines(command.written, f"  {command.help}")
    width = max(len(command.written) for command in COMMANDS.values() if len(command.written) < 34)
    return lines(*(f"{command.written:<{width}}  {command.help}" for command in COMMANDS.values()))


def complete(session: Session, text: str) -> Completion:
    """What could be typed next, for a text that ends at the cursor."""
    found = _COMMAND.fullmatch(text) or _COMMAND.fullmatch(text.rstrip())
    if found is None:
        return Completion(len(text), ())
    if found["rest"] is None and not text[-1:].isspace():
        names = (Candidate(f"/{command.name}", command.help) for command in COMMANDS.values())
        return Completion(0, fuzzy(text, names))
    command = COMMANDS.get(_ALIASES.get(found["name"], found["name"]))
    if command is None or command.complete is None:
        return Completion(len(text), ())
    rest = text.partition(" ")[2].lstrip()
    word = rest.rpartition(" ")[2]
    try:
        return Completion(len(text) - len(word), fuzzy(word, command.complete(session, rest)))
    except ThinkwireError:
        return Completion(len(text), ())


def _models(session: Session, rest: str) -> Iterable[Candidate]:
    """Models; after a model's name and a slash, its levels; after a space, the budget."""
    if " " in rest:
        return [Candidate("--thinking-budget=", "tokens for thinking")]
    head, slash, tail = rest.rpartition("/")
    known = list(thinking.models(session))
    if slash and (any(head in (item.text, item.text.partition("/")[2]) for item in known)):
        begun = any(level.startswith(tail.lower()) for level in LEVELS)
        if begun:
            settings = session.settings.set("session", "model", head)
            levels = thinking.levels(session, settings)
            return [Candidate(f"{head}/{level.text}", level.detail) for level in levels]
    return known


def _choices(*words: str) -> Iterable[Candidate]:
    return [Candidate(word) for word in words]


_TABLE = (
    Command(
        name="model",
        usage="[NAME[/LEVEL]] [--thinking-budget=N]",
        help="Change the model, how hard it thinks, or both; without a name, choose.",
        run=thinking.model,
        complete=_models,
    ),
    Command(
        name="effort",
        usage="[LEVEL]",
        help="How hard to think; without a level, choose.",
        run=thinking.effort,
        complete=lambda session, rest: thinking.levels(session),
    ),
    Command(
        name="thinking",
        usage="[show|hide]",
        help="Show or hide thinking, in what was said too.",
        run=thinking.thinking,
        complete=lambda session, rest: _choices("show", "hide"),
    ),
    Command(
        name="set",
        usage="[KEY [VALUE]]",
        help="Change a setting of this session; without a value, see it.",
        run=setting.set_one,
        complete=setting.setting_candidates,
    ),
    Command(
        name="unset",
        usage="KEY",
        help="Take a setting of this session back.",
        run=setting.unset,
        complete=setting.unset_candidates,
    ),
    Command(
        name="profile",
        usage="save|load|list|delete|default [NAME]",
        help="Settings under a name.",
        run=setting.profile,
        complete=setting.profile_candidates,
    ),
    Command(name="context", help="What will be sent, by kind.", run=looking.context),
    Command(
        name="compact",
        help="Sum up earlier turns now; they stay here.",
        run=talk.compact,
        while_answering=False,
    ),
    Command(name="cost", help="Tokens and money of this conversation.", run=looking.cost),
    Command(name="explain", help="The next request: plan, notes and body.", run=looking.explain),
    Command(name="tools", help="The tools that the model may call.", run=looking.tools),
    Command(name="new", help="Begin a new conversation.", run=talk.new, while_answering=False),
    Command(
        name="resume",
        usage="[WORDS|ID]",
        help="Go on with an earlier conversation.",
        run=talk.resume,
        while_answering=False,
    ),
    Command(name="retry", help="Ask again.", run=talk.retry, while_answering=False),
    Command(
        name="export",
        usage="[FILE] [--thinking]",
        help="Into a file: .md, .json or .jsonl.",
        run=talk.export,
        complete=lambda session, rest: _choices("--thinking"),
    ),
    Command(
        name="copy",
        usage="[thinking]",
        help="Copy the last answer, or its thinking.",
        run=talk.copy,
        complete=lambda session, rest: _choices("thinking"),
    ),
    Command(
        name="theme",
        usage="[NAME]",
        help="dark, light or high-contrast.",
        run=talk.theme,
        complete=lambda session, rest: _choices(*talk.THEMES),
    ),
    Command(
        name="help",
        usage="[COMMAND]",
        help="This list.",
        run=_help,
        complete=lambda session, rest: (Candidate(name, command.help) for name, command in COMMANDS.items()),
    ),
    Command(name="quit", help="Leave; the conversation is kept.", run=talk.quit),
)

COMMANDS: dict[str, Command] = {command.name: command for command in _TABLE}
