"""What real clients send (Claude Code, Codex, Gemini CLI, opencode, the SDKs), read and written again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.grouping import for_each
from tests.recordings.normal import differences, normal
from tests.support import clients_root
from thinkwire import dialects
from thinkwire.reasoning.parse_controls import read_intent

DIALECTS = {
    r"/v1/messages(/count_tokens)?": "anthropic",
    r"/v1/chat/completions": "openai-chat",
    r"/v1/responses": "openai-responses",
    r"(/v1|/v1beta)?/models/[^/]+:\w+": "gemini",
}


def captures() -> list[Any]:
    root = clients_root()
    if root is None:
        return [pytest.param(None, id="none", marks=pytest.mark.needs("clients"))]
    files = [
        path
        for path in sorted((root / "captures").glob("*/*.json"))
        if b'"method": "POST"' in path.read_bytes()
    ]
    assert files
    return [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in files]


def client_of(path: Path) -> str:
    return path.parent.name


def loaded(path: Path) -> tuple[str, dict[str, Any]]:
    """A capture's dialect and body."""
    capture = json.loads(path.read_bytes())
    found = [name for pattern, name in DIALECTS.items() if re.fullmatch(pattern, capture["path"])]
    assert len(found) == 1, capture["path"]
    return found[0], capture["body"]


EXCUSES = {"thinking.dropped", "field.changed"}
"""Thinking that nobody signed, and call ids that the vendor would refuse, do not go out; Notes say so."""


@for_each("path", captures(), group=client_of)
def test_what_a_client_sends_survives_reading_and_writing(path: Path) -> None:
    name, body = loaded(path)
    dialect = dialects.get(name)
    request = dialect.decode_request(body)
    encoded = dialect.encode_request(request)
    sent = {key: value for key, value in body.items() if (key, value) != ("tools", [])}
    changed = list(differences(normal(name, sent), normal(name, encoded.body)))
    codes = {note.code for note in encoded.notes}
    assert codes <= EXCUSES
    assert bool(changed) == bool(codes)
    if not changed:
        assert dialect.decode_request(encoded.body) == request


@for_each("path", captures(), group=client_of)
def test_a_clients_wish_to_think_is_understood_and_leaves_nothing_behind(path: Path) -> None:
    name, body = loaded(path)
    intent, rest = read_intent(dialects.get(name).decode_request(body))
    controls = list(_controls(dialects.get(name).encode_request(rest).body))
    assert controls == []
    assert bool(intent.said) == any(_controls(body))


def _controls(body: dict[str, Any]) -> Iterator[str]:
    """The reasoning controls that a body sets, by path."""
    for path in PATHS:
        value: Any = body
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            yield path


PATHS = (
    *(
        "thinking.type",
        "thinking.budget_tokens",
        "output_config.effort",
        "reasoning_effort",
        "enable_thinking",
    ),
    *("reasoning.effort", "reasoning.summary", "reasoning.enabled", "reasoning.max_tokens"),
    *("generationConfig.thinkingConfig", "generation_config.thinking_config"),
)
