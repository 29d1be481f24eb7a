"""Tool calls put together from the deltas of servers that agree on little."""

from __future__ import annotations

from typing import Any

from thinkwire.dialects.openai_chat import google_signatures as google
from thinkwire.dialects.openai_chat.constants import keep
from thinkwire.dialects.openai_chat.json_end import JsonEnd
from thinkwire.dialects.shared import arguments_text
from thinkwire.jsonvalue import JsonObject, unknown_fields
from thinkwire.messages import Extras, Seal

_ENTRY = frozenset({"index", "id", "type", "function", google.FIELD})
_CUSTOM = frozenset({"name", "input"})


class Call:
    """One call in the making. `block` is its index in the stream once it was announced."""

    __slots__ = (
        "_arguments_end",
        "_at",
        "_extra",
        "_native",
        "block",
        "custom",
        "id",
        "legacy",
        "name",
        "number",
        "parts",
        "seal",
        "waiting",
    )

    def __init__(self, number: int, *, legacy: bool = False) -> None:
        self.number = number
        self.id = ""
        self.name = ""
        self.parts: list[str] = []
        self.waiting: list[str] = []
        """Arguments that came but were not passed on yet."""
        self.block: int | None = None
        self.custom: dict[str, list[str]] | None = None
        """The pieces of name and input, of a call that is no function's."""
        self.legacy = legacy
        self.seal: Seal | None = None
        self._at: str | None = None
        self._extra: JsonObject = {}
        self._native: JsonObject = {}
        self._arguments_end: JsonEnd | None = None

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    @property
    def ready(self) -> bool:
        """Whether id and name are settled: the name is whole when arguments begin."""
        return bool(self.parts and self.name and self.id and self.custom is None)

    @property
    def empty(self) -> bool:
        return not (self.id or self.name or self.parts or self.custom)

    def extras(self) -> Extras:
        native = self._native | ({google.FIELD: self._extra} if self._extra else {})
        return keep(native, legacy=self.legacy or None, at=self._at)

    @property
    def signable(self) -> bool:
        """Whether a signature of the message can be kept with this call."""
        return self.seal is None and not self._extra

    def sign(self, seal: Seal, extra: JsonObject) -> None:
        """A signature that stands on the message, not on the call."""
        self.seal, self._extra, self._at = seal, extra, "message"

    def is_over(self) -> bool:
        """Whether its arguments are whole. That they parse does not end a call, but lets another begin."""
        if self._arguments_end is None:
            self._arguments_end = JsonEnd()
        return self._arguments_end.is_reached(self.parts)

    def merge(self, entry: JsonObject, function: JsonObject) -> None:
        if not self.id:
            self.id = _word(entry.get("id"))
        self._merge_name(_word(function.get("name")))
        self._merge_arguments(function.get("arguments"))
        if entry.get("type") == "custom" and not self.name:
            self.custom = self.custom or {"name": [], "input": []}
        if self.custom is not None:
            self._merge_custom(entry.get("custom"))
        if len(entry) > 2 or "function" not in entry:
            self._merge_rest(entry, function)

    def _merge_name(self, name: str) -> None:
        if not name or (self.parts and self.name):
            return
        self.name = name if name.startswith(self.name) else self.name + name

    def _merge_arguments(self, value: Any) -> None:
        if value is None or value == "":
            return
        if type(value) is not str:
            if self.parts:
                return
            value = arguments_text(value)
        self.parts.append(value)
        self.waiting.append(value)

    def _merge_custom(self, value: Any) -> None:
        if type(value) is dict and self.custom is not None:
            for key in _CUSTOM:
                if type(value.get(key)) is str:
                    self.custom[key].append(value[key])

    def custom_fields(self) -> JsonObject:
        """Name and input, of a call that is no function's."""
        return {key: "".join(pieces) for key, pieces in (self.custom or {}).items()}

    def _merge_rest(self, entry: JsonObject, function: JsonObject) -> None:
        seal, extra = google.read_signature(entry.get(google.FIELD))
        self.seal = seal or self.seal
        self._extra |= extra
        if self.custom is None:
            self._native |= unknown_fields(entry, _ENTRY)
        if rest := unknown_fields(function, frozenset({"name", "arguments"})):
            self._native["function"] = rest


class ToolCalls:
    """All calls of an answer, in the order in which they began."""

    def __init__(self) -> None:
        self.all: list[Call] = []
        self._slots: dict[int, Call] = {}
        self._by_id: dict[str, Call] = {}
        self._signed = 0
        self._legacy: Call | None = None

    def know_id(self, call: Call) -> None:
        """Remember a call by its id; of several with one id, the one that began first."""
        known = self._by_id.get(call.id)
        if call.id and (known is None or call.number < known.number):
            self._by_id[call.id] = call

    def first_signable(self) -> Call | None:
        """The first call that a signature of the message can be kept with."""
        # A call that has a signature keeps it, so that none needs to be looked at again.
        while self._signed < len(self.all) and not self.all[self._signed].signable:
            self._signed += 1
        return self.all[self._signed] if self._signed < len(self.all) else None

    def take(self, entry: JsonObject, beside: set[Call]) -> tuple[Call, bool]:
        """The call that an entry belongs to, and whether it began with it.

        `beside` are the calls of earlier entries in the same delta.
        """
        function = entry.get("function")
        if type(function) is not dict:
            function = {}
        index = entry.get("index")
        slot = index if type(index) is int else None
        call = self._find(entry, function, slot)
        if call in beside and _name(entry, function):
            call = None
        new = call is None
        if call is None:
            call = Call(len(self.all))
            self.all.append(call)
        if slot is not None:
            self._slots[slot] = call
        nameless = not call.id
        call.merge(entry, function)
        if nameless:
            self.know_id(call)
        return call, new

    def take_legacy(self, function: JsonObject) -> tuple[Call, bool] | None:
        """`function_call`, from before there were tools. Some servers send it empty beside the tools."""
        new = self._legacy is None
        if self._legacy is None:
            if not (function.get("name") or function.get("arguments")):
                return None
            self._legacy = Call(len(self.all), legacy=True)
            self.all.append(self._legacy)
        self._legacy.merge({}, function)
        return self._legacy, new

    def _find(self, entry: JsonObject, function: JsonObject, slot: int | None) -> Call | None:
        id_, name = _word(entry.get("id")), _name(entry, function)
        if slot is not None:
            call = self._slots.get(slot)
        elif id_ and self._by_id:
            return self._by_id.get(id_)
        else:
            call = self.all[-1] if self.all else None
        if call is None or _is_another(call, id_, name):
            return None
        return call


def _is_another(call: Call, id_: str, name: str) -> bool:
    """Whether an entry that seems to go on with `call` begins another one.

    Servers that number all calls 0, or none, are told apart by a new id that comes with a name; where there
    are no ids, by a name after arguments that are whole.
    """
    if not name:
        return False
    if id_ and call.id:
        return id_ != call.id
    if not call.parts or not call.name:
        return False
    return name != call.name or call.is_over()


def _name(entry: JsonObject, function: JsonObject) -> str:
    custom = entry.get("custom")
    return _word(function.get("name")) or (_word(custom.get("name")) if type(custom) is dict else "")


def _word(value: Any) -> str:
    return value if type(value) is str and value.strip() else ""
