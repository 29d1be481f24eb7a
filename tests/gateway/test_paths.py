"""What is served where."""

from __future__ import annotations

import pytest

from thinkwire.gateway.http.routes import match_route

PLACES = [
    ("/v1/messages", "generate", "anthropic", ""),
    ("/v1/messages/", "generate", "anthropic", ""),
    ("/v1/messages/count_tokens", "count_tokens", "anthropic", ""),
    ("/chat/completions", "generate", "openai-chat", ""),
    ("/v1/responses/input_tokens", "count_tokens", "openai-responses", ""),
    ("/v1/responses/resp_1", "response", "openai-responses", "resp_1"),
    ("/v1beta/models/gemini-3:generateContent", "generate", "gemini", "gemini-3"),
    ("/v1/models/gemini-3:countTokens", "count_tokens", "gemini", "gemini-3"),
    ("/models/ollama/qwen3:8b:streamGenerateContent", "generate", "gemini", "ollama/qwen3:8b"),
    ("/v1/models", "models", "", ""),
    ("/v1beta/models", "models", "gemini", ""),
    ("/v1/models/openrouter/deepseek/r1:free", "model", "", "openrouter/deepseek/r1:free"),
    ("/", "hello", "", ""),
]


@pytest.mark.parametrize(("path", "operation", "dialect", "name"), PLACES)
def test_a_path_means_one_operation(path: str, operation: str, dialect: str, name: str) -> None:
    place = match_route(path)
    assert place is not None
    assert (place.operation, place.dialect, place.name) == (operation, dialect, name)


@pytest.mark.parametrize("path", ["/v1", "/v2/messages", "/v1/messages/x", "/v1/modelsx", "/v1/models/"])
def test_other_paths_mean_nothing_else(path: str) -> None:
    place = match_route(path)
    assert place is None or place.operation == "models"
