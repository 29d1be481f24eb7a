"""How each vendor shows and seals its models' thinking: moves in, blocks out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from thinkwire.catalog import Facts
from thinkwire.dialects.shared import arguments_object
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Block, Extras, Form, Seal, Text, Thinking, ToolCall
from thinkwire.providers import Provider
from thinkwire.request import Request
from thinkwire.sim.ids import call_id, item_id
from thinkwire.sim.model.actions import Call, Say, Think
from thinkwire.sim.rules.item_ids import reasoning_id
from thinkwire.sim.seal_binding import call_print, prefix_of
from thinkwire.sim.seals import Sealed, SimSealer

SIGNED = ("anthropic", "openrouter")
"""Who signs thinking on the Anthropic wire; the other skins leave the signature empty."""

ENCRYPTS = ("openai", "xai", "openrouter", "deepseek")
"""Who gives reasoning in an encrypted form on the Responses wire."""

SHOWN_IN = {
    "cerebras": "reasoning",
    "groq": "reasoning",
    "google": None,
    "lmstudio": "reasoning_content",
    "minimax": "tag:think",
    "openai": None,
    "openrouter": "reasoning",
    "together": "reasoning",
    "xai": "reasoning_content",
}
"""Where thinking is shown on Chat Completions, if not where the provider wants it back; None for nowhere."""

FORMATS = {
    "Anthropic": "anthropic-claude-v1",
    "Google": "google-gemini-v1",
    "OpenAI": "openai-responses-v1",
    "xAI": "xai-responses-v1",
}
"""OpenRouter's name for the reasoning of each maker; others are `unknown`."""

_RAW = {"hidden": None, "raw": "tag:think"}


class SimulatedModel(NamedTuple):
    """A model at a provider, answering one request."""

    provider: Provider
    dialect: str
    model: str
    facts: Facts
    request: Request
    body: dict[str, Any]
    account: str
    sealer: SimSealer
    show: bool | None
    nonce: str
    """Digest of the request and the seed: what makes ids differ between answers."""

    def proof(self, scheme: str, thought: str, *, prefix: str = "") -> str:
        return self.sealer.seal(Sealed(scheme, self.model, self.account, prefix, thought))

    @property
    def shows(self) -> bool:
        """Whether the caller gets to read the thinking."""
        match self.facts.visible:
            case "none":
                return False
            case "omitted":
                return self.show is True
        return self.show is not False

    @property
    def encrypts(self) -> bool:
        """Whether reasoning goes out in an encrypted form on the Responses wire."""
        include = self.body.get("include")
        asked = isinstance(include, list) and "reasoning.encrypted_content" in include
        return self.provider.name in ENCRYPTS and (asked or self.body.get("store") is False)

    @property
    def field(self) -> str | None:
        """The place of thinking in a chat message; None if there is none."""
        name, quirks = self.provider.name, self.provider.quirks
        asked = self.body.get("reasoning_format")
        if isinstance(asked, str) and asked in _RAW:
            return _RAW[asked]
        if name == "minimax" and self.body.get("reasoning_split") is True:
            return "reasoning_content"
        return SHOWN_IN.get(name, quirks.reasoning_field or "reasoning_content")


def blocks_of(speaker: SimulatedModel, moves: list[Think | Say | Call]) -> list[Block | None]:
    """One block per move; None for what the vendor does not show."""
    blocks: list[Block | None] = []
    thought: str | None = None
    thoughts = 0
    for place, move in enumerate(moves):
        match move:
            case Think():
                blocks.append(_THOUGHTS[speaker.dialect](speaker, move, thoughts))
                thought = reasoning_id(speaker.nonce, thoughts)
                thoughts += 1
            case Say():
                blocks.append(_text(speaker, move, _item(speaker, "msg", place, thought)))
            case Call():
                blocks.append(_call(speaker, move, place, thought))
    if speaker.dialect == "gemini" or speaker.provider.name == "google":
        whole = "\n\n".join(move.text for move in moves if isinstance(move, Think))
        return _signed(speaker, blocks, whole)
    return blocks


def _text(speaker: SimulatedModel, move: Say, extras: Extras) -> Text:
    refuses = speaker.dialect == "openai-responses" or speaker.provider.name == "openai"
    return Text(move.text, refusal=move.refusal and refuses, extras=extras)


def _call(speaker: SimulatedModel, move: Call, place: int, thought: str | None) -> ToolCall:
    extras = _item(speaker, "fc", place, thought)
    if speaker.dialect == "gemini" and speaker.facts.replay != "tool_loop":
        extras = {"gemini": {"no_id": True}}
    length = speaker.provider.quirks.tool_id_length
    facts = (speaker.nonce, place)
    given = call_id(speaker.dialect, speaker.provider.name, length, facts, thought=thought is not None)
    return ToolCall(given, move.tool, move.arguments, extras=extras)


def _item(speaker: SimulatedModel, prefix: str, place: int, thought: str | None) -> Extras:
    if speaker.dialect != "openai-responses":
        return {}
    return {"openai_responses": {"id": item_id(prefix, speaker.nonce, place, thought)}}


