"""Google's older schema language, an OpenAPI subset, read as JSON Schema."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.gemini.constants import camel
from thinkwire.jsonvalue import JsonObject

_TYPES = {
    name.upper(): name for name in ("string", "number", "integer", "boolean", "array", "object", "null")
}
_MAPS = frozenset(("properties", "$defs", "defs"))
_LISTS = frozenset(("anyOf", "prefixItems"))
_INNER = frozenset(("items", "additionalProperties"))
_COUNTS = frozenset(["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"])
_SKIPPED = frozenset(("nullable", "propertyOrdering"))
_READ = _MAPS | _LISTS | _INNER | _COUNTS | {"type"}
"""Keys whose values may have to be said otherwise."""


def json_schema(schema: Any) -> Any:
    """The same constraints in JSON Schema's words; what is JSON Schema already stays as it is."""
    if not isinstance(schema, dict):
        return schema
    spelled = camel(schema)
    out = {
        key: _value(key, value) if key in _READ else value
        for key, value in spelled.items()
        if key not in _SKIPPED
    }
    if "type" in out and out["type"] == "TYPE_UNSPECIFIED":
        del out["type"]
    if "format" in out and out["format"] == "enum":
        del out["format"]
    return _nullable(out) if "nullable" in spelled and spelled["nullable"] is True else out


def _value(key: str, value: Any) -> Any:
    if key == "type" and isinstance(value, str):
        return _TYPES.get(value, value)
    if key in _MAPS and isinstance(value, dict):
        return {name: json_schema(inner) for name, inner in value.items()}
    if key in _LISTS and isinstance(value, list):
        return [json_schema(inner) for inner in value]
    if key in _INNER:
        return json_schema(value)
    if key in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value


def _nullable(schema: JsonObject) -> JsonObject:
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    elif isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
    if isinstance(schema.get("enum"), list):
        schema["enum"] = [*schema["enum"], None]
    return schema
