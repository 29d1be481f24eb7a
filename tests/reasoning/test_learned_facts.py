"""Learned facts are kept for those whose requests taught them, believed for a while, and bounded."""

from __future__ import annotations

import datetime
import fcntl
import multiprocessing
from pathlib import Path

import msgspec
import pytest

from thinkwire.catalog import Facts
from thinkwire.client.learned_facts import (
    EVERYONE,
    LEARNED_DAYS,
    LOCAL_USER,
    MOST,
    MOST_PER_SCOPE,
    LearnedFact,
    LearnedFactsFile,
    tenant_scope,
)
from thinkwire.config.paths import CHECK_INTERVAL
from thinkwire.errors import ConfigError
from thinkwire.pricing import Price, context_of, price_of
from thinkwire.reasoning.target import find_target

NOW = 1_790_000_000.0
DAY = datetime.date(2026, 11, 16)
ALICE, BOB = tenant_scope("alice"), tenant_scope("bob")


def facts_of(name: str) -> Facts:
    found = find_target(name).found
    assert found is not None
    return found.facts


GROK = facts_of("grok-4.6")


def fact(
    *efforts: str, scope: str = LOCAL_USER, model: str = "grok-4.6", learned: float = NOW
) -> LearnedFact:
    change = {"efforts": list(efforts or ("low", "medium"))}
    return LearnedFact(scope, "xai", model, change, "does not support value high", learned)


FACT = fact()


@pytest.fixture
def file(tmp_path: Path) -> LearnedFactsFile:
    return LearnedFactsFile(tmp_path / "state" / "learned_facts.jsonl")


def test_a_learned_fact_corrects_the_facts_of_its_model_only(file: LearnedFactsFile) -> None:
    file.add(FACT)
    assert file.corrected(GROK, NOW + 1, LOCAL_USER).efforts == ("low", "medium")
    other = facts_of("grok-4.5")
    assert file.corrected(other, NOW + 1, LOCAL_USER) is other


def test_it_counts_in_its_own_scope_only(file: LearnedFactsFile) -> None:
    file.add(fact(scope=ALICE))
    assert file.corrected(GROK, NOW, ALICE).efforts == ("low", "medium")
    for scope in (BOB, LOCAL_USER, EVERYONE, "alice", ""):
        assert file.corrected(GROK, NOW, scope) is GROK
    assert file.has_own(GROK, ALICE)
    assert not file.has_own(GROK, BOB)


def test_a_promoted_fact_counts_for_everyone_below_their_own(file: LearnedFactsFile) -> None:
    learned = fact(scope=ALICE)
    file.add(learned)
    (promoted,) = file.promote([learned.id], NOW + 5)
    assert file.all(NOW) == [promoted]
    assert (promoted.scope, promoted.learned, promoted.change) == (EVERYONE, NOW + 5, learned.change)
    assert file.corrected(GROK, NOW, BOB).efforts == ("low", "medium")
    file.add(fact("low", scope=BOB, learned=NOW + 1))
    assert file.corrected(GROK, NOW, BOB).efforts == ("low",)
    assert file.corrected(GROK, NOW, ALICE).efforts == ("low", "medium")


def test_it_is_forgotten_when_it_is_old(file: LearnedFactsFile) -> None:
    file.add(FACT)
    later = NOW + LEARNED_DAYS * 86_400
    assert file.all(later - 1) == [FACT]
    assert file.all(later) == []
    assert file.corrected(GROK, later, LOCAL_USER) is GROK
    file.add(fact(model="grok-4.5", learned=later))
    assert len(file.path.read_bytes().splitlines()) == 1


def test_later_facts_win(file: LearnedFactsFile) -> None:
    file.add(FACT)
    file.add(fact("low", learned=NOW + 5))
    assert file.corrected(GROK, NOW + 6, LOCAL_USER).efforts == ("low",)


def test_what_is_learned_again_stands_once_with_its_new_time(file: LearnedFactsFile) -> None:
    file.add(FACT)
    again = msgspec.structs.replace(FACT, learned=NOW + 60, evidence="said in other words")
    file.add(again)
    assert file.all(NOW) == [again]


def test_no_file_is_an_empty_file(file: LearnedFactsFile) -> None:
    assert file.all(NOW) == []
    assert file.corrected(GROK, NOW, LOCAL_USER) is GROK


def test_damaged_lines_and_outdated_corrections_do_no_harm(file: LearnedFactsFile) -> None:
    file.add(msgspec.structs.replace(FACT, change={"efforts": 7}))
    with file.path.open("ab") as lines:
        lines.write(b'{"half a line\n\xff\n\n')
    file.add(FACT)
    assert len(file.all(NOW)) == 2
    assert file.corrected(GROK, NOW, LOCAL_USER).efforts == ("low", "medium")


