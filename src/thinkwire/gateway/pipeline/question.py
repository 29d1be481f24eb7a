"""A question alone, which is understood as the last one was that was asked in the same way.

Most that is asked of a gateway are such questions, many of them with the same words around them. Nothing has
come back with them that was given out before, so that there is nothing to open or to restore.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from thinkwire import dialects
from thinkwire.client.learned_facts import EVERYONE
from thinkwire.client.prepare import CallSpec
from thinkwire.gateway.http.routes import Route
from thinkwire.gateway.ingress import same
from thinkwire.gateway.pipeline.translate import ClientRequest, asking_for, normalise_request
from thinkwire.gateway.pipeline.upstream import Upstream
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Text, Turn
from thinkwire.replay.ways import LONGEST, Ways
from thinkwire.replay.words import words_of

_encode = msgspec.json.Encoder().encode
_ASKED = {
    "anthropic": ("messages", "system"),
    "openai-chat": ("messages", "system"),
    "openai-responses": ("input", "instructions"),
}
"""Dialect → where its requests say what is asked, and where a system text stands beside it."""
_KEPT = frozenset({"previous_response_id", "conversation", "prompt"})
"""What a request has that goes on with something that is kept."""
_SYSTEM = ("system", "developer")
_ANY = "?"
ANY = (Turn("user", (Text(_ANY),)),)
"""The turns of a question whose words stand for all others."""
Made = TypeVar("Made")


class Question(msgspec.Struct, frozen=True):
    """What is understood of every request that asks in one way, and how the model is asked then."""

    understood: ClientRequest
    asking: CallSpec
    before: list[str] | None
    """The texts that stand before its words; None where they do not tell all that is said."""


def like_before(
    ways: Ways[Question], body: JsonObject, place: Route, meant: Upstream, *, scope: str
) -> tuple[ClientRequest, CallSpec] | None:
    """The request as this model can be asked it, and how it is; None where that has to be found out.

    All who ask in this way share what is known; the scope is the tenant's own.
    """
    recalled = recall(ways, body, (place, meant), _new)
    if recalled is None:
        return None
    words, known = recalled
    understood = known.understood
    request = msgspec.structs.replace(understood.request, turns=spoken(words))
    texts = None if known.before is None or words.isspace() else [*known.before, words]
    return (
        msgspec.structs.replace(understood, request=request),
        msgspec.structs.replace(known.asking, request=request, texts=texts, scope=scope),
    )


def spoken(words: str) -> tuple[Turn, ...]:
    """The turns of a question."""
    return (Turn("user", (Text(words),)),)


def recall(
    ways: Ways[Made],
    body: JsonObject,
    to: tuple[Route, Upstream],
    make: Callable[[JsonObject, Route, Upstream, bytes], Made | None],
) -> tuple[str, Made] | None:
    """The words of a question, and what was made of one that was asked in the same way.

    `make` is given such a body with any words, whose turns are `ANY`, and makes what holds for all of them;
    None if that is not all there is to one.
    """
    place, meant = to
    if place.dialect not in _ASKED or "tools" in body:
        return None
    field, around = _ASKED[place.dialect]
    asked = body.get(field)
    bare = field == "input" and type(asked) is str
    words = asked if bare else _words(asked)
    if not words or (around in body and not _is_short(body[around])):
        return None
    if field == "input" and not _KEPT.isdisjoint(body):
        return None
    before = "" if bare else body[field][:-1]
    try:
        way = _encode((place.dialect, meant.upstream, body | {field: before}))
    except (ValueError, TypeError, RecursionError):
        return None
    known = ways.find(meant, way)
    if known is None:
        if not ways.is_worth_making(meant, way):
            return None
        any_words = _ANY if bare else [*before, {"role": "user", "content": _ANY}]
        known = make(body | {field: any_words}, place, meant, way)
        ways.keep(meant, way, known)
        if known is None:
            return None
    return words, known


def _words(messages: Any) -> str | None:
    """The words of the user's only message, before which no more than a short system text stands."""
    if type(messages) is not list or not 1 <= len(messages) <= 2:
        return None
    asked = messages[-1]
    if type(asked) is not dict or len(asked) != 2 or asked.get("role") != "user":
        return None
    if len(messages) == 2 and not _is_system(messages[0]):
        return None
    words = asked.get("content")
    return words if type(words) is str and words else None


def _is_system(message: Any) -> bool:
    return type(message) is dict and message.get("role") in _SYSTEM and _is_short(message.get("content"))


def _is_short(text: Any) -> bool:
    return type(text) is str and len(text) < LONGEST


def _new(body: JsonObject, place: Route, meant: Upstream, way: bytes) -> Question | None:
    decoded = dialects.get(place.dialect).decode_request(body)
    understood = normalise_request(decoded, place, meant.located.destination)
    if understood.request.turns != ANY or understood.restore is not same:
        return None
    texts = words_of(understood.request)
    asking = msgspec.structs.replace(asking_for(meant, understood, EVERYONE), way=way)
    return Question(understood, asking, None if texts is None else texts[:-1])
