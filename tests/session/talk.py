"""Sessions on strict simulators, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from thinkwire.client.engine import Client
from thinkwire.providers import default_providers
from thinkwire.session import Session, SessionEvent, TurnEnded
from thinkwire.session.tools import Spec, Toolbox, tool
from thinkwire.settings import Settings
from thinkwire.sim.fixture import Running

_T = TypeVar("_T")


def client_of(simulator: Running) -> Client:
    names = default_providers()
    bases = {name: simulator.at(name) for name in names}
    return Client(keys=dict.fromkeys(names, "any-key"), bases=bases, retries=0)


def settings_of(**values: Any) -> Settings:
    """`model="…"`, and others with `__` for the dot: `reasoning__effort="high"`."""
    settings = Settings()
    for key, value in values.items():
        settings = settings.set("session", key.replace("__", "."), value)
    return settings


@tool(effect="read")
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: rain"


@tool(effect="read")
def get_time(city: str) -> str:
    """Time in a city."""
    return f"{city}: noon"


def session_of(client: Client, tools: Sequence[Spec] = (), **values: Any) -> Session:
    box = Toolbox([get_weather, get_time, *tools])
    return Session(client, settings_of(**values), toolbox=box)


async def said(session: Session, text: str | None) -> list[SessionEvent]:
    return [happening async for happening in session.send(text)]


def of(kind: type[_T], happenings: Sequence[Any]) -> list[_T]:
    return [happening for happening in happenings if isinstance(happening, kind)]


def ending(happenings: Sequence[SessionEvent]) -> TurnEnded:
    (ended,) = of(TurnEnded, happenings)
    assert happenings[-1] is ended
    return ended
