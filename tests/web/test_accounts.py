"""Accounts: who gets in, how, and that whoever is out is out at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.web.webs import TOKEN, Browser, Served, all_bases, frames, web_app
from thinkwire.sim.fixture import Running
from thinkwire.web.auth.security import HEADERS, digest
from thinkwire.web.request import Operation
from thinkwire.web.routes import OPERATIONS

pytestmark = pytest.mark.anyio

ADA = {"name": "Ada", "password": "correct horse"}


async def test_first_visit_setup_sign_out_sign_in(guarded: Served) -> None:
    browser = await guarded.browser()
    assert (await browser.get("/api/me"))["needs_setup"] is True
    assert (await browser.ask("GET", "/api/agents")).status == 401
    user = (await browser.post("/api/setup", ADA))["user"]
    assert user["admin"] is True
    me = await browser.get("/api/me")
    assert (me["user"], me["needs_setup"], me["auth"]) == (user, False, True)
    assert await browser.get("/api/agents") == []
    await browser.post("/api/logout")
    assert (await browser.ask("GET", "/api/agents")).status == 401
    await browser.get("/api/me")
    wrong = await browser.ask("POST", "/api/login", ADA | {"password": "wrong horse"})
    nobody = await browser.ask("POST", "/api/login", ADA | {"name": "Bob"})
    assert (wrong.status, nobody.status) == (401, 401)
    assert wrong.body == nobody.body, "nobody learns which names there are"
    await browser.post("/api/login", ADA | {"name": " aDA "})
    assert (await browser.get("/api/me"))["user"] == user


async def test_setup_works_once_and_only_from_the_machine_itself(guarded: Served) -> None:
    browser = await guarded.browser()
    far = await browser.ask("POST", "/api/setup", ADA, headers={"x-forwarded-for": "203.0.113.7"})
    assert (far.status, far.body["error"]["kind"]) == (403, "not_local")
    both = await asyncio.gather(
        *(browser.ask("POST", "/api/setup", ADA | {"name": name}) for name in ("Ada", "Eve"))
    )
    assert sorted(answer.status for answer in both) == [200, 409]
    assert len(await guarded.store.users()) == 1


REBOUND = ["evil.example", "evil.example:4141", "127.0.0.1.evil.example", "gate.example.com"]


@pytest.mark.parametrize("host", REBOUND)
async def test_a_name_that_was_pointed_here_does_not_take_the_first_account(
    guarded: Served, host: str
) -> None:
    """As a page of that name asks, whose browser even has the cookie."""
    browser = await guarded.browser()
    headers = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    answer = await browser.ask("POST", "/api/setup", ADA, headers=headers)
    assert (answer.status, answer.body["error"]["kind"]) == (403, "not_local")
    assert await guarded.store.users() == []


async def test_the_first_account_needs_the_start_token(guarded: Served) -> None:
    browser = await guarded.stranger()
    me = await browser.get("/api/me")
    assert (me["needs_setup"], me["needs_token"]) == (True, True)
    answer = await browser.ask("POST", "/api/setup", ADA)
    assert (answer.status, answer.body["error"]["kind"]) == (401, "start_token")
    assert "thinkwire users add" in answer.body["error"]["message"]
    await browser.post("/api/token", {"token": TOKEN})
    assert (await browser.get("/api/me"))["needs_token"] is False
    await browser.post("/api/setup", ADA)
    late = await (await guarded.stranger()).ask("POST", "/api/token", {"token": TOKEN})
    assert (late.status, late.body["error"]["kind"]) == (409, "has_accounts")


async def test_the_console_says_how_the_first_account_is_made(
    simulator: Running, own_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bases, url = all_bases(simulator.url), "http://127.0.0.1:4141"
    async with web_app(own_url, bases, None, auth=True, base_url=url) as served:
        assert f"{url}/?token={TOKEN}\n" in capsys.readouterr().out
        await (await served.browser()).post("/api/setup", ADA)
    async with web_app(own_url, bases, None, auth=True, base_url=url):
        assert TOKEN not in capsys.readouterr().out, "it opens nothing any more"


async def test_an_invitation_makes_one_account(guarded: Served) -> None:
    admin = await guarded.account("root", admin=True)
    token = (await admin.post("/api/invitations"))["token"]
    guest = await guarded.browser()
    joining = {"token": token, "name": "Bob", "password": "long enough"}
    taken = await guest.ask("POST", "/api/join", joining | {"name": "ROOT"})
    assert (taken.status, taken.body["error"]["kind"]) == (409, "taken")
    assert (await guest.post("/api/join", joining))["user"]["admin"] is False
    other = await guarded.browser()
    assert (await other.ask("POST", "/api/join", joining | {"name": "Carl"})).status == 409
    assert (await guest.ask("GET", "/api/users")).status == 404, "not an administrator"
    assert [user["name"] for user in await admin.get("/api/users")] == ["Bob", "root"]


async def test_an_old_invitation_is_void(guarded: Served) -> None:
    await guarded.store.invite(digest("old"), expires=time.time() - 1)
    browser = await guarded.browser()
    joining = {"token": "old", "name": "Bob", "password": "long enough"}
    assert (await browser.ask("POST", "/api/join", joining)).status == 409


async def test_cookies_are_out_of_reach_of_scripts_and_of_other_sites(guarded: Served) -> None:
    browser = await guarded.browser()
    answer = await browser.ask("POST", "/api/setup", ADA)
    session, device, csrf = sorted(answer.headers.getall("set-cookie"), reverse=True)
    assert "httponly" in session.lower()
    assert "samesite=lax" in session.lower()
    for attribute in ("httponly", "samesite=strict", "path=/api/login"):
        assert attribute in device.lower()
    assert "samesite=strict" in csrf.lower()
    assert "httponly" not in csrf.lower()
    token = session.partition("=")[2].partition(";")[0]
    rows = await guarded.store.signed_in(digest(token))
    assert rows is not None
    assert await guarded.store.signed_in(token) is None, "only a digest is kept"


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"x-csrf-token": "guessed"}, "csrf"),
        ({"x-csrf-token": ""}, "csrf"),
        ({"origin": "https://evil.example"}, "origin"),
        ({"origin": "null"}, "origin"),
        ({"sec-fetch-site": "cross-site"}, "origin"),
    ],
)
async def test_other_sites_change_nothing(
    guarded: Served, app: Served, headers: dict[str, str], kind: str
) -> None:
    for browser in (await guarded.account("ada"), await app.browser()):
        answer = await browser.ask("POST", "/api/agents", {"name": "A"}, headers=headers)
        assert (answer.status, answer.body["error"]["kind"]) == (403, kind)
        assert await browser.get("/api/agents") == []


async def test_a_csrf_cookie_that_somebody_planted_is_not_enough(guarded: Served) -> None:
    browser = await guarded.account("ada")
    browser.http.cookie_jar.update_cookies({"thinkwire_csrf": "planted"})
    answer = await browser.ask("POST", "/api/agents", {"name": "A"}, headers={"x-csrf-token": "planted"})
    assert (answer.status, answer.body["error"]["kind"]) == (403, "csrf")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "a@127.0.0.1"])
async def test_without_accounts_only_names_of_this_machine_are_heard(app: Served, host: str) -> None:
    browser = await app.browser()
    for path in ("/api/conversations", "/api/me", "/"):
        answer = await browser.ask("GET", path, headers={"host": host})
        assert (answer.status, answer.body["error"]["kind"]) == (403, "host")


async def test_every_answer_carries_the_headers(app: Served) -> None:
    browser = await app.browser()
    for path in ("/", "/api/me", "/api/nowhere", "/api/conversations/none", "/assets/none.js"):
        answer = await browser.ask("GET", path)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (path, name)
    csp = HEADERS["content-security-policy"]
    assert "unsafe" not in csp
    assert "script-src 'self'" in csp


async def test_passwords_are_not_guessed_at_will(guarded: Served) -> None:
    await (await guarded.browser()).post("/api/setup", ADA)
    browser = await guarded.browser()
    wrong = ADA | {"password": "wrong horse"}
    for _ in range(10):
        assert (await browser.ask("POST", "/api/login", wrong)).status == 401
    answer = await browser.ask("POST", "/api/login", ADA)
    assert (answer.status, answer.body["error"]["advice"]) == (429, "retry")
    assert 0 < int(answer.headers["retry-after"]) <= 300


async def all_of(stream: Any) -> list[Any]:
    return [frame async for frame in stream]


async def streaming(browser: Browser) -> Any:
    talk = await browser.talk()
    said = {"message": {"text": "[[think:Half.]] [[stall:30]]"}}
    return talk, browser.request("POST", f"{talk}/chat", said)


async def new_password(guarded: Served, user_id: str, browser: Browser) -> None:
    await guarded.store.set_password(user_id, "another")


async def signing_out(guarded: Served, user_id: str, browser: Browser) -> None:
    await browser.post("/api/logout")


async def removal(guarded: Served, user_id: str, browser: Browser) -> None:
    await guarded.store.remove_user(user_id)


STREAMS = [operation for operation in OPERATIONS if operation.media == ("text/event-stream",)]


@pytest.mark.parametrize("out", [new_password, signing_out, removal])
@pytest.mark.parametrize("operation", STREAMS, ids=lambda operation: operation.path)
async def test_who_is_signed_out_reads_no_further(
    guarded: Served, operation: Operation, out: Callable[..., Awaitable[None]]
) -> None:
    browser = await guarded.account("ada")
    user_id = (await browser.get("/api/me"))["user"]["id"]
    talk, request = await streaming(browser)
    async with AsyncExitStack() as stack:
        stream = frames(await stack.enter_async_context(request))
        await anext(stream)
        if operation.method == "GET":
            address = operation.path.replace("{id}", talk.rpartition("/")[2])
            stream = frames(await stack.enter_async_context(browser.request("GET", address)))
        while (await anext(stream))[1]["type"] != "reasoning-delta":
            pass
        await out(guarded, user_id, browser)
        with pytest.raises(EOFError):
            await asyncio.wait_for(all_of(stream), 10)
    following = await guarded.web.runs.find(talk.rpartition("/")[2])
    assert following is not None
    assert not following.over, "the answer itself goes on"


def test_every_stream_is_one_of_those() -> None:
    assert {operation.path.rpartition("/")[2] for operation in STREAMS} == {"chat", "stream"}


async def test_a_removed_user_is_out_and_the_last_administrator_stays(guarded: Served) -> None:
    admin = await guarded.account("root", admin=True)
    bob = await guarded.account("bob")
    talk = await bob.talk()
    users = {user["name"]: user["id"] for user in await admin.get("/api/users")}
    assert (await admin.ask("DELETE", f"/api/users/{users['bob']}")).status == 200
    assert (await bob.ask("GET", talk)).status == 401
    last = await admin.ask("DELETE", f"/api/users/{users['root']}")
    assert (last.status, "last administrator" in last.body["error"]["message"]) == (409, True)
    assert (await guarded.store.conversation(talk.rpartition("/")[2])).owner == users["bob"]
    assert (await admin.ask("DELETE", f"/api/users/{users['bob']}?purge=true")).status == 200
    assert await guarded.store.conversations(users["bob"]) == []
    assert (await admin.ask("DELETE", f"/api/users/{users['bob']}")).status == 404


async def test_with_accounts_everyone_has_a_folder_in_the_workspace_that_is_named(
    simulator: Running, own_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases = all_bases(simulator.url)
    async with web_app(own_url, bases, None, auth=True) as served:
        assert await (await served.account("ada")).get("/api/tools") == []
    monkeypatch.setenv("THINKWIRE_WORKSPACE", str(tmp_path / "work"))
    async with web_app(own_url, bases, None, auth=True) as served:
        browser = await served.account("eve")
        names = {tool["name"] for tool in await browser.get("/api/tools")}
        assert "write_file" in names
        assert "run_command" not in names
        me = await browser.get("/api/me")
        assert [folder.name for folder in (tmp_path / "work").iterdir()] == [me["user"]["id"]]


async def test_short_passwords_and_empty_names_are_refused(guarded: Served) -> None:
    browser = await guarded.browser()
    for body in ({"name": "", "password": "long enough"}, {"name": "Ada", "password": "short"}):
        assert (await browser.ask("POST", "/api/setup", body)).status == 400


async def test_a_server_without_accounts_says_so(app: Served) -> None:
    browser = await app.browser()
    assert (await browser.ask("POST", "/api/login", ADA)).body["error"]["kind"] == "no_accounts"
    assert (await browser.ask("GET", "/api/users")).status == 404
