"""The first lines: who answers, or what is missing."""

from __future__ import annotations

from thinkwire.client.engine import Client
from thinkwire.session import Session
from thinkwire.terminal.chat.conversations import ConversationManager

_SERVICES = 8


def welcome_lines(session: Session, desk: ConversationManager, version: str) -> list[str]:
    model = session.settings.get("model")
    lines = [f"thinkwire {version} · {desk.options.folder}"]
    if session.client.simulated:
        lines.append("SIMULATED: no model is asked; answers are made up.")
    if model:
        lines.append(f"{model} answers. /model takes another, /help lists the commands.")
    return lines


def no_key_lines(client: Client) -> list[str]:
    """Which variable for which service, and what the simulators are."""
    services = [
        provider for provider in client.providers.values() if provider.keys and provider.auth != "none"
    ]
    width = max(len(provider.keys[0]) for provider in services[:_SERVICES])
    rows = [f"  {provider.keys[0]:<{width}}  {provider.label}" for provider in services[:_SERVICES]]
    return [
        "Set one of these, or keep a key with `thinkwire keys set`, and start again:",
        *rows,
        "",
        "Or look around with the simulators: they need no key and no network,",
        "and no real model answers.",
    ]
