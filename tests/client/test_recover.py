"""A refused request is asked once more, and what that proves is remembered for its user."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from tests.client.upstream import Upstream, refused, streamed, upstream
from thinkwire.client.engine import Client
from thinkwire.client.learned_facts import EVERYONE, LOCAL_USER, LearnedFactsFile, tenant_scope
from thinkwire.errors import BadRequest
from thinkwire.events import Answer, BlockGrew
from thinkwire.messages import Text, Turn
from thinkwire.request import Request

pytestmark = pytest.mark.anyio

MAX = "claude-opus-5/max"
REFUSED = "output_config.effort 'max' is not supported on this model"
ANSWER = Answer(Turn("assistant", (Text("Hello."),)), "stop")


@pytest.fixture
async def provider() -> AsyncIterator[Upstream]:
    async with upstream() as scripted:
        yield scripted


@pytest.fixture
def file(tmp_path: Path) -> LearnedFactsFile:
    return LearnedFactsFile(tmp_path / "learned_facts.jsonl")


@asynccontextmanager
async def client(provider: Upstream, file: LearnedFactsFile) -> AsyncIterator[Client]:
    bases = {"anthropic": provider.url}
    async with Client(keys={"anthropic": "k"}, bases=bases, learned_facts=file, retries=1) as one:
        yield one


def _hello() -> Request:
    return Request(turns=(Turn("user", (Text("Hi"),)),))


def efforts(provider: Upstream) -> list[str]:
    return [body["output_config"]["effort"] for _, _, body in provider.received]


async def test_a_second_refusal_is_the_callers_and_not_remembered(
    provider: Upstream, file: LearnedFactsFile
) -> None:
    provider.replies = [refused(400, REFUSED)] * 2
    async with client(provider, file) as asked:
        with pytest.raises(BadRequest):
            await asked.complete("Hi", model=MAX)
    assert efforts(provider) == ["max", "xhigh"]
    assert file.all(time.time()) == []


async def test_what_was_accepted_after_another_failure_is_remembered(
    provider: Upstream, file: LearnedFactsFile
) -> None:
    provider.replies = [
        refused(400, REFUSED),
        refused(529, "busy", retry_after="0"),
        streamed("anthropic", ANSWER),
    ]
    async with client(provider, file) as asked:
        await asked.complete("Hi", model=MAX)
    assert efforts(provider) == ["max", "xhigh", "xhigh"]
    (fact,) = file.all(time.time())
    assert (fact.scope, fact.evidence) == (LOCAL_USER, REFUSED)
    assert fact.change["efforts"][-1] == "xhigh"


async def test_a_stream_that_is_left_early_was_accepted(provider: Upstream, file: LearnedFactsFile) -> None:
    provider.replies = [refused(400, REFUSED), streamed("anthropic", ANSWER)]
    async with client(provider, file) as asked, aclosing(asked.stream("Hi", model=MAX)) as events:
        async for event in events:
            if isinstance(event, BlockGrew):
                break
    assert len(file.all(time.time())) == 1


@pytest.mark.parametrize("scope", [LOCAL_USER, tenant_scope("k"), EVERYONE])
async def test_it_is_learned_in_the_scope_of_the_request_and_never_for_everyone(
    provider: Upstream, file: LearnedFactsFile, scope: str
) -> None:
    provider.replies = [refused(400, REFUSED), *[streamed("anthropic", ANSWER)] * 2]
    async with client(provider, file) as asked:
        for _ in range(2):
            asking = asked.asking(_hello(), model=MAX, scope=scope)
            async with aclosing(asked.answer(asking)) as batches:
                async for _batch in batches:
                    pass
    assert [fact.scope for fact in file.all(time.time())] == ([] if scope == EVERYONE else [scope])
    assert efforts(provider) == ["max", "xhigh", "max" if scope == EVERYONE else "xhigh"]


async def test_a_file_that_cannot_be_written_fails_no_answer(provider: Upstream, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("no folder")
    provider.replies = [refused(400, REFUSED), streamed("anthropic", ANSWER)]
    async with client(provider, LearnedFactsFile(tmp_path / "taken" / "learned_facts.jsonl")) as asked:
        assert (await asked.complete("Hi", model=MAX)).turn.text == "Hello."
