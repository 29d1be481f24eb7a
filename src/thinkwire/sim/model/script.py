"""The scripted model: what it does next depends on the conversation and the seed, and on nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from thinkwire.dialects.shared import plain_text
from thinkwire.jsonvalue import dump_text
from thinkwire.messages import Text, ToolCall, ToolResult, Turn
from thinkwire.providers import Provider
from thinkwire.request import Request, Tool
from thinkwire.sim import schemas
from thinkwire.sim.ids import was_thought
from thinkwire.sim.model import directives
from thinkwire.sim.model import text as prose
from thinkwire.sim.model.actions import Call, Move, Say, Think
from thinkwire.sim.model.thinking_depth import ThinkingDepth

_USERS_OWN = re.compile(r"</?(?:user_query|user_message|user_request|user-prompt|task|question)\b[^>]*>")
_WRAPPED = re.compile(r"<([A-Za-z]++[-_][\w-]++)[^>]*+>.*?</\1>", re.DOTALL)
_MOST_WORK = 50_000_000
"""Characters that looking for what wraps a text may take: each `<` may look at all that follows it."""
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_READERS = ("read", "view", "open", "cat", "get")
_FILES = 3
_SHOWN = 240

_LOST = (
    f"{prose.LABEL}I have lost the thread: my own reasoning before the tool call was not given back, so "
    "I no longer know why I called it. What was the question?"
)
_OVER = f"{prose.LABEL}The script has no further step."


class Scene(NamedTuple):
    """All that the model sees."""

    request: Request
    provider: Provider
    depth: ThinkingDepth
    seed: int

    @property
    def tools(self) -> list[Tool]:
        """The tools that it may call."""
        choice = self.request.tool_choice
        if choice is not None and choice.mode == "none":
            return []
        offered = [tool for tool in self.request.tools if isinstance(tool, Tool)]
        only = frozenset(choice.only if choice is not None else ())
        return [tool for tool in offered if not only or tool.name in only]

    @property
    def must_call(self) -> bool:
        choice = self.request.tool_choice
        return choice is not None and choice.mode == "any"


class Story(NamedTuple):
    """The last real words of the user, and what happened since."""

    text: str
    since: tuple[Turn, ...]

    @property
    def step(self) -> int:
        """How many answers were given since; an answer that is still to be continued does not count."""
        return sum(turn.role == "assistant" for turn in self.since[:-1])

    @property
    def calls(self) -> list[ToolCall]:
        return [call for turn in self.since if turn.role == "assistant" for call in turn.tool_calls]

    @property
    def results(self) -> list[ToolResult]:
        return [block for turn in self.since for block in turn.blocks if isinstance(block, ToolResult)]


def next_moves(scene: Scene) -> list[Move]:
    """What the model does now."""
    story = story_of(scene.request.turns)
    if _lost_the_thread(scene, story):
        return [Say(_LOST)]
    steps = directives.parse(story.text)
    scripted = bool(steps) and not _is_aside(scene, steps)
    moves = _scripted(scene, story, steps) if scripted else _improvised(scene, story)
    thinks = scene.depth.paragraphs > 0 and (not scene.depth.between_tools or story.step > 0)
    return [move for move in moves if thinks or not isinstance(move, Think)]


def story_of(turns: Sequence[Turn]) -> Story:
    """Looks for the last words that a person wrote; what a client wraps around them is not theirs."""
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        if turn.role == "user" and (text := _own_words(turn)):
            return Story(text, tuple(turns[place + 1 :]) or ())
    return Story("", tuple(turns))


def _own_words(turn: Turn) -> str:
    texts = [block.text for block in turn.blocks if isinstance(block, Text)]
    cleaned = [_unwrapped(text).strip() for text in texts]
    return "\n".join(text for text in cleaned if text)


def _unwrapped(text: str) -> str:
    if text.count("<") * len(text) > _MOST_WORK:
        return text
    return _WRAPPED.sub("", _USERS_OWN.sub("", text))


def _lost_the_thread(scene: Scene, story: Story) -> bool:
    """Where the vendor wants reasoning back, a model without that of its own tool call is helpless."""
    if not scene.provider.quirks.fill_reasoning or not scene.depth.paragraphs:
        return False
    return any(
        turn.role == "assistant"
        and any(was_thought(scene.provider.name, call.id) for call in turn.tool_calls)
        and not turn.thinking.strip()
        for turn in story.since
    )


def _is_aside(scene: Scene, steps: list[list[Move | directives.Shell]]) -> bool:
    """Clients ask about the user's words on the side, and want an object; a script with words is none."""
    said = [move.text for step in steps for move in step if isinstance(move, Say)]
    return scene.request.output is not None and bool(said) and said[-1].lstrip()[:1] not in ("{", "[")


