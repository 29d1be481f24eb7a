"""Keys of the environment: children do not inherit them, and no error text repeats them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from thinkwire.client.credentials import known_providers
from thinkwire.errors import ConfigError
from thinkwire.providers import default_providers

SECRET_NAME = re.compile(r"(^|_)(API_?KEY|TOKEN|PASSWORD|PASSWD|CREDENTIALS?)$|SECRET", re.IGNORECASE)
SHORTEST_SECRET = 8


def is_secret(name: str) -> bool:
    """Whether a variable of this name is likely to hold a key."""
    return name in _provider_keys() or SECRET_NAME.search(name) is not None


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a child."""
    keys = _provider_keys()
    return {
        name: value
        for name, value in environment.items()
        if name not in keys and not SECRET_NAME.search(name)
    }


def masked(text: str) -> str:
    """The text without the values of this process's keys."""
    for name, value in os.environ.items():
        if len(value) >= SHORTEST_SECRET and value in text and is_secret(name):
            text = text.replace(value, f"[{name}]")
    return text


def _provider_keys() -> frozenset[str]:
    try:
        providers = known_providers()
    except ConfigError:
        providers = default_providers()
    return frozenset(name for provider in providers.values() for name in provider.keys)
