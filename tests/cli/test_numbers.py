"""Numbers from people and files: what is no number, or an absurd one, is refused with a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from thinkwire.catalog.tables import read_table
from thinkwire.cli.app import app
from thinkwire.errors import ConfigError
from thinkwire.providers.provider import read_providers
from thinkwire.settings.keys import KEYS
from thinkwire.settings.values import check_value, parse_value
from thinkwire.sim.chaos import Chaos

ABSURD: list[Any] = [float("nan"), float("inf"), -float("inf"), 10**400, 10**5000, -(10**5000), 1e300, -2.5]
NUMBERS = [key for key, setting in KEYS.items() if setting.kind in ("number", "integer")]


@pytest.mark.parametrize("key", NUMBERS)
@pytest.mark.parametrize("value", ABSURD, ids=range(len(ABSURD)))
def test_settings_refuse_absurd_numbers(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match="it takes a") as caught:
        check_value(key, value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("key", NUMBERS)
@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "9" * 5000, "-99"])
def test_settings_refuse_absurd_texts(key: str, text: str) -> None:
    with pytest.raises(ConfigError, match="it takes a"):
        parse_value(key, text)


@pytest.mark.parametrize(
    "words",
    [
        *(["users", "invite", "--days", value] for value in ("nan", "inf", "0", "-1", "1e400")),
        *(["explain", "claude-opus-5", "--thinking-budget", value] for value in ("-2", "9" * 25, "nan")),
        *(["explain", "claude-opus-5", "--max-tokens", value] for value in ("0", "9" * 25, "nan")),
        *(["serve", "--workers", value] for value in ("0", "65", "nan")),
        *(["serve", "--port", value] for value in ("-1", "65536", "nan")),
        *(
            ["sim", "--chaos", value]
            for value in ("p=nan", "stall=inf", "latency=1e300", "status=7", "split=-1")
        ),
    ],
    ids=" ".join,
)
def test_options_refuse_absurd_numbers(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THINKWIRE_DATA", str(tmp_path / "data"))
    run = CliRunner().invoke(app, words)
    assert run.exit_code in (1, 2), run.output
    assert isinstance(run.exception, SystemExit)
    assert words[-2].lstrip("-") in run.output
    assert not (tmp_path / "data").exists(), "nothing was begun"


@pytest.mark.parametrize(
    "spec", ["p=nan", "p=2", "p=-1", "latency=nan", "stall=1e300", "cut=-1", "status=99"]
)
def test_chaos_refuses_absurd_numbers(spec: str) -> None:
    with pytest.raises(ConfigError, match=f"chaos '{spec}'"):
        Chaos.parse(spec)


ROW = """
[[model]]
ids = ["m"]
provider = "p"
maker = "p"
dialect = "openai-chat"
shape = "reasoning_effort"
mechanism = "none"
source = "here"
checked = 2026-01-01
"""


@pytest.mark.parametrize(
    "line",
    [
        *("price_input = nan", "price_output = -1.0", "price_input = inf", "context = 0", "max_output = -5"),
        *(f"context = {'9' * 30}", f"context = {'9' * 5000}"),
    ],
    ids=lambda line: line[:24],
)
def test_tables_of_models_refuse_absurd_numbers(line: str) -> None:
    read_table(ROW, "models.toml")
    with pytest.raises(ConfigError, match=r"models\.toml"):
        read_table(f"{ROW}{line}\n", "models.toml")


def test_tables_of_providers_are_a_complaint_whatever_is_in_them() -> None:
    for text in (f"a = {'9' * 5000}", f"a = {'[' * 100_000}"):
        with pytest.raises(ConfigError, match=r"providers\.toml"):
            read_providers(text, "providers.toml")
