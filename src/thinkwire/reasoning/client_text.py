"""Find and hide what a client wrote in what a provider says about it.

Providers quote the fields, values and texts that they refuse. A client may name a field like a refusal, so
nothing that came from the client counts as the provider's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from thinkwire.reasoning.levels import parse_level

HIDDEN = "\0"
"""Stands for text of the client. No pattern matches it."""
_WORD = re.compile(r"\w+", re.ASCII)
_TELLING = re.compile(r"think|reason|thought|effort|budget|adaptive|between|level|\blow\b", re.IGNORECASE)
_WINDOW = 3
"""Words in a row that are looked for in the client's texts."""
_ENDS = 2_000
"""Characters of a long text, at either end, that are looked at."""
_MOST_TEXT = 2_000_000
_MOST_PHRASES = 200
_MOST_STRINGS = 100_000
_PROTOCOL_KEYS = frozenset(("thinking", "reasoning"))
"""Keys of the history on several wires. Elsewhere only raw fields have them, which are hidden anyway."""


class ClientText:
    """The strings of one request.

    `own` are the raw fields that the client brought. `body` is all that was sent, in which `written` are the
    fields that the plan wrote: their names are not the client's, but their values may be.
    """

    def __init__(self, body: Any, own: Any, written: Any) -> None:
        self._own = own
        self._strings = list(islice(_strings(body, written), _MOST_STRINGS))

    @cached_property
    def own_strings(self) -> frozenset[str]:
        """The names and the values of raw fields."""
        return frozenset(text for text, _ in _strings(self._own, None))

    def _own_words(self) -> set[str]:
        """Those that are single words, but for effort levels, which the provider's lists have too."""
        words = {text.lower() for text in self.own_strings if _WORD.fullmatch(text)}
        return {word for word in words if len(word) > 1 and parse_level(word) is None}

    def hide(self, message: str, names: Collection[str], bare: Callable[[str], str]) -> str:
        """The message without what the client said in it; empty where that is too much.

        Hidden are whole strings of several words, all words of raw fields, and single words that are one of
        `names` as `bare` writes them.
        """
        said = f" {_plain(message)} "
        phrases = {word for word in self._own_words() if f" {word} " in said}
        longest = 2 * len(message) + 100
        for text, key in self._strings:
            if len(text) > longest or f" {(plain := _plain(text))} " not in said:
                continue
            is_protocol = key == "type" or (key is None and text in _PROTOCOL_KEYS)
            if " " in plain or (not is_protocol and bare(text) in names):
                phrases.add(plain)
        if len(phrases) > _MOST_PHRASES or len(self._strings) == _MOST_STRINGS:
            return ""
        for phrase in sorted(phrases, key=len, reverse=True):
            pattern = r"(?<!\w)" + r"\W+".join(phrase.split()) + r"(?!\w)"
            message = re.sub(pattern, HIDDEN, message, flags=re.IGNORECASE | re.ASCII)
        return message

    def hide_slices(self, message: str) -> str:
        """The message without words that stand in a row in the middle of a text of the client.

        Only rows with a word about thinking are looked for: others say nothing that would be believed.
        """
        words = list(_WORD.finditer(message))
        plain = [word[0].lower() for word in words]
        hidden: set[int] = set()
        for at in range(len(words) - _WINDOW + 1):
            window = " ".join(plain[at : at + _WINDOW])
            if _TELLING.search(window) and (self._texts is None or window in self._texts):
                hidden.update(range(at, at + _WINDOW))
        for at in sorted(hidden, reverse=True):
            message = message[: words[at].start()] + HIDDEN + message[words[at].end() :]
        return message

    @cached_property
    def _texts(self) -> str | None:
        """All texts in plain words; None where there is too much to search."""
        parts: list[str] = []
        size = 0
        for text, _ in self._strings:
            kept = text if len(text) <= 2 * _ENDS else f"{text[:_ENDS]}\n{text[-_ENDS:]}"
            size += len(kept)
            if size > _MOST_TEXT:
                return None
            if not kept.isalnum():
                parts.append(_plain(kept))
        return "\n".join(parts)


def _plain(text: str) -> str:
    """Lower-case words with single spaces, however they were quoted or escaped."""
    return " ".join(_WORD.findall(text.lower()))


def _strings(value: Any, written: Any) -> Iterator[tuple[str, str | None]]:
    """Every string in a JSON value with the key that holds it, and every key, but for those of `written`."""
    waiting: list[tuple[Any, Any, str | None]] = [(value, written, None)]
    while waiting:
        found, ours, key = waiting.pop()
        if isinstance(found, str):
            yield found, key or ""
        elif isinstance(found, dict):
            for name, inner in found.items():
                known = isinstance(ours, dict) and name in ours
                if not known:
                    yield name, None
                waiting.append((inner, ours[name] if known else None, name))
        elif isinstance(found, list | tuple):
            waiting.extend((inner, None, key) for inner in found)
