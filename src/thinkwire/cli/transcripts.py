"""`thinkwire convert`: conversations from other programs' files into ours, and into Markdown."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from thinkwire.cli.io import chunks, designed_errors, whole, write, write_notes
from thinkwire.errors import ConfigError
from thinkwire.notes import Note
from thinkwire.transcripts import Imported, archive_of, read_transcript, write_archives, write_markdown

FORMS = {".md": "markdown", ".markdown": "markdown", ".jsonl": "jsonl", ".json": "json"}


def read_file(file: str) -> Imported:
    """The transcript in a file or on standard input (`-`)."""
    return read_transcript(whole(chunks(file)), "standard input" if file == "-" else file)


def write_file(file: str, data: bytes) -> None:
    """Writes a file at once or not at all; `-` is standard output."""
    if file == "-":
        write(data)
        return
    path = Path(file)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}") from None


@click.command()
@click.argument("file", metavar="IN")
@click.option("-o", "--output", "out", default="-", metavar="OUT", help="The file to write; - is the screen.")
@click.option(
    "--to", "form", type=click.Choice(sorted(set(FORMS.values()))), help="The form; else by OUT's ending."
)
@click.option("--thinking", is_flag=True, help="Show the readable thinking in Markdown too.")
def convert(*, file: str, out: str, form: str | None, thinking: bool) -> None:
    """Turn a conversation file into another form.

    IN is a thinkwire conversation (JSON or JSONL), a request body of any provider, a Claude Code transcript
    or a Codex rollout; - is standard input. What has no place in the new form is said on standard error.

    \b
    Examples:
      thinkwire convert session.jsonl -o session.md
      thinkwire convert rollout.jsonl -o talk.json
      thinkwire convert talk.json --to markdown --thinking
    """
    with designed_errors():
        form = form or FORMS.get(Path(out).suffix.lower(), "json")
        if out != "-" and file != "-" and Path(out).resolve() == Path(file).resolve():
            raise ConfigError(f"{out} is the input itself; choose another file with -o")
        imported = read_file(file)
        write_file(out, written(imported, form, thinking=thinking))
        write_notes((*imported.notes, *_left_out(imported, form)))


def written(imported: Imported, form: str, *, thinking: bool = False) -> bytes:
    """The conversation in a form."""
    talk = imported.conversation
    if form == "markdown":
        return write_markdown(talk, thinking=thinking, title=imported.title).encode("utf-8", "replace")
    if form == "json":
        return talk.to_json() + b"\n"
    if imported.archives:
        return write_archives(imported.archives)
    parts = [archive_of(part, title=imported.title) for part in imported.earlier]
    return write_archives([*parts, archive_of(talk, title=imported.title, model=imported.model)])


def _left_out(imported: Imported, form: str) -> list[Note]:
    count = len(imported.earlier) + max(len(imported.archives) - 1, 0)
    if form == "jsonl" or not count:
        return []
    return [Note("import.skipped", f"{count} earlier conversations of the file; --to jsonl keeps them")]
