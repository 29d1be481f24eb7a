"""The user's services, and where keys come from. Keys are never shown."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

from thinkwire.config.paths import config_folder
from thinkwire.errors import ConfigError, MissingKey
from thinkwire.providers import Provider, default_providers, read_providers

SERVICE = "thinkwire"


def keys_file() -> Path:
    """`keys.toml` in the configuration folder."""
    return config_folder() / "keys.toml"


def known_providers() -> dict[str, Provider]:
    """The package's services and the user's own, from `providers.toml` in the configuration folder."""
    path = config_folder() / "providers.toml"
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return default_providers()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    return default_providers() | read_providers(text, str(path))


def find_key(provider: Provider) -> str | None:
    """The key of a provider, from the first place that has one."""
    for name in provider.keys:
        if key := os.environ.get(name):
            return key
    return _from_file(keys_file(), provider.name) or _from_keyring(provider.name)


def missing_key(provider: Provider) -> MissingKey:
    """What to do when there is none."""
    names = " or ".join(provider.keys) or "a key"
    return MissingKey(f"{provider.label} needs a key: set {names}, or `{provider.name} = …` in {keys_file()}")


def _from_file(path: Path, name: str) -> str | None:
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"{path} can be read by others; run `chmod 600 {path}`")
    try:
        keys = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # The parser's message may quote the file, and the file holds keys.
        raise ConfigError(f"{path} cannot be read ({type(error).__name__})") from None
    key = keys.get(name)
    if key is None or (isinstance(key, str) and key):
        return key or None
    raise ConfigError(f"{path}: {name} must be a string")


def _from_keyring(name: str) -> str | None:
    """The keyring is asked only where its package is installed; a broken one is as good as none."""
    try:
        import keyring
    except ImportError:
        return None
    try:
        found = keyring.get_password(SERVICE, name)
    except Exception:
        return None
    return found if isinstance(found, str) else None
