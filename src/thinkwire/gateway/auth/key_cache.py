"""The keys of a running gateway, as the file of access keys has them now."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from thinkwire.config.paths import WatchedFile
from thinkwire.errors import ConfigError
from thinkwire.gateway.auth.keys import LOCAL, KeyFile, LastUsed, Tenant
from thinkwire.gateway.common.refusal import Refusal

_NO_KEYS = (
    "this gateway needs an access key, and there is none yet: create one on the server with "
    "`thinkwire keys create NAME`, and send it in the x-api-key or the Authorization header"
)

_log = logging.getLogger("thinkwire.gateway")


class KeyCache:
    """Tells whose a key is. A key that is made or revoked counts within a tenth of a second."""

    def __init__(
        self,
        file: KeyFile,
        *,
        loopback: bool,
        used: LastUsed | None = None,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = file
        self._used = used or LastUsed()
        self._clock = clock
        self._shared = WatchedFile(file.path, clock=ticks)
        self._shared.changed()
        self._keys = file.read()
        self._needed = self._keys is not None or not loopback
        self.required = False
        """Whether the configuration demands keys, also while there are none."""

    @property
    def are_needed(self) -> bool:
        """Whether requests need a key, because there are keys or because the configuration demands them."""
        if self._shared.changed():
            self._refresh()
        return self._needed or self.required

    def authenticate(self, key: str | None, *, is_proxied: bool = False) -> Tenant:
        """Return the tenant of a key, or raise Refusal. Requests through a proxy always need a key."""
        if self._shared.changed():
            self._refresh()
        if not (self._needed or self.required or is_proxied):
            return LOCAL
        if self._keys is None:
            raise Refusal(401, "auth", _NO_KEYS)
        if key is None:
            raise Refusal(401, "auth", "this gateway needs an access key (`thinkwire keys create NAME`)")
        found = self._keys.find(key)
        if found is None:
            raise Refusal(401, "auth", "this access key is not known here (`thinkwire keys list`)")
        now = self._clock()
        if found.expired(now):
            raise Refusal(401, "auth", f"the access key {found.name!r} has expired")
        self._used.touch(found.id, now)
        return found.tenant

    def is_current(self, tenant: Tenant) -> bool:
        """Whether a tenant who was let in may still be here; for streams that last."""
        if self._shared.changed():
            self._refresh()
        if tenant.id == LOCAL.id:
            return not (self._needed or self.required)
        now = self._clock()
        return self._keys is not None and any(
            key.id == tenant.id and not key.expired(now) for key in self._keys.key
        )

    def close(self) -> None:
        self._used.flush()

    def _refresh(self) -> None:
        """Once keys were needed they stay needed, also when the file goes away or breaks."""
        try:
            keys = self._file.read()
        except ConfigError as error:
            _log.error("the access keys stay as they were: %s", error)
            return
        self._needed = self._needed or keys is not None
        self._keys = keys
