"""Every operation of the table, asked by a stranger and by nobody: it is as if the thing were not there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.webs import Browser, Served
from thinkwire.messages import Image, Text, Turn
from thinkwire.web.request import Operation
from thinkwire.web.routes import OPERATIONS

pytestmark = pytest.mark.anyio

BODIES: dict[str, dict[str, Any]] = {
    "PATCH /api/agents/{id}": {"name": "stolen"},
    "PATCH /api/conversations/{id}": {"title": "stolen"},
    "POST /api/conversations/{id}/chat": {"message": {"text": "stolen"}},
    "POST /api/conversations/{id}/approve": {"tool_call_id": "x", "decision": "yes"},
}
CLOSED = [operation for operation in OPERATIONS if not operation.open]
ABOUT_THINGS = [operation for operation in CLOSED if "{id}" in operation.path and not operation.admin]


def key(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


class Things:
    """One of each, and whose they are."""

    def __init__(self, owner: Browser, ids: dict[str, str]) -> None:
        self.owner = owner
        self.ids = ids

    def path(self, operation: Operation) -> str:
        what = operation.path.split("/")[2]
        return operation.path.replace("{id}", self.ids[what]).replace("{number}", "0")


@pytest.fixture
async def things(guarded: Served) -> Things:
    ada = await guarded.account("ada")
    store = guarded.store
    owner = (await ada.get("/api/me"))["user"]["id"]
    talk = await store.create_conversation("Hers", owner=owner, model="anthropic/claude-opus-5-5")
    said = await store.append(
        talk.id, Turn("user", (Image("image/png", data="iVBORw0KGgo="), Text("secret")))
    )
    await store.append(talk.id, Turn("assistant", (Text("whispered"),)))
    agent = await store.create_agent("hers", owner=owner)
    upload = await store.add_upload(b"secret", name="a.txt", media_type="text/plain", owner=owner)
    ids = {"conversations": talk.id, "messages": said.id, "agents": agent.id, "files": upload.id}
    return Things(ada, ids)


async def asked(browser: Browser, operation: Operation, path: str) -> Any:
    body = BODIES.get(key(operation), {}) if operation.method in ("POST", "PATCH") else None
    return await browser.ask(operation.method, path, body)


async def test_nobody_gets_anything(guarded: Served, things: Things) -> None:
    nobody = await guarded.browser()
    for operation in CLOSED:
        path = things.path(operation) if operation in ABOUT_THINGS else operation.path.replace("{id}", "x")
        answer = await asked(nobody, operation, path)
        assert (key(operation), answer.status) == (key(operation), 401)


async def test_a_stranger_finds_nothing_and_changes_nothing(guarded: Served, things: Things) -> None:
    eve = await guarded.account("eve")
    before = await everything(things)
    for operation in ABOUT_THINGS:
        answer = await asked(eve, operation, things.path(operation))
        assert (key(operation), answer.status) == (key(operation), 404)
        missing = operation.path.replace("{id}", "0" * 26).replace("{number}", "0")
        assert (await asked(eve, operation, missing)).body == answer.body, "as if it were not there"
    assert await everything(things) == before


async def test_an_administrator_is_a_stranger_to_what_others_say(guarded: Served, things: Things) -> None:
    root = await guarded.account("root", admin=True)
    for operation in ABOUT_THINGS:
        assert (await asked(root, operation, things.path(operation))).status == 404


async def test_lists_have_only_ones_own(guarded: Served, things: Things) -> None:
    eve = await guarded.account("eve")
    assert (await eve.get("/api/conversations"))["items"] == []
    assert (await eve.get("/api/conversations?q=whispered"))["items"] == []
    assert await eve.get("/api/agents") == []
    assert (await eve.get("/api/usage"))["rows"] == []
    assert len((await things.owner.get("/api/conversations?q=whispered"))["items"]) == 1


async def test_others_things_cannot_be_taken_along(guarded: Served, things: Things) -> None:
    eve = await guarded.account("eve")
    ids = things.ids
    assert (await eve.ask("POST", "/api/conversations", {"agent_id": ids["agents"]})).status == 404
    talk = await eve.talk()
    for body in (
        {"message": {"text": "", "files": [{"file_id": ids["files"]}]}},
        {"message": {"text": "x"}, "parent_id": ids["messages"]},
        {"message": None, "regenerate": ids["messages"]},
    ):
        assert (await eve.ask("POST", f"{talk}/chat", body)).status == 404, body
    assert (await eve.ask("PATCH", talk, {"head": ids["messages"]})).status == 404
    assert (await eve.ask("PATCH", talk, {"agent_id": ids["agents"]})).status == 404


async def test_the_owner_gets_everything(things: Things) -> None:
    for operation in ABOUT_THINGS:
        if operation.method == "GET":
            answer = await asked(things.owner, operation, things.path(operation))
            assert answer.status in (200, 204, 409), (key(operation), answer)


def test_the_table_knows_every_thing_that_it_names() -> None:
    assert {operation.path.split("/")[2] for operation in ABOUT_THINGS} == {
        "agents",
        "conversations",
        "files",
        "messages",
    }


async def everything(things: Things) -> list[Any]:
    paths = (
        "/api/agents",
        "/api/conversations",
        f"/api/conversations/{things.ids['conversations']}/messages",
    )
    return [await things.owner.get(path) for path in paths]
