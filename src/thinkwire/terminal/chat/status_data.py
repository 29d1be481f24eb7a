"""Where a session stands, for the status."""

from __future__ import annotations

from thinkwire.errors import ThinkwireError
from thinkwire.reasoning import parse_name
from thinkwire.session import Session
from thinkwire.session.commands import level_shown
from thinkwire.session.commands.inspect import answers_of, total_cost
from thinkwire.settings import thinking_shown
from thinkwire.store.rows import MessageRow
from thinkwire.terminal.status import StatusData
from thinkwire.terminal.widgets.user_message import is_said
from thinkwire.usage import Usage, added


async def of(session: Session, *, turn: Usage | None, turn_cost: float | None, asked: bool) -> StatusData:
    """Nothing here raises: what cannot be told is left out."""
    try:
        located = session.located()
        provider, shown_level = located.provider.label, level(session)
        context = (await session.effective()).shown()
    except ThinkwireError:
        name = session.settings.get("model")
        return StatusData(model=str(name) if name else "no model", simulated=session.client.simulated)
    answers = answers_of(await session.keeper.path(session.conversation_id))
    usage = added(kept.usage for kept in answers)
    return StatusData(
        provider=provider,
        model=parse_name(located.model).name,
        level=shown_level,
        context=context,
        simulated=session.client.simulated,
        hidden=not thinking_shown(session.settings),
        turn=turn,
        turn_cost=turn_cost,
        asked=asked or bool(answers),
        total=usage.total if usage else None,
        total_cost=total_cost(answers),
    )


def last_turn(path: list[MessageRow]) -> tuple[Usage | None, float | None] | None:
    """What the last turn of a stored conversation took; None when nothing was answered yet."""
    said = max((at for at, kept in enumerate(path) if is_said(kept.turn)), default=0)
    answers = answers_of(path[said:])
    return (added(kept.usage for kept in answers), total_cost(answers)) if answers else None


def level(session: Session) -> str:
    return level_shown(session.plan())
