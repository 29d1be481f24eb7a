"""What one part says, one block says, and the part comes back as it was."""

from __future__ import annotations

import pytest

from tests.dialects.gemini.wire import FOREIGN, SEAL, SIGNED, blocks, codes, model, read, rewritten, user
from thinkwire.dialects.gemini import GEMINI
from thinkwire.jsonvalue import JsonObject
from thinkwire.messages import Block, Document, Image, Opaque, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.request import Request

PNG = {"mimeType": "image/png", "data": "iVBORw0KGgo="}
PDF = {"mimeType": "application/pdf", "data": "JVBERg=="}
SOUND = {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}, "thoughtSignature": SIGNED}


def extras(**fields: object) -> dict[str, dict[str, object]]:
    return {"gemini": fields}


PARTS: dict[str, tuple[JsonObject, Block]] = {
    "text": ({"text": "hi"}, Text("hi")),
    "empty text": ({"text": ""}, Text("")),
    "signed text": ({"text": "hi", "thoughtSignature": SIGNED}, Text("hi", seal=SEAL)),
    "signed empty text": ({"text": "", "thoughtSignature": SIGNED}, Text("", seal=SEAL)),
    "an empty signature is no seal": (
        {"text": "hi", "thoughtSignature": ""},
        Text("hi", extras=extras(thoughtSignature="")),
    ),
    "explicitly no thought": ({"text": "hi", "thought": False}, Text("hi", extras=extras(thought=False))),
    "unknown field": (
        {"text": "hi", "partMetadata": {"k": 1}},
        Text("hi", extras=extras(partMetadata={"k": 1})),
    ),
    "unknown null": ({"text": "hi", "novel": None}, Text("hi", extras=extras(novel=None))),
    "thought": ({"text": "hm", "thought": True}, Thinking("hm", form="summary")),
    "signed thought": (
        {"text": "hm", "thought": True, "thoughtSignature": SIGNED},
        Thinking("hm", form="summary", seal=SEAL),
    ),
    "signed thought without text": (
        {"text": "", "thought": True, "thoughtSignature": SIGNED},
        Thinking("", form="hidden", seal=SEAL),
    ),
    "call": (
        {"functionCall": {"id": "c1", "name": "add", "args": {"a": 2}}, "thoughtSignature": SIGNED},
        ToolCall("c1", "add", '{"a":2}', seal=SEAL),
    ),
    "call with no arguments": ({"functionCall": {"id": "c1", "name": "add"}}, ToolCall("c1", "add", "")),
    "call with empty arguments": (
        {"functionCall": {"id": "c1", "name": "add", "args": {}}},
        ToolCall("c1", "add", "{}"),
    ),
    "call that is a thought": (
        {"functionCall": {"id": "c1", "name": "add", "args": {}}, "thought": True},
        ToolCall("c1", "add", "{}", extras=extras(thought=True)),
    ),
    "call with more fields": (
        {"functionCall": {"id": "c1", "name": "add", "args": {}, "willContinue": False}},
        ToolCall("c1", "add", "{}", extras=extras(functionCall={"willContinue": False})),
    ),
    "image": ({"inlineData": PNG}, Image(media_type="image/png", data="iVBORw0KGgo=")),
    "signed image": (
        {"inlineData": PNG, "thoughtSignature": SIGNED},
        Image(media_type="image/png", data="iVBORw0KGgo=", seal=SEAL),
    ),
    "named image": (
        {"inlineData": {**PNG, "displayName": "a"}, "mediaResolution": {"level": "LOW"}},
        Image(
            media_type="image/png",
            data="iVBORw0KGgo=",
            extras=extras(mediaResolution={"level": "LOW"}, inlineData={"displayName": "a"}),
        ),
    ),
    "linked image": (
        {"fileData": {"mimeType": "image/png", "fileUri": "gs://b/a"}},
        Image(media_type="image/png", url="gs://b/a"),
    ),
    "pdf": (
        {"inlineData": {**PDF, "displayName": "a.pdf"}},
        Document(media_type="application/pdf", data="JVBERg==", name="a.pdf"),
    ),
    "signed pdf": (
        {"inlineData": PDF, "thoughtSignature": SIGNED},
        Document(media_type="application/pdf", data="JVBERg==", extras=extras(thoughtSignature=SIGNED)),
    ),
    "linked pdf": (
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.org/a"}},
        Document(media_type="application/pdf", url="https://example.org/a"),
    ),
    "plain text file": (
        {"inlineData": {"mimeType": "text/plain", "data": "aGVsbG8="}},
        Document(media_type="text/plain", text="hello"),
    ),
    "text file that is not UTF-8": (
        {"inlineData": {"mimeType": "text/plain", "data": "/w=="}},
        Document(media_type="text/plain", data="/w=="),
    ),
    "text file in unusual base64": (
        {"inlineData": {"mimeType": "text/plain", "data": "aGVsbG9="}},
        Document(media_type="text/plain", data="aGVsbG9="),
    ),
    "sound": (SOUND, Opaque("gemini", SOUND)),
    "film of unknown type": (
        {"fileData": {"fileUri": "https://youtu.be/x"}, "videoMetadata": {"fps": 1}},
        Opaque("gemini", {"fileData": {"fileUri": "https://youtu.be/x"}, "videoMetadata": {"fps": 1}}),
    ),
    "code": (
        {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": SIGNED},
        Opaque("gemini", {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": SIGNED}),
    ),
    "server tool call": (
        {"toolCall": {"id": "t", "tool_type": "FILE_SEARCH"}},
        Opaque("gemini", {"toolCall": {"id": "t", "tool_type": "FILE_SEARCH"}}),
    ),
    "a kind yet to be invented": ({"hologram": {}}, Opaque("gemini", {"hologram": {}})),
    "two kinds at once": (
        {"text": "a", "inlineData": PNG},
        Opaque("gemini", {"text": "a", "inlineData": PNG}),
    ),
    "nothing": ({}, Opaque("gemini", {})),
}


@pytest.mark.parametrize(("part", "block"), PARTS.values(), ids=PARTS)
def test_a_part_is_a_block_and_comes_back_as_it_was(part: JsonObject, block: Block) -> None:
    body = {"contents": [model(part)]}
    assert GEMINI.decode_request(body).turns == (Turn("assistant", (block,)),)
    assert rewritten(body) == body


def test_both_spellings_are_read_and_camel_case_is_written() -> None:
    snake = model(
        {
            "function_call": {"id": "c1", "name": "add", "args": {"snake_key": 1}, "will_continue": False},
            "thought_signature": SIGNED,
        },
        {"inline_data": {"mime_type": "image/png", "data": "aGk=", "display_name": "a"}},
        {"file_data": {"mime_type": "application/pdf", "file_uri": "gs://b/a"}, "part_metadata": {"a_b": 1}},
    )
    assert rewritten({"contents": [snake]})["contents"][0]["parts"] == [
        {
            "functionCall": {"id": "c1", "name": "add", "args": {"snake_key": 1}, "willContinue": False},
            "thoughtSignature": SIGNED,
        },
        {"inlineData": {"mimeType": "image/png", "data": "aGk=", "displayName": "a"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/a"}, "partMetadata": {"a_b": 1}},
    ]


def test_bytes_are_read_as_standard_base64_and_signatures_stay_as_they_are() -> None:
    """Google's Python SDK writes URL-safe base64, which other vendors do not read."""
    part = {"inlineData": {"mimeType": "image/png", "data": "-_8"}, "thoughtSignature": "-_8="}
    assert blocks(part) == (Image(media_type="image/png", data="+/8=", seal=Seal("gemini.thought", "-_8=")),)


def test_a_field_in_both_spellings_keeps_both() -> None:
    part = {"text": "a", "thoughtSignature": SIGNED, "thought_signature": "other"}
    assert blocks(part) == (Text("a", seal=SEAL, extras=extras(thought_signature="other")),)
    assert rewritten({"contents": [user(part)]})["contents"][0]["parts"] == [part]


def test_known_nulls_are_the_same_as_absent() -> None:
    part = {"text": "a", "thought": None, "thoughtSignature": None, "inlineData": None, "functionCall": None}
    assert blocks(part) == (Text("a"),)


def test_neighbouring_parts_of_a_history_stay_apart() -> None:
    parts = [{"text": "a"}, {"text": "b"}, {"text": "", "thoughtSignature": SIGNED}, {"text": "c"}]
    assert blocks(*parts) == (Text("a"), Text("b"), Text("", seal=SEAL), Text("c"))
    assert rewritten({"contents": [model(*parts)]})["contents"] == [model(*parts)]


WRITTEN: dict[str, tuple[Block, JsonObject, list[str]]] = {
    "thinking of unknown origin": (Thinking("hm"), {"text": "hm", "thought": True}, []),
    "interrupted thinking": (Thinking("hm", interrupted=True), {"text": "hm", "thought": True}, []),
    "text with a foreign seal": (Text("a", seal=FOREIGN), {"text": "a"}, ["seal.dropped"]),
    "call with a foreign seal": (
        ToolCall("c", "f", "{}", seal=FOREIGN),
        {"functionCall": {"id": "c", "name": "f", "args": {}}},
        ["seal.dropped"],
    ),
    "image with a foreign seal": (
        Image(media_type="image/png", data="aGk=", seal=FOREIGN),
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        ["seal.dropped"],
    ),
    "broken arguments": (
        ToolCall("c", "f", "{oops"),
        {"functionCall": {"id": "c", "name": "f", "args": {"invalid_arguments": "{oops"}}},
        ["tool_call.arguments_invalid"],
    ),
    "empty id": (ToolCall("", "f", "{}"), {"functionCall": {"name": "f", "args": {}}}, ["field.changed"]),
    "image as data URL": (
        Image(url="data:image/png;base64,aGk="),
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        [],
    ),
    "linked image of unknown type": (
        Image(url="https://example.org/a.JPG?x=.y"),
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.org/a.JPG?x=.y"}},
        [],
    ),
    "linked image without a telling name": (
        Image(url="https://example.org/a"),
        {"fileData": {"fileUri": "https://example.org/a"}},
        [],
    ),
    "plain document": (Document(text="hé"), {"inlineData": {"mimeType": "text/plain", "data": "aMOp"}}, []),
}


@pytest.mark.parametrize(("block", "part", "said"), WRITTEN.values(), ids=WRITTEN)
def test_blocks_from_elsewhere_are_written(block: Block, part: JsonObject, said: list[str]) -> None:
    encoded = GEMINI.encode_request(Request(turns=(Turn("assistant", (block,)),)))
    assert encoded.body["contents"] == [model(part)]
    assert codes(encoded.notes) == said
    assert all(note.path == "turns[0].blocks[0]" for note in encoded.notes)


UNWRITABLE: dict[str, tuple[Block, str]] = {
    "thinking with a foreign seal": (Thinking("hm", seal=FOREIGN), "thinking.dropped"),
    "foreign redacted thinking": (Thinking(form="redacted", seal=FOREIGN), "thinking.dropped"),
    "another dialect's block": (Opaque("anthropic", {"type": "x"}), "block.dropped"),
    "file id": (Image(file_id="file_1"), "block.dropped"),
    "document with a file id": (Document(file_id="file_1"), "block.dropped"),
}


@pytest.mark.parametrize(("block", "said"), UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_cannot_be_said_is_dropped_with_a_note(block: Block, said: str) -> None:
    request = Request(
        turns=(Turn("user", (Text("a"),)), Turn("assistant", (block,)), Turn("user", (Text("b"),)))
    )
    encoded = GEMINI.encode_request(request)
    assert encoded.body["contents"] == [user({"text": "a"}), user({"text": "b"})], "no content without parts"
    assert codes(encoded.notes) == [said]


def test_dummy_signatures_are_never_made_up() -> None:
    turn = Turn("assistant", (ToolCall("c", "f", "{}"), ToolCall("d", "f", "{}")))
    assert b"ignature" not in repr(GEMINI.encode_request(Request(turns=(turn,)))).encode()


def test_a_call_without_an_id_gets_one_that_never_goes_out() -> None:
    contents = [
        user({"text": "go"}),
        model({"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "id": ""}}),
    ]
    first, second = read(*contents).turns[1].tool_calls
    assert first.id != second.id
    assert len(first.id) == 22
    assert rewritten({"contents": contents})["contents"][1] == model(
        {"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}
    )
