"""The agent for editors, asked by the protocol's official client over real pipes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import acp
import pytest
from acp import schema
from acp.exceptions import RequestError

from thinkwire.store import open_store

pytestmark = pytest.mark.anyio

PATIENCE = 120.0


class Editor:
    """What an editor does with what it is told: it keeps it, and answers questions as it was told to."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.asked: list[Any] = []
        self.answer = "once"

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.told.append(update)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **_: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append(tool_call)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=self.answer)
        return schema.RequestPermissionResponse(outcome=outcome)

    def on_connect(self, conn: Any) -> None:
        pass

    def words(self, kind: Any) -> str:
        return "".join(update.content.text for update in self.told if isinstance(update, kind))


@asynccontextmanager
async def connected(*args: str) -> AsyncIterator[tuple[Any, Editor]]:
    command = [sys.executable, "-m", "thinkwire", "acp", *args]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=2**20
    )
    editor = Editor()
    assert process.stdin is not None
    connection = acp.connect_to_agent(cast(Any, editor), process.stdin, process.stdout)
    try:
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        yield connection, editor
    finally:
        await connection.close()
        process.stdin.close()
        _, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert (process.returncode, errors) == (0, b"")


async def test_an_editor_sees_thinking_chooses_levels_approves_tools_and_cancels(tmp_path: Path) -> None:
    async with connected("--sim", "-m", "claude-opus-5-5/high") as (agent, editor):
        begun = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        level, model = begun.config_options
        assert (level.category, level.current_value) == ("thought_level", "high")
        assert [option.value for option in level.options] == ["low", "med", "high", "xhigh", "max", "auto"]
        assert (model.category, model.current_value) == ("model", "anthropic/claude-opus-5-5")

        script = '[[think:Look.]] [[call:write_file {"path":"new.txt","content":"hi"}]] [[say:Done.]]'
        done = await agent.prompt(session_id=begun.session_id, prompt=[acp.text_block(script)])
        assert done.stop_reason == "end_turn"
        assert done.usage.thought_tokens > 0
        assert (tmp_path / "new.txt").read_text() == "hi"
        assert [call.title for call in editor.asked] == ["write_file new.txt"]
        assert editor.words(schema.AgentThoughtChunk) == "Look."
        assert editor.words(schema.AgentMessageChunk) == "Done."
        (start,) = [update for update in editor.told if isinstance(update, schema.ToolCallStart)]
        assert start.content is not None
        assert (start.kind, start.content[0].new_text) == ("edit", "hi")

        chosen = await agent.set_config_option(
            config_id="thought_level", session_id=begun.session_id, value="low"
        )
        assert chosen.config_options[0].current_value == "low"
        with pytest.raises(RequestError) as wrong:
            await agent.set_config_option(
                config_id="thought_level", session_id=begun.session_id, value="wild"
            )
        assert "there is no level" in str(wrong.value.data)

        await agent.prompt(session_id=begun.session_id, prompt=[acp.text_block("/model o3/med")])
        assert "✓ Switched to OpenAI o3 (Responses API)" in editor.words(schema.AgentMessageChunk)

        editor.answer = "no"
        await agent.prompt(
            session_id=begun.session_id, prompt=[acp.text_block(script.replace("new", "other"))]
        )
        assert not (tmp_path / "other.txt").exists()

        (listed,) = (await agent.list_sessions()).sessions
        assert listed.session_id == begun.session_id
        editor.told.clear()
        await agent.load_session(cwd=str(tmp_path), session_id=begun.session_id, mcp_servers=[])
        assert editor.words(schema.AgentThoughtChunk).startswith("Look.")
        assert editor.words(schema.UserMessageChunk).startswith("[[think:Look.]]")
        with pytest.raises(RequestError, match="not found"):
            await agent.load_session(cwd=str(tmp_path), session_id="nobody", mcp_servers=[])

        editor.told.clear()
        asking = asyncio.create_task(
            agent.prompt(
                session_id=begun.session_id, prompt=[acp.text_block("[[say:Half]] [[stall:30]] [[say:way]]")]
            )
        )
        while "Half" not in editor.words(schema.AgentMessageChunk):
            await asyncio.sleep(0.01)
        await agent.cancel(session_id=begun.session_id)
        assert (await asking).stop_reason == "cancelled"
        with pytest.raises(RequestError, match=r"openai: .* must be changed"):
            await agent.prompt(session_id=begun.session_id, prompt=[acp.text_block("[[fail:400]]")])
        with pytest.raises(RequestError, match="not found"):
            await agent.prompt(session_id="nobody", prompt=[acp.text_block("Hello")])


async def test_a_model_chosen_while_another_answers_answers_next(tmp_path: Path) -> None:
    async with connected("--sim", "-m", "claude-opus-5-5/high") as (agent, editor):
        begun = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        script = acp.text_block("[[say:Half]] [[stall:60]] [[say:way]]")
        asking = asyncio.create_task(agent.prompt(session_id=begun.session_id, prompt=[script]))
        while "Half" not in editor.words(schema.AgentMessageChunk):
            await asyncio.sleep(0.01)
        chosen = await agent.set_config_option(
            config_id="model", session_id=begun.session_id, value="openai/gpt-5.6-terra"
        )
        assert chosen.config_options[1].current_value == "anthropic/claude-opus-5-5"
        await agent.cancel(session_id=begun.session_id)
        assert (await asking).stop_reason == "cancelled"
        (update,) = [told for told in editor.told if isinstance(told, schema.ConfigOptionUpdate)]
        assert update.config_options[1].current_value == "openai/gpt-5.6-terra"


async def test_an_editor_that_goes_away_in_the_middle_leaves_what_arrived(tmp_path: Path) -> None:
    async with connected("--sim", "-m", "claude-opus-5-5/high") as (agent, editor):
        begun = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        script = acp.text_block("[[say:Half]] [[stall:60]] [[say:way]]")
        asking = asyncio.create_task(agent.prompt(session_id=begun.session_id, prompt=[script]))
        while "Half" not in editor.words(schema.AgentMessageChunk):
            await asyncio.sleep(0.01)
    await asyncio.gather(asking, return_exceptions=True)
    async with await open_store() as store:
        answer = (await store.path(begun.session_id))[-1]
    assert (answer.status, answer.turn.text) == ("interrupted", "Half")
