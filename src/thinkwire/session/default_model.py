"""Where to begin when nobody has said which model."""

from __future__ import annotations

from thinkwire.client.engine import Client
from thinkwire.errors import MissingKey


def first_model(client: Client) -> str:
    """The first model of the first service that has a key."""
    for provider in client.providers.values():
        if provider.first and provider.auth != "none" and client.has_key(provider):
            return f"{provider.name}/{provider.first}"
    names = ", ".join([provider.keys[0] for provider in client.providers.values() if provider.keys][:5])
    raise MissingKey(
        f"no key was found, so there is nobody to ask. Set {names}, …; or try --sim, which needs none"
    )
