"""Writes src/api/schema.ts, the types of the JSON API, from the server's own OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = HERE / "src" / "api" / "schema.ts"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def main() -> None:
    from thinkwire.web.openapi import document

    TARGET.write_text(written(document()))


def written(document: dict[str, Any]) -> str:
    schemas = document["components"]["schemas"]
    types = [_named(name, schema) for name, schema in sorted(schemas.items())]
    lines = [
        f"  {json.dumps(f'{method.upper()} {path}')}: {_operation(operation)};"
        for path, operations in sorted(document["paths"].items())
        for method, operation in operations.items()
    ]
    return (
        "\n\n".join(
            [
                "// Made by types_from_api.py from the server's OpenAPI document. Do not edit.",
                *types,
                "/** What each operation takes and gives; unknown where that is no JSON. */",
            ]
        )
        + "\nexport type Api = {\n"
        + "\n".join(lines)
        + "\n};\n"
    )


def _named(name: str, schema: dict[str, Any]) -> str:
    about = f"/** {schema['description']} */\n" if "description" in schema else ""
    return f"{about}export type {name} = {_type(schema)};"


def _operation(operation: dict[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {})
    taken = body.get("application/json", {}).get("schema")
    takes = _type(taken, "  ") if taken else "FormData" if body else "undefined"
    asked = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    query = {"properties": {each["name"]: each["schema"] for each in asked}}
    words = _object(query, "    ").replace("\n      ", " ").replace("\n    ", " ") if asked else "undefined"
    return f"{{\n    gives: {_gives(operation)};\n    takes: {takes};\n    query: {words};\n  }}"


def _gives(operation: dict[str, Any]) -> str:
    for status, response in operation["responses"].items():
        schema = response.get("content", {}).get("application/json", {}).get("schema")
        if status.startswith("2") and schema:
            return _type(schema, "  ")
    return "unknown"


def _type(schema: dict[str, Any], indent: str = "") -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_type(each, indent) for each in schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        inner = _type(schema.get("items", {}), indent)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        return _object(schema, indent)
    return PLAIN.get(str(kind), "unknown")


def _object(schema: dict[str, Any], indent: str) -> str:
    if not schema.get("properties"):
        more = schema.get("additionalProperties")
        return f"Record<string, {_type(more, indent) if isinstance(more, dict) else 'unknown'}>"
    required = set(schema.get("required", ()))
    fields = [
        f"{indent}  {_key(name)}{'' if name in required else '?'}: {_type(each, indent + '  ')};"
        for name, each in schema["properties"].items()
    ]
    return "\n".join(["{", *fields, f"{indent}}}"])


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


if __name__ == "__main__":
    main()
