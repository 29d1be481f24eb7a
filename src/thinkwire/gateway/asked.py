"""Whom a request means: the name in it, the configured way of that name, and the service at its end."""

from __future__ import annotations

import time

import msgspec

from thinkwire.asking import Located, locate
from thinkwire.client import Client
from thinkwire.gateway.call import Call
from thinkwire.gateway.config import Routed
from thinkwire.gateway.guard import Refusal, check_model
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note
from thinkwire.reasoning import Intent, parse_name
from thinkwire.request import Request

_EMPTY = Request()


class Meant(msgspec.Struct, frozen=True):
    """A model at a service, and the level that was written behind its name."""

    located: Located
    level: Intent | None
    notes: tuple[Note, ...] = ()
    """Why this service, where it was a choice."""

    @property
    def upstream(self) -> str:
        """`provider/model`."""
        return f"{self.located.provider.name}/{self.located.model}"

    @property
    def binds_prefix(self) -> bool:
        """Whether the model's thinking can go back only behind the very words that it came after."""
        found = self.located.found
        return found is not None and found.facts.replay == "bound_prefix"

    @property
    def thinks_unasked(self) -> bool:
        found = self.located.found
        return (
            found is not None and found.facts.can_think and found.facts.default not in (None, "off", "none")
        )


def find_route(call: Call, body: JsonObject) -> Routed:
    """Who answers for the name in the path or in the body, if the tenant may ask for it."""
    said = body.get("model")
    named = call.place.name or (said if isinstance(said, str) else "")
    routed = call.config.route(named.removeprefix("models/"), dialect=call.dialect)
    call.asked = routed.asked
    if not routed.names[0]:
        raise Refusal(400, "bad_request", "which model? the request names none, and there is no default")
    check_model(call.tenant, routed)
    call.notes += routed.notes
    return routed


def find_meant(client: Client, name: str) -> Meant:
    """Where a name leads; ConfigError when it leads nowhere."""
    asking = client.asking(_EMPTY, model=name)
    return Meant(locate(asking, time.time()), parse_name(name).intent, asking.routed)


def find_served(client: Client, name: str) -> Meant:
    """Where a name leads, if there is a key for it."""
    meant = find_meant(client, name)
    provider = meant.located.provider
    if not client.has_key(provider):
        names = " or ".join(provider.keys) or "its key"
        raise Refusal(401, "auth", f"this gateway has no key for {provider.label}: set {names} where it runs")
    return meant
