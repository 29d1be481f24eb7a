"""Tools made of Python functions: hints give the schema, and arguments are checked before the call."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import re
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints, overload

import msgspec

from thinkwire.errors import ConfigError
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import ResultContent
from thinkwire.notes import Note
from thinkwire.request import Tool

Effect = Literal["read", "write", "run"]
"""What a tool can do at worst: look, change files of the workspace, or anything."""

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ToolFailed(Exception):
    """Raised by a tool to tell the model, in words it can act on, why there is no result."""


class Output(msgspec.Struct, frozen=True):
    """What a tool gives when plain text is not enough."""

    content: tuple[ResultContent, ...]
    failed: bool = False
    notes: tuple[Note, ...] = ()


Subject: TypeAlias = Callable[[JsonObject], str | None]
"""The part of the arguments that approval patterns look at; None when the arguments do not say."""


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that can be offered and run. `call` takes the decoded arguments and checks them itself."""

    name: str
    description: str | None = None
    schema: JsonObject
    call: Callable[[JsonObject], Awaitable[Any]]
    effect: Effect = "run"
    subject: Subject | None = None
    timeout: float | None = None
    """Seconds, where the tool needs another limit than the toolbox gives."""

    @property
    def definition(self) -> Tool:
        """The tool as a request names it."""
        return Tool(self.name, self.description, self.schema)


@overload
def tool(function: Callable[..., Any], /) -> Spec: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "run",
    subject: str | Subject | None = None,
    timeout: float | None = None,
) -> Callable[[Callable[..., Any]], Spec]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = "run",
    subject: str | Subject | None = None,
    timeout: float | None = None,
) -> Spec | Callable[[Callable[..., Any]], Spec]:
    """Make a tool of a function, sync or async. `subject` names the argument that approval patterns look at.

    The docstring is the description; `Annotated[str, "…"]` describes an argument; what has a default may be
    left out by the model. What cannot be described in JSON Schema is a ConfigError, here and not at a call.
    """

    def make(function: Callable[..., Any]) -> Spec:
        own_name = name or function.__name__
        if not TOOL_NAME.fullmatch(own_name):
            raise ConfigError(f"{own_name!r} is no tool name: use 1 to 64 of A-Z a-z 0-9 _ -")
        arguments = _arguments_of(function, own_name)
        return Spec(
            name=own_name,
            description=description or inspect.getdoc(function),
            schema=_schema_of(arguments, own_name),
            call=_checked_call(function, arguments),
            effect=effect,
            subject=_argument(subject) if isinstance(subject, str) else subject,
            timeout=timeout,
        )

    return make if function is None else make(function)


def _argument(name: str) -> Subject:
    def subject(arguments: JsonObject) -> str | None:
        value = arguments.get(name)
        return value if isinstance(value, str) else None

    return subject


def _arguments_of(function: Callable[..., Any], name: str) -> type[msgspec.Struct]:
    """A Struct with a field for every parameter."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ConfigError(f"tool {name}: {error}; its types must be importable from its module") from None
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigError(f"tool {name}: {parameter} must be an ordinary parameter with a name")
        if parameter.name not in hints:
            raise ConfigError(f"tool {name}: parameter {parameter.name} needs a type hint")
        hint = _described(hints[parameter.name])
        if parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, _default(parameter.default)))
    try:
        return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
    except TypeError as error:
        raise ConfigError(f"tool {name}: {error}") from None


def _described(hint: Any) -> Any:
    """`Annotated[str, "words"]` in the form that the schema's maker reads."""
    if get_origin(hint) is not Annotated:
        return hint
    base, *extras = get_args(hint)
    for extra in extras:
        if isinstance(extra, str):
            base = Annotated[base, msgspec.Meta(description=extra)]
        elif isinstance(extra, msgspec.Meta):
            base = Annotated[base, extra]
    return base


def _default(value: Any) -> Any:
    """Mutable defaults belong to one call each."""
    if isinstance(value, list | dict | set):
        copied = value.copy()
        return msgspec.field(default_factory=lambda: copied.copy())
    return msgspec.field(default=value)


def _schema_of(arguments: type[msgspec.Struct], name: str) -> JsonObject:
    try:
        (schema,), parts = msgspec.json.schema_components([arguments], ref_template="{name}")
    except TypeError as error:
        raise ConfigError(f"tool {name}: {error}") from None
    inlined = _inlined(schema, parts, (), name)
    assert isinstance(inlined, dict)
    return inlined


def _inlined(schema: Any, parts: JsonObject, inside: tuple[str, ...], name: str) -> Any:
    """The schema in one piece: not every provider follows references, and titles say nothing."""
    match schema:
        case {"$ref": str(part), **rest}:
            if part in inside:
                raise ConfigError(f"tool {name}: {part} contains itself, which a tool's schema cannot say")
            whole = _inlined(parts[part], parts, (*inside, part), name)
            return whole | rest
        case {"properties": dict(properties), **rest}:
            kept = {key: _inlined(value, parts, inside, name) for key, value in properties.items()}
            others = _inlined(rest, parts, inside, name)
            return {"type": others.pop("type"), "properties": kept, **others}
        case {"enum": list(values), **rest}:
            return _typed(values) | rest
        case dict():
            return {
                key: value if key == "default" else _inlined(value, parts, inside, name)
                for key, value in schema.items()
                if key != "title"
            }
        case list():
            return [_inlined(item, parts, inside, name) for item in schema]
    return schema


def _typed(values: list[Any]) -> JsonObject:
    """An enum with its type, which not every provider guesses."""
    for kind, name in ((str, "string"), (int, "integer")):
        if all(type(value) is kind for value in values):
            return {"type": name, "enum": values}
    return {"enum": values}


def _checked_call(
    function: Callable[..., Any], arguments: type[msgspec.Struct]
) -> Callable[[JsonObject], Awaitable[Any]]:
    is_async = inspect.iscoroutinefunction(function)
    names = arguments.__struct_fields__

    async def call(given: JsonObject) -> Any:
        try:
            checked = msgspec.convert(given, arguments)
        except msgspec.ValidationError as error:
            raise ToolFailed(_complaint(str(error))) from None
        named = {name: getattr(checked, name) for name in names}
        if is_async:
            return await function(**named)
        return await in_thread(lambda: function(**named))

    return call


def _complaint(message: str) -> str:
    what, _, place = message.partition(" - at ")
    where = place.strip("`").removeprefix("$.")
    return f"Wrong arguments: {what}" + (f" (at {where})" if where and where != "$" else "") + "."


async def in_thread(function: Callable[[], Any]) -> Any:
    """A blocking function's result. A thread that was given up is not waited for, at exit neither."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def tell(settle: Callable[[Any], None], value: Any) -> None:
        if not result.done():
            settle(value)

    def work() -> None:
        try:
            value = context.run(function)
        except BaseException as error:
            # A future takes no StopIteration, and the loop must not end for a tool's SystemExit.
            fault = error if isinstance(error, Exception) else RuntimeError(type(error).__name__)
            fault = RuntimeError("StopIteration") if isinstance(error, StopIteration) else fault
            answer: tuple[Callable[[Any], None], Any] = (result.set_exception, fault)
        else:
            answer = (result.set_result, value)
        with suppress(RuntimeError):  # the loop is closed; nobody waits any more
            loop.call_soon_threadsafe(tell, *answer)

    threading.Thread(target=work, name="thinkwire-tool", daemon=True).start()
    return await result
