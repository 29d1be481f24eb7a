"""The gateway's configuration: who answers for a name, where services are, and what is legal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.errors import ConfigError
from thinkwire.gateway.config.gateway_config import GatewayConfig, RouteChoice
from thinkwire.reasoning.levels import LEVELS
from thinkwire.request_origin import is_loopback

TEXT = """
[default]
model = "claude-opus-5/low"

[aliases]
fast = "deepseek/deepseek-v4-flash/low"
"best/high" = "openai/gpt-5.5/max"

[[map]]
from = "claude-*-haiku*"
to = "fast"
level = "high"

[[map]]
from = "claude-*"
to = "openrouter/anthropic/{name}"
only_dialect = "anthropic"

[[map]]
from = "claude-sonnet-*"
to = "moonshot/kimi-k3"

[fallbacks]
on = ["overloaded"]
"openai/gpt-5.5" = ["openrouter/openai/gpt-5.5", "fireworks/x/med"]
"""
CONFIG = GatewayConfig.read(TEXT, "gateway.toml")
PLAIN = GatewayConfig()

ROUTES = [
    ("gpt-6", None, "gpt-6"),
    ("some/unknown/name", None, "some/unknown/name"),
    ("fast", None, "deepseek/deepseek-v4-flash/low"),
    ("fast/max", None, "deepseek/deepseek-v4-flash/max"),
    ("fast(16384)", None, "deepseek/deepseek-v4-flash(16384)"),
    ("best/high", None, "openai/gpt-5.5/max"),
    ("best/low", None, "best/low"),
    ("claude-3-haiku-x", None, "deepseek/deepseek-v4-flash/high"),
    ("claude-3-haiku-x/none", "anthropic", "deepseek/deepseek-v4-flash/none"),
    ("claude-opus-5", "anthropic", "openrouter/anthropic/claude-opus-5"),
    ("claude-opus-5", "gemini", "claude-opus-5"),
    ("claude-sonnet-5", "anthropic", "openrouter/anthropic/claude-sonnet-5"),
    ("claude-sonnet-5", "openai-chat", "moonshot/kimi-k3"),
    ("", None, "claude-opus-5/low"),
]


@pytest.mark.parametrize(("name", "dialect", "target"), ROUTES)
def test_a_name_leads_to_its_model(name: str, dialect: str | None, target: str) -> None:
    routed = CONFIG.route(name, dialect=dialect)
    assert routed.names[0] == target
    assert routed.asked == name
    assert [note.code for note in routed.notes] == ([] if name == target else ["model.mapped"])
    for note in routed.notes:
        assert target in note.message
        assert (note.detail["asked"], note.detail["model"]) == (name, target)


@given(st.text(max_size=40))
def test_without_configuration_every_name_goes_through_unchanged(name: str) -> None:
    assert PLAIN.route(name) == RouteChoice((name.strip(),), (), name.strip())


@given(st.sampled_from(LEVELS), st.sampled_from(["fast", "claude-3-haiku", "gpt-5.5", "nobody/knows"]))
def test_a_level_in_the_name_always_wins(level: str, name: str) -> None:
    assert all(target.endswith(f"/{level}") for target in CONFIG.route(f"{name}/{level}").names[:2])


@pytest.mark.parametrize("name", ["gpt-5.5", "openai/gpt-5.5"])
def test_fallbacks_are_found_under_every_name_of_a_model(name: str) -> None:
    assert CONFIG.route(f"{name}/low").names[1:] == ("openrouter/openai/gpt-5.5/low", "fireworks/x/med")
    assert CONFIG.fallback_on == ("overloaded",)


def test_another_model_has_no_fallbacks() -> None:
    assert CONFIG.route("openai/gpt-5.4").names == ("openai/gpt-5.4",)


def test_a_service_of_ones_own_needs_an_address_and_no_more() -> None:
    config = GatewayConfig.read(
        '[providers.mine]\nbase_url = "http://127.0.0.1:9000/v1/"\nkey_env = "MINE_KEY"\n'
        '[providers.open]\nbase_url = "http://127.0.0.1:9001"\ndialect = "anthropic"\n'
        '[providers.odd]\nbase_url = "https://odd.example/api"\npath = "/chat"\nauth = "x-api-key"\n',
        "g.toml",
    )
    providers = config.providers()
    mine, local, odd = providers["mine"], providers["open"], providers["odd"]
    assert mine.endpoint("openai-chat", "m") == "http://127.0.0.1:9000/v1/chat/completions"
    assert (mine.auth, mine.keys) == ("bearer", ("MINE_KEY",))
    assert local.endpoint("anthropic", "m") == "http://127.0.0.1:9001/v1/messages"
    assert local.auth == "none"
    assert odd.endpoint("openai-chat", "m") == "https://odd.example/api/chat"
    assert odd.auth == "x-api-key"


def test_a_known_service_can_be_moved_and_keeps_the_rest() -> None:
    before = PLAIN.providers()["openai"]
    after = GatewayConfig.read('[providers.openai]\nbase_url = "http://127.0.0.1:1/v1"', "g").providers()[
        "openai"
    ]
    assert after.endpoint("openai-responses", "m") == "http://127.0.0.1:1/v1/responses"
    assert (after.keys, after.routes, after.quirks) == (before.keys, before.routes, before.quirks)


@pytest.mark.parametrize(
    "address",
    [
        *("file:///etc/passwd", "http://", "http://user:pw@host", "http://host?key=1", "http://ho st"),
        *("http://host\\r\\nx: y", "//host", "http://host:99999", "http://host/#x"),
    ],
)
def test_an_address_that_is_no_plain_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="base_url must be"):
        GatewayConfig.read(f'[providers.mine]\nbase_url = "{address}"', "g.toml")


@pytest.mark.parametrize(
    "settings",
    ['key_env = "sk-planted-key"', 'headers = { x-a = "planted\\r\\nx-b: 1" }', 'path = "planted"'],
)
def test_what_is_refused_is_not_quoted(settings: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GatewayConfig.read(f'[providers.mine]\nbase_url = "http://h"\n{settings}', "g.toml")
    assert "planted" not in str(caught.value)


def test_passwords_in_addresses_are_not_shown() -> None:
    config = GatewayConfig.read(
        '[ledger]\nurl = "redis://:planted@127.0.0.1"\n[limits]\nurl = "redis://:planted@127.0.0.1"\n'
        '[providers.mine]\nbase_url = "http://h"\nheaders = { x-token = "planted" }',
        "g.toml",
    )
    assert "planted" not in repr(config)
    assert config.ledger.url == "redis://:planted@127.0.0.1"


def test_the_defaults_are_those_of_a_machine_of_ones_own() -> None:
    assert PLAIN.server.is_loopback
    assert (PLAIN.server.port, PLAIN.server.max_body) == (4141, 32 * 1024 * 1024)
    assert (PLAIN.ledger.ttl_seconds, PLAIN.logging.content, PLAIN.tracing.enabled) == (604_800, False, False)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "a.localhost", "LOCALHOST."]
)
def test_loopback_is_known_in_every_spelling(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "localhost.evil.com", "127.0.0.1.evil.com", "10.0.0.1", "2130706433"]
)
def test_everything_else_is_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_a_named_file_must_be_there_and_the_usual_one_need_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THINKWIRE_CONFIG", str(tmp_path))
    assert GatewayConfig.load().file == str(tmp_path / "gateway.toml")
    with pytest.raises(ConfigError, match="there is no configuration at"):
        GatewayConfig.load(tmp_path / "other.toml")
    (tmp_path / "gateway.toml").write_text("[server]\nport = 1\n")
    assert GatewayConfig.load().server.port == 1
    (tmp_path / "gateway.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be read"):
        GatewayConfig.load()