def _anthropic(speaker: SimulatedModel, move: Think, number: int) -> Thinking:
    bound = speaker.facts.replay == "bound_prefix"
    prefix = prefix_of(speaker.body, len(speaker.body.get("messages") or ())) if bound else ""
    signed = speaker.provider.name in SIGNED
    if move.redacted and signed:
        proof = speaker.proof("anthropic.redacted", move.text, prefix=prefix)
        return Thinking(form="redacted", seal=Seal("anthropic.redacted", proof))
    seal = None
    if signed:
        seal = Seal("anthropic.signature", speaker.proof("anthropic.signature", move.text, prefix=prefix))
    if not speaker.shows and seal is not None:
        return Thinking(form="hidden", seal=seal)
    return Thinking(move.text, seal=seal)


def _responses(speaker: SimulatedModel, move: Think, number: int) -> Thinking:
    own: dict[str, Any] = {"id": reasoning_id(speaker.nonce, number)}
    seal = Seal("openai.item", own["id"])
    if speaker.encrypts:
        seal = Seal("openai.encrypted", speaker.proof("openai.encrypted", move.text))
    if speaker.facts.visible == "full":
        return Thinking(move.text, seal=seal, extras={"openai_responses": own})
    if not speaker.shows:
        return Thinking(form="hidden", seal=seal, extras={"openai_responses": own})
    parts = [len(part) for part in move.text.split("\n\n")]
    own |= {"parts": parts} if len(parts) > 1 else {}
    return Thinking(move.text, form="summary", seal=seal, extras={"openai_responses": own})


def _gemini(speaker: SimulatedModel, move: Think, number: int) -> Thinking | None:
    return Thinking(move.text, form="summary") if speaker.shows else None


def _chat(speaker: SimulatedModel, move: Think, number: int) -> Thinking | None:
    field = speaker.field
    if field is None or not speaker.shows:
        return None
    if speaker.provider.name == "openrouter":
        entries = _details(speaker, move, number)
        form: Form = "summary" if entries[0]["type"] == "reasoning.summary" else "full"
        seal = Seal("openrouter.details", dump_text(entries))
        return Thinking(move.text, form=form, field=field, seal=seal)
    if speaker.provider.name == "minimax" and field == "reasoning_content":
        entry = {
            "type": "reasoning.text",
            "id": f"reasoning-text-{number + 1}",
            "format": "MiniMax-response-v1",
            "index": number,
            "text": move.text,
        }
        return Thinking(move.text, field=field, seal=Seal("openrouter.details", dump_text([entry])))
    return Thinking(move.text, field=field)


def _details(speaker: SimulatedModel, move: Think, number: int) -> list[dict[str, Any]]:
    """The entries by which OpenRouter carries the reasoning of a maker."""
    form = FORMATS.get(speaker.facts.maker, "unknown")
    end = {"format": form, "index": number}
    if form == "anthropic-claude-v1":
        proof = speaker.proof("openrouter.details", move.text)
        return [{"type": "reasoning.text", "text": move.text, "signature": proof, **end}]
    if form.endswith("-responses-v1"):
        proof = speaker.proof("openrouter.details", move.text)
        given = {"id": reasoning_id(speaker.nonce, number)}
        return [
            {"type": "reasoning.summary", "summary": move.text, **end},
            {"type": "reasoning.encrypted", "data": proof, **given, **end},
        ]
    entries: list[dict[str, Any]] = [{"type": "reasoning.text", "text": move.text, **end}]
    if form == "google-gemini-v1":
        proof = speaker.proof("openrouter.details", move.text)
        entries.append({"type": "reasoning.encrypted", "data": proof, **end})
    return entries


def _signed(speaker: SimulatedModel, blocks: list[Block | None], thought: str) -> list[Block | None]:
    """Puts the thought signature where Google puts it: on the first call, else on the last text."""
    if speaker.facts.replay != "tool_loop" and not (thought and speaker.request.tools):
        return blocks
    place = next((at for at, block in enumerate(blocks) if isinstance(block, ToolCall)), None)
    if place is None:
        place = max((at for at, block in enumerate(blocks) if isinstance(block, Text)), default=None)
    if place is None:
        return blocks
    block = blocks[place]
    extras: dict[str, dict[str, Any]] = {}
    if isinstance(block, ToolCall):
        arguments, _ = arguments_object(block.arguments)
        seal = Seal("gemini.thought", speaker.proof("gemini.thought", call_print(block.name, arguments)))
        if speaker.dialect == "openai-chat":
            extras = {"openai_chat": {"extra_content": {"google": {}}}}
        signed: Block = msgspec.structs.replace(block, seal=seal, extras=block.extras | extras)
        return [*blocks[:place], signed, *blocks[place + 1 :]]
    if isinstance(block, Text) and speaker.dialect == "gemini":
        seal = Seal("gemini.thought", speaker.proof("gemini.thought", thought))
        return [*blocks[:place], msgspec.structs.replace(block, seal=seal), *blocks[place + 1 :]]
    return blocks


_THOUGHTS: dict[str, Callable[[SimulatedModel, Think, int], Thinking | None]] = {
    "anthropic": _anthropic,
    "openai-responses": _responses,
    "gemini": _gemini,
    "openai-chat": _chat,
}
