"""Complaints about a configuration name the line, however the file is written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkwire.errors import ConfigError
from thinkwire.gateway.config.document import Document, line_of
from thinkwire.gateway.config.gateway_config import GatewayConfig

NAMES = st.text('abcXYZ019_- ."\\é#=[]', min_size=1, max_size=8)
VALUES = st.sampled_from(
    ["1", '"x # = ["', "[1,\n  2, # two\n]", '"""\na = 1\n[b]\n"""', "{ p = 1 }", "true"]
)
TABLES = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=4), max_size=5)
GAPS = st.lists(st.sampled_from(["", "# server.port = 1", "   "]), max_size=2)


@given(TABLES, st.data())
def test_every_key_is_found_on_the_line_where_it_was_written(
    tables: dict[str, dict[str, str]], data: st.DataObject
) -> None:
    lines: list[str] = []
    written: dict[tuple[str, ...], int] = {}
    for table, settings in tables.items():
        lines += data.draw(GAPS)
        lines.append(f"[{json.dumps(table)}]")
        written[table,] = len(lines)
        for key, value in settings.items():
            lines += data.draw(GAPS)
            written[table, key] = len(lines) + 1
            lines += f"{json.dumps(key)} = {value}".split("\n")
    text = "\n".join(lines)
    assert {place: line_of(text, place) for place in written} == written


def test_rules_are_told_apart_by_their_number() -> None:
    text = '[[map]]\nfrom = "a"\nto = "b"\n\n[[map]]\nfrom = "c"\nto = "d"\n'
    assert line_of(text, ("map", 0, "to")) == 3
    assert line_of(text, ("map", 1, "to")) == 7
    assert line_of(text, ("map", 1, "level")) == 5


@given(st.text(max_size=200))
def test_no_text_ends_in_anything_but_settings_or_a_complaint_with_a_line(text: str) -> None:
    complaint = ""
    try:
        GatewayConfig.read(text, "gateway.toml")
    except ConfigError as error:
        complaint = str(error)
    assert not complaint or complaint.startswith("gateway.toml, line ")


COMPLAINTS = [
    ('[server]\n\nhots = "x"', "line 3: no setting 'hots' in [server]; did you mean 'host'?"),
    ("[sever]", "line 1: no setting 'sever'; did you mean 'server'?"),
    ('[server]\nport = "80"', "line 2: port cannot be a text; it takes a whole number from 0 to 65535"),
    ("[server]\nport = 70000", "line 2: port cannot be 70000; it takes a whole number from 0 to 65535"),
    ("[server]\nmax_body_mb = 0", "line 2: max_body_mb cannot be 0; it takes a number from 0.001 to 4096"),
    ('[server]\nallowed_origins = ["*"]', "line 2: '*' is no origin; write e.g. 'https://chat.example.com'"),
    ('[server]\nallowed_hosts = ["a:80"]', "line 2: 'a:80' is no host name; write names without a port"),
    ('[[map]]\nfrom = "a"', "line 1: to: is missing"),
    ('[[map]]\nfrom = "a"\nto = "{nam}"', "line 3: nothing is known as {nam}; there is {name}"),
    (
        '[[map]]\nfrom = "a"\nto = "b"\nlevel = "hi"',
        "line 4: no level 'hi'; there are none, low, med, high, …",
    ),
    (
        '[[map]]\nfrom = "a"\nto = "b/low"\nlevel = "max"',
        "line 4: the level is given twice: here and in `to`",
    ),
    ('[map]\nfrom = "a"', "line 1: rules are written as [[map]]"),
    ("[aliases]\n\nfast = 7", "line 3: alias 'fast' must be the name of a model"),
    ('[fallbacks]\n"openai/gpt-5.5" = "b"', "line 2: the fallbacks of 'openai/gpt-5.5' must be a list"),
    (
        '[fallbacks]\n"openai/gpt-5.5" = ["gpt-5.5/low"]',
        "line 2: 'openai/gpt-5.5' cannot be its own fallback",
    ),
    ('[fallbacks]\non = ["sloth"]', "line 2: on: invalid enum value 'sloth'"),
    ("[providers.mine]", "line 1: provider 'mine' needs a base_url"),
    ('[providers.mine]\nbase_url = "ftp://x"', "line 2: base_url must be http(s)://HOST[:PORT][/PATH]"),
    (
        '[providers.mine]\nbase_url = "http://x"\nkey = "sk-planted"',
        "line 3: no setting 'key' in [providers.mine]",
    ),
    ("[providers.openai]\nquirks = { foo = 1 }", "line 2: quirks.foo: there is no such setting"),
    ('[ledger]\nttl = "soon"', "line 2: ttl: write a number and s, m, h, d or w, such as '7d'"),
    ("[logging]\nformat = ", "line 2: Invalid value"),
    ("server = 1", "line 1: [server] must be a table"),
]


@pytest.mark.parametrize(("text", "complaint"), COMPLAINTS, ids=[complaint for _, complaint in COMPLAINTS])
def test_a_complaint_says_where_and_what_to_write_instead(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GatewayConfig.read(text, "gateway.toml")
    assert complaint in str(caught.value)
    assert "planted" not in str(caught.value)


def test_everything_that_is_wrong_is_told_at_once_in_the_order_of_the_file() -> None:
    with pytest.raises(ConfigError) as caught:
        GatewayConfig.read('[logging]\nformat = "xml"\n[server]\nport = -1\n[sever]\n', "g.toml")
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "g.toml, line 2",
        "g.toml, line 4",
        "g.toml, line 5",
    ]


def test_a_document_without_complaints_finishes() -> None:
    Document("a = 1", "f").finish()
