"""`/new`, `/resume`, `/retry`, `/compact`, `/export`, `/copy`, `/theme`, `/quit`: conversations as wholes."""

from __future__ import annotations

import time
from pathlib import PurePath

from thinkwire.config import change_file, user_file
from thinkwire.errors import ConfigError
from thinkwire.messages import Conversation
from thinkwire.session.commands.result import (
    ApplyTheme,
    Candidate,
    Choose,
    Continue,
    Copy,
    Export,
    Misused,
    Quit,
    Reply,
    Retry,
    StartConversation,
    lines,
)
from thinkwire.session.session import Session
from thinkwire.settings import KEYS
from thinkwire.transcripts import archive_of, write_archives, write_markdown

THEME = "terminal.theme"
THEMES: tuple[str, ...] = KEYS[THEME].allowed
_THINKING = "--thinking"


async def new(session: Session, rest: str) -> Reply:
    return lines(action=StartConversation())


async def resume(session: Session, rest: str) -> Reply:
    return lines(action=Continue(rest))


async def retry(session: Session, rest: str) -> Reply:
    path = await session.keeper.path(session.conversation_id)
    if not path:
        return lines("Nothing was asked yet, so there is nothing to ask again.")
    if path[-1].role == "assistant" and path[-1].status == "complete":
        return lines("The last question has its answer. Ask another, or the same in other words.")
    return lines(action=Retry())


async def compact(session: Session, rest: str) -> Reply:
    """Earlier turns become a summary now."""
    done = await session.compact()
    if done is None:
        return lines("There is nothing to compact yet: only turns before the last exchange can be summed up.")
    return lines(
        f"✓ {done.turns} earlier turns became a summary ({done.before:,} → {done.after:,} tokens); "
        "they stay in the conversation"
    )


async def export(session: Session, rest: str) -> Reply:
    """The conversation as a file: Markdown, or JSON by the name's ending."""
    words = rest.split()
    thinking = _THINKING in words
    names = [word for word in words if word != _THINKING]
    if len(names) > 1:
        raise Misused(f"write /export [FILE] [{_THINKING}]; a name with spaces is not understood")
    talk = await session.conversation()
    if not talk.turns:
        return lines("Nothing was said yet, so there is nothing to export.")
    name = names[0] if names else f"conversation-{time.strftime('%Y%m%d-%H%M%S')}.md"
    return lines(action=Export(name, _written(talk, name, thinking=thinking, model=session.model)))


def _written(talk: Conversation, name: str, *, thinking: bool, model: str) -> bytes:
    match PurePath(name).suffix.lower():
        case ".json":
            return talk.to_json() + b"\n"
        case ".jsonl":
            return write_archives([archive_of(talk, model=model)])
        case ".md" | ".markdown" | ".txt" | "":
            return write_markdown(talk, thinking=thinking).encode("utf-8", "replace")
    raise Misused(f"{name}: the ending decides the form; use .md, .json or .jsonl")


async def copy(session: Session, rest: str) -> Reply:
    """The last answer, or the thinking before it."""
    if rest not in ("", "thinking"):
        raise Misused(f"/copy takes nothing or `thinking`, not {rest!r}")
    turns = (await session.conversation()).turns
    texts = [turn.thinking if rest else turn.text for turn in turns if turn.role == "assistant"]
    text = next((text for text in reversed(texts) if text), None)
    if text is None:
        return lines("There is no answer to copy yet." if not rest else "There is no readable thinking yet.")
    return lines(f"✓ Copied {len(text):,} characters", action=Copy(text))


async def theme(session: Session, rest: str) -> Reply:
    if not rest:
        return lines(action=Choose("/theme ", tuple(Candidate(name) for name in THEMES)))
    if rest not in THEMES:
        raise Misused(f"there is no theme {rest!r}; there are {', '.join(THEMES)}")
    session.set(THEME, rest)
    try:
        change_file(user_file(), THEME, rest)
    except ConfigError as error:
        return lines(f"Theme: {rest}, for now only: {error}", action=ApplyTheme(rest))
    return lines(f"Theme: {rest}, from now on ({user_file()})", action=ApplyTheme(rest))


async def quit(session: Session, rest: str) -> Reply:
    return lines(action=Quit())
