"""`thinkwire wire` as a person or a script uses it: the real command, real pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ANTHROPIC = b"".join(
    b"event: %b\ndata: %b\n\n" % (str(data["type"]).encode(), json.dumps(data).encode())
    for data in (
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "some-model",
                "content": [],
                "usage": {"input_tokens": 5, "output_tokens": 1},
            },
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "c2ln"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hé"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    )
)
REQUEST = {
    "model": "m",
    "max_tokens": 100,
    "system": "Be brief.",
    "thinking": {"type": "adaptive"},
    "messages": [{"role": "user", "content": "hi"}],
}


def run(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "thinkwire", "wire", *args]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60)


def ok(*args: str, stdin: bytes = b"") -> Any:
    done = run(*args, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def refused(*args: str, stdin: bytes) -> dict[str, Any]:
    done = run(*args, stdin=stdin)
    assert done.returncode == 1, done.stdout
    assert b"Traceback" not in done.stderr
    error: dict[str, Any] = json.loads(done.stderr)["error"]
    return error


def test_decode_prints_turn_finish_usage_and_notes() -> None:
    shown = ok("decode", "--dialect", "anthropic", "--stream", stdin=ANTHROPIC)
    assert shown["turn"]["blocks"] == [
        {"type": "thinking", "text": "Hm.", "seal": {"scheme": "anthropic.signature", "data": "c2ln"}},
        {"type": "text", "text": "Hé"},
    ]
    assert shown["finish"] == "stop"
    assert (shown["usage"]["output_total"], shown["usage"]["output_reasoning"]) == (9, None)
    assert shown["notes"] == []


def test_a_stream_is_recognised_without_being_told(tmp_path: Path) -> None:
    file = tmp_path / "answer.sse"
    file.write_bytes(ANTHROPIC)
    assert ok("decode", "--dialect", "anthropic", str(file)) == ok(
        "decode", "--dialect", "anthropic", "--stream", stdin=ANTHROPIC
    )


def test_events_are_printed_one_per_line_and_encode_reads_them_back() -> None:
    done = run("decode", "--dialect", "anthropic", "--stream", "--events", "-", stdin=ANTHROPIC)
    events = [json.loads(line)["event"] for line in done.stdout.splitlines()]
    assert events[0] == "started"
    assert events[-1] == "finished"
    assert events.count("block_ended") == 2
    encoded = run("encode", "--dialect", "anthropic", "--events", "--stream", stdin=done.stdout)
    again = ok("decode", "--dialect", "anthropic", "--stream", stdin=encoded.stdout)
    assert again == ok("decode", "--dialect", "anthropic", "--stream", stdin=ANTHROPIC)


def test_decoded_output_is_what_encode_takes() -> None:
    neutral = run("decode", "--dialect", "anthropic", "--stream", stdin=ANTHROPIC).stdout
    body = ok("encode", "--dialect", "anthropic", stdin=neutral)
    assert body["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    assert body["stop_reason"] == "end_turn"


def test_a_request_goes_there_and_back() -> None:
    neutral = run("decode", "--dialect", "anthropic", "--request", stdin=json.dumps(REQUEST).encode())
    assert ok("encode", "--dialect", "anthropic", "--request", stdin=neutral.stdout) == REQUEST


def test_convert_keeps_standard_output_for_the_wire_and_says_losses_on_standard_error() -> None:
    done = run(
        "convert",
        "--from",
        "anthropic",
        "--to",
        "openai-chat",
        "--request",
        stdin=json.dumps(REQUEST).encode(),
    )
    body = json.loads(done.stdout)
    assert [message["content"] for message in body["messages"]] == ["Be brief.", "hi"]
    assert "thinking" not in body
    (note,) = json.loads(done.stderr)["notes"]
    assert note["code"] == "field.dropped"
    assert note["detail"]["fields"] == ["thinking"]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "anthropic"])
def test_convert_turns_a_stream_into_a_stream(target: str) -> None:
    done = run("convert", "--from", "anthropic", "--to", target, "--stream", stdin=ANTHROPIC)
    assert done.returncode == 0
    again = ok("decode", "--dialect", target, "--stream", stdin=done.stdout)
    assert [block["text"] for block in again["turn"]["blocks"]] == ["Hm.", "Hé"]


def test_a_cut_stream_shows_what_arrived() -> None:
    shown = ok(
        "decode", "--dialect", "anthropic", "--stream", stdin=ANTHROPIC[: ANTHROPIC.index(b"signature_delta")]
    )
    assert shown["turn"]["blocks"] == [{"type": "thinking", "text": "Hm.", "interrupted": True}]
    assert shown["failure"]["kind"] == "connection_lost"
    assert shown["finish"] is None


BROKEN = [
    (("decode", "--dialect", "gemini", "--request"), b'{"contents": [', "$"),
    (
        ("decode", "--dialect", "anthropic", "--request"),
        b'{"model":"m","messages":[{"role":7}]}',
        "messages[0].role",
    ),
    (("decode", "--dialect", "openai-chat", "--request"), b"[1]", "$"),
    (("decode", "--dialect", "openai-chat", "--request"), b"[" * 10_000, "$"),
    (
        ("decode", "--dialect", "openai-chat", "--request"),
        b'{"messages":[{"role":"user","content":"\xff"}]}',
        "$",
    ),
    (("decode", "--dialect", "openai-responses"), b"", "$"),
    (("decode", "--dialect", "openai-responses", "--stream"), b"no stream at all", "$"),
    (("encode", "--dialect", "gemini", "--request"), b'{"turns":[{"role":"ghost"}]}', "turns[0].role"),
    (("decode", "--dialect", "gemini", "no-such-file"), b"", "$"),
]


@pytest.mark.parametrize(("args", "stdin", "path"), BROKEN)
def test_malformed_input_names_the_place_and_shows_no_traceback(
    args: tuple[str, ...], stdin: bytes, path: str
) -> None:
    error = refused(*args, stdin=stdin)
    assert (error["kind"], error["path"]) == ("malformed_input", path)
    assert error["message"]


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_a_frame_that_is_not_json_is_a_protocol_error(dialect: str) -> None:
    error = refused("decode", "--dialect", dialect, "--stream", stdin=b"data: {nope\n\n")
    assert error["kind"] == "protocol"


def test_a_line_of_100_megabytes_is_refused_in_bounded_memory() -> None:
    code = (
        "import atexit, re, sys;"
        "from thinkwire.cli import main;"
        "sys.argv = ['thinkwire', 'wire', 'decode', '--dialect', 'openai-chat', '--stream', '-'];"
        "atexit.register(lambda: print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]));"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"data: " + b"x" * 100_000_000, capture_output=True, timeout=60
    )
    assert json.loads(done.stderr)["error"]["kind"] == "protocol"
    assert "limit" in json.loads(done.stderr)["error"]["message"]
    peak_kilobytes = int(done.stdout.splitlines()[-1])
    assert peak_kilobytes < 200_000


def test_an_unknown_dialect_lists_the_known_ones() -> None:
    done = run("decode", "--dialect", "klingon")
    assert done.returncode == 2
    assert b"openai-responses" in done.stderr


def test_the_tour_runs_and_is_honest_about_its_sample() -> None:
    done = subprocess.run([sys.executable, "-m", "thinkwire", "tour"], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"made up" in done.stdout
    lines = subprocess.run(
        [sys.executable, "-m", "thinkwire", "tour", "--json"], capture_output=True, timeout=60
    )
    for line in lines.stdout.splitlines():
        shown = json.loads(line)
        kept = {what for what, whole in shown["kept"].items() if whole}
        assert kept >= {"thinking", "text", "tool calls", "usage", "finish"}, shown
        assert ("seal" in kept) == (shown["dialect"] == "anthropic")
        assert bool(shown["notes"]) == (shown["dialect"] != "anthropic")
