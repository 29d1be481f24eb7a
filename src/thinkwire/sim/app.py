"""The simulated providers as one ASGI application: every service under `/{provider}` and its own path.

simulator = Simulator(seed=7)      # an ASGI callable; no framework, no state but what the APIs store
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple
from urllib.parse import parse_qs
from zlib import crc32

from thinkwire.catalog import Catalog, CatalogMatch, default_catalog
from thinkwire.errors import ConfigError, MalformedInput
from thinkwire.jsonvalue import dump, parse
from thinkwire.providers import default_providers
from thinkwire.sim import error_bodies as bodies
from thinkwire.sim import model_lists as feeds
from thinkwire.sim.chaos import Chaos, ChaosWriter, Gone, Message, Receive, Send
from thinkwire.sim.error_bodies import Complaint, Refused
from thinkwire.sim.respond import Responder, Served
from thinkwire.sim.response_store import ResponseStore
from thinkwire.sim.routes import Place, find_place
from thinkwire.sim.rules.rule import Refusal, Rule, RuleInput
from thinkwire.sim.seal_binding import account_of
from thinkwire.sim.seals import SimSealer, digest

LIMIT = 32 * 1024 * 1024
MARK = {"x-simulated-by": "thinkwire"}
_KEYS = {
    "bearer": ("authorization",),
    "x-api-key": ("x-api-key", "authorization"),
    "x-goog-api-key": ("x-goog-api-key", "authorization"),
    "none": (),
}


class Head(NamedTuple):
    """A request without its body."""

    method: str
    path: str
    query: str
    headers: dict[str, str]

    @staticmethod
    def of(scope: Message) -> Head:
        pairs = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        return Head(scope["method"], scope["path"], scope.get("query_string", b"").decode("latin-1"), pairs)


class Simulator:
    """Strict providers. `rules` defaults to all of them, `chaos` to none."""

    def __init__(
        self,
        seed: int = 0,
        rules: Sequence[Rule] | None = None,
        chaos: Chaos | None = None,
        sealer: SimSealer | None = None,
        *,
        catalog: Catalog | None = None,
    ) -> None:
        if rules is None:
            from thinkwire.sim.rules.table import all_rules

            rules = all_rules()
        self.seed = seed
        self.rules = tuple(rules)
        self.chaos = chaos
        self.fired: Counter[str] = Counter()
        """How often each rule refused something."""
        self._sealer = sealer or SimSealer()
        self._catalog = catalog or default_catalog()
        self._delivery = Responder(seed, ResponseStore())
        self._random = Random(seed)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            outlet = ChaosWriter(scope, receive, send)
            try:
                await self._serve(Head.of(scope), receive, outlet)
            except Gone:
                return

    async def _serve(self, head: Head, receive: Receive, outlet: ChaosWriter) -> None:
        outlet.headers = MARK
        if head.path == "/":
            await outlet.whole(200, {"content-type": "text/plain; charset=utf-8"}, _index())
            return
        place = find_place(head.path)
        if place is None:
            await self._refuse(outlet, None, Refused(Complaint(404, f"Nothing is simulated at {head.path}.")))
            return
        try:
            outlet.chaos = self._trouble(head)
            key = check_key(place, head)
            raw = await _read(receive)
            named = "request-id" if place.dialect == "anthropic" else "x-request-id"
            outlet.headers = MARK | {named: f"req_{digest(head.path, crc32(raw))}"}
            if outlet.chaos.status is not None:
                raise Refused(bodies.trouble(outlet.chaos.status))
            served = self._understand(place, head, raw, account_of(key))
            if isinstance(served, Served):
                await self._delivery.deliver(served, outlet)
            else:
                await outlet.whole(200, {"content-type": "application/json"}, dump(served))
        except Refused as refused:
            self.fired.update([refused.rule] if refused.rule else [])
            await self._refuse(outlet, place, refused)

    def _trouble(self, head: Head) -> Chaos:
        """The trouble that this request asked for, else the simulator's own."""
        asked = head.headers.get("x-sim-chaos")
        try:
            chaos = Chaos.parse(asked) if asked is not None else self.chaos
        except ConfigError as error:
            raise Refused(Complaint(400, str(error))) from None
        if chaos is None or self._random.random() >= chaos.p:
            return Chaos()
        return chaos

    def _understand(self, place: Place, head: Head, raw: bytes, account: str) -> Served | dict[str, Any]:
        """What to answer: something that is known already, or what the model shall be asked."""
        if head.method != place.method:
            raise Refused(bodies.wrong_method(head.method))
        vendor, dialect = place.provider.name, place.dialect
        if place.operation == "models":
            return feeds.feed(self._catalog, vendor, dialect)
        if place.operation == "model":
            return feeds.entry_of(self._find(place, place.model).facts, dialect)
        body = _object(raw, vendor, dialect)
        if place.operation == "count" and isinstance(body.get("generateContentRequest"), dict):
            body = body["generateContentRequest"]
        model = place.model or body.get("model")
        if not isinstance(model, str) or not model:
            raise Refused(Complaint(400, "you must provide a model parameter", param="model"))
        found = self._find(place, model.removeprefix("models/"))
        asked = RuleInput(
            *(vendor, dialect, model.removeprefix("models/"), found.facts),
            *(self._whole_body(dialect, body), head.headers, self._sealer, account),
        )
        if place.operation != "count":
            self._check(asked)
        return self._delivery.prepare(place, asked, found, head.query)

    def _find(self, place: Place, model: str) -> CatalogMatch:
        found = self._catalog.find(place.provider.name, model)
        if found is None:
            raise Refused(bodies.no_model(place.provider.name, place.dialect, model))
        return found

    def _whole_body(self, dialect: str, body: dict[str, Any]) -> dict[str, Any]:
        """The body with what it only names by its id."""
        if dialect != "openai-responses":
            return body
        return self._delivery.shelf.expand(body)

    def _check(self, asked: RuleInput) -> None:
        """All rules of this provider and wire, in order; the first refusal wins."""
        for rule in self.rules:
            if asked.provider not in rule.providers or asked.dialect not in rule.dialects:
                continue
            said = rule.check(asked)
            if said is not None:
                refusal = Refusal(said) if isinstance(said, str) else said
                complaint = Complaint(rule.status, refusal.message, rule.kind, refusal.code, refusal.param)
                raise Refused(complaint, rule.id)

    async def _refuse(self, outlet: ChaosWriter, place: Place | None, refused: Refused) -> None:
        vendor, dialect = (place.provider.name, place.dialect) if place else ("", "")
        headers = {"content-type": "application/json"}
        if refused.rule:
            headers["x-sim-rule"] = refused.rule
        if outlet.chaos.retry_after is not None:
            headers["retry-after"] = f"{outlet.chaos.retry_after:g}"
        body = bodies.write(vendor, dialect, refused.complaint)
        await outlet.whole(refused.complaint.status, headers, dump(body))