def test_lines_without_a_scope_are_ignored(file: LearnedFactsFile) -> None:
    lesson = msgspec.to_builtins(FACT)
    del lesson["scope"]
    file.path.parent.mkdir()
    for name in ("lessons.jsonl", file.path.name):
        file.path.with_name(name).write_bytes(msgspec.json.encode(lesson) + b"\n")
    assert file.all(NOW) == []
    assert file.corrected(GROK, NOW, LOCAL_USER) is GROK


def test_what_is_learned_here_counts_at_once(tmp_path: Path) -> None:
    file = LearnedFactsFile(tmp_path / "learned_facts.jsonl", clock=lambda: 0.0)
    assert file.corrected(GROK, NOW, LOCAL_USER) is GROK
    file.add(FACT)
    assert file.corrected(GROK, NOW, LOCAL_USER).efforts == ("low", "medium")
    file.forget([FACT.id])
    assert file.corrected(GROK, NOW, LOCAL_USER) is GROK


def test_what_others_learn_or_forget_counts_within_a_tenth_of_a_second(tmp_path: Path) -> None:
    now = 0.0
    file = LearnedFactsFile(tmp_path / "learned_facts.jsonl", clock=lambda: now)
    other = LearnedFactsFile(tmp_path / "learned_facts.jsonl")
    assert file.corrected(GROK, NOW, LOCAL_USER) is GROK
    other.add(FACT)
    now = CHECK_INTERVAL - 0.001
    assert file.corrected(GROK, NOW, LOCAL_USER) is GROK
    now = CHECK_INTERVAL
    assert file.corrected(GROK, NOW, LOCAL_USER) is not GROK
    other.forget_all(NOW)
    now = 2 * CHECK_INTERVAL
    assert file.corrected(GROK, NOW, LOCAL_USER) is GROK


def test_the_file_and_its_lock_are_private(file: LearnedFactsFile) -> None:
    file.add(FACT)
    for path in file.path.parent.iterdir():
        assert path.stat().st_mode & 0o077 == 0
    assert {path.suffix for path in file.path.parent.iterdir()} == {".jsonl", ".lock"}


def test_a_scope_keeps_its_newest_facts_and_crowds_out_no_other(file: LearnedFactsFile) -> None:
    file.add(fact(scope=BOB))
    for number in range(MOST_PER_SCOPE + 3):
        file.add(fact(scope=ALICE, model=f"model-{number}", learned=NOW + number))
    kept = file.all(NOW)
    assert sum(one.scope == BOB for one in kept) == 1
    models = [one.model for one in kept if one.scope == ALICE]
    assert models == [f"model-{number}" for number in range(3, MOST_PER_SCOPE + 3)]


def test_a_full_file_loses_a_fact_of_the_scope_that_has_most(file: LearnedFactsFile) -> None:
    scopes = [tenant_scope(str(number)) for number in range(MOST // MOST_PER_SCOPE)]
    full = [fact(scope=scope, model=f"m{n}") for scope in scopes for n in range(MOST_PER_SCOPE)]
    file.path.parent.mkdir()
    file.path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in full))
    file.add(fact(scope=BOB))
    kept = file.all(NOW)
    assert len(kept) == MOST
    assert kept[-1].scope == BOB
    assert full[0] not in kept


def test_unknown_ids_are_said_and_change_nothing(file: LearnedFactsFile) -> None:
    file.add(FACT)
    with pytest.raises(ConfigError, match=r"'nothing'.*thinkwire models learned"):
        file.forget([FACT.id, "nothing"])
    with pytest.raises(ConfigError, match=r"'nothing'.*thinkwire models learned"):
        file.promote(["nothing"], NOW)
    assert file.all(NOW) == [FACT]


def test_a_lock_that_is_not_released_costs_the_fact_and_not_the_answer(file: LearnedFactsFile) -> None:
    file.add(FACT)
    with file.path.with_suffix(".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert file.add(fact("low")) is False
        with pytest.raises(ConfigError, match="locked by another process"):
            file.forget_all(NOW)
    assert file.all(NOW) == [FACT]


def _learn(path: Path, scope: str) -> None:
    file = LearnedFactsFile(path)
    for number in range(20):
        while not file.add(fact(scope=scope, model=f"model-{number}")):
            pass


def test_processes_that_learn_at_once_lose_nothing(file: LearnedFactsFile) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_learn, args=(file.path, scope)) for scope in (ALICE, BOB)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(file.all(NOW)) == 40


def test_prices_come_from_the_maintained_data() -> None:
    price = price_of(facts_of("claude-sonnet-4-5"), DAY)
    assert (price.input, price.output, price.source) == (3.0, 15.0, "genai-prices")
    assert context_of(facts_of("claude-sonnet-4-5")) == 200_000


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert price_of(facts_of("ollama/some-local-model"), DAY) == Price()
    assert Price().input is None
