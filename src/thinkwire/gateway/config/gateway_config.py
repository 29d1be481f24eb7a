"""What the gateway is told to do: `gateway.toml`, typed, and checked as a whole before any of it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from thinkwire.client.credentials import known_providers
from thinkwire.config.paths import config_folder
from thinkwire.errors import ConfigError, FailureKind
from thinkwire.gateway.config.addresses import ledger_flaw, limits_flaw
from thinkwire.gateway.config.document import Document
from thinkwire.gateway.config.upstreams import Upstream, flaws_of, merged_providers
from thinkwire.notes import Note
from thinkwire.providers import Provider
from thinkwire.reasoning.model_names import parse_name
from thinkwire.reasoning.target import find_target
from thinkwire.request_origin import ip_address, is_loopback

DialectName: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]
Seconds: TypeAlias = Annotated[float, Meta(ge=0.1, le=86_400)]
Megabytes: TypeAlias = Annotated[float, Meta(ge=0.001, le=1_048_576)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]

_LONGEST_TTL = 520 * 7 * 86_400

FALLBACK_ON: tuple[FailureKind, ...] = ("overloaded", "rate_limit", "timed_out", "connection_lost")


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Server(_Section, frozen=True):
    """Where it listens, whom it believes, and how long it waits."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 4141
    workers: Annotated[int, Meta(ge=1, le=64)] = 1
    max_body_mb: Annotated[float, Meta(ge=0.001, le=4096)] = 32
    allowed_hosts: tuple[str, ...] = ()
    """Names in the Host header besides loopback; `.example.com` also stands for all names below it."""
    allowed_origins: tuple[str, ...] = ()
    """Web pages of other addresses that may call, e.g. `https://chat.example.com`."""
    drain_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 30
    keepalive_seconds: Annotated[float, Meta(ge=0.1, le=3600)] = 10
    """How often a client hears something while a model thinks silently."""
    head_seconds: Seconds = 30
    """In which the head of a request must be whole, from its first byte on."""
    body_seconds: Seconds = 60
    """In which a client must have sent the rest of its request; a longer one must bring 16 KiB a second."""
    max_buffered_mb: Annotated[float, Meta(ge=0.001, le=65_536)] = 256
    """Request bodies that are still being received, all together, in each worker."""
    max_streams: Count = 512
    """Requests at once, in each worker."""
    connect_seconds: Seconds = 10
    first_byte_seconds: Seconds = 600
    idle_seconds: Seconds = 300
    max_response_mb: Annotated[float, Meta(ge=0.001, le=4096)] = 64
    """A provider's answer that is not streamed, decompressed."""

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """The address of a browser or client on this machine."""
        host = f"[{self.host}]" if ":" in self.host and not self.host.startswith("[") else self.host
        return f"http://{'127.0.0.1' if host in ('0.0.0.0', '[::]') else host}:{self.port}"

    @property
    def max_body(self) -> int:
        return int(self.max_body_mb * 1024 * 1024)

    @property
    def max_response(self) -> int:
        return int(self.max_response_mb * 1024 * 1024)

    @property
    def max_buffered(self) -> int:
        """Bytes; one body of the largest size always has room."""
        return max(int(self.max_buffered_mb * 1024 * 1024), self.max_body)


class Rule(_Section, frozen=True, rename={"pattern": "from"}):
    """Another model for the names that a pattern matches. `{name}` in `to` is the name itself."""

    pattern: str
    to: str
    level: str | None = None
    only_dialect: DialectName | None = None

    def matches(self, name: str, dialect: str | None) -> bool:
        return self.only_dialect in (None, dialect) and fnmatchcase(name, self.pattern)

    def target(self, name: str, aliases: Mapping[str, str]) -> str:
        target = self.to.replace("{name}", name)
        target = aliases.get(target, target)
        return _leveled(target, f"/{self.level}") if self.level else target


class _WithUrl(_Section, frozen=True):
    url: str | None = None

    def __repr__(self) -> str:
        # The address may hold a password.
        scheme = (self.url or "").partition(":")[0]
        return f"{type(self).__name__}({scheme or None})"


