"""Device cookies: they show that a browser has signed in to an account before.

The value is a random id and an HMAC of it, keyed with the account's password hash. So all processes can check
it, nothing is stored for it, and it is void once the password changes.
"""

from __future__ import annotations

import hmac
import secrets

from thinkwire.store import UserRow

DEVICE_DAYS = 365


def device_cookie_name(user: UserRow) -> str:
    """Return the name of an account's cookie: several people may use one browser."""
    return f"thinkwire_device_{user.id}"


def new_device(user: UserRow, password_hash: str) -> str:
    """Make the value of a device cookie."""
    device = secrets.token_urlsafe(16)
    return f"{device}.{_signature(device, user, password_hash)}"


def known_device(cookie: str, user: UserRow, password_hash: str) -> str | None:
    """Return the id of the device that a cookie was made for; None when it is not genuine."""
    device, _, signature = cookie.partition(".")
    expected = _signature(device, user, password_hash)
    is_genuine = hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode())
    return device if device and is_genuine else None


def _signature(device: str, user: UserRow, password_hash: str) -> str:
    text = f"thinkwire device\0{user.id}\0{device}"
    return hmac.new(password_hash.encode(), text.encode("utf-8", "replace"), "sha256").hexdigest()
