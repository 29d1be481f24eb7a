"""The configuration in the documentation is one that works, and shows every setting."""

from __future__ import annotations

import re
import tomllib

import msgspec

from tests.support import ROOT
from thinkwire.gateway.config.gateway_config import GatewayConfig, Server

PAGE = (ROOT / "docs" / "gateway-operations.md").read_text()
TEXT = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0]


def test_the_documented_configuration_is_legal_and_leads_where_it_says() -> None:
    config = GatewayConfig.read(TEXT, "gateway.toml")
    assert config.route("claude-3-haiku-x", dialect="anthropic").names == ("deepseek/deepseek-v4-flash/low",)
    assert config.route("claude-opus-5").names == ("openrouter/anthropic/claude-opus-5/high",)
    assert (
        config.providers()["mine"].endpoint("openai-chat", "m") == "http://127.0.0.1:8000/v1/chat/completions"
    )


def test_the_documented_values_are_the_defaults() -> None:
    config, plain = GatewayConfig.read(TEXT, "gateway.toml"), GatewayConfig()
    for section in ("server", "ledger", "limits", "logging", "metrics", "tracing", "fallback_on"):
        assert getattr(config, section) == getattr(plain, section)


def test_every_setting_of_the_server_is_documented() -> None:
    shown = tomllib.loads(TEXT)["server"]
    assert set(shown) == {field.name for field in msgspec.structs.fields(Server)}
