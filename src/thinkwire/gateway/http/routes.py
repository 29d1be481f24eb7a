"""Which operation of which dialect a path means."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from thinkwire.gateway.http.headers import Scope, headers_of

Operation = Literal[
    "generate", "count_tokens", "models", "model", "response", "hello", "healthz", "readyz", "metrics"
]

_VERSION = re.compile(r"/(v1|v1beta|v1alpha)(?=/)")
_GEMINI = re.compile(
    r"(?:/models)?/(?P<model>.+):(?P<verb>generateContent|streamGenerateContent|countTokens)"
)
_MODEL = re.compile(r"/models/(?P<model>.+)")
_RESPONSE = re.compile(r"/responses/(?P<id>[^/]+)(?P<rest>/[a-z_]+)?")


class Route(NamedTuple):
    """What a path means. No dialect where the headers must tell; `name` is the model or item in the path."""

    operation: Operation
    dialect: str = ""
    methods: tuple[str, ...] = ("POST",)
    name: str = ""
    streamed: bool | None = None
    """Where the path says whether the answer is streamed."""
    rest: str = ""


_PLACES: dict[str, Route] = {
    "/messages": Route("generate", "anthropic"),
    "/messages/count_tokens": Route("count_tokens", "anthropic"),
    "/chat/completions": Route("generate", "openai-chat"),
    "/responses": Route("generate", "openai-responses"),
    "/responses/input_tokens": Route("count_tokens", "openai-responses"),
    "/models": Route("models", methods=("GET", "HEAD")),
}
"""With `/v1` before them, with `/v1beta`, or with nothing."""

_BARE: dict[str, Route] = {
    "": Route("hello", methods=("GET", "HEAD")),
    "/api/hello": Route("hello", methods=("GET", "HEAD")),
    "/healthz": Route("healthz", methods=("GET", "HEAD")),
    "/readyz": Route("readyz", methods=("GET", "HEAD")),
    "/metrics": Route("metrics", methods=("GET", "HEAD")),
}

_VERBS: dict[str, tuple[Operation, bool | None]] = {
    "generateContent": ("generate", False),
    "streamGenerateContent": ("generate", True),
    "countTokens": ("count_tokens", None),
}


LONGEST = 256
"""Letters of a path that is remembered: who asks for longer ones must not fill the memory."""


def match_route(path: str) -> Route | None:
    """The place that a path means; None for none. Ids of models may have slashes and colons in them."""
    return (_usual if len(path) <= LONGEST else _find)(path)


def _find(path: str) -> Route | None:
    path = path.rstrip("/")
    if path in _BARE:
        return _BARE[path]
    version = _VERSION.match(path)
    rest = path[version.end() :] if version else path
    if rest in _PLACES:
        place = _PLACES[rest]
        google = place.operation == "models" and version is not None and version[1] != "v1"
        return place._replace(dialect="gemini") if google else place
    if found := _GEMINI.fullmatch(rest):
        operation, streamed = _VERBS[found["verb"]]
        return Route(operation, "gemini", name=found["model"], streamed=streamed)
    if found := _MODEL.fullmatch(rest):
        dialect = "gemini" if version is not None and version[1] != "v1" else ""
        return Route("model", dialect, ("GET", "HEAD"), found["model"])
    if found := _RESPONSE.fullmatch(rest):
        methods = ("POST",) if found["rest"] == "/cancel" else ("GET", "DELETE")
        return Route("response", "openai-responses", methods, found["id"], rest=found["rest"] or "")
    return None


_usual = lru_cache(maxsize=1024)(_find)


def dialect_of(scope: Scope) -> str:
    """The dialect of a client that names it nowhere but in its headers."""
    if headers_of(scope, b"anthropic-version") or headers_of(scope, b"x-api-key"):
        return "anthropic"
    return "gemini" if headers_of(scope, b"x-goog-api-key") else "openai-chat"
