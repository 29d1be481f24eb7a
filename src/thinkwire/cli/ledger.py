"""`thinkwire ledger`: what the gateway remembers for clients that drop thinking."""

from __future__ import annotations

import datetime
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import click
import msgspec

from thinkwire.cli.io import designed_errors, write_json

if TYPE_CHECKING:
    from thinkwire.gateway.ledger import LedgerBackend

_T = TypeVar("_T")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

_url = click.option("--url", metavar="URL", help="Another ledger than the configured one.")
_config = click.option("--config", "file", metavar="FILE", help="Another gateway.toml.")
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object.")


def _seconds(ctx: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """`90s`, `30m`, `12h`, `7d`, `2w`, in seconds."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,6})([smhdw])", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no time; write 90s, 30m, 12h, 7d or 2w")
    return float(int(found[1]) * _UNITS[found[2]])


@click.group()
def ledger() -> None:
    """The gateway's memory of thinking that clients drop.

    \b
    Examples:
      thinkwire ledger stats
      thinkwire ledger purge --older-than 7d
      thinkwire ledger purge --all --url redis://127.0.0.1:6379/0
    """


@ledger.command()
@_url
@_config
@_json
def stats(url: str | None, file: str | None, as_json: bool) -> None:
    """Show how much is remembered, and since when."""
    with designed_errors():
        where, _ = _place(url, file)
        found = _run(where, lambda shelf: shelf.stats())
        if as_json:
            write_json(msgspec.to_builtins(found))
            return
        click.echo(f"ledger      {found.where}")
        click.echo(f"turns       {found.turns:,}")
        click.echo(f"size        {found.bytes:,} bytes")
        click.echo(f"oldest use  {_day(found.oldest_use)}")
        click.echo(f"newest use  {_day(found.newest_use)}")


@ledger.command()
@click.option("--older-than", callback=_seconds, metavar="TIME", help="Unused for so long: 90s, 12h, 7d, 2w.")
@click.option("--all", "everything", is_flag=True, help="Everything, of every tenant.")
@_url
@_config
@_json
def purge(
    *, older_than: float | None, everything: bool, url: str | None, file: str | None, as_json: bool
) -> None:
    """Forget turns; by default those that were not used for the configured time."""
    import time

    if everything and older_than is not None:
        raise click.UsageError("say either --older-than or --all")
    with designed_errors():
        where, ttl = _place(url, file)
        before = None if everything else time.time() - (ttl if older_than is None else older_than)
        gone = _run(where, lambda shelf: shelf.purge(before))
        if as_json:
            write_json({"purged": gone})
        else:
            click.echo(f"{gone:,} turns forgotten")


def _place(url: str | None, file: str | None) -> tuple[str | None, float]:
    """Where the ledger is, and after how many seconds it forgets."""
    from thinkwire.gateway.config.gateway_config import GatewayConfig

    settings = GatewayConfig.load(file).ledger
    return url or settings.url, float(settings.ttl_seconds)


def _run(url: str | None, use: Callable[[LedgerBackend], Awaitable[_T]]) -> _T:
    """Opens the store without limits, so that looking at it forgets nothing."""
    import asyncio

    from thinkwire.gateway.ledger import Limits, open_backend

    async def used() -> _T:
        shelf = await open_backend(url, Limits(ttl=float("inf"), max_bytes=2**62))
        try:
            return await use(shelf)
        finally:
            await shelf.aclose()

    return asyncio.run(used())


def _day(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return datetime.datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
