"""Where the store is: a URL, the environment, or a file in the data folder."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import msgspec

from thinkwire.config.paths import data_folder
from thinkwire.errors import ConfigError

FORMS = "sqlite:///talks.db, sqlite:////absolute/path.db or postgresql://user@host/name"


class StoreLocation(msgspec.Struct, frozen=True):
    """A database. SQLite has a `file`, and only a driver in its `url`; `shown` has no password in it."""

    url: str
    shown: str
    file: Path | None = None

    def __repr__(self) -> str:
        return f"<Place {self.shown}>"


def the_place(url: str | None = None) -> StoreLocation:
    url = url or os.environ.get("THINKWIRE_DATABASE_URL")
    if not url:
        return _file(data_folder() / "thinkwire.db")
    scheme, _, rest = url.partition("://")
    match scheme.partition("+")[0]:
        case "sqlite":
            name = rest.partition("?")[0].removeprefix("/")
            if name in ("", ":memory:"):
                raise ConfigError(f"an SQLite store needs a file: {FORMS}")
            return _file(Path(name).expanduser())
        case "postgresql" | "postgres":
            # The driver has its own word for libpq's sslmode.
            url = f"postgresql+asyncpg://{rest.replace('sslmode=', 'ssl=')}"
            return StoreLocation(url, _without_password(f"postgresql://{rest}"))
    raise ConfigError(f"a store is at {FORMS}, not at {_without_password(url)}")


def _file(path: Path) -> StoreLocation:
    path = path.absolute()
    return StoreLocation("sqlite+aiosqlite://", str(path), path)


def _without_password(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("://")[0] + "://…"
    name, _, host = parts.netloc.rpartition("@")
    user = name.partition(":")[0]
    return urlunsplit((parts.scheme, f"{user}@{host}" if user else host, parts.path, "", ""))
