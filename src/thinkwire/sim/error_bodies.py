"""Error bodies as each vendor writes them, and its words for the refusals that every vendor has.

Shapes and words are those of recorded errors where there is a recording (`recordings/*/…`), else of the
vendor's reference; a vendor that is not in the tables writes like OpenAI.
"""

from __future__ import annotations

import string
from typing import Any, NamedTuple

from thinkwire.sim.seals import digest

Template = dict[str, Any]


class Complaint(NamedTuple):
    """An error before it is written: the HTTP status, the words, and what some vendors say beside them."""

    status: int
    message: str
    kind: str | None = None
    """The vendor's error type; None for its usual one of that status."""
    code: str | None = None
    param: str | None = None


class Refused(Exception):
    """The provider says no. `rule` is the id of the rule that did."""

    def __init__(self, complaint: Complaint, rule: str = "") -> None:
        super().__init__(complaint.message)
        self.complaint = complaint
        self.rule = rule


_ANTHROPIC: Template = {
    "type": "error",
    "error": {"type": "$kind", "message": "$message"},
    "request_id": "req_011C$id",
}
_OPENAI: Template = {"error": {"message": "$message", "type": "$kind", "param": "$param", "code": "$code"}}
_GOOGLE: Template = {"error": {"code": "$status", "message": "$message", "status": "$kind"}}

_SHAPES: dict[str, Template] = {
    "cerebras": {"message": "$message", "type": "$kind", "param": "$param", "code": "$code"},
    "fireworks": {"error": {"object": "error", "type": "$kind", "code": "$code", "message": "$message"}},
    "google": _GOOGLE,
    "groq": {"error": {"message": "$message", "type": "$kind", "code": "$code"}},
    "llamacpp": {"error": {"code": "$status", "message": "$message", "type": "$kind"}},
    "minimax": {
        "type": "error",
        "error": {"type": "$kind", "message": "$message", "http_code": "$digits"},
        "request_id": "$id",
    },
    "mistral": {
        "object": "error",
        "message": "$message",
        "type": "$kind",
        "param": "$param",
        "code": "$code",
    },
    "moonshot": {"error": {"message": "$message", "type": "$kind"}},
    "openrouter": {"error": {"message": "$message", "code": "$status"}},
    "qwen": {**_OPENAI, "request_id": "$id"},
    "together": {"id": "$id", **_OPENAI},
    "vllm": {"error": {"message": "$message", "type": "$kind", "param": "$param", "code": "$status"}},
    "xai": {"code": "$code", "error": "$message"},
    "xiaomi": {"error": {"code": "$digits", "message": "$message", "param": "$param", "type": "$kind"}},
    "zai": {"error": {"code": "$code", "message": "$message"}},
}

_DETAIL = (
    "mistral",
    (401, 403, 422),
)
"""Mistral's gateway answers these with a `detail` and nothing else."""

