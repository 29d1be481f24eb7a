"""thinkwire carries a model's reasoning across every wire and loses none of it.

The names below are loaded when they are first used, so that `import thinkwire` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkwire._version import __version__

if TYPE_CHECKING:
    from thinkwire.client.engine import Client, ask
    from thinkwire.dialects import get as dialect
    from thinkwire.errors import Failure, MalformedInput, ProviderError, ThinkwireError
    from thinkwire.events import (
        Answer,
        BlockEnded,
        BlockGrew,
        BlockSealed,
        BlockStarted,
        Event,
        Failed,
        Finished,
        Noted,
        Started,
        collect,
        events_of,
    )
    from thinkwire.messages import (
        Conversation,
        Document,
        Image,
        Opaque,
        Origin,
        Seal,
        Text,
        Thinking,
        ToolCall,
        ToolResult,
        Turn,
    )
    from thinkwire.notes import Note
    from thinkwire.request import OutputFormat, Request, Tool, ToolChoice
    from thinkwire.usage import Usage

_HOME = {
    "client.engine": ("Client", "ask"),
    "errors": ("Failure", "MalformedInput", "ProviderError", "ThinkwireError"),
    "events": (
        *("Answer", "BlockEnded", "BlockGrew", "BlockSealed", "BlockStarted", "Event", "Failed", "Finished"),
        *("Noted", "Started", "collect", "events_of"),
    ),
    "messages": (
        *("Conversation", "Document", "Image", "Opaque", "Origin", "Seal", "Text", "Thinking", "ToolCall"),
        *("ToolResult", "Turn"),
    ),
    "notes": ("Note",),
    "request": ("OutputFormat", "Request", "Tool", "ToolChoice"),
    "usage": ("Usage",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Answer",
    "BlockEnded",
    "BlockGrew",
    "BlockSealed",
    "BlockStarted",
    "Client",
    "Conversation",
    "Document",
    "Event",
    "Failed",
    "Failure",
    "Finished",
    "Image",
    "MalformedInput",
    "Note",
    "Noted",
    "Opaque",
    "Origin",
    "OutputFormat",
    "ProviderError",
    "Request",
    "Seal",
    "Started",
    "Text",
    "Thinking",
    "ThinkwireError",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Turn",
    "Usage",
    "__version__",
    "ask",
    "collect",
    "dialect",
    "events_of",
]


def __getattr__(name: str) -> Any:
    if name == "dialect":
        value = import_module("thinkwire.dialects").get
    elif name in _MODULE_OF:
        value = getattr(import_module(f"thinkwire.{_MODULE_OF[name]}"), name)
    else:
        raise AttributeError(f"module 'thinkwire' has no attribute {name!r}")
    globals()[name] = value
    return value
