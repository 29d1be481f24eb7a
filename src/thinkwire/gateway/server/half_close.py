"""Tells a client that only ended its own side of a connection from one that is gone.

Both look the same until something is written: a client that is gone answers with a reset. So the first bytes
of what must come anyway are written at once, and the socket is asked for its error soon after.
"""

from __future__ import annotations

import socket
from typing import Any

STATUS_LINE_START = b"HTTP/1.1 "
"""What every head begins with."""
CHUNK_SIZE_START = b"0"
"""The size of a chunk may have zeros in front, so this is the beginning of any chunk."""
FIRST_CHECK_SECONDS = 0.1
CHECK_SECONDS = 1.0
_UNACKNOWLEDGED_MS = 30_000


def give_up_on_silence(transport: Any) -> None:
    """Lets the kernel end the connection when the peer acknowledges nothing for a while; where it can."""
    found = transport.get_extra_info("socket")
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if found is not None and option is not None and found.family in (socket.AF_INET, socket.AF_INET6):
        found.setsockopt(socket.IPPROTO_TCP, option, _UNACKNOWLEDGED_MS)


def is_reset(transport: Any) -> bool:
    """Whether the peer answered what was written with a reset."""
    found = transport.get_extra_info("socket")
    return found is not None and found.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0
