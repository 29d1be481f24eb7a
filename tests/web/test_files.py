"""Files: taken by what they are, kept for their owner, shown only if they are pictures."""

from __future__ import annotations

import base64
import time
from typing import Any

import aiohttp
import pytest

from tests.web.webs import Browser, Served
from thinkwire.store import tables, uploads

pytestmark = pytest.mark.anyio

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def upload(browser: Browser, data: bytes, name: str = "a.txt", kind: str = "text/html") -> Any:
    form = aiohttp.FormData()
    form.add_field("file", data, filename=name, content_type=kind)
    return await browser.ask("POST", "/api/files", data=form)


@pytest.mark.parametrize(
    ("data", "name", "media", "shown"),
    [
        (PNG, "dot.png", "image/png", "inline"),
        (b"%PDF-1.4 ...", "a.pdf", "application/pdf", "attachment"),
        (b"<script>alert(1)</script>", "a.html", "text/plain", "attachment"),
        (b"<svg onload=alert(1)>", "a.svg", "text/plain", "attachment"),
        ("Grüße".encode(), 'C:\\we"ird; name=é\u202e.txt', "text/plain", "attachment"),
    ],
)
async def test_a_file_is_what_its_bytes_are(
    browser: Browser, data: bytes, name: str, media: str, shown: str
) -> None:
    kept = await upload(browser, data, name)
    assert (kept.status, kept.body["media_type"], kept.body["size"]) == (201, media, len(data))
    given = await browser.ask("GET", f"/api/files/{kept.body['file_id']}")
    assert given.body == data
    assert given.headers["content-type"].startswith(media)
    assert given.headers["content-disposition"].startswith(shown)
    assert given.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in given.headers["content-security-policy"]


async def test_what_no_model_can_read_is_refused(browser: Browser) -> None:
    odd = await upload(browser, b"\x7fELF\x00\xff\xfe", "a.out")
    assert (odd.status, odd.body["error"]["kind"]) == (415, "unsupported_file")
    assert (await upload(browser, b"", "empty.txt")).status == 400
    plain = await browser.ask("POST", "/api/files", {"file": "x"})
    assert plain.status == 415
    form = aiohttp.FormData()
    form.add_field("other", b"x", filename="a.txt")
    assert (await browser.ask("POST", "/api/files", data=form)).status == 400


async def test_a_file_that_is_too_large_is_refused(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thinkwire.web.api.files.LARGEST", 1000)
    for size in (1001, 200_000):
        assert (await upload(browser, b"x" * size)).status == 413
    assert (await upload(browser, b"x" * 1000)).status == 201


async def test_a_sent_file_is_part_of_its_message(browser: Browser) -> None:
    talk = await browser.talk()
    picture, text = (await upload(browser, PNG, "dot.png")).body, (await upload(browser, b"words")).body
    files = [{"file_id": picture["file_id"]}, {"file_id": text["file_id"]}]
    body = {"message": {"text": "[[say:Seen.]]", "files": files}}
    assert (await browser.ask("POST", f"{talk}/chat", body)).status == 200
    said = (await browser.messages(talk))[0]
    assert [part["type"] for part in said["parts"]] == ["file", "file", "text"]
    assert said["parts"][1]["filename"] == "a.txt"
    assert (await browser.ask("GET", said["parts"][0]["url"])).body == PNG
    assert (await browser.ask("GET", said["parts"][1]["url"])).body == b"words"
    for number in ("2", "9", "-1", "x", "1e3"):
        assert (await browser.ask("GET", f"/api/messages/{said['id']}/files/{number}")).status == 404
    sent = (await browser.get(f"/api/messages/{(await browser.messages(talk))[1]['id']}/explain"))["request"]
    assert base64.b64encode(PNG).decode()[:40] not in str(sent) or len(PNG) < 400


async def test_uploads_go_after_a_day_and_have_a_bound(app: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    store = app.store
    old = await store.add_upload(b"old", name="a", media_type="text/plain")
    ages = tables.uploads.update().values(created=time.time() - 2 * uploads.KEPT_FOR)
    await store.database.write(lambda connection: connection.execute(ages))
    monkeypatch.setattr(uploads, "MOST", 10)
    browser = await app.browser()
    assert (await upload(browser, b"12345678")).status == 201
    assert (await browser.ask("GET", f"/api/files/{old.id}")).status == 404
    full = await upload(browser, b"12345678")
    assert (full.status, full.body["error"]["kind"]) == (409, "taken")
