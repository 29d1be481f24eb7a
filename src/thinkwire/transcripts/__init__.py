"""Conversations in and out: our own files, other programs' transcripts, and Markdown for people."""

from thinkwire.transcripts.archive import (
    Archive,
    ArchiveHeader,
    ArchiveMessage,
    archive_of,
    conversation_of,
    read_archives,
    write_archives,
)
from thinkwire.transcripts.detect import read_transcript
from thinkwire.transcripts.markdown import write_markdown
from thinkwire.transcripts.result import Imported

__all__ = [
    "Archive",
    "ArchiveHeader",
    "ArchiveMessage",
    "Imported",
    "archive_of",
    "conversation_of",
    "read_archives",
    "read_transcript",
    "write_archives",
    "write_markdown",
]
