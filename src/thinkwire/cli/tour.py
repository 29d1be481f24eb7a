"""`thinkwire tour`: what works now, shown on one small answer."""

from __future__ import annotations

import textwrap

import click

from thinkwire import dialects
from thinkwire.events import Answer, Event, collect, events_of
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Origin, Seal, Text, Thinking, ToolCall, Turn
from thinkwire.usage import measure

_USAGE, _ = measure(input_uncached=52, cache_read=2048, cache_write=0, output_total=120, output_reasoning=61)

SAMPLE = Answer(
    turn=Turn(
        "assistant",
        (
            Thinking(
                "Two cities, so two calls.", seal=Seal("anthropic.signature", "c2lnbmVkLWJ5LXRoZS1zYW1wbGU=")
            ),
            Text("Let me look."),
            ToolCall("toolu_sample_1", "get_weather", '{"city":"Oslo"}'),
            ToolCall("toolu_sample_2", "get_weather", '{"city":"Bergen"}'),
        ),
        origin=Origin(model="sample-model", response_id="msg_sample"),
    ),
    finish="tool_calls",
    usage=_USAGE,
)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object per wire instead of a page.")
def tour(as_json: bool) -> None:
    """Show a made-up answer, with sealed thinking and two tool calls, on every wire."""
    if not as_json:
        _heading("One answer in the neutral format (made up; nothing is called)")
        for block in SAMPLE.turn.blocks:
            _line(type(block).__name__, dump_text(block))
        _line("finish", str(SAMPLE.finish))
        _line("usage", dump_text(SAMPLE.usage))
    for name in dialects.NAMES:
        _show(name, as_json)
    if not as_json:
        _heading("Try")
        for command in (
            "thinkwire explain claude-sonnet-4-5/med                      what would be sent, and why",
            "thinkwire sim                                                strict simulated providers",
            "thinkwire wire decode --dialect anthropic --stream FILE      any provider's answer, neutral",
            "thinkwire wire convert --from gemini --to openai-chat FILE   one wire into another",
            "thinkwire wire --help",
        ):
            click.echo(f"  {command}")


def _show(name: str, as_json: bool) -> None:
    dialect = dialects.get(name)
    encoder, decoder = dialect.stream_encoder(), dialect.stream_decoder()
    sent = [encoder.feed(event) for event in events_of(SAMPLE)]
    stream = b"".join((*sent, encoder.close()))
    back: list[Event] = [*decoder.feed(stream), *decoder.close()]
    kept = _kept(collect(back))
    if as_json:
        click.echo(dump_text({"dialect": name, "bytes": len(stream), "kept": kept, "notes": encoder.notes}))
        return
    _heading(f"As a stream of {name}: {stream.count(b'data:')} events, {len(stream):,} bytes")
    _line("kept", ", ".join(what for what, whole in kept.items() if whole))
    for note in encoder.notes:
        _line("note", f"{note.code}: {note.message}")


def _kept(answer: Answer) -> dict[str, bool]:
    """What of the sample is still there after the stream was read again."""
    turn = SAMPLE.turn
    seals = [block.seal for block in turn.blocks if isinstance(block, Thinking)]
    calls = [(call.name, call.arguments) for call in turn.tool_calls]
    return {
        "thinking": answer.turn.thinking == turn.thinking,
        "seal": [block.seal for block in answer.turn.blocks if isinstance(block, Thinking)] == seals,
        "text": answer.turn.text == turn.text,
        "tool calls": [(call.name, call.arguments) for call in answer.turn.tool_calls] == calls,
        "usage": answer.usage is not None and answer.usage.total == _USAGE.total,
        "finish": answer.finish == SAMPLE.finish,
    }


def _heading(text: str) -> None:
    click.echo()
    click.secho(text, bold=True)


def _line(label: str, text: str) -> None:
    for number, row in enumerate(textwrap.wrap(text, 88) or [""]):
        click.echo(f"  {label if number == 0 else '':<10} {row}")
