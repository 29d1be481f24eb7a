"""Services: where a dialect is spoken, with which key, and in which accent. Data, in TOML."""

from thinkwire.providers.provider import (
    Provider,
    Route,
    default_providers,
    find_provider,
    read_providers,
)

__all__ = ["Provider", "Route", "default_providers", "find_provider", "read_providers"]
