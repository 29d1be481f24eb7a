"""`/model`, `/effort`, `/thinking`: who answers and how hard it thinks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from thinkwire.catalog import Facts
from thinkwire.client.credentials import missing_key
from thinkwire.errors import ConfigError
from thinkwire.messages import Block, Thinking, Turn
from thinkwire.reasoning import parse_level, parse_name
from thinkwire.reasoning.feedback import feedback
from thinkwire.reasoning.levels import LADDER, Level, native_word
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.target import all_targets
from thinkwire.replay import Destination
from thinkwire.replay.origin import readable, same_service
from thinkwire.session.commands.result import Candidate, Choose, Misused, Reply, lines
from thinkwire.session.session import Session
from thinkwire.settings import Settings, thinking_shown

_BUDGET = "--thinking-budget"
_SHOWN = {"show": True, "on": True, "hide": False, "off": False}


async def model(session: Session, rest: str) -> Reply:
    """Another model, or the ones to choose from."""
    name, budget = _read(rest)
    if not name and budget is None:
        return Reply(tuple(now(session)), Choose("/model ", tuple(models(session))))
    turns = (await session.conversation()).turns
    before = _destination(session)
    name = name or session.model
    try:
        session.plan(session.settings.set("session", "model", name))
    except ConfigError as error:
        raise ConfigError(f"{error}{_nearest(session, name)}") from None
    session.use_model(name)
    if budget is not None:
        if parse_name(name).intent is None:
            session.unset("reasoning.effort")
        session.set("reasoning.maxTokens", budget)
    located = session.located()
    told = [*feedback(session.plan())]
    if not session.client.has_key(located.provider):
        told.append(f"  ⚠ {missing_key(located.provider)}")
    fate = what_happens_to_thinking(turns, before, located.destination)
    return lines(*told, *([f"  {fate}"] if fate else []))


async def effort(session: Session, rest: str) -> Reply:
    """Another level, or the ones to choose from."""
    if not rest:
        return Reply(tuple(now(session)), Choose("/effort ", tuple(levels(session))))
    level = parse_level(rest)
    if level is None:
        known = ", ".join(candidate.text for candidate in levels(session))
        raise Misused(f"there is no level {rest!r}; this model takes {known}")
    session.unset("reasoning.maxTokens")
    session.set("reasoning.effort", level)
    return lines(*(line.strip() for line in feedback(session.plan())[1:]))


async def thinking(session: Session, rest: str) -> Reply:
    """Thinking shown or hidden, in what was said too."""
    if rest and rest.lower() not in _SHOWN:
        raise Misused(f"/thinking takes show or hide, not {rest!r}")
    show = _SHOWN[rest.lower()] if rest else not thinking_shown(session.settings)
    session.set("reasoning.includeInResponse", show)
    if show and not thinking_shown(session.settings):
        return lines("Thinking is switched off (reasoning.enabled); /set reasoning.enabled true")
    return lines("Thinking is shown." if show else "Thinking is hidden; it goes on, and is kept.")


def now(session: Session) -> list[str]:
    """The model that answers now, in the words of `/model`."""
    first, *others = feedback(session.plan())
    return [first.replace("✓ Switched to", "Now:"), *others]


def next_level(session: Session) -> Level:
    """The level after this one, of those the model has; after the last comes the first."""
    ring = level_ring(session.plan().facts)
    asked = session.plan().requested.level or "auto"
    return ring[(ring.index(asked) + 1) % len(ring)] if asked in ring else ring[0]


def level_ring(facts: Facts | None) -> tuple[Level, ...]:
    """The levels that make a difference on a model, weakest first, with `auto` at the end."""
    if facts is None:
        return ("none", "low", "med", "high", "auto")
    if not facts.can_think or facts.mechanism == "always":
        return ("auto",)
    off: tuple[Level, ...] = ("none",) if facts.can_be_off else ()
    if facts.efforts:
        words = {level for word in facts.efforts if (level := parse_level(word)) in LADDER}
        return (*off, *(level for level in LADDER if level in words), "auto")
    if facts.budget is not None:
        return (*off, "low", "med", "high", "auto")
    return (*off, "auto")


def level_shown(plan: Plan) -> str:
    """`high`; `none → medium` where the model got something else than was asked; `auto` for nothing asked."""
    asked = plan.requested
    if asked.budget is not None:
        said = _tokens(asked.budget)
    elif asked.level is not None:
        said = asked.level
    else:
        said = "off" if asked.on is False else "auto"
    got = _effective(plan)
    return said if got is None or got == said else f"{said} → {got}"


def _effective(plan: Plan) -> str | None:
    """What the model is told, where that is not what was asked."""
    setting, asked = plan.effective, plan.requested
    can_think = plan.facts is None or plan.facts.can_think
    if not asked.says_anything or (setting.on is None and can_think):
        return None
    if not setting.on:
        return None if asked.level in ("none", "auto") or asked.on is False or asked.budget == 0 else "off"
    if setting.budget is not None:
        same = asked.budget == setting.budget or (asked.budget is None and asked.level not in (None, "none"))
        return None if same else _tokens(setting.budget)
    if setting.effort is None:
        return "on" if asked.level == "none" or asked.on is False else None
    level = parse_level(setting.effort)
    return (
        None
        if level is not None and level == asked.level
        else native_word(level)
        if level
        else setting.effort
    )


def _tokens(budget: int) -> str:
    return "dynamic" if budget < 0 else "off" if budget == 0 else f"{budget:,}"


def models(session: Session) -> Iterable[Candidate]:
    """Every model that is known: of services that can be asked first."""
    providers = session.client.providers
    ready = {name for name, provider in providers.items() if session.client.has_key(provider)}
    targets = [target for target in all_targets() if target.provider and target.provider.name in providers]
    for target in sorted(
        targets, key=lambda target: target.provider is None or target.provider.name not in ready
    ):
        assert target.provider is not None
        missing = "" if target.provider.name in ready else " (no key)"
        yield Candidate(f"{target.provider.name}/{target.model}", f"{target.provider.label}{missing}")


def levels(session: Session, settings: Settings | None = None) -> list[Candidate]:
    """The levels of the model, or of the one in other settings, each with what it comes to."""
    settings = settings or session.settings
    ring = level_ring(session.plan(settings).facts)
    return [Candidate(level, _comes_to(session, settings, level)) for level in ring]


def _comes_to(session: Session, settings: Settings, level: Level) -> str:
    settings = settings.unset("session", "reasoning.maxTokens").set("session", "reasoning.effort", level)
    told = [line for line in feedback(session.plan(settings)) if "Thinking:" in line]
    return told[0].split("Thinking:")[1].strip() if told else ""


def what_happens_to_thinking(
    turns: Iterable[Turn], before: Destination | None, after: Destination
) -> str | None:
    """Earlier thinking after a switch: kept, dormant, or back; None when there is none."""
    thoughts = [
        (block, turn)
        for turn in turns
        for block in turn.blocks
        if isinstance(block, Thinking) and turn.origin
    ]
    if not thoughts:
        return None
    awake = [_goes_to(block, turn, after) for block, turn in thoughts]
    slept = [before is not None and not _goes_to(block, turn, before) for block, turn in thoughts]
    back = sum(now and then for now, then in zip(awake, slept, strict=True))
    asleep = awake.count(False)
    if not asleep and not back:
        return f"Earlier thinking is kept ({_thoughts(len(thoughts))})."
    told = f"Earlier thinking: {_thoughts(back)} back" if back else "Earlier thinking"
    if not asleep:
        return f"{told}."
    joint = "; " if back else ": "
    return f"{told}{joint}{_thoughts(asleep)} dormant, here and not sent until you switch back."


def _goes_to(block: Block, turn: Turn, destination: Destination) -> bool:
    origin = turn.origin
    assert origin is not None
    if not same_service(origin, destination.provider, destination.endpoint):
        return False
    seal = getattr(block, "seal", None)
    return seal is None or readable(seal, origin, destination.dialect, destination.model)


def _thoughts(number: int) -> str:
    return "1 thought" if number == 1 else f"{number} thoughts"


def _destination(session: Session) -> Destination | None:
    try:
        return session.located().destination
    except ConfigError:
        return None


def _read(rest: str) -> tuple[str, int | None]:
    """The name and the budget of `NAME[/LEVEL] [--thinking-budget=N]`."""
    name, budget = "", None
    words = rest.split()
    while words:
        word = words.pop(0)
        option, sign, value = word.partition("=")
        if option == _BUDGET:
            value = value if sign else words.pop(0) if words else ""
            try:
                budget = int(value.replace(",", "").replace("_", ""))
            except ValueError:
                raise Misused(f"{_BUDGET} takes a number of tokens, e.g. {_BUDGET}=16000") from None
        elif word.startswith("--") or name:
            raise Misused(f"{word!r} is too much; write /model NAME[/LEVEL] [{_BUDGET}=N]")
        else:
            name = word
    return name, budget


def _nearest(session: Session, name: str) -> str:
    wanted = parse_name(name).name.lower()
    known = {candidate.text.partition("/")[2].lower(): candidate.text for candidate in models(session)}
    near = difflib.get_close_matches(wanted.rpartition("/")[2], known, n=1, cutoff=0.7)
    return f"; did you mean /model {known[near[0]]}?" if near else ""
