"""The start token: whoever holds it may use a web app without accounts, and may make the first account."""

from __future__ import annotations

import hmac
import os
import re
import secrets

from thinkwire.errors import ConfigError

TOKEN = "THINKWIRE_WEB_TOKEN"
"""The variable that sets the token, for scripts, and that shares it among worker processes."""
COOKIE_SECRET = "THINKWIRE_WEB_COOKIE_SECRET"
"""The variable that shares the key of the cookies among worker processes."""
_ALLOWED = re.compile(r"[A-Za-z0-9._~-]{24,256}")


class StartToken:
    """A token made at the start, and the cookie of browsers that have shown it.

    The cookie is made with a key of its own, so that guessing tokens cannot be done by way of cookies.
    """

    def __init__(self, value: str, cookie_secret: str) -> None:
        self.value = value
        key = cookie_secret.encode("utf-8", "replace")
        self.cookie = hmac.new(key, b"thinkwire start token", "sha256").hexdigest()
        self._cookie_secret = cookie_secret

    @classmethod
    def from_environment(cls) -> StartToken:
        """Take the token that the operator or the parent process has set, or make a new one."""
        value = os.environ.get(TOKEN)
        if value and not _ALLOWED.fullmatch(value):
            raise ConfigError(
                f"{TOKEN} must have 24 to 256 letters, digits or - . _ ~; make one with "
                "`python3 -c 'import secrets; print(secrets.token_urlsafe())'`"
            )
        return cls(
            value or secrets.token_urlsafe(32), os.environ.get(COOKIE_SECRET) or secrets.token_urlsafe(32)
        )

    def __repr__(self) -> str:
        return "StartToken(…)"

    def share(self) -> None:
        """Leave the token in the environment for worker processes. Tools' processes do not inherit it."""
        os.environ[TOKEN] = self.value
        os.environ[COOKIE_SECRET] = self._cookie_secret

    def url(self, base: str) -> str:
        """Return the address that signs a browser in."""
        return f"{base}/?token={self.value}"

    def matches(self, presented: str) -> bool:
        return _is_same(presented, self.value)

    def matches_cookie(self, presented: str) -> bool:
        return _is_same(presented, self.cookie)


def cookie_name(port: int) -> str:
    """Return the name of the cookie. Browsers send a host's cookies to all of its ports."""
    return f"thinkwire_start_{port}"


def _is_same(presented: str, expected: str) -> bool:
    return hmac.compare_digest(presented.encode("utf-8", "replace"), expected.encode())
