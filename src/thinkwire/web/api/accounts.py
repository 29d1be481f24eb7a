"""Who is asking: signing in and out, the first account, invitations, and the administrator's list."""

from __future__ import annotations

import time

from starlette.responses import Response

from thinkwire._version import __version__
from thinkwire.store import RowNotFound, UserRow
from thinkwire.store.accounts import name_key
from thinkwire.web import schemas as shapes
from thinkwire.web.auth.devices import DEVICE_DAYS, device_cookie_name, known_device, new_device
from thinkwire.web.auth.passwords import hashed, is_right
from thinkwire.web.auth.security import (
    SESSION_COOKIE,
    SESSION_DAYS,
    address_of,
    cookie_of,
    digest,
    give_cookies,
    give_start_cookie,
    has_start_cookie,
    has_start_token,
    is_local,
    is_start_token,
    new_token,
    take_cookies,
)
from thinkwire.web.auth.throttle import ADDRESS_TRIES, DEVICE_TRIES, JOIN_TRIES, NAME_AND_ADDRESS_TRIES, Limit
from thinkwire.web.errors import Problem, not_there
from thinkwire.web.request import ApiRequest, json_response
from thinkwire.web.state import AppState


async def me(call: ApiRequest) -> Response:
    web = call.web
    needs_setup = web.options.auth and call.user is None and not await web.store.has_users()
    told = shapes.Me(
        user=_shown(call.user) if call.user else None,
        auth=web.options.auth,
        simulated=web.options.simulated,
        version=__version__,
        needs_setup=needs_setup,
        needs_token=needs_setup and not has_start_cookie(web, call.request),
    )
    response = json_response(told)
    give_cookies(call.request, response)
    return response


async def may_sign_in(web: AppState) -> bool:
    """Return whether the start token opens anything: a server without accounts, or the first account."""
    return not web.options.auth or not await web.store.has_users()


async def show_token(call: ApiRequest) -> Response:
    """Takes the token that `thinkwire serve` printed."""
    web, request = call.web, call.request
    if not await may_sign_in(web):
        raise Problem(409, "has_accounts", "this server has accounts; sign in with a name and a password")
    if not is_start_token(web, request, call.body.token.strip()):
        message = "this is not the start token; it is in the address that `thinkwire serve` printed"
        raise Problem(401, "start_token", message)
    response = json_response(shapes.Done())
    give_start_cookie(web, request, response)
    give_cookies(request, response)
    return response


async def login(call: ApiRequest) -> Response:
    _needs_accounts(call)
    name, password = call.body.name, call.body.password
    throttle = call.web.throttle
    found = await call.web.store.user_named(name)
    device = _device(call, found)
    everywhere = f"name {name_key(name)}"
    limits: tuple[Limit, ...]
    if device is not None:
        # Counted by itself: what others do with this name or from this address does not keep it out.
        limits = (Limit(f"device {device}", DEVICE_TRIES),)
        await throttle.take(*limits)
    else:
        address = address_of(call.request)
        limits = (
            Limit(f"address {address}", ADDRESS_TRIES),
            Limit(f"{everywhere} address {address}", NAME_AND_ADDRESS_TRIES),
        )
        await throttle.take(*limits)
        await throttle.slow_down(everywhere)
    if not await is_right(password, found[1] if found else None) or found is None:
        raise Problem(401, "wrong_password", "the name or the password is wrong")
    await throttle.give_back(*(limit.key for limit in limits), *([] if device else [everywhere]))
    return await _signed_in(call, *found)


def _device(call: ApiRequest, found: tuple[UserRow, str] | None) -> str | None:
    """Return the device that has signed in to this account before, by its cookie."""
    if found is None:
        return None
    return known_device(cookie_of(call.request, device_cookie_name(found[0])), *found)


async def logout(call: ApiRequest) -> Response:
    token = cookie_of(call.request, SESSION_COOKIE)
    if token:
        await call.web.store.sign_out(digest(token))
    response = json_response(shapes.Done())
    take_cookies(response)
    return response


async def setup(call: ApiRequest) -> Response:
    """The first account, made from the machine itself: on the network whoever comes first could take it."""
    _needs_accounts(call)
    web, request = call.web, call.request
    if not is_local(request):
        message = "the first account is made on the server: thinkwire users add NAME --admin"
        raise Problem(403, "not_local", message)
    if not (has_start_cookie(web, request) or has_start_token(web, request)):
        message = (
            "the first account needs the start token: open the address that `thinkwire serve` printed, or "
            "run `thinkwire users add NAME --admin`"
        )
        raise Problem(401, "start_token", message)
    password = await hashed(call.body.password)
    user = await web.store.create_user(call.body.name, password, admin=True, first=True)
    return await _signed_in(call, user, password)


async def join(call: ApiRequest) -> Response:
    _needs_accounts(call)
    limit = Limit(f"join {address_of(call.request)}", JOIN_TRIES)
    await call.web.throttle.take(limit)
    body = call.body
    password = await hashed(body.password)
    user = await call.web.store.create_user(body.name, password, invitation=digest(body.token))
    await call.web.throttle.give_back(limit.key)
    return await _signed_in(call, user, password)


async def invite(call: ApiRequest) -> shapes.Invitation:
    _needs_accounts(call)
    token, expires = new_token(), time.time() + call.body.days * 86_400
    await call.web.store.invite(digest(token), expires=expires, invited_by=call.owner, admin=call.body.admin)
    return shapes.Invitation(token, expires)


async def list_users(call: ApiRequest) -> list[shapes.UserEntry]:
    _needs_accounts(call)
    return [_entry(user) for user in await call.web.store.users()]


async def add_user(call: ApiRequest) -> shapes.UserEntry:
    _needs_accounts(call)
    body = call.body
    user = await call.web.store.create_user(body.name, await hashed(body.password), admin=body.admin)
    return _entry(user)


async def remove_user(call: ApiRequest) -> shapes.Done:
    """Signs a user out everywhere and for good; `purge` removes what they had as well."""
    _needs_accounts(call)
    try:
        await call.web.store.remove_user(call.named("id"), purge=call.query.purge)
    except RowNotFound:
        raise not_there("user") from None
    return shapes.Done()


async def _signed_in(call: ApiRequest, user: UserRow, password_hash: str) -> Response:
    token = new_token()
    await call.web.store.sign_in(user.id, digest(token), time.time() + SESSION_DAYS * 86_400)
    response = json_response(shapes.SignedIn(_shown(user)))
    give_cookies(call.request, response, token)
    response.set_cookie(
        device_cookie_name(user),
        new_device(user, password_hash),
        max_age=DEVICE_DAYS * 86_400,
        path="/api/login",
        httponly=True,
        samesite="strict",
        secure=call.request.url.scheme == "https",
    )
    return response


def _needs_accounts(call: ApiRequest) -> None:
    if not call.web.options.auth:
        raise Problem(404, "no_accounts", "this server has no accounts; `thinkwire serve --auth` has them")


def _shown(user: UserRow) -> shapes.User:
    return shapes.User(user.id, user.name, user.admin)


def _entry(user: UserRow) -> shapes.UserEntry:
    return shapes.UserEntry(user.id, user.name, user.admin, user.created, user.removed)
