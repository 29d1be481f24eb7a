"""Watches the configuration, so that a change counts without a restart. A broken file changes nothing."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable

import msgspec

from thinkwire.errors import ConfigError
from thinkwire.gateway.config.gateway_config import GatewayConfig, LedgerSettings, Logging, Switch, Tracing

_log = logging.getLogger("thinkwire.gateway")

AT_START: dict[str, tuple[str, ...]] = {
    "server": (
        *("host", "port", "workers", "head_seconds", "body_seconds", "max_buffered_mb", "drain_seconds"),
        *("connect_seconds", "first_byte_seconds", "idle_seconds", "max_response_mb"),
    ),
    "limits": ("url",),
    "ledger": LedgerSettings.__struct_fields__,
    "logging": Logging.__struct_fields__,
    "metrics": Switch.__struct_fields__,
    "tracing": Tracing.__struct_fields__,
}
"""Settings that only a new start can change, by section."""


class ConfigWatcher:
    """Holds the configuration that is in force."""

    def __init__(
        self, config: GatewayConfig, on_change: Callable[[GatewayConfig], None] | None = None
    ) -> None:
        """`config` as it runs, with what the command line said; it knows the file that it came from."""
        self.config = config
        self._on_change = on_change
        self._seen = self._signature()

    async def run(self, interval: float = 1.0) -> None:
        """Looks every second, until cancelled."""
        while True:
            await asyncio.sleep(interval)
            self.poll()

    def poll(self) -> bool:
        """Takes a changed file; whether the configuration is another now."""
        return self._signature() != self._seen and self.reload()

    def reload(self) -> bool:
        """Reads the file whether or not it looks changed (for SIGHUP)."""
        self._seen = self._signature()
        if self.config.file is None:
            return False
        try:
            new = GatewayConfig.load(self.config.file)
        except ConfigError as error:
            _log.error("the configuration stays as it was: %s", error)
            return False
        new = self._with_fixed(new)
        if new == self.config:
            return False
        self.config = new
        _log.info("the configuration was read anew from %s", new.file)
        if self._on_change is not None:
            self._on_change(new)
        return True

    def _with_fixed(self, new: GatewayConfig) -> GatewayConfig:
        """The new settings, but for those that stay as they are until the next start."""
        sections: dict[str, msgspec.Struct] = {}
        for section, names in AT_START.items():
            asked, running = getattr(new, section), getattr(self.config, section)
            fixed = {name: getattr(running, name) for name in names}
            moved = [name for name in names if getattr(asked, name) != fixed[name]]
            if moved:
                _log.warning("%s of [%s] will count after the next start", " and ".join(moved), section)
            sections[section] = msgspec.structs.replace(asked, **fixed)
        return msgspec.structs.replace(new, **sections, file=self.config.file)

    def _signature(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self.config.file or "")
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
