"""Error bodies in every shape that servers send become one kind of value."""

from __future__ import annotations

import pytest

from thinkwire.dialects.error_bodies import decode_error, failure_from

BODIES: list[tuple[int, bytes, str, str]] = [
    (
        401,
        b'{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
        "auth",
        "invalid x",
    ),
    (
        529,
        b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        "overloaded",
        "Overloaded",
    ),
    (
        400,
        b'{"error":{"message":"prompt is too long: 5 tokens > 3 maximum"}}',
        "context_too_long",
        "prompt is",
    ),
    (400, b'{"error":{"message":"Your credit balance is too low to access"}}', "quota", "Your credit"),
    (
        400,
        b'{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}',
        "auth",
        "API key",
    ),
    (
        402,
        b'{"error":{"code":402,"message":"no credit","status":"RESOURCE_EXHAUSTED"}}',
        "quota",
        "no credit",
    ),
    (429, b'{"error":{"code":"insufficient_quota","message":"quota"}}', "quota", "quota"),
    (429, b'{"error":{"code":"rate_limit_exceeded","message":"slow"}}', "rate_limit", "slow"),
    (
        429,
        b'{"type":"error","error":{"type":"rate_limit_error","message":"spent",'
        b'"details":{"error_code":"enforced_spend_limit_reached"}}}',
        "quota",
        "spent",
    ),
    (404, b'{"error":"model \'bad\' not found"}', "not_found", "model 'bad' not found"),
    (400, b'{"code":"invalid-argument","error":"Model x does not support y."}', "bad_request", "Model x"),
    (400, b'{"error":{"code":"model_not_found","message":"no such model"}}', "not_found", "no such model"),
    (401, b'{"message":"Wrong API Key","code":"wrong_api_key"}', "auth", "Wrong API Key"),
    (401, b'{"detail":"Unauthorized"}', "auth", "Unauthorized"),
    (
        422,
        b'{"detail":[{"loc":["body","tools",0],"msg":"Input should be function"},{"msg":"also this"}]}',
        "bad_request",
        "body.tools.0: Input should be function; also this",
    ),
    (500, b'{"object":"error","message":"Service unavailable.","code":"1000"}', "overloaded", "Service"),
    (502, b"<html><script>x()</script><body>Bad\n gateway</body></html>", "overloaded", "Bad gateway"),
    (413, b"", "context_too_long", "HTTP 413 with no explanation"),
    (413, b'{"error":{"type":"request_too_large","message":"over 32 MB"}}', "bad_request", "over 32 MB"),
    (503, b"upstream connect error", "overloaded", "upstream connect error"),
    (400, b'event: error\ndata: {"error":{"message":"framed"}}\n\n', "bad_request", "framed"),
    (429, b'[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}]', "rate_limit", "quota"),
    (504, b'{"error":{"status":"DEADLINE_EXCEEDED","message":"late"}}', "timed_out", "late"),
    (400, b"\xff\xfe{", "bad_request", "."),
    (400, b"null", "bad_request", "HTTP 400 with no explanation"),
    (400, b'{"error":{"message":7,"code":{}}}', "bad_request", "HTTP 400 with no explanation"),
    (400, b"[" * 10_000, "bad_request", "."),
]


@pytest.mark.parametrize(("status", "body", "kind", "message"), BODIES)
def test_any_error_body_has_a_kind_and_words(status: int, body: bytes, kind: str, message: str) -> None:
    failure = decode_error(status, {}, body)
    assert (failure.kind, failure.status) == (kind, status)
    assert failure.message.startswith(message) or message == "."
    assert failure.message


OVERFLOWS = [
    "This model's maximum context length is 8192 tokens",
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens",
    "Please reduce the length of the messages or completion.",
    "The input (9 tokens) is longer than the model's context length (8 tokens)",
    "prompt token count of 9 exceeds the limit of 8",
    "request (9 tokens) exceeds the available context size (8 tokens)",
    "trying to keep the first 9 tokens when context the number is greater than the context length",
    "invalid params, context window exceeds limit",
    "Your request exceeded model token limit: 9",
    "Prompt contains 9 tokens and 0 draft tokens, too large for model with 8 maximum context length",
    "Prompt exceeds max length",
    "prompt too long; exceeded max context length by 9 tokens",
    "<400> Range of input length should be [1, 8]",
    "Input is too long for requested model.",
    "The input token count (9) exceeds the maximum number of tokens allowed (8).",
    "Your input exceeds the context window of this model.",
]


@pytest.mark.parametrize("words", OVERFLOWS)
def test_context_overflow_is_known_in_every_vendors_words(words: str) -> None:
    assert failure_from({"error": {"message": words}}, status=400).kind == "context_too_long"


def test_throttling_that_speaks_of_tokens_is_not_an_overflow() -> None:
    words = "Too many tokens, please wait before trying again; maximum context length is 8"
    assert failure_from({"error": {"message": words}}, status=429).kind == "rate_limit"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_time_to_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert decode_error(429, headers, b"{}").retry_after == seconds


def test_the_time_to_wait_is_read_from_googles_body() -> None:
    detail = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}
    assert failure_from({"error": {"code": 429, "details": [7, detail]}}).retry_after == 37.0


def test_the_request_id_comes_from_header_or_body() -> None:
    assert decode_error(500, {"Request-Id": "req_1"}, b"{}").request_id == "req_1"
    assert decode_error(500, {}, b'{"request_id": "req_2"}').request_id == "req_2"


@pytest.mark.parametrize(
    ("found", "kind", "status"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "overloaded", None),
        ({"error": {"code": 429, "message": "slow"}, "choices": []}, "rate_limit", 429),
        ({"error": {"code": "server_error", "message": "x"}}, "overloaded", None),
        ({"error": "plain words"}, "protocol", None),
        ({"object": "error", "message": "x", "code": 500}, "overloaded", 500),
    ],
)
def test_an_error_inside_a_stream_is_classified_without_a_status(
    found: object, kind: str, status: int | None
) -> None:
    failure = failure_from(found)
    assert (failure.kind, failure.status) == (kind, status)
