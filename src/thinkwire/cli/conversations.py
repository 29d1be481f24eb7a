"""`thinkwire talks`: the conversations that are kept."""

from __future__ import annotations

import asyncio
import datetime
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from thinkwire.cli.io import designed_errors, write_json, write_notes
from thinkwire.session.formatting import printable

if TYPE_CHECKING:
    from thinkwire.store import ConversationRow, Store

_T = TypeVar("_T")


@click.group()
def talks() -> None:
    """List, search, export and import conversations.

    \b
    Examples:
      thinkwire talks list
      thinkwire talks search "odd squares"
      thinkwire talks export last -o talk.md
      thinkwire talks import ~/.claude/projects/…/session.jsonl
    """


def _with_store(work: Callable[[Store], Awaitable[_T]]) -> _T:
    """Everything a command does, between opening a store and closing it."""

    async def inside() -> _T:
        from thinkwire.store import open_store

        async with await open_store() as store:
            return await work(store)

    return asyncio.run(inside())


async def _row(store: Store, name: str) -> ConversationRow:
    """A conversation by its id, or the `last` one."""
    from thinkwire.errors import ConfigError

    if name != "last":
        return await store.conversation(name)
    rows = await store.conversations(limit=1)
    if not rows:
        raise ConfigError("there is no conversation yet")
    return rows[0]


@talks.command(name="list")
@click.option("-n", "--limit", type=click.IntRange(1, 10_000), default=20, show_default=True)
@click.option("--deleted", is_flag=True, help="Those that were deleted and can be restored.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def list_talks(limit: int, deleted: bool, as_json: bool) -> None:
    """The newest conversations."""
    with designed_errors():
        rows = _with_store(lambda store: store.conversations(limit=limit, deleted=deleted))
        if as_json:
            for row in rows:
                write_json(row)
            return
        if not rows:
            click.echo('Nothing yet. Begin with: thinkwire ask "your question"', err=True)
        for row in rows:
            day = datetime.datetime.fromtimestamp(row.updated).strftime("%Y-%m-%d %H:%M")
            words = printable(row.title or row.preview or "(empty)").replace("\n", " ")
            click.echo(f"{row.id}  {day}  {row.count:>4}  {(row.model or '?')[:28]:<28}  {words[:60]}")


@talks.command()
@click.argument("words", nargs=-1, required=True)
@click.option("-n", "--limit", type=click.IntRange(1, 1_000), default=20, show_default=True)
@click.option("--thinking", is_flag=True, help="Look into the thinking too.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def search(words: tuple[str, ...], limit: int, thinking: bool, as_json: bool) -> None:
    """Find words in what was said. Exit code 1 when nothing is found."""
    with designed_errors():
        query = " ".join(words)
        hits = _with_store(lambda store: store.search(query, limit=limit, thinking=thinking))
        for hit in hits:
            if as_json:
                write_json(hit)
            else:
                snippet = printable(hit.snippet).replace("\n", " ")
                click.echo(f"{hit.conversation_id}  {snippet}")
        if not hits:
            sys.exit(1)


@talks.command()
@click.argument("talk", metavar="ID")
@click.option(
    "-o", "--output", "out", default="-", metavar="FILE", help="The file to write; - is the screen."
)
@click.option("--to", "form", type=click.Choice(["jsonl", "json", "markdown"]), help="Else by FILE's ending.")
@click.option("--thinking", is_flag=True, help="Show the readable thinking in Markdown too.")
def export(talk: str, out: str, form: str | None, thinking: bool) -> None:
    """Write a conversation to a file. ID may be `last`. JSONL loses nothing; Markdown is for people."""
    with designed_errors():
        write_file_of(talk, out, form, thinking=thinking)


def write_file_of(talk: str, out: str, form: str | None, *, thinking: bool) -> None:
    from pathlib import Path

    from thinkwire.cli.transcripts import FORMS, write_file
    from thinkwire.session.import_export import archived, whole
    from thinkwire.transcripts import write_archives, write_markdown

    form = form or FORMS.get(Path(out).suffix.lower(), "jsonl")

    async def written(store: Store) -> bytes:
        row = await _row(store, talk)
        if form == "jsonl":
            return write_archives([await archived(store, row.id)])
        conversation = await whole(store, row.id)
        if form == "json":
            return conversation.to_json() + b"\n"
        return write_markdown(conversation, thinking=thinking, title=row.title).encode("utf-8", "replace")

    write_file(out, _with_store(written))


@talks.command(name="import")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def import_talks(files: tuple[str, ...], as_json: bool) -> None:
    """Take in conversations: our JSONL or JSON, Claude Code and Codex transcripts, request bodies."""
    from thinkwire.cli.transcripts import read_file
    from thinkwire.session.import_export import adopted

    with designed_errors():
        for file in files:
            imported = read_file(file)

            async def take(store: Store, imported: Any = imported) -> list[str]:
                return await adopted(store, imported)

            for talk in _with_store(take):
                if as_json:
                    write_json({"file": file, "id": talk, "format": imported.format})
                else:
                    click.echo(f"{talk}  {file}")
            write_notes(imported.notes)


@talks.command()
@click.argument("talk", metavar="ID")
@click.argument("title", nargs=-1, required=True)
def rename(talk: str, title: tuple[str, ...]) -> None:
    """Give a conversation another title."""

    async def work(store: Store) -> None:
        await store.rename((await _row(store, talk)).id, " ".join(title))

    with designed_errors():
        _with_store(work)


@talks.command()
@click.argument("talk", metavar="ID")
def delete(talk: str) -> None:
    """Delete a conversation; `restore` brings it back."""
    with designed_errors():
        _with_store(lambda store: store.delete(talk))
        click.echo(f"Deleted. Undo: thinkwire talks restore {talk}", err=True)


@talks.command()
@click.argument("talk", metavar="ID")
def restore(talk: str) -> None:
    """Bring a deleted conversation back."""
    with designed_errors():
        _with_store(lambda store: store.restore(talk))
