"""The API as an OpenAPI 3.1 document, made from the table of operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from thinkwire._version import __version__
from thinkwire.web import schemas as shapes
from thinkwire.web.auth.security import CSRF_HEADER, SESSION_COOKIE
from thinkwire.web.request import Operation
from thinkwire.web.routes import OPERATIONS

_PARAMETER = re.compile(r"\{(\w+)\}")


@cache
def document() -> dict[str, Any]:
    """The whole document."""
    kinds = [
        kind for operation in OPERATIONS for kind in (operation.body, operation.gives) if kind is not None
    ]
    kinds.append(shapes.Error)
    found, parts = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    named = dict(zip(map(repr, kinds), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, named, parts)
    return {
        "openapi": "3.1.0",
        "info": {"title": "thinkwire", "version": __version__, "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": parts,
            "securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE}},
        },
    }


_ABOUT = (
    "The web app's own API. Every request that changes something repeats the cookie thinkwire_csrf, which "
    "GET /api/me sets, in the header x-csrf-token. Streams are the AI SDK's UI message stream v1."
)


def _operation(operation: Operation, named: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": f"{operation.handler.__module__.rpartition('.')[2]}_{operation.handler.__name__}",
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": _responses(operation, named),
    }
    if operation.handler.__doc__:
        told["description"] = operation.handler.__doc__.strip()
    if operation.body is not None:
        told["requestBody"] = {
            "required": bool(parts[operation.body.__name__].get("required")),
            "content": {"application/json": {"schema": named[repr(operation.body)]}},
        }
    if operation.multipart:
        form = {
            "type": "object",
            "required": ["file"],
            "properties": {"file": {"type": "string", "format": "binary"}},
        }
        told["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": form}}}
    if not operation.open:
        told["security"] = [{"session": []}, {}]
    return told


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(operation.path)
    ]
    if operation.query is not None:
        found += _query(operation.query)
    if operation.method not in ("GET", "HEAD"):
        found.append({"name": CSRF_HEADER, "in": "header", "required": True, "schema": {"type": "string"}})
    return found


def _query(shape: Any) -> Sequence[dict[str, Any]]:
    _, parts = msgspec.json.schema_components([shape])
    properties = parts[shape.__name__]["properties"]
    return [{"name": name, "in": "query", "schema": schema} for name, schema in properties.items()]


def _responses(operation: Operation, named: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {media: {} for media in operation.media}
    if operation.gives is not None:
        content = {"application/json": {"schema": named[repr(operation.gives)]}}
    error = {"application/json": {"schema": named[repr(shapes.Error)]}}
    told: dict[str, Any] = {str(operation.status): {"description": "done", "content": content}}
    if operation.handler.__name__ == "stream":
        told["204"] = {"description": "nothing is being answered"}
    return told | {"default": {"description": "what is wrong, and what to do", "content": error}}