_KINDS: dict[str, dict[int, str]] = {
    "anthropic": {
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        409: "conflict_error",
        413: "request_too_large",
        429: "rate_limit_error",
        500: "api_error",
        502: "api_error",
        503: "api_error",
        504: "timeout_error",
        529: "overloaded_error",
    },
    "google": {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        405: "INVALID_ARGUMENT",
        413: "INVALID_ARGUMENT",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        502: "UNAVAILABLE",
        503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED",
        529: "UNAVAILABLE",
    },
    "deepseek": {401: "authentication_error"},
    "minimax": {400: "bad_request_error", 401: "authorized_error"},
    "mistral": {400: "invalid_request_error", 404: "invalid_model", 500: "internal_server_error"},
    "moonshot": {401: "invalid_authentication_error", 404: "resource_not_found_error"},
    "vllm": {400: "BadRequestError", 404: "NotFoundError"},
    "xiaomi": {401: "invalid_key"},
}
_USUAL_KINDS = {
    429: "rate_limit_error",
    500: "server_error",
    502: "server_error",
    503: "service_unavailable_error",
    529: "service_unavailable_error",
}
_CODES: dict[str, dict[int, str]] = {
    "cerebras": {429: "too_many_requests"},
    "deepseek": {400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error"},
    "mistral": {400: "1500", 404: "1500", 500: "1000"},
    "openai": {429: "rate_limit_exceeded", 503: "server_is_overloaded"},
    "xai": {400: "invalid-argument", 404: "not-found"},
    "zai": {400: "1214", 401: "1001", 404: "1211", 429: "1302", 500: "500"},
}

_NO_KEY: dict[str, Complaint] = {
    "anthropic": Complaint(401, "x-api-key header is required"),
    "openai": Complaint(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization header using "
        "Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    ),
    "google": Complaint(
        403,
        "Method doesn't allow unregistered callers (callers without established identity). Please use API "
        "Key or other form of API consumer identity to call this API.",
    ),
    "mistral": Complaint(401, "Unauthorized"),
    "openrouter": Complaint(401, "Missing Authentication header"),
}
_BAD_KEY: dict[str, Complaint] = {
    "anthropic": Complaint(401, "invalid x-api-key"),
    "openai": Complaint(
        401,
        "Incorrect API key provided: $key. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        code="invalid_api_key",
    ),
    "google": Complaint(400, "API key not valid. Please pass a valid API key."),
    "cerebras": Complaint(401, "Wrong API Key", code="wrong_api_key", param="api_key"),
    "deepseek": Complaint(401, "Authentication Fails, Your api key: $key is invalid"),
    "groq": Complaint(401, "Invalid API Key", code="invalid_api_key"),
    "minimax": Complaint(401, "login fail: Please carry the API secret key (1004)"),
    "mistral": Complaint(401, "Unauthorized"),
    "moonshot": Complaint(401, "Invalid Authentication"),
    "openrouter": Complaint(401, "No auth credentials found"),
    "qwen": Complaint(401, "Incorrect API key provided.", code="invalid_api_key"),
    "xai": Complaint(400, "Incorrect API key provided. You can obtain an API key from https://console.x.ai."),
    "xiaomi": Complaint(401, "Invalid API Key", param="Please provide valid API Key"),
    "zai": Complaint(401, "token expired or incorrect"),
}
_NO_MODEL: dict[str, Complaint] = {
    "anthropic": Complaint(404, "model: $model"),
    "openai": Complaint(
        404, "The model `$model` does not exist or you do not have access to it.", code="model_not_found"
    ),
    "openai/openai-responses": Complaint(
        400, "The requested model '$model' does not exist.", code="model_not_found", param="model"
    ),
    "google": Complaint(
        404,
        "models/$model is not found for API version v1beta, or is not supported for generateContent. Call "
        "ModelService.ListModels to see the list of available models and their supported methods.",
    ),
    "deepseek": Complaint(400, "Model Not Exist"),
    "mistral": Complaint(400, "Invalid model: $model", "invalid_model"),
    "moonshot": Complaint(404, "Not found the model $model or Permission denied"),
    "openrouter": Complaint(400, "$model is not a valid model ID"),
    "together": Complaint(
        404,
        "Unable to access model $model. Please visit https://api.together.ai/models to view the list of "
        "supported models.",
        code="model_not_available",
    ),
    "zai": Complaint(400, "Unknown Model, please check the model code.", code="1211"),
}
_NOT_JSON = {
    "anthropic": "The request body is not valid JSON",
    "openai": "We could not parse the JSON body of your request. (HINT: This likely means you aren't using "
    "your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid "
    "JSON.)",
    "google": "Invalid JSON payload received.",
}
_BUSY = {429: "Rate limit reached. Please try again later.", 529: "Overloaded", 503: "Service unavailable."}


def write(vendor: str, dialect: str, complaint: Complaint) -> dict[str, Any]:
    """The body in the vendor's shape; the Anthropic wire has the same everywhere."""
    status, message, kind, code, param = complaint
    voice = _voice(vendor, dialect)
    if voice == _DETAIL[0] and status in _DETAIL[1]:
        return {"detail": [_flaw(message, code, param)] if param else message}
    values: dict[str, Any] = {
        "$message": message,
        "$status": status,
        "$digits": str(status),
        "$kind": _kind(voice, status, kind),
        "$code": code or _CODES.get(voice, {}).get(status),
        "$param": param,
        "$id": digest(vendor, message),
    }
    template = _ANTHROPIC if voice == "anthropic" else _SHAPES.get(voice, _OPENAI)
    filled: dict[str, Any] = _fill(template, values)
    return filled


def _flaw(message: str, code: str | None, param: str) -> dict[str, Any]:
    """One entry of a validator's list, with the place as its steps."""
    steps = [int(step) if step.isdigit() else step for step in param.split(".")]
    return {"type": code or "value_error", "loc": steps, "msg": message}


def no_key(vendor: str, dialect: str) -> Complaint:
    voice = _voice(vendor, dialect)
    return _NO_KEY.get(voice) or _BAD_KEY.get(voice) or _NO_KEY["openai"]


def bad_key(vendor: str, dialect: str, key: str) -> Complaint:
    found = _BAD_KEY.get(_voice(vendor, dialect), _BAD_KEY["openai"])
    return _with(found, key=f"{key[:3]}****")


def no_model(vendor: str, dialect: str, model: str) -> Complaint:
    voice = _voice(vendor, dialect)
    found = _NO_MODEL.get(f"{voice}/{dialect}") or _NO_MODEL.get(voice, _NO_MODEL["openai"])
    return _with(found, model=model)


def not_json(vendor: str, dialect: str) -> Complaint:
    return Complaint(400, _NOT_JSON.get(_voice(vendor, dialect), _NOT_JSON["openai"]))


def too_large() -> Complaint:
    return Complaint(413, "Request exceeds the maximum size")


def wrong_method(method: str) -> Complaint:
    return Complaint(405, f"Not allowed to {method} here.")


def trouble(status: int) -> Complaint:
    """The server's own failure, on request."""
    return Complaint(status, _BUSY.get(status, "Internal server error"))


def _voice(vendor: str, dialect: str) -> str:
    """In whose words an API complains: Google's other APIs and every Anthropic skin have their maker's."""
    if dialect == "anthropic":
        return "anthropic"
    return vendor


def _kind(voice: str, status: int, kind: str | None) -> str:
    known = _KINDS.get(voice, {})
    if voice == "google" or kind is None:
        return known.get(status) or _USUAL_KINDS.get(status, "invalid_request_error")
    return kind


def _with(complaint: Complaint, **words: str) -> Complaint:
    return complaint._replace(message=string.Template(complaint.message).safe_substitute(words))


def _fill(template: Any, values: dict[str, Any]) -> Any:
    if isinstance(template, dict):
        return {key: _fill(value, values) for key, value in template.items()}
    if template in values:
        return values[template]
    return template.replace("$id", values["$id"]) if isinstance(template, str) else template
