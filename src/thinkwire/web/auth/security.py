"""The door: which requests are heard, whose they are, and what every answer carries."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from thinkwire.request_origin import has_forwarding_headers, host_of, is_loopback
from thinkwire.store import UserRow
from thinkwire.web.auth.start_token import cookie_name
from thinkwire.web.auth.throttle import counted_address
from thinkwire.web.errors import Problem
from thinkwire.web.state import AppState

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


def check(web: AppState, request: Request, *, before_sign_in: bool = False) -> None:
    """Refuse unknown hosts, other sites' pages, and requests without the start token where one is needed.

    An operation `before_sign_in` needs neither token nor CSRF header: it is what checks the token.
    """
    is_api = request.scope["path"].startswith("/api/")
    _check_host(web, request)
    if is_api and (reason := web.options.why_off()) is not None:
        raise Problem(503, "web_off", f"the web app is {reason}")
    origin = request.headers.get("origin")
    if origin is not None and not _same(origin, request.headers["host"]):
        raise Problem(403, "origin", "a page of another address called")
    is_safe = request.method in SAFE
    if not is_safe and request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Problem(403, "origin", "a page of another address called")
    by_header = False
    if is_api and not before_sign_in and not web.options.auth:
        by_header = not has_start_cookie(web, request)
        if by_header and not has_start_token(web, request):
            raise Problem(401, "start_token", NEEDS_TOKEN)
    # No page of another site can add an Authorization header, so that header is proof enough.
    if not is_safe and not before_sign_in and not by_header:
        _check_csrf(request)


NEEDS_TOKEN = (
    "this server needs its start token: open the address that `thinkwire serve` printed, enter the token "
    "here, or send it as `Authorization: Bearer TOKEN`"
)


def has_start_cookie(web: AppState, request: Request) -> bool:
    """Return whether the browser has shown the start token before."""
    return web.start_token.matches_cookie(cookie_of(request, _start_cookie(request)))


def has_start_token(web: AppState, request: Request) -> bool:
    """Return whether the Authorization header has the start token."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and is_start_token(web, request, token.strip())


def is_start_token(web: AppState, request: Request, presented: str) -> bool:
    """Compare a token that was presented; Problem after too many wrong ones from an address."""
    address = address_of(request)
    web.guesses.check(address)
    if web.start_token.matches(presented):
        return True
    web.guesses.add(address, presented)
    return False


def give_start_cookie(web: AppState, request: Request, response: Response) -> None:
    """Remember in the browser, until it is closed, that it has shown the start token."""
    response.set_cookie(
        _start_cookie(request),
        web.start_token.cookie,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _start_cookie(request: Request) -> str:
    server = request.scope.get("server") or ("", 0)
    return cookie_name(server[1] or 0)


def address_of(request: Request) -> str:
    """Return what the tries of a client are counted by."""
    return counted_address(request.client.host if request.client else None)


def is_local_owner(web: AppState, request: Request) -> bool:
    """Return whether the person at this machine asks, who may do what the server may do.

    `check` has seen the start token. With accounts it is never so: the configuration alone decides.
    """
    return not web.options.auth and is_local(request)


def _check_host(web: AppState, request: Request) -> None:
    hosts = request.headers.getlist("host")
    if len(hosts) != 1:
        raise Problem(400, "host", "a request needs exactly one Host header")
    name = host_of(hosts[0])
    if not name or not (web.options.auth or is_loopback(name)):
        raise Problem(403, "host", "this server does not go by the name in the Host header")


def _check_csrf(request: Request) -> None:
    cookie, header = cookie_of(request, CSRF_COOKIE), request.headers.get(CSRF_HEADER, "")
    session = cookie_of(request, SESSION_COOKIE)
    right = bool(cookie) and hmac.compare_digest(
        cookie.encode("utf-8", "replace"), header.encode("utf-8", "replace")
    )
    if session and right:
        right = hmac.compare_digest(csrf_of(session).encode(), cookie.encode("utf-8", "replace"))
    if not right:
        raise Problem(
            403,
            "csrf",
            f"the header {CSRF_HEADER} must repeat the cookie {CSRF_COOKIE}; GET /api/me sets it",
        )


def cookie_of(request: Request, name: str) -> str:
    return request.cookies.get(name, "")


async def who(web: AppState, request: Request) -> UserRow | None:
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
    """Return whether a client on this machine asks, under a name of this machine and not through a proxy."""
    if has_forwarding_headers(name for name, _ in request.headers.raw):
        return False
    is_local_name = is_loopback(host_of(request.headers.get("host", "")))
    return is_local_name and request.client is not None and is_loopback(request.client.host)


def _same(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
        own = urlsplit(f"{parts.scheme}://{host}")
        return parts.scheme in ("http", "https") and _place(parts) == _place(own)
    except ValueError:
        return False


def _place(parts: Any) -> tuple[str | None, int]:
    return parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
