"""`thinkwire models learned`: what refusals taught, listed, forgotten and promoted."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from thinkwire.cli.app import app
from thinkwire.client.learned_facts import EVERYONE, LOCAL_USER, LearnedFact, LearnedFactsFile, tenant_scope

NOW = time.time()
BUDGET = {"budget": {"min": 128, "max": 24_576, "dynamic": True}}
FACTS = [
    LearnedFact(tenant_scope("k1"), "xai", "grok-4.6", {"efforts": ["low"], "names": {}}, "no 'high'", NOW),
    LearnedFact(LOCAL_USER, "google", "gemini-2.5-pro", BUDGET, "The budget is \x1b[31mwrong\n\u202e.", NOW),
    LearnedFact(EVERYONE, "openai", "gpt-x", {"mechanism": "always", "efforts": []}, "Unsupported", NOW),
    LearnedFact(LOCAL_USER, "openai", "gpt-y", {"off": None}, "e" * 500, NOW),
    LearnedFact(LOCAL_USER, "openai", "gpt-z", {"mechanism": "none"}, "old", NOW - 31 * 86_400),
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LearnedFactsFile:
    monkeypatch.setenv("THINKWIRE_STATE", str(tmp_path))
    file = LearnedFactsFile(tmp_path / "learned_facts.jsonl")
    for fact in FACTS:
        file.add(fact)
    return file


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["models", "learned", *args])


def ok(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def refused(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 1
    message: str = json.loads(result.stderr)["error"]["message"]
    return message


def test_the_table_is_aligned_plain_and_safe_to_print(file: LearnedFactsFile) -> None:
    head, *rows = ok().splitlines()
    assert head.split("  ")[0] == "id"
    starts = [head.index(name) for name in ("provider", "model", "counts for", "what changed", "evidence")]
    assert len(rows) == 4
    assert all(row[at - 1] == " " and row[at] != " " for row in rows for at in starts)
    assert all((row.isprintable() and row.isascii()) or "…" in row for row in rows)
    assert "tenant k1" in rows[0]
    assert "efforts: low" in rows[0]
    assert "local user" in rows[1]
    assert "budget: 128 to 24576 tokens" in rows[1]
    assert r"\x1b[31mwrong \u202e." in rows[1]
    assert "everyone" in rows[2]
    assert "thinking cannot be controlled" in rows[2]
    assert "off: not possible" in rows[3]
    assert len(rows[3]) < 200


def test_json_has_everything(file: LearnedFactsFile) -> None:
    shown = [json.loads(line) for line in ok("--json").splitlines()]
    assert [one["id"] for one in shown] == [fact.id for fact in FACTS[:4]]
    assert shown[0]["scope"] == "tenant:k1"
    assert shown[1]["change"] == BUDGET
    assert shown[1]["evidence"] == FACTS[1].evidence
    assert shown[0]["learned"] < shown[0]["expires"]


def test_facts_are_forgotten_by_id_or_all_at_once(file: LearnedFactsFile) -> None:
    told = ok("--forget", FACTS[0].id, FACTS[2].id)
    assert FACTS[0].id in told
    assert FACTS[2].id in told
    assert [fact.id for fact in file.all(NOW)] == [FACTS[1].id, FACTS[3].id]
    assert ok("--forget-all") == "Forgotten: 2 learned facts.\n"
    assert file.all(NOW) == []
    assert "Nothing was learned" in ok()


def test_a_promoted_fact_counts_for_everyone(file: LearnedFactsFile) -> None:
    promoted = json.loads(ok("--promote", FACTS[0].id, "--json"))
    assert promoted["scope"] == EVERYONE
    assert promoted["id"] in {fact.id for fact in file.all(NOW)}
    assert FACTS[0].id not in {fact.id for fact in file.all(NOW)}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--forget", "nothing"), "no learned fact has the id 'nothing'"),
        (("--promote", "nothing"), "no learned fact has the id 'nothing'"),
        (("--forget",), "ids go with --forget or --promote"),
        ((FACTS[0].id,), "ids go with --forget or --promote"),
        (("--forget-all", FACTS[0].id), "ids go with --forget or --promote"),
        (("--forget", "--promote", FACTS[0].id), "go one at a time"),
    ],
)
def test_mistakes_change_nothing(file: LearnedFactsFile, args: tuple[str, ...], message: str) -> None:
    before = file.path.read_bytes()
    assert message in refused(*args)
    assert file.path.read_bytes() == before


def test_models_are_listed_and_shown_as_before() -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["models", "--provider", "anthropic"])
    assert listed.exit_code == 0
    assert listed.stdout.startswith("provider ")
    one = runner.invoke(app, ["models", "claude-sonnet-4-5", "--json"])
    assert json.loads(one.stdout)["matched"] == "exact"
    unknown = runner.invoke(app, ["models", "learn"])
    assert "nobody knows 'learn'" in unknown.stderr
    assert "models learned [OPTIONS]" in runner.invoke(app, ["models", "learned", "-h"]).stdout