def _scripted(scene: Scene, story: Story, steps: list[list[Move | directives.Shell]]) -> list[Move]:
    if story.step >= len(steps):
        return [Say(_OVER)]
    moves = [
        _shell(scene, move.command) if isinstance(move, directives.Shell) else move
        for move in steps[story.step]
    ]
    calls = any(isinstance(move, Call) for move in moves)
    if calls and not any(isinstance(move, Think) for move in moves):
        # Vendors that want a turn with calls to begin with thinking always let it begin so.
        return [Think(prose.thought("The script calls a tool now.", 1, scene.seed)), *moves]
    return moves


def _shell(scene: Scene, command: str) -> Move:
    for tool in scene.tools:
        name = schemas.wants_command(tool)
        if name is not None:
            given = {name: schemas.command_value(tool, name, command)}
            return Call(tool.name, dump_text(schemas.arguments_for(tool, command, given)))
    return Say(f"{prose.LABEL}None of the offered tools takes a command: {command}")


def _improvised(scene: Scene, story: Story) -> list[Move]:
    paragraphs = scene.depth.paragraphs if story.step == 0 else max(1, scene.depth.paragraphs // 2)
    about = story.text if not story.results else f"{story.text} — {_said(story.results[-1])}"
    think = Think(prose.thought(about, paragraphs, scene.seed, story.step))
    calls = _calls(scene, story)
    if calls:
        return [think, *calls]
    return [think, Say(_final(scene, story))]


def _calls(scene: Scene, story: Story) -> list[Call]:
    calls = _readings(scene, story) or _named(scene, story)
    if not calls and scene.must_call and scene.tools:
        calls = [_call(scene.tools[0], story.text)]
    return calls if scene.request.parallel_tool_calls is not False else calls[:1]


def _readings(scene: Scene, story: Story) -> list[Call]:
    """Reads the files that were mentioned, if there is a tool that wants one."""
    readers = [tool for tool in scene.tools if schemas.wants_path(tool)]
    if not readers:
        return []
    reader = next((tool for tool in readers if tool.name.lower().startswith(_READERS)), readers[0])
    name = schemas.wants_path(reader) or ""
    read = " ".join(call.arguments for call in story.calls)
    files = dict.fromkeys(found[0] for found in schemas.FILE.finditer(story.text))
    return [_call(reader, story.text, {name: file}) for file in list(files)[:_FILES] if file not in read]


def _named(scene: Scene, story: Story) -> list[Call]:
    """Calls the first tool that is named in the text, or whose name has a word of it."""
    called = {call.name for call in story.calls}
    text = story.text.lower()
    for tool in scene.tools:
        if tool.name.lower() in text and tool.name not in called:
            return [_call(tool, story.text)]
    for tool in scene.tools:
        words = {word.lower() for word in _WORDS.findall(tool.name)}
        if tool.name not in called and words & set(re.findall(r"\w+", text)):
            return [_call(tool, story.text)]
    return []


def _call(tool: Tool, text: str, given: dict[str, object] | None = None) -> Call:
    return Call(tool.name, dump_text(schemas.arguments_for(tool, text, given)))


def _final(scene: Scene, story: Story) -> str:
    output = scene.request.output
    if output is not None:
        empty = {"simulated": True, "answer": prose.topic_of(story.text)}
        return dump_text(schemas.value_for(output.schema, "answer", story.text) if output.schema else empty)
    text = prose.answer(story.text, scene.seed, story.step)
    if not story.results:
        return text
    names = {call.id: call.name for call in story.calls}
    told = [f"- `{names.get(result.call_id, 'a tool')}` said: {_said(result)}" for result in story.results]
    return "\n".join([text, "", "What the tools told me:", *told])


def _said(result: ToolResult) -> str:
    return prose.topic_of(plain_text(result.content), _SHOWN) or "nothing"
