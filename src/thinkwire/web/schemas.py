"""What the JSON API takes and gives. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from thinkwire.web.approvals import Decision
from thinkwire.web.thinking import ThinkingAbility, ThinkingChoice

Name = Annotated[str, Meta(min_length=1, max_length=100)]
Password = Annotated[str, Meta(min_length=8, max_length=1024)]
Secret = Annotated[str, Meta(min_length=1, max_length=1024)]
Said = Annotated[str, Meta(max_length=2_000_000)]
Title = Annotated[str, Meta(min_length=1, max_length=200)]
ModelName = Annotated[str, Meta(min_length=1, max_length=200)]
Moment = Annotated[str, Meta(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,12}([.][0-9]{1,9})?)?$")]
"""A day, or seconds since 1970."""
Id = Annotated[str, Meta(pattern="^[0-9A-Za-z_-]{1,64}$")]


class _In(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A request's body: what is not known is refused, so that nothing is ignored silently."""


class User(msgspec.Struct, frozen=True):
    id: str
    name: str
    admin: bool


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asking, and how this server is served."""

    user: User | None
    auth: bool
    simulated: bool
    version: str
    needs_setup: bool
    needs_token: bool = False
    """Whether the first account can be made only after the start token was shown."""


class SignedIn(msgspec.Struct, frozen=True):
    user: User


class Credentials(_In, frozen=True):
    name: Name
    password: Secret


class Token(_In, frozen=True):
    token: Secret


class NewAccount(_In, frozen=True):
    name: Name
    password: Password


class NewUser(_In, frozen=True):
    name: Name
    password: Password
    admin: bool = False


class Joining(_In, frozen=True):
    token: Secret
    name: Name
    password: Password


class Inviting(_In, frozen=True):
    admin: bool = False
    days: Annotated[float, Meta(gt=0, le=365)] = 7


class Invitation(msgspec.Struct, frozen=True):
    token: str
    expires: float


class UserEntry(msgspec.Struct, frozen=True):
    id: str
    name: str
    admin: bool
    created: float
    removed: float | None


class Purge(_In, frozen=True):
    purge: bool = False


class Done(msgspec.Struct, frozen=True):
    ok: bool = True


class ModelsQuery(_In, frozen=True):
    q: Annotated[str, Meta(max_length=200)] = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class ModelPrice(msgspec.Struct, frozen=True):
    """US dollars for a million tokens."""

    input: float | None
    output: float | None


class Model(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    provider: str
    provider_label: str
    model: str
    context: int | None
    max_output: int | None
    price: ModelPrice | None
    released: str | None
    has_key: bool
    thinking: ThinkingAbility


class Models(msgspec.Struct, frozen=True):
    models: list[Model]


class PlanRequest(_In, frozen=True):
    model: ModelName
    thinking: ThinkingChoice = ThinkingChoice()


class ToldNote(msgspec.Struct, frozen=True):
    code: str
    message: str


class PlanAnswer(msgspec.Struct, frozen=True, kw_only=True):
    lines: list[str]
    notes: list[ToldNote]
    effective: dict[str, Any]
    requested: dict[str, Any]
    sentence: str
    has_key: bool
    thinking: ThinkingAbility | None


class NewAgent(_In, frozen=True):
    name: Name
    instructions: Annotated[str, Meta(max_length=200_000)] = ""
    model: ModelName | None = None
    thinking: ThinkingChoice = ThinkingChoice()
    tools: Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=100)] = []


class AgentChange(_In, frozen=True):
    name: Name | UnsetType = UNSET
    instructions: Annotated[str, Meta(max_length=200_000)] | UnsetType = UNSET
    model: ModelName | UnsetType | None = UNSET
    thinking: ThinkingChoice | UnsetType = UNSET
    tools: Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=100)] | UnsetType = UNSET


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    instructions: str
    model: str | None
    thinking: ThinkingChoice
    tools: list[str]
    created: float
    updated: float


class ToolEntry(msgspec.Struct, frozen=True):
    name: str
    description: str | None
    effect: Literal["read", "write", "run"]
    server: str | None = None
    """The MCP server that has it."""


class ToolServer(msgspec.Struct, frozen=True):
    """An MCP server. `error` is what is wrong with it, for those who can mend it."""

    name: str
    state: Literal["connecting", "connected", "failed", "disabled", "closed"]
    error: str | None = None


class ConversationsQuery(_In, frozen=True):
    q: Annotated[str, Meta(max_length=500)] = ""
    before: Annotated[str, Meta(pattern="^[0-9A-Za-z.~+-]{0,100}$")] = ""
    limit: Annotated[int, Meta(ge=1, le=200)] = 30


class ConversationEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list. `model` is who would answer: its own, or its agent's."""

    id: str
    title: str | None
    model: str | None
    agent_id: str | None
    preview: str
    updated: float
    count: int
    running: bool


