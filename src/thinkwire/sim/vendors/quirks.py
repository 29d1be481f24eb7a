"""Accents: how vendors of one dialect differ in what they write, as recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from thinkwire.jsonvalue import JsonObject
from thinkwire.sim.seals import digest
from thinkwire.sim.vendors.thinking_format import FORMATS, SimulatedModel


class VendorQuirks(NamedTuple):
    """The habits of a vendor's chat streams."""

    counts: bool = True
    """Tokens are counted without being asked to."""
    with_finish: bool = False
    """The usage comes with the finish reason, not in a chunk of its own."""
    in_choice: bool = False
    """The usage comes inside the last choice, and once more after it."""
    null_usage: bool = False
    """Every chunk has a usage, which is null until the last."""
    bare_choices: bool = False
    """A choice has no finish reason before it is finished."""


_ON_REQUEST = VendorQuirks(counts=False)
VENDOR_QUIRKS = {
    "cerebras": VendorQuirks(with_finish=True, bare_choices=True),
    "deepseek": VendorQuirks(with_finish=True, null_usage=True),
    "google": _ON_REQUEST,
    "groq": _ON_REQUEST,
    "llamacpp": _ON_REQUEST,
    "lmstudio": _ON_REQUEST,
    "minimax": VendorQuirks(null_usage=True, bare_choices=True),
    "mistral": VendorQuirks(with_finish=True),
    "moonshot": VendorQuirks(in_choice=True),
    "ollama": _ON_REQUEST,
    "openai": _ON_REQUEST,
    "qwen": VendorQuirks(counts=False, null_usage=True),
    "vllm": _ON_REQUEST,
    "xai": VendorQuirks(bare_choices=True),
    "zai": VendorQuirks(with_finish=True, bare_choices=True),
}
USUAL = VendorQuirks()


def quirks_of(speaker: SimulatedModel) -> VendorQuirks:
    return VENDOR_QUIRKS.get(speaker.provider.name, USUAL)


class VendorFormat:
    """One chat answer in its vendor's accent. `twice` repeats reasoning in a second field."""

    def __init__(self, speaker: SimulatedModel, *, twice: bool = False) -> None:
        self._speaker = speaker
        self._twice = twice
        self._thoughts = 0

    def whole(self, body: JsonObject) -> JsonObject:
        for choice in body.get("choices", ()):
            self._double(choice["message"])
        return self._vendor(body)

    def chunks(self, chunks: list[JsonObject]) -> list[JsonObject]:
        """Chunks that belong together, as the vendor would send them."""
        manner = quirks_of(self._speaker)
        for chunk in chunks:
            for choice in chunk.get("choices", ()):
                self._double(choice["delta"])
                self._detail(choice["delta"])
                if manner.bare_choices and choice.get("finish_reason") is None:
                    choice.pop("finish_reason", None)
        spoken = [self._vendor(chunk) for chunk in chunks if not _is_empty(chunk)]
        return _counted(spoken, manner)

    def _vendor(self, body: JsonObject) -> JsonObject:
        edit = _EDITS.get(self._speaker.provider.name)
        return body if edit is None else edit(self._speaker, body)

    def _double(self, said: JsonObject) -> None:
        if self._twice and ("reasoning_content" in said or "reasoning" in said):
            text = said.get("reasoning_content", said.get("reasoning"))
            said |= {"reasoning_content": text, "reasoning": text}

    def _detail(self, delta: JsonObject) -> None:
        """Where a vendor says reasoning as details too: text goes along, proofs come after it."""
        entry = _ENTRIES.get(self._speaker.provider.name)
        if entry is None:
            return
        text = delta.get("reasoning", delta.get("reasoning_content"))
        if isinstance(text, str):
            delta["reasoning_details"] = [entry(self._speaker, text, self._thoughts)]
        elif isinstance(delta.get("reasoning_details"), list):
            announced = delta["reasoning_details"] == [{"type": "reasoning.summary", "summary": ""}]
            self._thoughts += not announced
            delta["reasoning_details"] = [
                {key: value for key, value in detail.items() if key not in ("text", "summary")}
                for detail in delta["reasoning_details"]
                if "signature" in detail or "data" in detail
            ]


