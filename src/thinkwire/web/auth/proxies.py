"""Believe the forwarding headers of configured proxies, and of no other client."""

from __future__ import annotations

import ipaddress
import logging
import os

from starlette.types import ASGIApp, Receive, Scope, Send

from thinkwire.request_origin import ip_address

VARIABLE = "FORWARDED_ALLOW_IPS"
"""Addresses and networks of proxies, separated by commas; the same variable as uvicorn's."""
DEFAULT = "127.0.0.1,::1"

_log = logging.getLogger("thinkwire.web")


class TrustedProxies:
    """The addresses and networks whose forwarding headers count."""

    def __init__(self, text: str) -> None:
        """`*` stands for no address: it would let every client choose the address that it is counted by."""
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        self.is_any = "*" in entries
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for entry in entries:
            if entry == "*":
                continue
            try:
                self._networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                _log.warning("%s: %r is no address or network and is ignored", VARIABLE, entry)
        if self.is_any:
            _log.warning(
                "%s=* would let every client choose its own address, so X-Forwarded-For is ignored; "
                "name the addresses or networks of your proxies instead",
                VARIABLE,
            )

    @classmethod
    def from_environment(cls) -> TrustedProxies:
        return cls(os.environ.get(VARIABLE, DEFAULT))

    def __contains__(self, host: str) -> bool:
        address = ip_address(host)
        return address is not None and any(address in network for network in self._networks)

    def client_of(self, peer: str, forwarded_for: str) -> str:
        """Return the nearest address that is no trusted proxy: the last one that a trusted proxy has seen."""
        client = peer
        for entry in reversed(forwarded_for.split(",")):
            if client not in self:
                break
            host = _without_port(entry.strip())
            if ip_address(host) is None:
                break
            client = host
        return client


class ProxyHeaders:
    """ASGI middleware that puts the client's own address and scheme in place of a trusted proxy's."""

    def __init__(self, app: ASGIApp, trusted: TrustedProxies) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._apply(scope)
        await self._app(scope, receive, send)

    def _apply(self, scope: Scope) -> None:
        peer = scope["client"][0] if scope.get("client") else ""
        is_trusted = peer in self._trusted
        if not (is_trusted or self._trusted.is_any):
            return
        values: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            if name in (b"x-forwarded-for", b"x-forwarded-proto"):
                values.setdefault(name, []).append(value.decode("latin-1"))
        scheme = values.get(b"x-forwarded-proto", [""])[-1].strip().lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme
        if is_trusted and b"x-forwarded-for" in values:
            client = self._trusted.client_of(peer, ",".join(values[b"x-forwarded-for"]))
            if client != peer:
                scope["client"] = (client, 0)


def _without_port(entry: str) -> str:
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry
