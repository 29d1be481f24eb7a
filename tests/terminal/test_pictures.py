"""How it looks: pictures of the real program, which are also those of the documentation.

`THINKWIRE_PICTURES=write pytest tests/terminal/test_pictures.py` draws them anew.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.terminal.stage import Stage, stage
from thinkwire.terminal.widgets.approval import ApprovalPrompt
from thinkwire.terminal.widgets.thinking import ThinkingView
from thinkwire.terminal.widgets.user_message import UserMessage

pytestmark = pytest.mark.anyio

PICTURES = ROOT / "docs" / "pictures"
PROOF = """[[think:**Checking parity**

An odd number is 2k + 1 for some k. Its square is 4k² + 4k + 1, and both 4k² and 4k are even, so *one* is
left over. That holds for every k, negative ones too.]] [[say:Yes. Write the odd number as `2k + 1`:

```python
def square(k: int) -> int:
    return (2 * k + 1) ** 2  # 4k² + 4k + 1
```

| n | n² | |
|---|---|---|
| 3 | 9 | odd |
| -5 | 25 | odd |

The **first two terms are even**, so the square is odd.]]"""
CJK = (
    "[[think:まず前提を確認する。奇数は 2k + 1 と書ける。]] "
    "[[say:はい、奇数の二乗は奇数です。네, 홀수의 제곱은 홀수입니다.]]"
)
EDIT = (
    '[[think:The second line has the mistake.]] [[call:edit_file {"path":"poem.txt",'
    '"old":"violets are red","new":"violets are blue"}]] [[say:Done.]]'
)


async def asked(on: Stage, script: str, shown: str, *, wait: bool = True) -> None:
    """An answer to words that a person would say: the script is not shown."""
    await on.say(script, wait=wait)
    await on.until(lambda: on.app.talk.query(UserMessage))
    on.app.talk.query(UserMessage).last().update(f"> {shown}")
    await on.pilot.pause()


async def thinking(on: Stage) -> None:
    await asked(on, PROOF, "Is the square of an odd number always odd?")


async def cjk(on: Stage) -> None:
    await asked(on, CJK, "奇数の二乗は奇数ですか。")


async def streaming(on: Stage) -> None:
    script = "[[think:**Looking for a proof**\n\nTry n = 2k + 1.]] [[stall:60]]"
    await asked(on, script, "Is the square of an odd number always odd?", wait=False)
    await on.sees("· Looking for a proof")


async def approving(on: Stage) -> None:
    await asked(on, EDIT, "Mend the poem, please.", wait=False)
    await on.until(lambda: on.app.query(ApprovalPrompt))
    await on.sees("+violets are blue")


async def switching(on: Stage) -> None:
    await asked(on, "[[think:Mine.]] [[say:Yes.]]", "Is the square of an odd number always odd?")
    await on.say("/model gemini-3-pro/none")
    await on.say("/context")
    await on.type("/model opus")
    await on.until(lambda: on.app.suggestions.display)
    await on.sees("conversation ")


Scene = tuple[Callable[[Stage], Awaitable[None]], str, tuple[int, int]]
SCENES: dict[str, Scene] = {
    "thinking-dark": (thinking, "dark", (88, 32)),
    "thinking-light": (thinking, "light", (88, 32)),
    "thinking-contrast": (thinking, "high-contrast", (88, 32)),
    "streaming": (streaming, "dark", (80, 24)),
    "approval": (approving, "dark", (80, 27)),
    "switching": (switching, "light", (88, 32)),
    "narrow": (thinking, "dark", (40, 20)),
    "wide": (thinking, "dark", (160, 30)),
    "cjk": (cjk, "light", (60, 20)),
}


@pytest.mark.parametrize("name", SCENES)
async def test_it_looks_as_in_the_picture(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, theme, size = SCENES[name]
    (tmp_path / "poem.txt").write_text("violets are red\n")
    monkeypatch.chdir(tmp_path)
    async with stage(Path("."), theme=theme, size=size) as on:
        await on.app.talk.remove_children()
        await scene(on)
        drawn = await still(on)
        if on.chatting.busy:
            await on.chatting.interrupt()
    path = PICTURES / f"{name}.svg"
    if os.environ.get("THINKWIRE_PICTURES") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(drawn)
    assert words(drawn) == words(path.read_text())


async def still(on: Stage) -> str:
    """The picture, once nothing moves any more."""
    drawn = ""
    while True:
        before, drawn = drawn, small(on.app.export_screenshot(title="thinkwire"))
        if before and words(before) == words(drawn):
            return drawn
        await on.pilot.pause(0.1)


def small(svg: str) -> str:
    """Without fonts from elsewhere, and with the same names each time."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"terminal-\d+", "t", svg)


def words(svg: str) -> list[str]:
    """The text of a picture, line by line, without what time and prices change."""
    lines: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text[^>]*? x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        lines.setdefault(float(y), []).append((float(x), html.unescape(text)))
    told = [
        "".join(text for _, text in sorted(parts)).replace("\xa0", " ") for _, parts in sorted(lines.items())
    ]
    return [_SHIFTING.sub("~", line).rstrip() for line in told]


_SHIFTING = re.compile(r"[⠀-⣿]|\$[\d.?]+|(?<=… )\d+(?=s)|[▁-▇▂▃▄▅▆█▔]+")


async def test_thinking_is_shaded_and_italic_in_every_theme(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await on.say("[[think:A thought.]] [[say:An answer.]]")
        (thought,) = on.app.talk.query(ThinkingView)
        for theme in ("dark", "light", "high-contrast"):
            on.app.theme = theme
            await on.pilot.pause()
            _, shade = thought.background_colors
            _, ground = on.app.talk.background_colors
            assert shade != ground
            assert (shade.brightness > ground.brightness) is (theme != "light")
            assert thought.rich_style.italic
            assert not on.app.talk.rich_style.italic


async def test_without_colours_thinking_is_still_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage(tmp_path) as on:
        await on.say("[[think:A thought.]] [[say:An answer.]]")
        assert on.app.no_color
        (thought,) = on.app.talk.query(ThinkingView)
        assert thought.rich_style.italic
        colours = set(re.findall(r"fill: #(\w{2})(\w{2})(\w{2})", on.app.export_screenshot()))
        colours -= {("c5", "c8", "c6")}  # the frame that the exporter draws
        assert len(colours) > 3
        assert all(red == green == blue for red, green, blue in colours)
