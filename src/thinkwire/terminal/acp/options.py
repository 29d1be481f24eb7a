"""The options of a session that an editor shows: how hard to think, and who answers."""

from __future__ import annotations

from typing import Any

from acp import schema

from thinkwire.session import Session
from thinkwire.session.commands.thinking import levels, models

LEVEL, MODEL = "thought_level", "model"
_MOST_MODELS = 80


def config_options(session: Session) -> list[Any]:
    """The level and the model, as an editor shows them."""
    asked = session.plan().requested.level or "auto"
    offered = levels(session)
    known = {candidate.text for candidate in offered}
    words = [
        schema.SessionConfigSelectOption(value=level.text, name=level.text, description=level.detail)
        for level in offered
    ]
    if asked not in known:
        words.append(schema.SessionConfigSelectOption(value=asked, name=asked))
    return [
        schema.SessionConfigOptionSelect(
            type="select",
            id=LEVEL,
            name="Thinking",
            category="thought_level",
            current_value=asked,
            options=words,
        ),
        schema.SessionConfigOptionSelect(
            type="select",
            id=MODEL,
            name="Model",
            category="model",
            current_value=_model(session),
            options=_models(session),
        ),
    ]


def _model(session: Session) -> str:
    located = session.located()
    return f"{located.provider.name}/{located.model}"


def _models(session: Session) -> list[schema.SessionConfigSelectOption]:
    """The models of services that can be asked; the one that answers is among them."""
    names = [candidate.text for candidate in models(session) if "(no key)" not in candidate.detail]
    names = list(dict.fromkeys([_model(session), *names]))[:_MOST_MODELS]
    return [schema.SessionConfigSelectOption(value=name, name=name) for name in names]
