"""`/set`, `/unset`, `/profile`: settings of this session, and settings under a name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from thinkwire.config import Profiles
from thinkwire.reasoning import parse_name
from thinkwire.reasoning.feedback import feedback
from thinkwire.session.commands.result import Candidate, Misused, Reply, lines
from thinkwire.session.session import Busy, Session
from thinkwire.settings import DEFAULT, KEYS, Layer, Settings, parse_value, setting_of, spelled

_AMOUNT = ("reasoning.effort", "reasoning.maxTokens")


async def set_one(session: Session, rest: str) -> Reply:
    """One setting of this session; without a value, what it is; without a key, all that are set."""
    key, _, value = rest.partition(" ")
    key, sign, glued = key.partition("=")
    value = f"{glued}{value}" if sign else value
    if not key:
        return lines(*_all(session.settings))
    setting = setting_of(key)
    if not value.strip() and not sign:
        source = session.settings.origin(key)
        return lines(
            f"{key} = {spelled(session.settings.get(key))} ({source})",
            f"  {setting.help} It takes {setting.allows}.",
        )
    before = session.settings.get(key)
    session.set(key, parse_value(key, value.strip()))
    told = f"{key} = {spelled(session.settings.get(key))}"
    return lines(told, *_consequence(session, key, before))


async def unset(session: Session, rest: str) -> Reply:
    """The session's word taken back; what lies below counts again."""
    if not rest:
        raise Misused("which setting? /unset KEY; /set lists what is set")
    setting_of(rest)
    if rest not in session.settings.layer("session").values:
        return lines(f"{rest} is not set in this session; it is {spelled(session.settings.get(rest))}")
    if rest == "model" and session.busy:
        raise Busy("a request is in flight: interrupt it, or wait, before you change the model")
    before = session.settings.get(rest)
    session.unset(rest)
    value, source = session.settings.get(rest), session.settings.origin(rest)
    return lines(f"{rest} = {spelled(value)} ({source})", *_consequence(session, rest, before))


def _all(settings: Settings) -> list[str]:
    rows = [row for row in settings.rows() if row.source != DEFAULT]
    if not rows:
        return ["Nothing is set; everything is at its default. /set KEY tells what a setting is for."]
    width = max(len(row.key) for row in rows)
    return [f"{row.key:<{width}}  {spelled(row.value)}  ({row.source})" for row in rows]


def _consequence(session: Session, key: str, before: object) -> list[str]:
    """What a setting of thinking comes to for the model."""
    changed = session.settings.get(key) != before
    if not changed or session.settings.get("model") is None:
        return []
    if key == "model":
        return feedback(session.plan())
    thinks = key in (*_AMOUNT, "reasoning.enabled", "maxTokens", "temperature")
    return feedback(session.plan())[1:] if thinks else []


async def profile(session: Session, rest: str) -> Reply:
    """`save`, `load`, `list`, `delete`, `default`."""
    verb, _, name = rest.partition(" ")
    name = name.strip()
    does = _VERBS.get(verb or "list")
    if does is None:
        raise Misused(f"/profile takes {', '.join(_VERBS)}; not {verb!r}")
    if not name and verb in ("save", "load", "delete"):
        raise Misused(f"which profile? /profile {verb} NAME")
    return await does(session, name)


async def _save(session: Session, name: str) -> Reply:
    path = Profiles().save(name, session.settings.saved())
    return lines(f"✓ Profile {name} saved ({path})")


async def _load(session: Session, name: str) -> Reply:
    profiles = Profiles()
    values = profiles.load(name)
    if "model" in values and session.busy:
        raise Busy("a request is in flight: interrupt it, or wait, before you load a profile with a model")
    before, had = session.settings, session.settings.get("model")
    session.settings = with_profile(before, Layer("profile", values, profiles.place(name)))
    try:
        told = feedback(session.plan()) if session.settings.get("model") is not None else []
    except Exception:
        session.settings = before
        raise
    shown = told if session.settings.get("model") != had else told[1:]
    return lines(f"✓ Profile {name} loaded ({len(values)} settings)", *shown)


def with_profile(settings: Settings, layer: Layer) -> Settings:
    """The profile's word counts on everything that it names, also over what was said before it."""
    named = parse_name(layer.values.get("model") or "").intent is not None
    says_amount = named or any(key in layer.values for key in _AMOUNT)
    for key in (*layer.values, *(_AMOUNT if says_amount else ())):
        settings = settings.unset("session", key)
    return settings.with_layer(layer)


async def _list(session: Session, name: str) -> Reply:
    loaded = session.settings.layer("profile").place
    profiles = Profiles()
    told = []
    for entry in profiles.list():
        marks = ["default"] if entry.default else []
        marks += ["loaded"] if loaded and loaded == profiles.place(entry.name) else []
        marks += ["of the package"] if entry.shipped else []
        marks += [f"damaged: {entry.flaw}"] if entry.flaw else []
        told.append(f"{entry.name}  ({', '.join(marks)})" if marks else entry.name)
    return lines(*(told or ["There is no profile yet: /profile save NAME"]))


async def _delete(session: Session, name: str) -> Reply:
    Profiles().delete(name)
    return lines(f"✓ Profile {name} deleted")


async def _default(session: Session, name: str) -> Reply:
    profiles = Profiles()
    if not name:
        return lines(profiles.default() or "No profile is loaded by default.")
    if name == "none":
        profiles.set_default(None)
        return lines("✓ No profile is loaded by default.")
    profiles.set_default(name)
    return lines(f"✓ Profile {name} is loaded by default from now on.")


_VERBS: dict[str, Callable[[Session, str], Awaitable[Reply]]] = {
    "save": _save,
    "load": _load,
    "list": _list,
    "delete": _delete,
    "default": _default,
}


def setting_candidates(session: Session, rest: str) -> Iterable[Candidate]:
    """Keys, then the values of the key."""
    key, space, _ = rest.partition(" ")
    if not space:
        yield from (Candidate(setting.key, setting.help) for setting in KEYS.values())
    elif key in KEYS:
        current = spelled(session.settings.get(key))
        words = [spelled(value) for value in KEYS[key].allowed] or [KEYS[key].example]
        yield from (Candidate(word, "now" if word == current else "") for word in words)


def unset_candidates(session: Session, rest: str) -> Iterable[Candidate]:
    values = session.settings.layer("session").values
    return (Candidate(key, spelled(value)) for key, value in values.items())


def profile_candidates(session: Session, rest: str) -> Iterable[Candidate]:
    """Verbs, then names."""
    verb, space, _ = rest.partition(" ")
    if not space:
        yield from (Candidate(word) for word in _VERBS)
    elif verb in ("load", "delete", "default", "save"):
        yield from (Candidate(entry.name) for entry in Profiles().list())
        if verb == "default":
            yield Candidate("none", "load no profile by default")
