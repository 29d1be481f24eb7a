"""Files of a workspace: read, written, edited, and no way out of it."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import socket
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.session.tools.running import Run, text_of
from thinkwire.errors import ConfigError
from thinkwire.messages import Image
from thinkwire.session.tools.files import replaced
from thinkwire.session.tools.tool import ToolFailed

pytestmark = pytest.mark.anyio
SECRET = "the secret outside"


@pytest.fixture
def space(tmp_path: Path) -> Path:
    folder = tmp_path / "space"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text(SECRET)
    (tmp_path / "space-too").mkdir()
    (tmp_path / "space-too" / "secret").write_text(SECRET)
    return folder


@pytest.fixture
def run(space: Path) -> Run:
    return Run(space)


async def test_text_comes_with_line_numbers(space: Path, run: Run) -> None:
    (space / "a.txt").write_text("one\ntwo\r\nthree")
    assert await run.good("read_file", path="a.txt") == "     1\tone\n     2\ttwo\n     3\tthree"
    page = await run.good("read_file", path="./a.txt", offset=2, limit=1)
    assert page == "     2\ttwo\n[The file goes on: read on with offset=3.]"
    assert await run.good("read_file", path=str(space / "a.txt"), offset=3) == "     3\tthree"
    assert "has only 3 lines" in await run.bad("read_file", path="a.txt", offset=9)


async def test_reading_page_by_page_gives_the_whole_file(space: Path, run: Run) -> None:
    lines = [f"line {number} " + "x" * (number % 90) for number in range(1, 4000)]
    (space / "long.txt").write_text("\n".join(lines))
    got: list[str] = []
    while True:
        text = await run.good("read_file", path="long.txt", offset=len(got) + 1)
        page = text.splitlines()
        more = page[-1].startswith("[The file goes on")
        got += [line.split("\t", 1)[1] for line in page[: -1 if more else None]]
        if not more:
            break
        assert page[-1] == f"[The file goes on: read on with offset={len(got) + 1}.]"
    assert got == lines


async def test_a_very_long_line_is_cut_and_said(space: Path, run: Run) -> None:
    (space / "a.txt").write_text("x" * 200_000 + "\nend")
    outcome = await run("read_file", path="a.txt")
    assert "line of 200,001 bytes cut" in text_of(outcome)
    assert text_of(outcome).endswith("     2\tend")
    assert [note.code for note in outcome.notes] == ["tool.truncated"]


async def test_odd_files(space: Path, run: Run) -> None:
    (space / "empty").write_text("")
    (space / "binary").write_bytes(b"ELF\0\1\2")
    (space / "latin").write_bytes(b"caf\xe9")
    picture = b"\x89PNG\r\n\x1a\n" + bytes(9000)
    (space / "p.png").write_bytes(picture)
    assert await run.good("read_file", path="empty") == "empty is empty."
    assert "binary file of 6 bytes" in await run.bad("read_file", path="binary")
    assert await run.good("read_file", path="latin") == "     1\tcaf\ufffd"
    (block,) = (await run("read_file", path="p.png")).result.content
    assert block == Image(media_type="image/png", data=base64.b64encode(picture).decode())
    assert "is a folder" in await run.bad("read_file", path=".")
    assert "No such file" in await run.bad("read_file", path="missing")
    assert "there is no folder" in await run.bad("read_file", path="no/missing")


async def test_a_written_file_is_there_with_its_folders(space: Path, run: Run) -> None:
    assert "Wrote a/b/c.txt (2 lines, 8 bytes)" in await run.good(
        "write_file", path="a/b/c.txt", content="one\ntwo\n"
    )
    assert (space / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert "Replaced" in await run.good("write_file", path="a/b/c.txt", content="")
    assert sorted(os.listdir(space / "a/b")) == ["c.txt"], "no drafts are left"
    assert "is a folder" in await run.bad("write_file", path="a", content="")


async def test_writing_keeps_the_mode_but_no_privilege(space: Path, run: Run) -> None:
    script = space / "x.sh"
    script.write_text("echo a")
    script.chmod(0o4750)
    await run.good("edit_file", path="x.sh", old="a", new="b")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    old = os.umask(0o027)
    try:
        await run.good("write_file", path="new", content="x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((space / "new").stat().st_mode) == 0o640


async def test_a_failed_write_leaves_the_file_as_it_was(
    space: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (space / "a").write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in await run.bad("write_file", path="a", content="after")
    assert (space / "a").read_text() == "before"
    assert os.listdir(space) == ["a"]


async def test_edits(space: Path, run: Run) -> None:
    file = space / "a.py"
    file.write_text("x = 1\ny = 1\n")
    assert await run.good("edit_file", path="a.py", old="x = 1", new="x = 2") == "Edited a.py at line 1."
    assert "occurs 2 times (lines 1, 2)" in await run.bad("edit_file", path="a.py", old=" = ", new="=")
    assert "2 places" in await run.good("edit_file", path="a.py", old=" = ", new="=", all=True)
    assert file.read_text() == "x=2\ny=1\n"
    assert "does not occur" in await run.bad("edit_file", path="a.py", old="z", new="")
    assert "is empty" in await run.bad("edit_file", path="a.py", old="", new="a")
    assert "the same" in await run.bad("edit_file", path="a.py", old="x", new="x")
    (space / "latin").write_bytes(b"caf\xe9")
    assert "not UTF-8" in await run.bad("edit_file", path="latin", old="c", new="k")


async def test_line_ends_of_the_file_are_kept(space: Path, run: Run) -> None:
    (space / "dos.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    await run.good("edit_file", path="dos.txt", old="a\nb", new="1\n2")
    assert (space / "dos.txt").read_bytes() == b"1\r\n2\r\nc\r\n"


@given(text=st.text("ab\n", max_size=30), old=st.text("ab\n", max_size=3), new=st.text("abc", max_size=3))
def test_an_edit_changes_one_place_or_nothing(text: str, old: str, new: str) -> None:
    try:
        edited, lines = replaced(text, old, new)
    except ToolFailed:
        assert not old or old == new or text.count(old) != 1
    else:
        before, _, after = text.partition(old)
        assert edited == before + new + after
        assert lines == [before.count("\n") + 1]


async def test_parallel_edits_lose_nothing(space: Path, run: Run) -> None:
    (space / "a").write_text("".join(f"<{number}>" for number in range(20)))
    await asyncio.gather(
        *(run.good("edit_file", path="a", old=f"<{number}>", new=f"[{number}]") for number in range(20))
    )
    assert (space / "a").read_text() == "".join(f"[{number}]" for number in range(20))


def test_a_workspace_must_be_a_folder(space: Path) -> None:
    (space / "file").write_text("")
    for path in (space / "missing", space / "file"):
        with pytest.raises(ConfigError, match="workspace"):
            Run(path)


ESCAPES = [
    "../outside/secret",
    "a/../../outside/secret",
    "a/b/../../../outside/secret",
    "../space-too/secret",
    "{outside}/secret",
    "{space}/../outside/secret",
    "{space}-too/secret",
    "//{outside}/secret",
    "to-file",
    "to-folder/secret",
    "to-chain",
    "to-absolute",
    "to-parent/outside/secret",
    "a/to-up/outside/secret",
    "to-root{outside}/secret",
    "to-proc",
    "to-missing",
    "to-itself",
    "~/secret",
    "~",
    "a\0/../../outside/secret",
    "..\0",
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "..",
    "/",
    "",
    "x" * 300,
    "a/" * 3000 + "x",
    "../" * 3000,
    "．．/outside/secret",
    "..\u2215outside\u2215secret",
    "%2e%2e/outside/secret",
    "..\\outside\\secret",
    "\udce9",
    "\ud800",
    "fifo",
    "socket",
    "device",
]


@pytest.fixture
def traps(space: Path) -> Path:
    outside = space.parent / "outside"
    (space / "a" / "b").mkdir(parents=True)
    links: dict[str, str | Path] = {
        "to-file": outside / "secret",
        "to-folder": outside,
        "to-chain": "link-1",
        "link-1": "a/link-2",
        "a/link-2": "../to-file",
        "to-absolute": f"{space}/../outside/secret",
        "to-parent": "..",
        "a/to-up": "../..",
        "to-root": "/",
        "to-proc": "/proc/self/cwd",
        "to-missing": outside / "made",
        "to-itself": "to-itself",
        "device": "/dev/zero",
    }
    for name, target in links.items():
        (space / name).symlink_to(target)
    os.mkfifo(space / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        here = os.open(space, os.O_RDONLY)
        try:
            sock.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
    return outside


@pytest.mark.parametrize("path", ESCAPES, ids=lambda path: ascii(path)[:40])
async def test_no_path_leads_out(path: str, space: Path, traps: Path, run: Run) -> None:
    path = path.replace("{outside}", str(traps)).replace("{space}", str(space))
    before = sorted(os.listdir(space.parent)), sorted(os.listdir(traps))
    calls = [
        ("read_file", {}),
        ("write_file", {"content": "gotcha"}),
        ("edit_file", {"old": "secret", "new": "gotcha"}),
        ("search_text", {"pattern": "secret"}),
        ("list_files", {}),
    ]
    for name, more in calls:
        outcome = await run(name, path=path, **more)
        assert SECRET not in text_of(outcome)
        assert "root:" not in text_of(outcome)
        assert "passwd" not in text_of(outcome).replace("/etc/passwd", "")
    assert (traps / "secret").read_text() == SECRET
    assert (sorted(os.listdir(space.parent)), sorted(os.listdir(traps))) == before


LOOKS = st.lists(
    st.sampled_from(
        ["..", ".", "a", "b", "to-folder", "to-parent", "to-root", "secret", "outside", "", "new"]
    ),
    min_size=1,
    max_size=8,
).map("/".join)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=LOOKS)
async def test_no_mixture_of_parts_leads_out(path: str, space: Path, traps: Path, run: Run) -> None:
    for name, more in (("read_file", {}), ("write_file", {"content": "gotcha"})):
        assert SECRET not in text_of(await run(name, path=path, **more))
    assert (traps / "secret").read_text() == SECRET
    assert sorted(os.listdir(traps)) == ["secret"]
    assert sorted(os.listdir(space.parent)) == ["outside", "space", "space-too"]


async def test_links_inside_can_be_read_but_not_written_through(space: Path, run: Run) -> None:
    (space / "v2").mkdir()
    (space / "v2" / "a").write_text("inside")
    (space / "latest").symlink_to("v2")
    (space / "absolute").symlink_to(space / "v2" / "a")
    (space / "v2" / "up").symlink_to("../latest/a")
    for path in ("latest/a", "absolute", "v2/up", "latest/../v2/a"):
        assert "inside" in await run.good("read_file", path=path)
        assert "symbolic link" in await run.bad("write_file", path=path, content="x")
    assert (space / "v2" / "a").read_text() == "inside"


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", "sub/.GIT/config", ".thinkwire.toml", ".g\u200cit/x"]
)
async def test_what_would_run_code_or_change_approvals_is_not_written(
    path: str, space: Path, run: Run
) -> None:
    assert "Tools do not write" in await run.bad("write_file", path=path, content="x")
    assert not (space / path).exists()


async def test_the_folder_of_keys_is_not_entered(
    space: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = space / "config" / "thinkwire"
    config.mkdir(parents=True)
    (config / "keys.toml").write_text("anthropic = 'planted'")
    monkeypatch.setenv("THINKWIRE_CONFIG", str(config))
    (space / "link").symlink_to("config/thinkwire")
    for path in ("config/thinkwire/keys.toml", "link/keys.toml"):
        assert "planted" not in await run.bad("read_file", path=path)
        await run.bad("write_file", path=path, content="x")
    assert "planted" not in await run.good("search_text", pattern="anthropic")
    assert await run.good("list_files") == "No files."


async def test_a_link_swapped_in_a_loop_never_leads_out(space: Path, run: Run) -> None:
    """A folder and a link out of the workspace take turns as fast as they can."""
    outside, inner = space.parent / "outside", space / "inner"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with suppress(OSError):
                shutil.rmtree(inner, ignore_errors=True)
                inner.symlink_to(outside)
                inner.unlink()
                inner.mkdir()
                (inner / "secret").write_text("harmless")

    thread = threading.Thread(target=swap)
    thread.start()
    through = 0
    try:
        for _ in range(200):
            outcome = await run("read_file", path="inner/secret")
            assert SECRET not in text_of(outcome)
            through += "harmless" in text_of(outcome)
            await run("write_file", path="inner/new", content="gotcha")
    finally:
        stop.set()
        thread.join()
    assert through, "some reads came through"
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_text() == SECRET
