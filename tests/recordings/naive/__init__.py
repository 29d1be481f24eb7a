"""What a recorded answer says, read in the plainest way from its JSON.

This is the other opinion: written from the vendors' documents and the raw traffic, sharing no code with the
package. It may be slow and it keeps no streaming state; it gathers all frames and then looks.
"""

from __future__ import annotations

from tests.recordings.loader import Recording
from tests.recordings.naive import anthropic, chat, gemini, ollama, responses
from tests.recordings.naive.facts import Facts

__all__ = ["Facts", "facts_of"]

READERS = {
    "anthropic-messages": anthropic.read,
    "openai-chat": chat.read,
    "ollama-native": ollama.read,
    "openai-responses": responses.read,
    "gemini-generate": gemini.read,
}


def facts_of(recording: Recording) -> Facts:
    """The facts of an answer with a good status."""
    streamed = recording.kind == "stream"
    return READERS[recording.wire](recording.frames if streamed else [recording.body], streamed)
