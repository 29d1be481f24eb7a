"""The table of operations: everything that the API does, and what it needs and gives."""

from __future__ import annotations

from functools import partial

from thinkwire.web import schemas as shapes
from thinkwire.web.api import accounts, agents, chat, conversations, events, files, models
from thinkwire.web.api import explain as looking
from thinkwire.web.request import Operation

_STREAM = ("text/event-stream",)
_EXPORTS = ("text/markdown", "application/jsonl")
_ANY_FILE = ("image/*", "text/plain", "application/pdf", "application/octet-stream")
"""Pictures are shown, everything else is saved."""
_AGENT = "/api/agents/{id}"
_TALK = "/api/conversations/{id}"


_get = partial(Operation, method="GET")
_post = partial(Operation, method="POST")
_patch = partial(Operation, method="PATCH")
_delete = partial(Operation, method="DELETE")

OPERATIONS: tuple[Operation, ...] = (
    _get(path="/api/me", handler=accounts.me, summary="Who is asking", gives=shapes.Me, open=True),
    _post(
        path="/api/token",
        handler=accounts.show_token,
        summary="Show the start token, and get the cookie that stands for it",
        body=shapes.Token,
        gives=shapes.Done,
        open=True,
        before_sign_in=True,
    ),
    _post(
        path="/api/login",
        handler=accounts.login,
        summary="Sign in",
        body=shapes.Credentials,
        gives=shapes.SignedIn,
        open=True,
    ),
    _post(path="/api/logout", handler=accounts.logout, summary="Sign out", gives=shapes.Done, open=True),
    _post(
        path="/api/setup",
        handler=accounts.setup,
        summary="Make the first account, from the machine itself",
        body=shapes.NewAccount,
        gives=shapes.SignedIn,
        open=True,
    ),
    _post(
        path="/api/join",
        handler=accounts.join,
        summary="Make an account with an invitation",
        body=shapes.Joining,
        gives=shapes.SignedIn,
        open=True,
    ),
    _get(
        path="/api/users",
        handler=accounts.list_users,
        summary="Every account",
        gives=list[shapes.UserEntry],
        admin=True,
    ),
    _post(
        path="/api/users",
        handler=accounts.add_user,
        summary="Make an account",
        body=shapes.NewUser,
        gives=shapes.UserEntry,
        admin=True,
        status=201,
    ),
    _delete(
        path="/api/users/{id}",
        handler=accounts.remove_user,
        summary="Remove an account; with `purge`, what it has as well",
        query=shapes.Purge,
        gives=shapes.Done,
        admin=True,
    ),
    _post(
        path="/api/invitations",
        handler=accounts.invite,
        summary="Invite somebody",
        body=shapes.Inviting,
        gives=shapes.Invitation,
        admin=True,
        status=201,
    ),
    _get(
        path="/api/models",
        handler=models.list_models,
        summary="Models and how they think",
        query=shapes.ModelsQuery,
        gives=shapes.Models,
    ),
    _post(
        path="/api/plan",
        handler=models.plan,
        summary="What would be sent about thinking",
        body=shapes.PlanRequest,
        gives=shapes.PlanAnswer,
    ),
    _get(
        path="/api/tools",
        handler=models.list_tools,
        summary="Tools that agents can have",
        gives=list[shapes.ToolEntry],
    ),
    _get(
        path="/api/tools/servers",
        handler=models.list_servers,
        summary="MCP servers, whose tools agents can have",
        gives=list[shapes.ToolServer],
    ),
    _get(path="/api/agents", handler=agents.list_agents, summary="Agents by name", gives=list[shapes.Agent]),
    _post(
        path="/api/agents",
        handler=agents.create,
        summary="Make an agent",
        body=shapes.NewAgent,
        gives=shapes.Agent,
        status=201,
    ),
    _get(path=_AGENT, handler=agents.read, summary="One agent", gives=shapes.Agent),
    _patch(
        path=_AGENT,
        handler=agents.change,
        summary="Change an agent",
        body=shapes.AgentChange,
        gives=shapes.Agent,
    ),
    _delete(
        path=_AGENT,
        handler=agents.delete,
        summary="Delete an agent; its conversations stay",
        gives=shapes.Done,
    ),
    _post(
        path=f"{_AGENT}/restore", handler=agents.restore, summary="Bring an agent back", gives=shapes.Agent
    ),
    _get(
        path="/api/conversations",
        handler=conversations.list_conversations,
        summary="Conversations, the newest first, or those in which words are found",
        query=shapes.ConversationsQuery,
        gives=shapes.Conversations,
    ),
    _post(
        path="/api/conversations",
        handler=conversations.create,
        summary="Begin a conversation",
        body=shapes.NewConversation,
        gives=shapes.Conversation,
        status=201,
    ),
    _get(
        path="/api/events",
        handler=events.events,
        summary="Which conversations have changed; waits for some",
        query=shapes.EventsQuery,
        gives=shapes.Events,
    ),
    _get(path=_TALK, handler=conversations.read, summary="One conversation", gives=shapes.Conversation),
    _patch(
        path=_TALK,
        handler=conversations.change,
        summary="Change title, model, settings, agent or branch",
        body=shapes.ConversationChange,
        gives=shapes.Conversation,
    ),
    _delete(
        path=_TALK, handler=conversations.delete, summary="Put a conversation into the bin", gives=shapes.Done
    ),
    _post(
        path=f"{_TALK}/restore",
        handler=conversations.restore,
        summary="Take a conversation out of the bin",
        gives=shapes.Conversation,
    ),
    _get(
        path=f"{_TALK}/messages",
        handler=conversations.messages,
        summary="What was said",
        gives=shapes.Messages,
    ),
    _get(
        path=f"{_TALK}/export",
        handler=conversations.export,
        summary="The conversation as a file",
        query=shapes.ExportQuery,
        media=_EXPORTS,
    ),
    _post(path=f"{_TALK}/title", handler=conversations.title, summary="Make a title", gives=shapes.Titled),
    _post(
        path=f"{_TALK}/chat",
        handler=chat.chat,
        summary="Say something and stream the answer",
        body=shapes.Chat,
        media=_STREAM,
    ),
    _get(
        path=f"{_TALK}/stream",
        handler=chat.stream,
        summary="Follow the answer in the making; 204 when there is none",
        query=shapes.StreamQuery,
        media=_STREAM,
    ),
    _post(
        path=f"{_TALK}/stop", handler=chat.stop, summary="Stop the answer in the making", gives=shapes.Stopped
    ),
    _post(
        path=f"{_TALK}/approve",
        handler=chat.approve,
        summary="Decide whether a tool may be run",
        body=shapes.Approval,
        gives=shapes.Approved,
    ),
    _get(
        path="/api/messages/{id}/explain",
        handler=looking.explain,
        summary="Why it came out so",
        gives=shapes.Explained,
    ),
    _get(
        path="/api/messages/{id}/files/{number}",
        handler=files.message_file,
        summary="A file of a message",
        media=_ANY_FILE,
    ),
    _get(
        path="/api/usage",
        handler=looking.usage,
        summary="Tokens and cost by day, model and agent",
        query=shapes.UsageQuery,
        gives=shapes.Usage,
    ),
    _post(
        path="/api/files",
        handler=files.upload,
        summary="Upload a file",
        gives=shapes.File,
        multipart=True,
        status=201,
    ),
    _get(path="/api/files/{id}", handler=files.download, summary="An uploaded file", media=_ANY_FILE),
)
