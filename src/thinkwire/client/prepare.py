"""From what somebody asks to the bytes of one request: target, replay, plan, encoding. No IO."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import msgspec

from thinkwire import dialects
from thinkwire.catalog import Catalog, CatalogMatch
from thinkwire.client.learned_facts import LOCAL_USER, LearnedFactsFile
from thinkwire.dialects import Dialect, StreamDecoder
from thinkwire.dialects.openai_chat.request import REPAIRED
from thinkwire.dialects.openai_chat.response import decode_response as decode_chat
from thinkwire.dialects.openai_chat.stream_decoder import StreamDecoder as ChatDecoder
from thinkwire.errors import ConfigError
from thinkwire.events import Answer
from thinkwire.jsonvalue import dump, parse_object
from thinkwire.messages import Origin
from thinkwire.notes import Note
from thinkwire.providers import Provider
from thinkwire.providers.encoding import encode_for
from thinkwire.reasoning import Intent, parse_name
from thinkwire.reasoning.explain import merged
from thinkwire.reasoning.plan import Plan
from thinkwire.reasoning.recovery import Recovery
from thinkwire.reasoning.resolve import ConversationState, resolve
from thinkwire.reasoning.target import Target, find_target
from thinkwire.replay import Destination, ReplaySettings, plan_replay
from thinkwire.replay.ways import Ways
from thinkwire.replay.words import Form, form_of, with_holes, words_of
from thinkwire.request import Request
from thinkwire.settings.overrides import ModelOverrides

DEFAULT_MAX_TOKENS = 8_192
"""On the wire that will not do without a ceiling, for models whose own is not known."""


_COUNTED = ("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config")
"""What a request for a count has of the request for an answer."""


class CallSpec(msgspec.Struct, frozen=True):
    """Everything that decides one request."""

    request: Request
    model: str
    thinking: Intent | None
    replay: ReplaySettings
    streamed: bool = True
    catalog: Catalog | None = None
    learned_facts: LearnedFactsFile | None = None
    scope: str = LOCAL_USER
    """Whose learned facts count beside those for everyone, and for whom this request may learn more."""
    providers: Mapping[str, Provider] | None = None
    bases: Mapping[str, str] = {}
    simulated: bool = False
    """Whether the strict simulators answer for every service."""
    until: float | None = None
    """When everything must be over, on the loop's clock."""
    patience: float | None = None
    """The longest wait before another try, in seconds; what takes longer is left to whoever asked."""
    overrides: ModelOverrides | None = None
    """What the user's settings say about this model, over the facts."""
    circumstances: ConversationState | None = None
    routed: tuple[Note, ...] = ()
    """Why this service was chosen, where it was a choice."""
    recovery: Recovery | None = None
    """How the request is asked after the refusal of the try before."""
    located: ResolvedModel | None = None
    """Where the model was found just before, by the same tables and settings. Learned facts count at once."""
    moulds: Ways[Mould] | None = None
    """What was decided for requests to a model that was found before, all of which came as JSON."""
    way: bytes = b""
    """The way in which it is asked, where that is known: the same for all that differ in the words alone."""
    texts: list[str] | None = None
    """All that the request says, as `words_of` finds it, where that is known with its way."""


class PreparedRequest(msgspec.Struct, frozen=True):
    """One request, ready to be sent but for the key."""

    provider: Provider
    dialect: Dialect
    model: str
    endpoint: str | None
    """The service that the answer's thinking belongs to."""
    url: str
    headers: dict[str, str]
    data: bytes
    """The body."""
    plan: Plan
    notes: tuple[Note, ...]
    streamed: bool
    request: Request
    """What the body says, in neutral words: after replay and plan."""

    @property
    def body(self) -> dict[str, Any]:
        """The body, to be looked at."""
        return parse_object(self.data)

    @property
    def carries_seals(self) -> bool:
        for turn in self.request.turns:
            for block in turn.blocks:
                if getattr(block, "seal", None) is not None:
                    return True
        return False

    def origin(self, response_id: str | None, now: float) -> Origin:
        return Origin(
            provider=self.provider.name,
            endpoint=self.endpoint,
            model=self.model,
            response_id=response_id,
            time=now,
        )

    def counting(self) -> PreparedRequest | None:
        """The same request for the vendor to count instead of answering; None where none counts."""
        route = self.provider.route(self.dialect.name)
        if route is None or route.count_path is None:
            return None
        url = self.provider.base_url + route.count_path.replace("{model}", self.model)
        body = self.body
        if self.dialect.name == "gemini":
            body = {"generateContentRequest": {"model": f"models/{self.model}", **body}}
        else:
            body = {key: value for key, value in body.items() if key in _COUNTED}
        return msgspec.structs.replace(self, url=url, data=dump(body), streamed=False)

    def read(self, body: dict[str, Any]) -> Answer:
        """An answer that came whole."""
        if self.dialect.name == "openai-chat":
            return decode_chat(body, quirks=self.provider.quirks)
        return self.dialect.decode_response(body)

    def decoder(self) -> StreamDecoder:
        if self.dialect.name == "openai-chat":
            return ChatDecoder(quirks=self.provider.quirks)
        return self.dialect.stream_decoder()