class Conversations(msgspec.Struct, frozen=True):
    items: list[ConversationEntry]
    next: str | None


class EventsQuery(_In, frozen=True):
    after: Annotated[str, Meta(pattern="^([0-9]{1,15}-[0-9]{1,9})?$")] = ""
    """What the last answer gave; nothing for what happens from now on."""


class Events(msgspec.Struct, frozen=True):
    """Conversations that changed, or whose answer began or ended; null when any may have."""

    after: str
    conversations: list[str] | None


class NewConversation(_In, frozen=True):
    agent_id: Id | None = None
    model: ModelName | None = None
    settings: dict[str, Any] = {}


class ConversationChange(_In, frozen=True):
    title: Title | UnsetType | None = UNSET
    model: ModelName | UnsetType | None = UNSET
    settings: dict[str, Any] | UnsetType = UNSET
    agent_id: Id | UnsetType | None = UNSET
    head: Id | UnsetType = UNSET


class Context(msgspec.Struct, frozen=True):
    """Tokens that the next request would have; `limit` is null where nobody knows it."""

    total: int
    limit: int | None
    shown: str


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str | None
    model: str | None
    agent_id: str | None
    preview: str
    created: float
    updated: float
    count: int
    running: bool
    head: str | None
    settings: dict[str, Any]
    context: Context | None


class UIMessage(msgspec.Struct, frozen=True):
    """The AI SDK's `UIMessage`."""

    id: str
    role: str
    parts: list[dict[str, Any]]
    metadata: dict[str, Any]


class Messages(msgspec.Struct, frozen=True):
    """The branch that the conversation stands at; `branches` has the alternatives of each message."""

    messages: list[UIMessage]
    branches: dict[str, list[str]]
    running: str | None
    """The message that is being written, if there is one; its stream has it from the beginning."""


class FileRef(_In, frozen=True):
    file_id: Id


class NewMessage(_In, frozen=True):
    text: Said = ""
    files: Annotated[list[FileRef], Meta(max_length=20)] = []


class Chat(_In, frozen=True):
    """Something said; or nothing, and the conversation goes on, or one of its answers is made again."""

    message: NewMessage | None = None
    parent_id: Id | UnsetType | None = UNSET
    regenerate: Id | None = None


class StreamQuery(_In, frozen=True):
    last_event_id: str = msgspec.field(default="", name="last-event-id")
    run: str = ""


class Stopped(msgspec.Struct, frozen=True):
    stopped: bool


class Approval(_In, frozen=True):
    tool_call_id: Annotated[str, Meta(min_length=1, max_length=500)]
    decision: Decision


class Approved(msgspec.Struct, frozen=True):
    decided: bool


class Titled(msgspec.Struct, frozen=True):
    title: str | None


class ExportQuery(_In, frozen=True):
    to: Literal["jsonl", "markdown"] = "markdown"
    thinking: bool = False


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked, what was sent, what came back. Fields that nobody knows are null."""

    requested: dict[str, Any] | None
    effective: dict[str, Any] | None
    observed: dict[str, Any]
    outcome: str | None
    lines: list[str]
    notes: list[ToldNote]
    request: dict[str, Any] | None
    requests: list[dict[str, Any]]
    usage: dict[str, Any] | None
    cost: float | None
    failure: dict[str, Any] | None


class UsageQuery(_In, frozen=True):
    since: Moment = ""
    until: Moment = ""
    offset: Annotated[float, Meta(ge=-86_400, le=86_400)] = 0


class UsageEntry(msgspec.Struct, frozen=True, kw_only=True):
    day: str
    provider: str | None
    model: str | None
    agent_id: str | None
    agent: str | None
    answers: int
    input_uncached: int | None
    cache_read: int | None
    cache_write: int | None
    input_total: int | None
    output_visible: int | None
    output_reasoning: int | None
    output_total: int | None
    cost: float | None
    unknown: dict[str, int]


class Usage(msgspec.Struct, frozen=True):
    rows: list[UsageEntry]


class File(msgspec.Struct, frozen=True):
    file_id: str
    media_type: str
    name: str
    size: int


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    kind: str
    message: str
    advice: str
    variable: str | None = None
    path: str | None = None
    retry_after: float | None = None


class Error(msgspec.Struct, frozen=True):
    error: ErrorBody
