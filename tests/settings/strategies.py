"""Settings for hypothesis: every key with every kind of value that it takes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from thinkwire.reasoning.levels import LADDER
from thinkwire.settings import KEYS, SOURCES, Layer, SettingKey, Settings

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_words = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=10)
names = st.lists(_words, min_size=1, max_size=2).map(" ".join)
fields = st.from_regex(r"x[a-z0-9_.-]{0,20}", fullmatch=True)


def values_of(setting: SettingKey) -> st.SearchStrategy[Any]:
    """Values in their usual form."""
    match setting.kind:
        case "choice" | "level":
            return st.sampled_from(setting.allowed)
        case "integer":
            return st.integers(int(setting.least), int(setting.most))
        case "number":
            return st.floats(setting.least, setting.most)
        case "list":
            return st.lists(names, max_size=4).map(tuple)
        case "map":
            chosen = st.dictionaries(st.sampled_from(LADDER), names, min_size=1)
            return chosen.map(lambda words: {level: words[level] for level in LADDER if level in words})
    return {"text": texts, "name": names, "field": fields}[setting.kind]


assignments = st.sampled_from(list(KEYS)).flatmap(
    lambda key: st.tuples(st.just(key), values_of(KEYS[key])),
)
value_tables = st.lists(assignments, max_size=6).map(dict)
stacks = st.dictionaries(st.sampled_from(SOURCES), value_tables, max_size=4).map(
    lambda layers: Settings(tuple(Layer(source, values) for source, values in layers.items()))
)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
"""What a TOML file, or a careless program, may give as a value."""