class ResolvedModel(msgspec.Struct, frozen=True):
    """Where a request goes, and how it is to be thought about."""

    provider: Provider
    model: str
    found: CatalogMatch | None
    intent: Intent
    destination: Destination
    target: Target
    """What the name means by the tables alone."""


def resolve_model(asking: CallSpec, now: float) -> ResolvedModel:
    """The service and model that were asked for; ConfigError when nobody has it."""
    at = asking.located
    if at is None or not _is_still_so(at, asking, now):
        at = _looked_up(asking, now)
    return at if asking.thinking is None else _asked_to_think(at, asking.thinking)


def _looked_up(asking: CallSpec, now: float) -> ResolvedModel:
    """Where the name leads, thought about as the name says."""
    named = parse_name(asking.model)
    target = find_target(named.name, asking.catalog, asking.providers)
    if target.provider is None:
        raise ConfigError(f"nobody is known to have {named.name!r}; say PROVIDER/MODEL (`thinkwire models`)")
    provider = _with_field(at_base(target.provider, asking.bases), asking)
    found = _with_learned_facts(target, asking, now)
    destination = Destination(
        provider=provider.name,
        model=target.model,
        dialect=found.facts.dialect if found else provider.routes[0].dialect,
        facts=found.facts if found else None,
        # Simulators are the same wherever they listen, and never the provider itself.
        endpoint=f"simulated://{provider.name}" if asking.simulated else provider.base_url,
    )
    intent = named.intent or Intent()
    return _asked_to_think(ResolvedModel(provider, target.model, found, intent, destination, target), intent)


def _is_still_so(at: ResolvedModel, asking: CallSpec, now: float) -> bool:
    """Whether nothing was learned since a model was found; what settings say is asked anew."""
    if asking.recovery is not None or asking.overrides is not None:
        return False
    if at.found is None or at.target.found is None or asking.learned_facts is None:
        return True
    facts = asking.learned_facts.corrected(at.target.found.facts, now, asking.scope)
    return facts is at.found.facts or facts == at.found.facts


def _asked_to_think(at: ResolvedModel, intent: Intent) -> ResolvedModel:
    thinking = intent.level != "none" and intent.on is not False and intent.budget != 0
    budgeted = intent.budget is not None
    destination = at.destination
    if destination.thinking is not thinking or destination.budgeted is not budgeted:
        destination = msgspec.structs.replace(destination, thinking=thinking, budgeted=budgeted)
    return ResolvedModel(at.provider, at.model, at.found, intent, destination, at.target)


def prepare_request(asking: CallSpec, now: float) -> PreparedRequest:
    """The request as it will go out."""
    if asking.moulds is not None:
        cast = _cast(asking, asking.moulds, now)
        if cast is not None:
            return cast
    return _prepared(asking, now)


def _prepared(asking: CallSpec, now: float) -> PreparedRequest:
    at = resolve_model(asking, now)
    provider, name, intent = at.provider, at.destination.dialect, at.intent
    replay = plan_replay(asking.request.turns, at.destination, asking.replay)
    if replay.thinking_off:
        intent = Intent(level="none", said="a tool loop begun by another model")
    request = msgspec.structs.replace(
        asking.request, model=at.model, turns=replay.turns, stream=asking.streamed or None
    )
    plan, request = resolve(intent, at.found, request, asking.circumstances)
    encoded = encode_for(provider, name, request, plan.facts, clean=False)
    data, repaired = _dumped(merged(_completed(encoded.body, name, plan, provider), plan.patch), name)
    url = provider.endpoint(name, at.model, stream=bool(request.stream))
    if url is None:
        raise ConfigError(f"{provider.label} does not speak {name}")
    ignored = _ignored(asking.overrides, at) if asking.overrides is not None else ()
    return PreparedRequest(
        provider=provider,
        dialect=dialects.get(name),
        model=at.model,
        endpoint=at.destination.endpoint,
        url=url,
        headers=provider.headers | plan.headers,
        data=data,
        plan=plan,
        notes=(*asking.routed, *ignored, *replay.notes, *plan.notes, *encoded.notes, *repaired),
        streamed=bool(request.stream),
        request=request,
    )


def _dumped(body: dict[str, Any], dialect: str) -> tuple[bytes, tuple[Note, ...]]:
    """The bytes of a body; the chat wire says that something in it was replaced."""
    try:
        return _encode(body), ()
    except (UnicodeEncodeError, RecursionError):
        return dump(body), (REPAIRED,) if dialect == "openai-chat" else ()


_beside = attrgetter(
    *[name for name in Request.__struct_fields__ if name not in ("model", "turns", "system", "stream")]
)
"""What a request says beside its words, the model and whether to stream."""
_encode = msgspec.json.Encoder().encode