def _index() -> bytes:
    """What a person sees who opens the address."""
    lines = [
        f"/{provider.name}{route.path}"
        for provider in default_providers().values()
        for route in provider.routes
    ]
    return "\n".join(["Simulated providers; no model is asked here.", "", *lines, ""]).encode()


def check_key(place: Place, head: Head) -> str:
    """The caller's key; refused when there is none or it begins with `bad`."""
    vendor, dialect = place.provider.name, place.dialect
    names = _KEYS[place.provider.auth]
    if dialect == "anthropic" and names:
        names = _KEYS["x-api-key"]
    given = [head.headers.get(name, "") for name in names]
    if "x-goog-api-key" in names:
        given += parse_qs(head.query).get("key", [])
    key = next((key for entry in given if (key := _bare(entry))), "")
    if not key and names:
        raise Refused(bodies.no_key(vendor, dialect))
    if key.startswith("bad"):
        raise Refused(bodies.bad_key(vendor, dialect, key))
    return key


def _bare(header: str) -> str:
    scheme, _, token = header.strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else header.strip()


def _object(raw: bytes, vendor: str, dialect: str) -> dict[str, Any]:
    try:
        value = parse(raw)
    except MalformedInput:
        value = None
    if not isinstance(value, dict):
        raise Refused(bodies.not_json(vendor, dialect))
    return value


async def _read(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > LIMIT:
            raise Refused(bodies.too_large())
        if not message.get("more_body"):
            return b"".join(chunks)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
