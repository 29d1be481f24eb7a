"""Clients' oddities, made regular on the way in and given back on the way out.

What a client's own vendor understands goes to that vendor as it came. For everybody else it is put into words
that all of them know; tools that the client runs stay callable, tools that only the vendor runs are left out.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from thinkwire.events import Event
from thinkwire.gateway.ingress.anthropic_clients import from_messages, without_host_fields
from thinkwire.gateway.ingress.home import is_home
from thinkwire.gateway.ingress.output_limits import within_limits
from thinkwire.gateway.ingress.responses_clients import from_responses
from thinkwire.gateway.ingress.system_turns import with_placed_system
from thinkwire.gateway.ingress.untrusted_thinking import without_unvouched
from thinkwire.notes import Note
from thinkwire.replay import Destination
from thinkwire.request import Request

__all__ = ["Normalised", "is_home", "normalise", "same"]

Restore = Callable[[list[Event]], list[Event]]
"""One answer's events as the client knows things, batch by batch."""


def same(events: list[Event]) -> list[Event]:
    """Where nothing has to be turned back."""
    return events


class Normalised(msgspec.Struct, frozen=True):
    """A request that its destination can be asked. `restore` turns the events of one answer back."""

    request: Request
    notes: tuple[Note, ...] = ()
    restore: Restore = same


def normalise(request: Request, dialect: str, to: Destination | None = None) -> Normalised:
    """The request without what only this client's own vendor understands. Pure.

    `dialect` is the client's. Without a destination it is made fit for anybody.
    """
    notes: list[Note] = []
    restore: Restore = same
    home = to is not None and is_home(dialect, to)
    if dialect == "anthropic" and request.extras:
        request = without_host_fields(request, notes)
    if not home:
        if dialect == "anthropic":
            request = from_messages(request, to, notes)
        elif dialect == "openai-responses":
            request, feed = from_responses(request, to, notes)
            restore = feed or same
        if to is not None and to.dialect == "anthropic" and dialect != "anthropic":
            request = with_placed_system(request, notes)
    request = without_unvouched(request, dialect, to, notes)
    if to is not None:
        request = within_limits(request, to, notes)
    return Normalised(request, tuple(notes), restore)