def _is_empty(chunk: JsonObject) -> bool:
    """Whether nothing is left of a chunk but an empty list of details."""
    return [choice["delta"] for choice in chunk.get("choices", ())] == [{"reasoning_details": []}]


def _counted(chunks: list[JsonObject], manner: VendorQuirks) -> list[JsonObject]:
    """The usage at the vendor's place."""
    if manner.null_usage:
        for chunk in chunks:
            if "error" not in chunk:
                chunk.setdefault("usage", None)
    last = chunks[-1] if chunks else {}
    if len(chunks) < 2 or not last.get("usage"):
        return chunks
    finish = chunks[-2]
    if manner.with_finish:
        finish["usage"] = last["usage"]
        return chunks[:-1]
    if manner.in_choice:
        finish["choices"][0]["usage"] = last["usage"]
    return chunks


def _openrouter_entry(speaker: SimulatedModel, text: str, index: int) -> JsonObject:
    form = FORMATS.get(speaker.facts.maker, "unknown")
    if form.endswith("-responses-v1"):
        return {"type": "reasoning.summary", "summary": text, "format": form, "index": index}
    return {"type": "reasoning.text", "text": text, "format": form, "index": index}


def _minimax_entry(speaker: SimulatedModel, text: str, index: int) -> JsonObject:
    return {
        "type": "reasoning.text",
        "id": f"reasoning-text-{index + 1}",
        "format": "MiniMax-response-v1",
        "index": index,
        "text": text,
    }


_ENTRIES: dict[str, Callable[[SimulatedModel, str, int], JsonObject]] = {
    "minimax": _minimax_entry,
    "openrouter": _openrouter_entry,
}


def _deepseek(speaker: SimulatedModel, body: JsonObject) -> JsonObject:
    usage = body.get("usage")
    if usage:
        hit = usage["prompt_tokens_details"]["cached_tokens"]
        usage |= {"prompt_cache_hit_tokens": hit, "prompt_cache_miss_tokens": usage["prompt_tokens"] - hit}
    return body


def _groq(speaker: SimulatedModel, body: JsonObject) -> JsonObject:
    """Its own remark beside the finish reason, and on a whole answer."""
    if any(choice.get("finish_reason") for choice in body.get("choices", ())):
        body["x_groq"] = {"id": f"req_{digest(speaker.nonce)}"}
    return body


def _minimax(speaker: SimulatedModel, body: JsonObject) -> JsonObject:
    return body | {"base_resp": {"status_code": 0, "status_msg": ""}} if body.get("usage") else body


def _mistral(speaker: SimulatedModel, body: JsonObject) -> JsonObject:
    """Reasoning is not counted apart."""
    usage = body.get("usage")
    if usage:
        body["usage"] = {key: value for key, value in usage.items() if not key.endswith("_details")}
    return body


def _openrouter(speaker: SimulatedModel, body: JsonObject) -> JsonObject:
    body["provider"] = speaker.facts.maker
    for choice in body.get("choices", ()):
        choice["native_finish_reason"] = choice.get("finish_reason")
    return body


def _xai(speaker: SimulatedModel, body: JsonObject) -> JsonObject:
    """Completion tokens without the reasoning, and a total with it."""
    usage = body.get("usage")
    if usage:
        usage["completion_tokens"] -= usage["completion_tokens_details"]["reasoning_tokens"]
    return body


_EDITS: dict[str, Callable[[SimulatedModel, JsonObject], JsonObject]] = {
    "deepseek": _deepseek,
    "groq": _groq,
    "minimax": _minimax,
    "mistral": _mistral,
    "openrouter": _openrouter,
    "xai": _xai,
}


def responses_event(speaker: SimulatedModel, event: JsonObject) -> JsonObject:
    """An event of the Responses API as OpenAI and its followers send it."""
    item = event.get("item") or {}
    begins = event["type"] == "response.output_item.added" and item.get("type") == "reasoning"
    if begins and speaker.provider.name == "openai" and speaker.encrypts:
        # Only the item that is done has the right one.
        item["encrypted_content"] = f"gAAAA{digest('not yet', speaker.nonce)}"
    return event
