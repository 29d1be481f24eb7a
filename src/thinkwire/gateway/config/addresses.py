"""Addresses of stores in the configuration: which are accepted, and how they are shown without secrets."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

REDIS = ("redis", "rediss", "unix")
POSTGRES = ("postgresql", "postgres")
_REDIS_FORMS = "redis://HOST:PORT/0, rediss://HOST or unix:///PATH"
_LEDGER_FORMS = "a path, sqlite:///PATH (with four slashes when it is absolute), redis://HOST or postgresql://HOST/DATABASE"


def ledger_flaw(url: str | None) -> str | None:
    """Say what is wrong with the address of a ledger; None when it can be used."""
    flaw = _flaw(url, (*REDIS, *POSTGRES, "sqlite", ""))
    return f"url cannot be {flaw}; a ledger is at {_LEDGER_FORMS}" if flaw else None


def limits_flaw(url: str | None) -> str | None:
    """Say what is wrong with the address of the Redis that counts; None when it can be used."""
    flaw = _flaw(url, REDIS)
    return f"url cannot be {flaw}; limits are counted at {_REDIS_FORMS}" if flaw else None


def shown(url: str) -> str:
    """An address without its user, its password and its options."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{url.partition(':')[0][:20]}://…"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.scheme else url


def _flaw(url: str | None, schemes: tuple[str, ...]) -> str | None:
    """The address as it may be shown when it cannot be used."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return repr(shown(url))
    if parts.scheme not in schemes or not url.isprintable():
        return repr(shown(url))
    if not parts.scheme:
        return None
    is_file = parts.scheme in ("sqlite", "unix")
    path = unquote(parts.path).removeprefix("/")
    complete = f"{parts.scheme}://" in url.lower() and (not is_file or path not in ("", ":memory:"))
    return None if complete else repr(shown(url))
