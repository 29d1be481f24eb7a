"""The model's words: thoughts of several paragraphs and answers about what was asked. Always the same."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

LABEL = "(simulated) "

_OPENINGS = (
    'The user asks: "{topic}". Before answering I want to be sure what is meant, and what is needed.',
    'So the question is "{topic}". I will take it apart first and put the pieces in order afterwards.',
    'I have been asked "{topic}". Nothing here is real thinking, but it shall look like it on every wire.',
)
_PARAGRAPHS = (
    "**What is known.** The words that matter are {words}. Each of them could be read in two ways; "
    "the plain reading is nearly always the right one, so I start there and keep the other in mind.",
    "A small check in code helps me not to fool myself:\n\n```python\ndef matters(word: str) -> bool:\n"
    '    return word in {code}\n\nassert matters({first!r})  # "quoted", tab\\t and back\\\\slash\n```',
    "另一种看法也值得考虑:问题的核心是「{first}」。先确认前提,再给出结论。"
    "日本語でも同じことが言えます。한국어도 마찬가지입니다。",
    "1. Read {first} literally.\n2. Look for what was *not* said.\n3. Compare both, take the simpler. ✅",
    "Hmm 🤔, wait. If {first} were meant differently, the answer would change: 🧪 a quick experiment says "
    "that it does not, so the first reading stands. 👩‍💻",
    "| reading | likely | why |\n|---|---|---|\n| plain | yes | shortest |\n| clever | no | nobody asked |",
    "Let me double-check the weakest step — naïve café tests “like this one” find more than clever ones do. "
    "It holds; {first} needs no further assumption.",
    "> A rule of thumb: say the answer first, then the reason, then stop.\n\nThat settles the form as well.",
)
_CLOSINGS = (
    "Good. That is enough to answer.",
    "I am confident now. Time to write it down.",
    "Nothing else is open, so I answer.",
)
_WORD = re.compile(r"\w[\w'-]{3,}")
_PIECE = re.compile(r"\s*\S{1,12}")


def pick(count: int, *facts: object) -> int:
    """A number below `count`, the same for the same facts."""
    return int.from_bytes(hashlib.sha256(repr(facts).encode()).digest()[:4], "big") % count


def topic_of(text: str, limit: int = 120) -> str:
    """What was asked, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def thought(text: str, paragraphs: int, *seed: object) -> str:
    """A thought of so many paragraphs about the text; none for 0."""
    if paragraphs <= 0:
        return ""
    topic = topic_of(text) or "nothing in particular"
    words = list(dict.fromkeys(_WORD.findall(text)))[:5] or ["nothing"]
    filled = {"topic": topic, "words": ", ".join(words), "first": words[0], "code": tuple(words)}
    start = pick(len(_PARAGRAPHS), "start", seed)
    chosen = [_OPENINGS[pick(len(_OPENINGS), "opening", seed)]]
    chosen += [_PARAGRAPHS[(start + number) % len(_PARAGRAPHS)] for number in range(paragraphs - 1)]
    if paragraphs > 2:
        chosen.append(_CLOSINGS[pick(len(_CLOSINGS), "closing", seed)])
    return "\n\n".join(paragraph.format(**filled) for paragraph in chosen)


def answer(text: str, *seed: object) -> str:
    """An answer about what was asked."""
    topic = topic_of(text)
    if not topic:
        return f"{LABEL}Hello! You said nothing, so there is nothing to answer."
    endings = (
        "No model was called to say this.",
        "A real model would know more; this one only knows what you wrote.",
        "Put directives like `[[say:…]]` into your text to script me exactly.",
    )
    ending = endings[pick(len(endings), "ending", seed)]
    return (
        f"{LABEL}You asked: “{topic}”\n\nHere is what I can say about it: it was received whole. ✅ {ending}"
    )


def pieces(text: str) -> Iterator[str]:
    """The text in small pieces, as a stream brings it."""
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        end = found.end() if found else len(text)
        yield text[at:end]
        at = end
