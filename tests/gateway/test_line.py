"""The server's side of a connection, on real sockets: any ASGI application, any cut of the bytes."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from tests.gateway.connections import at, echo, post, said
from thinkwire.gateway.http.client_response import EXTENSION
from thinkwire.gateway.server import protocol as line
from thinkwire.gateway.server.head_parser import LARGEST_HEAD
from thinkwire.gateway.server.protocol import ProtocolFactory
from thinkwire.gateway.server.request_cycle import RequestCycle

pytestmark = pytest.mark.anyio

LAST = post(b"last", "Connection: close")


async def test_a_request_and_its_answer() -> None:
    async with at(echo) as port:
        told = await said(port, LAST)
    assert told == (b"HTTP/1.1 200 OK\r\ncontent-length: 19\r\nconnection: close\r\n\r\nPOST /here a=b last")


async def test_requests_that_come_together_are_answered_in_order() -> None:
    async with at(echo) as port:
        told = await said(port, post(b"one") + post(b"two") + LAST)
    assert [part.split()[-1] for part in told.split(b"HTTP/1.1 200")[1:]] == [b"one", b"two", b"last"]


async def directly(scope: Any, receive: Any, send: Any) -> None:
    """Answers as the gateway does: head and body in one write of the direct way."""
    visit: RequestCycle = scope["extensions"][EXTENSION]
    body = visit.taken() or b""
    visit.whole(200, [], body)


async def test_whole_answers_go_out_in_order_and_before_the_end() -> None:
    async with at(directly) as port:
        told = await said(port, post(b"one") + post(b"two") + LAST)
    assert [part.split()[-1] for part in told.split(b"HTTP/1.1 200")[1:]] == [b"one", b"two", b"last"]


@pytest.mark.parametrize("method", [b"POST", b"HEAD"])
async def test_a_whole_answer_tells_its_length_once(method: bytes) -> None:
    async def telling(scope: Any, receive: Any, send: Any) -> None:
        scope["extensions"][EXTENSION].whole(200, [(b"content-length", b"7"), (b"a", b"b")], b"word")

    async with at(telling) as port:
        told = await said(port, method + b" /here HTTP/1.1\r\nconnection: close\r\n\r\n")
    head = b"HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 4\r\nconnection: close\r\n\r\n"
    assert told == (head if method == b"HEAD" else head + b"word")


async def test_a_head_goes_out_with_its_first_piece_or_by_itself_when_none_comes() -> None:
    may_go_on = asyncio.Event()

    async def slowly(scope: Any, receive: Any, send: Any) -> None:
        visit: RequestCycle = scope["extensions"][EXTENSION]
        visit.begin(200, [])
        if scope["path"] == "/slow":
            await may_go_on.wait()
        visit.write(b"word")
        visit.end()

    async with at(slowly) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(post(b"", path="/slow"))
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        may_go_on.set()
        body = await asyncio.wait_for(reader.readuntil(b"0\r\n\r\n"), 10)
        writer.close()
        quick = await said(port, post(b"", "Connection: close"))
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert body == b"4\r\nword\r\n0\r\n\r\n"
    assert quick.endswith(b"connection: close\r\n\r\n4\r\nword\r\n0\r\n\r\n")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_three_parts_are_put_as_one_piece(version: str) -> None:
    async def directly(scope: Any, receive: Any, send: Any) -> None:
        visit: RequestCycle = scope["extensions"][EXTENSION]
        visit.begin(200, [], b"first ")
        for word in (b"one", b"two"):
            if scope["path"] == "/put":
                visit.put(b"<", word, b">")
            else:
                visit.write(b"<" + word + b">")
        visit.end()

    async with at(directly) as port:
        lines = [f"GET {path} HTTP/{version}\r\nconnection: close\r\n\r\n" for path in ("/put", "/written")]
        put, written = [await said(port, line.encode()) for line in lines]
    assert put == written
    assert b"<one>" in put


async def test_one_task_serves_a_connection_unless_it_is_still_busy() -> None:
    served_by: list[Any] = []
    may_end = asyncio.Event()

    async def with_an_afterthought(scope: Any, receive: Any, send: Any) -> None:
        visit: RequestCycle = scope["extensions"][EXTENSION]
        served_by.append(asyncio.current_task())
        assert visit.task is asyncio.current_task()
        await directly(scope, receive, send)
        if visit.scope["path"] == "/busy":
            await may_end.wait()

    async with at(with_an_afterthought) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for path in ("/one", "/two", "/busy", "/three"):
            writer.write(post(b"word", path=path))
            assert (await asyncio.wait_for(reader.readuntil(b"word"), 10)).startswith(b"HTTP/1.1 200")
        one, two, busy, three = served_by
        assert one is two is busy
        assert three is not busy
        assert not busy.done()
        may_end.set()
        await asyncio.wait_for(busy, 10)
        writer.close()
        await asyncio.wait_for(three, 10)


async def test_a_refusal_does_not_overtake_the_answer_before_it() -> None:
    told: list[bytes] = []
    transport = SimpleNamespace(
        write=told.append,
        write_eof=lambda: told.append(b"end"),
        close=lambda: told.append(b"closed"),
        is_closing=lambda: False,
        get_extra_info=lambda name: None,
    )
    config = SimpleNamespace(loaded_app=directly, timeout_keep_alive=5)
    server: Any = SimpleNamespace(connections=set(), tasks=set(), total_requests=0)
    connection = ProtocolFactory()(config, server, {}, asyncio.get_running_loop())
    connection.connection_made(cast(Any, transport))
    connection.send_soon(b"answer")
    connection.data_received(b"NONSENSE\r\n\r\n")
    assert [told[0], told[1][:12], *told[2:]] == [b"answer", b"HTTP/1.1 400", b"end"]
    connection.connection_lost(None)


WIRE = (
    post(b"one")
    + b"POST /two HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"
    + b"GET /three%20four HTTP/1.1\r\nHost: x\r\n\r\n"
    + LAST
)


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(1, len(WIRE) - 1), max_size=12).map(lambda cuts: sorted(set(cuts))))
def test_any_cut_of_the_bytes_gives_the_same_answers(cuts: list[int]) -> None:
    pieces = [WIRE[a:b] for a, b in zip([0, *cuts], [*cuts, len(WIRE)], strict=True)]

    async def told() -> tuple[bytes, bytes]:
        async with at(echo) as port:
            return await said(port, WIRE), await said(port, *pieces)

    whole, cut = asyncio.run(told())
    assert whole == cut
    assert whole.count(b"HTTP/1.1 200") == 4
    assert b"GET /three four " in whole


@pytest.mark.parametrize(
    ("wire", "status"),
    [
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n", b"400"),
        (b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (LARGEST_HEAD + 200_000), b"431"),
    ],
)
async def test_what_is_not_a_request_is_refused_and_the_connection_closed(wire: bytes, status: bytes) -> None:
    async with at(echo) as port:
        told = await said(port, wire)
    assert told.startswith(b"HTTP/1.1 " + status)


async def test_a_head_that_does_not_come_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "HEAD_SECONDS", 0.05)
    async with at(echo) as port:
        assert (await said(port, b"GET / HTTP/1.1\r\nHost:")).startswith(b"HTTP/1.1 408")
        second = await said(port, post(b"one"), b"GET / HT")
    assert second.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in second, "a later request has no more time than the first"


async def test_an_idle_connection_is_closed() -> None:
    async with at(echo, idle=1) as port:
        assert await said(port) == b""
        assert (await said(port, post(b"one"))).startswith(b"HTTP/1.1 200")


async def test_an_idle_connection_keeps_nothing_of_the_request_before() -> None:
    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    def kept() -> list[RequestCycle]:
        visits = [thing for thing in gc.get_objects() if type(thing) is RequestCycle]
        return [visit for visit in visits if visit.scope["path"] == "/kept"]

    async with at(refuse) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            head = b"POST /kept HTTP/1.1\r\nx-api-key: k\r\ncontent-length: 100000\r\n\r\n"
            writer.write(head + b"a" * 100_000)
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.05)
            assert kept() == []
        finally:
            writer.close()


async def test_a_client_that_waits_for_leave_to_send_gets_it() -> None:
    async with at(echo) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head, _, body = post(b"later", "Expect: 100-continue", "Connection: close").partition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5) == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(body)
        assert (await asyncio.wait_for(reader.read(), 5)).endswith(b"later")
        writer.close()


async def test_old_clients_and_heads_get_no_chunks() -> None:
    async def words(request: Request) -> StreamingResponse:
        async def pieces() -> AsyncIterator[str]:
            yield "a"
            yield "b"

        return StreamingResponse(pieces())

    app = Starlette(routes=[Route("/", words)])
    async with at(app) as port:
        old = await said(port, b"GET / HTTP/1.0\r\n\r\n")
        head = await said(port, b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        new = await said(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert old.endswith(b"\r\n\r\nab")
    assert head.endswith(b"\r\n\r\n")
    assert b"chunked" not in old + head
    assert new.endswith(b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n")


async def test_a_wish_for_another_protocol_is_answered_in_this_one() -> None:
    async with at(echo) as port:
        told = await said(port, post(b"x", "Connection: upgrade", "Upgrade: h2c") + LAST)
    assert [part.split()[-1] for part in told.split(b"HTTP/1.1 200")[1:]] == [b"x", b"last"]


async def test_an_application_that_breaks_is_a_500_and_one_that_breaks_later_is_cut_off() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/later":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        raise ValueError("broken")

    async with at(app) as port:
        assert (await said(port, post(b""))).startswith(b"HTTP/1.1 500")
        later = await said(port, post(b"", path="/later"))
    assert b"begun" in later
    assert not later.endswith(b"0\r\n\r\n"), "a cut answer does not look whole"


async def test_headers_cannot_smuggle_lines() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b\r\nc: d")]})

    async with at(app) as port:
        told = await said(port, post(b""))
    assert told.startswith(b"HTTP/1.1 500")
    assert b"c: d" not in told


async def test_the_direct_way_tells_when_the_client_has_left() -> None:
    left = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        visit: RequestCycle = scope["extensions"][EXTENSION]
        visit.on_left = left.set
        visit.begin(200, [])
        visit.write(b"begun")
        await left.wait()
        assert visit.left
        visit.write(b"nobody hears this")
        visit.end()

    async with at(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(post(b""))
        await reader.readuntil(b"begun")
        writer.transport.abort()
        await asyncio.wait_for(left.wait(), 5)


async def test_a_slow_reader_holds_the_writer_back() -> None:
    congested = asyncio.Event()
    done = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        visit: RequestCycle = scope["extensions"][EXTENSION]
        assert visit.taken() == b"ask"
        assert visit.taken() is None
        visit.begin(200, [])
        while not visit.congested:
            visit.write(b"x" * 65_536)
        congested.set()
        await visit.drained()
        assert not visit.congested
        visit.end(b"end")
        done.set()

    async with at(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**16)
        writer.write(post(b"ask", "Connection: close"))
        await asyncio.wait_for(congested.wait(), 10)
        assert not done.is_set()
        told = await asyncio.wait_for(reader.read(), 10)
        assert told.endswith(b"3\r\nend\r\n0\r\n\r\n")
        writer.close()


async def test_a_body_beyond_what_is_read_waits_and_is_whole() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.05)
        await echo(scope, receive, send)

    body = b"0123456789abcdef" * 200_000
    async with at(app) as port:
        told = await said(port, post(body, "Connection: close"))
    assert told.endswith(body)


async def test_an_early_answer_does_not_wait_for_the_body() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse("no", 413)(scope, receive, send)

    async with at(app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1000)
        assert (await asyncio.wait_for(reader.readuntil(b"no"), 5)).startswith(b"HTTP/1.1 413")
        writer.write(b"x" * 999_000 + LAST)
        assert b" 413 " in await asyncio.wait_for(reader.read(), 5), "the connection serves on"
        writer.close()


async def test_a_server_that_ends_lets_an_answer_finish() -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        began.set()
        await go_on.wait()
        await echo(scope, receive, send)

    async with at(app) as port:
        asked = asyncio.ensure_future(said(port, post(b"one")))
        await began.wait()
        asyncio.get_running_loop().call_later(0.2, go_on.set)
    told = await asked
    assert told.endswith(b"one")
    assert b"connection: close" in told