class Mould(msgspec.Struct, frozen=True):
    """What goes out around the words of every request that is asked in one way."""

    prepared: PreparedRequest
    form: Form


def _cast(asking: CallSpec, moulds: Ways[Mould], now: float) -> PreparedRequest | None:
    """The request in the mould of those before it; None where it has to be made as if it were the first."""
    at, request = asking.located, asking.request
    words = asking.texts or words_of(request)
    if words is None or at is None or asking.circumstances is not None or not _is_still_so(at, asking, now):
        return None
    try:
        way = b"=" + asking.way if asking.way else _way(asking, len(words))
        mould = moulds.find(at, way)
        if mould is None and moulds.is_worth_making(at, way):
            mould = _mould(asking, now)
            moulds.keep(at, way, mould)
        if mould is None:
            return None
        data = mould.form.filled(words)
    except (ValueError, TypeError, RecursionError):
        return None
    common = mould.prepared
    return msgspec.structs.replace(
        common,
        data=data,
        notes=(*asking.routed, *common.notes),
        request=msgspec.structs.replace(common.request, turns=request.turns, system=request.system),
    )


def _way(asking: CallSpec, texts: int) -> bytes:
    """All that decides how a request is written, but for its words."""
    request, system = asking.request, len(asking.request.system)
    return _encode((asking.model, asking.thinking, asking.streamed, system, texts, _beside(request)))


def _mould(asking: CallSpec, now: float) -> Mould | None:
    """The mould for all requests that are asked like this one; None if their words do not stand apart."""
    blank, holes = with_holes(asking.request)
    prepared = _prepared(msgspec.structs.replace(asking, request=blank, routed=()), now)
    form = form_of(prepared.data, holes)
    if form is None or (prepared.request.turns, prepared.request.system) != (blank.turns, blank.system):
        return None
    return Mould(prepared, form)


def at_base(provider: Provider, bases: Mapping[str, str]) -> Provider:
    """The service at the address that replaces its own, if there is one."""
    base = bases.get(provider.name)
    return msgspec.structs.replace(provider, base_url=base.rstrip("/")) if base else provider


def _with_field(provider: Provider, asking: CallSpec) -> Provider:
    """The service as the user's settings describe it: the field in which it gives and takes reasoning."""
    if asking.recovery is not None and asking.recovery.fill_reasoning:
        provider = msgspec.structs.replace(
            provider, quirks=msgspec.structs.replace(provider.quirks, fill_reasoning=True)
        )
    field = asking.replay.field or (asking.overrides.field if asking.overrides else None)
    if field is None:
        return provider
    quirks = msgspec.structs.replace(
        provider.quirks,
        reasoning_field=field,
        answer_field=field,
        message_fields=_with_message_field(provider.quirks.message_fields, field),
    )
    return msgspec.structs.replace(provider, quirks=quirks)


def _with_message_field(known: dict[str, tuple[str, ...]], field: str) -> dict[str, tuple[str, ...]]:
    return known and known | {"assistant": (*known.get("assistant", ()), field)}


def _with_learned_facts(target: Target, asking: CallSpec, now: float) -> CatalogMatch | None:
    found = target.found or _described(target, asking, now)
    if found is None:
        return None
    facts = found.facts
    if asking.learned_facts is not None:
        facts = asking.learned_facts.corrected(facts, now, asking.scope)
    if asking.overrides is not None:
        facts = asking.overrides.applied(facts)
    if asking.recovery is not None:
        facts = asking.recovery.apply(facts)
    return found if facts is found.facts else CatalogMatch(facts, found.by)


def _described(target: Target, asking: CallSpec, now: float) -> CatalogMatch | None:
    """The facts of a model that only the user's settings know."""
    if asking.overrides is None or target.provider is None:
        return None
    facts = asking.overrides.unknown(
        provider=target.provider.name,
        model=target.model,
        dialect=target.provider.routes[0].dialect,
        day=datetime.date.fromtimestamp(now),
    )
    return CatalogMatch(facts, "setting") if facts else None


def _ignored(overrides: ModelOverrides, at: ResolvedModel) -> tuple[Note, ...]:
    """Settings about the model that mean nothing for it."""
    return overrides.ignored(at.target.found.facts) if at.target.found is not None else ()


def _completed(body: dict[str, Any], dialect: str, plan: Plan, provider: Provider) -> dict[str, Any]:
    """What a wire cannot do without, or what keeps reasoning in our hands instead of the vendor's store."""
    match dialect:
        case "anthropic" if "max_tokens" not in body:
            limit = plan.facts.max_output if plan.facts else None
            return body | {"max_tokens": limit or DEFAULT_MAX_TOKENS}
        case "openai-responses" if "store" not in body and "previous_response_id" not in body:
            return body | {"store": False}
        case "openai-chat" if (
            body.get("stream") and "stream_options" not in body and provider.quirks.takes("stream_options")
        ):
            return body | {"stream_options": {"include_usage": True}}
        case "gemini":
            return {key: value for key, value in body.items() if key not in ("stream", "model")}
    return body
