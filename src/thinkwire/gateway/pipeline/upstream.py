"""Whom a request means: the name in it, the configured way of that name, and the service at its end."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from thinkwire.client.engine import Client
from thinkwire.client.learned_facts import EVERYONE
from thinkwire.client.prepare import CallSpec, ResolvedModel, resolve_model
from thinkwire.gateway.common.refusal import Refusal
from thinkwire.gateway.config.gateway_config import GatewayConfig, RouteChoice
from thinkwire.gateway.http.security import check_model
from thinkwire.gateway.ingress import is_home
from thinkwire.gateway.pipeline.context import RequestContext
from thinkwire.jsonvalue import JsonObject
from thinkwire.notes import Note
from thinkwire.reasoning import Intent, parse_name
from thinkwire.request import Request

LONGEST_NAME = 500
"""Letters. Names are remembered in several places, so none may be as long as it likes."""
_EMPTY = Request()
PATIENCE = 2.0
"""Seconds before another try upstream; a longer wait is the client's to decide."""
_MOMENT = 0.5
_MOST_NAMES = 1024


class Upstream(msgspec.Struct, frozen=True):
    """A model at a service, and the level that was written behind its name."""

    located: ResolvedModel
    level: Intent | None
    upstream: str
    """`provider/model`."""
    home: str
    """The dialect whose own vendor the service is; empty where it speaks another's."""
    asking: CallSpec
    """How it is asked, but for the request."""
    binds_prefix: bool
    """Whether the model's thinking can go back only behind the very words that it came after."""
    thinks_unasked: bool
    """Whether the model thinks when nobody says a word about it."""
    notes: tuple[Note, ...] = ()
    """Why this service, where it was a choice."""


def resolve_upstream(client: Client, name: str, scope: str = EVERYONE) -> Upstream:
    """Where a name leads, by what was learned in a scope; ConfigError when it leads nowhere."""
    now = time.time()
    asking = client.asking(_EMPTY, model=name, scope=scope)
    located = resolve_model(asking, now)
    facts = located.found.facts if located.found is not None else None
    upstream = f"{located.provider.name}/{located.model}"
    to = located.destination
    there = client.asking(_EMPTY, model=upstream, patience=PATIENCE, scope=scope)
    return Upstream(
        located,
        parse_name(name).intent,
        upstream,
        to.dialect if is_home(to.dialect, to) else "",
        msgspec.structs.replace(there, located=resolve_model(there, now)),
        facts is not None and facts.replay == "bound_prefix",
        facts is not None and facts.can_think and facts.default not in (None, "off", "none"),
        asking.routed,
    )


class ModelRouter:
    """Where names lead, remembered for a moment: services, keys and learned facts may change."""

    def __init__(
        self, client: Client, config: GatewayConfig, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._config = config
        self._clock = clock
        self._known: dict[tuple[str, str], tuple[float, Upstream]] = {}
        self._routes: dict[tuple[str, str], RouteChoice] = {}

    def route(self, call: RequestContext, body: JsonObject) -> RouteChoice:
        """Who answers for the name in the path or in the body, if the tenant may ask for it."""
        said = body.get("model")
        named = call.place.name or (said if type(said) is str else "")
        routed = self._routes.get((named, call.dialect)) or self._configured(named, call.dialect)
        call.asked = routed.asked
        if not routed.names[0]:
            raise Refusal(400, "bad_request", "which model? the request names none, and there is no default")
        if call.tenant.models:
            check_model(call.tenant, routed)
        if routed.notes:
            call.notes += routed.notes
        return routed

    def _configured(self, named: str, dialect: str) -> RouteChoice:
        if len(named) > LONGEST_NAME:
            raise Refusal(404, "not_found", f"no model has a name of more than {LONGEST_NAME} letters")
        if len(self._routes) >= _MOST_NAMES:
            self._routes.clear()
        routed = self._config.route(named.removeprefix("models/"), dialect=dialect)
        self._routes[named, dialect] = routed
        return routed

    def find(self, name: str, scope: str = EVERYONE) -> Upstream:
        """Where a name leads, if there is a key for it; a scope that learned about the model has its own."""
        known = self._known.get((name, EVERYONE))
        meant = known[1] if known is not None and self._clock() < known[0] else self._find(name, EVERYONE)
        learned, target = self._client.learned_facts, meant.located.target.found
        if learned is not None and target is not None and learned.has_own(target.facts, scope):
            return self._find(name, scope)
        return meant

    def _find(self, name: str, scope: str) -> Upstream:
        now = self._clock()
        known = self._known.get((name, scope))
        if known is not None and now < known[0]:
            return known[1]
        meant = resolve_upstream(self._client, name, scope)
        if known is not None and meant == known[1]:
            # What was made for the one before holds on.
            meant = known[1]
        provider = meant.located.provider
        if not self._client.has_key(provider):
            names = " or ".join(provider.keys) or "its key"
            message = f"this gateway has no key for {provider.label}: set {names} where it runs"
            raise Refusal(401, "auth", message)
        if len(self._known) >= _MOST_NAMES:
            self._known.clear()
        self._known[name, scope] = (now + _MOMENT, meant)
        return meant

    def configure(self, config: GatewayConfig) -> None:
        """Takes another configuration; nothing of the last one counts any more."""
        self._config = config
        self._known.clear()
        self._routes.clear()
