"""`generationConfig`: the fields that all dialects share, structured output, and the rest as it is."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from thinkwire.dialects.gemini.constants import NAME, fields
from thinkwire.dialects.gemini.schemas import json_schema
from thinkwire.dialects.shared import as_extras, own
from thinkwire.jsonvalue import (
    JsonObject,
    Path,
    opt_int,
    opt_number,
    opt_object,
    opt_str,
    opt_strings,
    unknown_fields,
)
from thinkwire.request import OutputFormat, Request

_JSON = "application/json"
_KNOWN = frozenset(
    [
        "maxOutputTokens",
        "temperature",
        "topP",
        "topK",
        "stopSequences",
        "seed",
        "presencePenalty",
        "frequencyPenalty",
        "responseMimeType",
        "responseSchema",
        "responseJsonSchema",
        "responseFormat",
        "thinkingConfig",
        "responseModalities",
        "candidateCount",
        "speechConfig",
        "mediaResolution",
        "logprobs",
        "responseLogprobs",
        "audioTimestamp",
        "routingConfig",
        "modelSelectionConfig",
        "enableAffectiveDialog",
        "enableEnhancedCivicAnswers",
        "translationConfig",
        "audioTranscriptionConfig",
        "imageConfig",
    ]
)
_NUMBERS = {
    "temperature": "temperature",
    "topP": "top_p",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
_COUNTS = {"maxOutputTokens": "max_tokens", "topK": "top_k", "seed": "seed"}
_NAMES = (*_COUNTS, *_NUMBERS)
_said, _UNSAID = attrgetter(*_COUNTS.values(), *_NUMBERS.values()), (None,) * len(_NAMES)
_SHARED = frozenset((*_NUMBERS, *_COUNTS, "stopSequences"))
_OUTPUT = frozenset(("responseMimeType", "responseSchema", "responseJsonSchema"))


def read_config(config: JsonObject, path: Path) -> tuple[dict[str, Any], JsonObject]:
    """The fields of a `Request`, and what is left of the configuration when they have been read."""
    config = fields(config, _KNOWN)
    shared: dict[str, Any] = {field: opt_number(config, name, path) for name, field in _NUMBERS.items()}
    shared |= {field: opt_int(config, name, path) for name, field in _COUNTS.items()}
    shared["stop"] = opt_strings(config, "stopSequences", path)
    rest = unknown_fields(config, _SHARED)
    if opt_str(config, "responseMimeType", path) == _JSON:
        shared["output"] = _read_output(config, path)
        rest = unknown_fields(rest, _OUTPUT)
    return shared, rest


def _read_output(config: JsonObject, path: Path) -> OutputFormat:
    schema = opt_object(config, "responseJsonSchema", path)
    older = opt_object(config, "responseSchema", path)
    held: JsonObject = {} if older is None else {"responseSchema": older}
    if schema is not None and older is not None:
        held["both"] = True
    elif older is not None:
        schema = json_schema(older)
    return OutputFormat(schema=schema, extras=as_extras(NAME, held))


def write_config(request: Request, held: JsonObject) -> JsonObject:
    config: JsonObject = {}
    if (said := _said(request)) != _UNSAID:
        config = {name: value for name, value in zip(_NAMES, said, strict=True) if value is not None}
    if request.stop:
        config["stopSequences"] = list(request.stop)
    if request.output is not None:
        config |= _write_output(request.output)
    return {**held, **config} if held else config


def _write_output(output: OutputFormat) -> JsonObject:
    held = own(output.extras, NAME)
    older, both = held.get("responseSchema"), held.get("both")
    config: JsonObject = {"responseMimeType": _JSON}
    if older is not None and (both or json_schema(older) == output.schema):
        config["responseSchema"] = older
    if output.schema is not None and (both or "responseSchema" not in config):
        config["responseJsonSchema"] = output.schema
    return config