class LedgerSettings(_WithUrl, frozen=True):
    """Where thinking that clients drop is remembered. No `url` is a file on this machine."""

    ttl: Annotated[str, Meta(pattern=r"^[0-9]{1,9}[smhdw]\Z")] = "7d"
    max_mb: Megabytes = 256
    enabled: bool = True

    @property
    def ttl_seconds(self) -> int:
        return int(self.ttl[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}[self.ttl[-1]]

    @property
    def max_bytes(self) -> int:
        return int(self.max_mb * 1024 * 1024)


class LimitSettings(_WithUrl, frozen=True):
    """`url` is a Redis that several workers or machines count in together."""

    unpriced: Literal["refuse", "allow"] = "refuse"
    """Models without a known price, for keys with a daily spend."""
    reserve_output_tokens: Count = 32_000
    """Output reserved for a request that names no maximum, for keys with a daily spend."""


class Logging(_Section, frozen=True):
    format: Literal["json", "text"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"
    content: bool = False
    """Bodies too, without seals and keys. For a machine of your own."""


class Switch(_Section, frozen=True):
    enabled: bool = True


class Tracing(_Section, frozen=True):
    enabled: bool = False


class Default(_Section, frozen=True):
    model: str | None = None
    """For requests that name no model."""


class RouteChoice(msgspec.Struct, frozen=True):
    """Who is asked for a name: the first, and then the configured fallbacks in order."""

    names: tuple[str, ...]
    notes: tuple[Note, ...] = ()
    asked: str = ""


class GatewayConfig(msgspec.Struct, frozen=True, kw_only=True):
    """All settings. `load` reads them; one that was read is whole and legal."""

    server: Server = Server()
    aliases: dict[str, str] = {}
    rules: tuple[Rule, ...] = ()
    fallbacks: dict[str, tuple[str, ...]] = {}
    fallback_on: tuple[FailureKind, ...] = FALLBACK_ON
    upstreams: dict[str, Upstream] = {}
    ledger: LedgerSettings = LedgerSettings()
    limits: LimitSettings = LimitSettings()
    logging: Logging = Logging()
    metrics: Switch = Switch()
    tracing: Tracing = Tracing()
    default: Default = Default()
    file: str | None = None
    """Where it was read from, or would be."""

    @classmethod
    def load(cls, path: str | Path | None = None) -> GatewayConfig:
        """The settings in this file, else in `gateway.toml` of the configuration folder, if it is there."""
        file = Path(path) if path is not None else config_folder() / "gateway.toml"
        try:
            text = file.read_text("utf-8")
        except FileNotFoundError:
            if path is None:
                return cls(file=str(file))
            raise ConfigError(f"there is no configuration at {file}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file} cannot be read: {error}") from None
        return cls.read(text, str(file))

    @classmethod
    def read(cls, text: str, file: str) -> GatewayConfig:
        """The settings in a text; ConfigError lists all that is wrong, with lines."""
        doc = Document(text, file)
        doc.known((), _TABLES)
        config = cls(
            server=doc.section(("server",), Server) or Server(),
            aliases=_aliases(doc),
            rules=_rules(doc),
            fallbacks=_fallbacks(doc),
            fallback_on=_fallback_on(doc),
            upstreams=_upstreams(doc),
            ledger=doc.section(("ledger",), LedgerSettings) or LedgerSettings(),
            limits=doc.section(("limits",), LimitSettings) or LimitSettings(),
            logging=doc.section(("logging",), Logging) or Logging(),
            metrics=doc.section(("metrics",), Switch) or Switch(),
            tracing=doc.section(("tracing",), Tracing) or Tracing(),
            default=doc.section(("default",), Default) or Default(),
            file=file,
        )
        _check_server(doc, config.server)
        _check_ledger(doc, config.ledger)
        if flaw := limits_flaw(config.limits.url):
            doc.complain(("limits", "url"), flaw)
        doc.finish()
        return config

    def providers(self) -> dict[str, Provider]:
        """The services that may be called: the package's, the user's, and those configured here."""
        return merged_providers(known_providers(), self.upstreams)

    def route(self, name: str, *, dialect: str | None = None) -> RouteChoice:
        """Who answers for a name: an alias, else the first rule that matches, else whoever it names.

        A level in the name goes along, and wins over the configured one.
        """
        asked = name.strip()
        said = asked or self.default.model or ""
        target, by = self._target(said, dialect)
        notes = () if target == asked else (_mapped(asked, target, by or "default.model"),)
        return RouteChoice((target, *self._after(target)), notes, asked)

    def _target(self, said: str, dialect: str | None) -> tuple[str, str]:
        if said in self.aliases:
            return self.aliases[said], "aliases"
        bare, level = _split(said)
        if bare in self.aliases:
            return _leveled(self.aliases[bare], level), "aliases"
        for number, rule in enumerate(self.rules, 1):
            if rule.matches(bare, dialect):
                return _leveled(rule.target(bare, self.aliases), level), f"map {number}"
        return said, ""

    def _after(self, target: str) -> tuple[str, ...]:
        if not self.fallbacks:
            return ()
        bare, level = _split(target)
        wanted = canonical(bare)
        for name, others in self.fallbacks.items():
            if canonical(name) == wanted:
                return tuple(other if _split(other)[1] else other + level for other in others)
        return ()


_TABLES = (
    *("server", "aliases", "map", "fallbacks", "providers", "ledger", "limits"),
    *("logging", "metrics", "tracing", "default"),
)


@lru_cache(maxsize=1024)
def canonical(name: str) -> str:
    """`provider/model` for a name without a level; the name itself where nobody is known to have it."""
    target = find_target(name)
    return f"{target.provider.name}/{target.model}" if target.provider is not None else name


def _split(name: str) -> tuple[str, str]:
    """A name, and the level as it was written behind it."""
    bare = parse_name(name).name
    return bare, name.strip()[len(bare) :].strip()


def _leveled(name: str, level: str) -> str:
    return _split(name)[0] + level if level else name


def _mapped(asked: str, target: str, by: str) -> Note:
    message = f"{asked} is answered by {target}" if asked else f"no model was named; {target} answers"
    detail = {"asked": asked, "model": target, "by": by}
    return Note("model.mapped", f"{message}, as configured", detail=detail)


def _aliases(doc: Document) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, target in doc.table("aliases").items():
        if isinstance(target, str) and target.strip():
            found[name] = target.strip()
        else:
            doc.complain(("aliases", name), f"alias {name!r} must be the name of a model")
    return found


def _rules(doc: Document) -> tuple[Rule, ...]:
    listed = doc.get("map") or []
    if not isinstance(listed, list):
        doc.complain(("map",), "rules are written as [[map]]")
        return ()
    rules = []
    for index in range(len(listed)):
        rule = doc.section(("map", index), Rule)
        if rule is not None:
            _check_rule(doc, index, rule)
            rules.append(rule)
    return tuple(rules)


def _check_rule(doc: Document, index: int, rule: Rule) -> None:
    strange = set(re.findall(r"\{(\w*)\}", rule.to)) - {"name"}
    if strange:
        doc.complain(("map", index, "to"), f"nothing is known as {{{strange.pop()}}}; there is {{name}}")
    if rule.level is not None and not _split(f"x/{rule.level}")[1]:
        doc.complain(("map", index, "level"), f"no level {rule.level!r}; there are none, low, med, high, …")
    elif rule.level is not None and _split(rule.to)[1]:
        doc.complain(("map", index, "level"), "the level is given twice: here and in `to`")


def _fallbacks(doc: Document) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, others in doc.table("fallbacks").items():
        if name == "on":
            continue
        if not isinstance(others, list) or not others or not all(isinstance(one, str) for one in others):
            doc.complain(("fallbacks", name), f"the fallbacks of {name!r} must be a list of model names")
        elif canonical(_split(name)[0]) in {canonical(_split(one)[0]) for one in others}:
            doc.complain(("fallbacks", name), f"{name!r} cannot be its own fallback")
        else:
            found[name] = tuple(others)
    return found


def _fallback_on(doc: Document) -> tuple[FailureKind, ...]:
    kinds = doc.get("fallbacks", "on")
    if kinds is None:
        return FALLBACK_ON
    try:
        return msgspec.convert(kinds, tuple[FailureKind, ...])
    except msgspec.ValidationError as error:
        message = str(error).partition(" - at ")[0]
        doc.complain(("fallbacks", "on"), f"on: {message[:1].lower()}{message[1:]}")
        return FALLBACK_ON


def _upstreams(doc: Document) -> dict[str, Upstream]:
    found: dict[str, Upstream] = {}
    for name in doc.table("providers"):
        upstream = doc.section(("providers", name), Upstream)
        if upstream is None:
            continue
        for key, flaw in flaws_of(name, upstream):
            doc.complain(("providers", name, key), flaw)
        found[name] = upstream
    return found


def _check_ledger(doc: Document, ledger: LedgerSettings) -> None:
    if flaw := ledger_flaw(ledger.url):
        doc.complain(("ledger", "url"), flaw)
    if not 1 <= ledger.ttl_seconds <= _LONGEST_TTL:
        doc.complain(("ledger", "ttl"), f"ttl cannot be {ledger.ttl}; it takes a time from 1s to 520w")


def _check_server(doc: Document, server: Server) -> None:
    for host in server.allowed_hosts:
        if not re.fullmatch(r"\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", host) and ip_address(host) is None:
            doc.complain(("server", "allowed_hosts"), f"{host!r} is no host name; write names without a port")
    for origin in server.allowed_origins:
        if not re.fullmatch(r"https?://[^/\s*@?#]+", origin):
            reason = "is no origin; write e.g. 'https://chat.example.com'"
            doc.complain(("server", "allowed_origins"), f"{origin!r} {reason}")
