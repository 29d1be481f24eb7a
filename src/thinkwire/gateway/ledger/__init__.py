"""The ledger: thinking that clients drop, remembered and put back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from thinkwire.config.paths import state_folder
from thinkwire.errors import ConfigError
from thinkwire.gateway.common.secret_box import load_secrets
from thinkwire.gateway.config.addresses import POSTGRES, REDIS, ledger_flaw
from thinkwire.gateway.ledger.backend import LedgerBackend, Limits, Stats
from thinkwire.gateway.ledger.ledger import Ledger
from thinkwire.gateway.ledger.retry import open_or_retry

__all__ = ["DAY", "Ledger", "LedgerBackend", "Limits", "Stats", "open_backend", "open_ledger"]

DAY = 24 * 3600.0


async def open_ledger(
    url: str | None = None,
    *,
    ttl: float = 7 * DAY,
    max_bytes: int = 256 * 1024 * 1024,
    key: bytes | Sequence[bytes] | None = None,
    resilient: bool = False,
) -> Ledger:
    """The ledger at an address; without one, `ledger.db` in the state folder.

    Turns that nobody asked for during `ttl` seconds are forgotten, and the longest unused ones when all
    together are larger than `max_bytes`. `key` locks them; without one it is the gateway's own.

    With `resilient`, as a server wants it, a store that cannot be opened is tried again in the background,
    and a damaged SQLite file is moved aside.
    """
    if not ttl > 0 or not max_bytes > 0:
        raise ConfigError("the ledger's ttl and its size must be more than nothing")
    secrets = load_secrets() if key is None else key
    return Ledger(await open_backend(url, Limits(ttl, max_bytes), resilient=resilient), secrets, ttl)


async def open_backend(url: str | None, limits: Limits, *, resilient: bool = False) -> LedgerBackend:
    """Open the store at an address, without the key to what is in it. `resilient` as for `open_ledger`."""
    if resilient:
        return await open_or_retry(lambda: _open_shelf(url, limits, repair=True))
    return await _open_shelf(url, limits)


async def _open_shelf(url: str | None, limits: Limits, *, repair: bool = False) -> LedgerBackend:
    if flaw := ledger_flaw(url):
        raise ConfigError(flaw)
    scheme = urlsplit(url).scheme if url else ""
    if scheme in REDIS:
        from thinkwire.gateway.ledger.redis import RedisBackend

        return await RedisBackend.open(str(url), limits)
    if scheme in POSTGRES:
        from thinkwire.gateway.ledger.postgres import PostgresBackend

        return await PostgresBackend.open(str(url), limits)
    from thinkwire.gateway.ledger.sqlite import SqliteBackend

    return await SqliteBackend.open(_path(url), limits, repair=repair)


def _path(url: str | None) -> Path:
    if not url:
        return state_folder() / "ledger.db"
    if not url.startswith("sqlite:"):
        return Path(url)
    path = unquote(urlsplit(url).path)
    return Path(path[1:] if url.startswith("sqlite:///") else path)
