"""Finding words again, in any script, on both databases."""

from __future__ import annotations

import pytest

from thinkwire.messages import Text, Thinking, Turn
from thinkwire.store import Store
from thinkwire.store.search_text import folded, phrases, snippet

pytestmark = pytest.mark.anyio

SAYINGS = {
    "english": "The sum of odd numbers is a square. See src/thinkwire/store.py and foo_bar, it's 42.",
    "chinese": "我们在研究量子计算机的错误纠正。",
    "japanese": "東京でラーメンを食べました",
    "korean": "학교에서 공부했습니다",
    "french": "L’École est fermée à Noël.",
    "german": "Straße und Übermut",
}


FOUND = {
    "odd squares": "english",
    "ODD": "english",
    "the": "english",
    "numb": "english",
    "thinkwire": "english",
    "store.py": "english",
    "foo_bar": "english",
    "it's 42": "english",
    "量子": "chinese",
    "计算机": "chinese",
    "错误 量子": "chinese",
    "纠": "chinese",
    "東京": "japanese",
    "ラーメン": "japanese",
    "학교": "korean",
    "공부": "korean",
    "ecole": "french",
    "NOËL": "french",
    "fermee": "french",
    "strasse": "german",
    "Übermut": "german",
}
TYPED = ["", "  ", '"', "* OR", "子量", "odd AND even", "text:odd", "odd NOT square", "odd*square", "%", "_"]


async def test_words_are_found_in_every_script(store: Store) -> None:
    talk = await store.create_conversation()
    kept = {}
    for language, text in SAYINGS.items():
        kept[(await store.append(talk.id, Turn("user", (Text(text),)))).id] = language
    found = {query: [kept[hit.message_id or ""] for hit in await store.search(query)] for query in FOUND}
    assert found == {query: [language] for query, language in FOUND.items()}


@pytest.mark.parametrize(
    "query", ["", "  ", '"', "* OR", "子量", "odd AND even", "text:odd", "odd -square", "%"]
)
async def test_nothing_that_is_typed_is_an_operator(store: Store, query: str) -> None:
    talk = await store.create_conversation("Sayings")
    for text in SAYINGS.values():
        await store.append(talk.id, Turn("user", (Text(text),)))
    expected = 1 if query == "odd -square" else 0
    assert len(await store.search(query)) == expected


async def test_thinking_is_searched_when_asked(store: Store) -> None:
    talk = await store.create_conversation("Parity")
    turn = Turn("assistant", (Thinking("Perhaps induction helps."), Text("By parity.")))
    kept = await store.append(talk.id, turn)
    assert await store.search("induction") == []
    (hit,) = await store.search("induction", thinking=True)
    assert (hit.message_id, hit.snippet, hit.title) == (kept.id, "Perhaps induction helps.", "Parity")


async def test_titles_come_first_and_owners_see_their_own(store: Store) -> None:
    talk = await store.create_conversation("Crème brûlée", owner="me")
    await store.append(talk.id, Turn("user", (Text("A creme of sugar"),)))
    hits = await store.search("creme", "me")
    assert [hit.message_id is None for hit in hits] == [True, False]
    assert await store.search("creme") == []
    assert len(await store.search("creme", "me", limit=1)) == 1


async def test_what_is_being_written_is_found_when_it_is_done(store: Store) -> None:
    talk = await store.create_conversation()
    kept = await store.append(talk.id, Turn("assistant", (Text("Erste 量子"),)), status="streaming")
    assert await store.search("erste") == []
    await store.revise(kept.id, turn=Turn("assistant", (Text("Zweite 量子"),)), status="complete")
    assert len(await store.search("zweite 量子")) == 1
    await store.revise(kept.id, turn=Turn("assistant", (Text("Third."),)))
    assert (await store.search("量子"), await store.search("zweite")) == ([], [])
    assert len(await store.search("third")) == 1
    await store.revise(kept.id, turn=Turn("assistant", (Text("Unfinished 東京"),)), status="streaming")
    assert await store.search("third") == []
    await store.revise(kept.id, status="interrupted")
    assert len(await store.search("東京")) == 1


async def test_a_text_of_any_size_is_kept(store: Store) -> None:
    talk = await store.create_conversation()
    huge = " ".join(f"{number:x}é" for number in range(180_000))
    kept = await store.append(talk.id, Turn("user", (Text(huge),)))
    assert (await store.message(kept.id)).text == huge
    assert len(await store.search("1fé")) == 1


def test_ascii_needs_no_second_copy() -> None:
    assert folded("Plain words, as they are.") is None
    assert folded("Ελλάδα — “Übung” 量子x") == "ελλαδα ubung 量 子 x"
    assert phrases('Say "量子" foo-bar *') == ["say", "量 子", "foo bar"]


def test_a_snippet_shows_the_neighbourhood() -> None:
    text = "a " * 200 + "here it is squared\nand on " + "b " * 200
    shown = snippet(text, "squares")
    assert "here it is squared and on" in shown
    assert (shown[0], shown[-1], len(shown)) == ("…", "…", 162)
    assert snippet("short", "absent") == "short"
