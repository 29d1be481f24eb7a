"""Where a request comes from: the name in its Host header, its peer, and whether a proxy passed it on."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

FORWARDING = frozenset({b"forwarded", b"via", b"x-real-ip"})
"""Headers that only proxies add, beside those that begin with `x-forwarded-`."""
FORWARDING_PREFIX = b"x-forwarded-"


@lru_cache(maxsize=256)
def host_of(authority: str) -> str:
    """Return the host of a Host header (`host:port`), without brackets; empty when it is malformed."""
    # To the standard library the host of `[::1].evil.example` is `::1`.
    if not re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]]*)(:\d*)?", authority):
        return ""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port
    except ValueError:
        return ""
    if parts.netloc != authority or "@" in authority or parts.hostname is None:
        return ""
    return parts.hostname.rstrip(".")


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address or name."""
    host = host.strip("[]").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = ip_address(host)
    return address is not None and address.is_loopback


def ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an IP address, with or without brackets; None when it is none."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def has_forwarding_headers(names: Iterable[bytes]) -> bool:
    """Return whether one of these header names (in lower case) shows that a proxy passed the request on."""
    return any(name in FORWARDING or name[:12] == FORWARDING_PREFIX for name in names)
