"""The door: which requests are heard, whose they are, and what every answer carries."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from thinkwire.store import UserRow
from thinkwire.web.problems import Problem
from thinkwire.web.state import Web

SESSION_COOKIE = "thinkwire_session"
CSRF_COOKIE = "thinkwire_csrf"
CSRF_HEADER = "x-csrf-token"
SESSION_DAYS = 30

CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}

SAFE = ("GET", "HEAD", "OPTIONS")


def digest(token: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def new_token() -> str:
    return secrets.token_urlsafe(32)


def csrf_of(session: str) -> str:
    """The token that a session's own pages know, and that tells nothing about the session."""
    return hmac.new(session.encode("utf-8", "replace"), b"thinkwire csrf", "sha256").hexdigest()


def check(web: Web, request: Request) -> None:
    """Refuses what other sites' pages send. Without accounts, a foreign name for this machine too."""
    host = request.headers.get("host", "")
    if not web.options.auth and not _own_name(host, web.options.hosts):
        raise Problem(403, "host", "this server does not go by the name in the Host header")
    origin = request.headers.get("origin")
    if origin is not None and not _same(origin, host):
        raise Problem(403, "origin", "a page of another address called")
    if request.method in SAFE:
        return
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Problem(403, "origin", "a page of another address called")
    _check_csrf(request)


def _check_csrf(request: Request) -> None:
    cookie, header = cookie_of(request, CSRF_COOKIE), request.headers.get(CSRF_HEADER, "")
    session = cookie_of(request, SESSION_COOKIE)
    right = bool(cookie) and hmac.compare_digest(cookie.encode(), header.encode("utf-8", "replace"))
    if session and right:
        right = hmac.compare_digest(csrf_of(session).encode(), cookie.encode())
    if not right:
        raise Problem(
            403,
            "csrf",
            f"the header {CSRF_HEADER} must repeat the cookie {CSRF_COOKIE}; GET /api/me sets it",
        )


def cookie_of(request: Request, name: str) -> str:
    return request.cookies.get(name, "")


async def who(web: Web, request: Request) -> UserRow | None:
    """Who is signed in; None for nobody."""
    token = cookie_of(request, SESSION_COOKIE)
    return await web.store.signed_in(digest(token)) if web.options.auth and token else None


def give_cookies(request: Request, response: Response, session: str | None = None) -> None:
    """A session's cookie, and the one that its pages repeat in a header."""
    secure = request.url.scheme == "https"
    if session is not None:
        response.set_cookie(
            SESSION_COOKIE,
            session,
            max_age=SESSION_DAYS * 86_400,
            httponly=True,
            samesite="lax",
            secure=secure,
        )
    own = session or cookie_of(request, SESSION_COOKIE)
    token = csrf_of(own) if own else cookie_of(request, CSRF_COOKIE) or new_token()
    if token != cookie_of(request, CSRF_COOKIE):
        response.set_cookie(CSRF_COOKIE, token, samesite="strict", secure=secure)


def take_cookies(response: Response) -> None:
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
    response.delete_cookie(CSRF_COOKIE, samesite="strict")


def secured(request: Request, response: Response) -> Response:
    """An answer with everything that keeps a browser from doing more with it than it should."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if request.url.path.startswith("/api/"):
        response.headers.setdefault("cache-control", "no-store")
    if request.url.scheme == "https":
        response.headers.setdefault("strict-transport-security", "max-age=31536000")
    return response


def is_local(request: Request) -> bool:
    """Whether somebody on this machine asks, and no proxy for somebody else."""
    if any(request.headers.get(name) for name in ("forwarded", "x-forwarded-for", "x-real-ip")):
        return False
    return request.client is not None and _loopback(request.client.host)


def _own_name(authority: str, names: tuple[str, ...]) -> bool:
    name = _host(authority)
    return name is not None and (name == "localhost" or _loopback(name) or name in names)


def _loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host(authority: str) -> str | None:
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port
    except ValueError:
        return None
    if "@" in authority or parts.netloc != authority or not parts.hostname:
        return None
    return parts.hostname.rstrip(".")


def _same(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
        own = urlsplit(f"{parts.scheme}://{host}")
        return parts.scheme in ("http", "https") and _place(parts) == _place(own)
    except ValueError:
        return False


def _place(parts: Any) -> tuple[str | None, int]:
    return parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
