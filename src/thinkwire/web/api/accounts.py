"""Who is asking: signing in and out, the first account, invitations, and the administrator's list."""

from __future__ import annotations

import time

from starlette.responses import Response

from thinkwire._version import __version__
from thinkwire.store import NotKept, UserRow
from thinkwire.store.accounts import name_key
from thinkwire.web import shapes
from thinkwire.web.call import Call, json_response
from thinkwire.web.guard import (
    SESSION_COOKIE,
    SESSION_DAYS,
    cookie_of,
    digest,
    give_cookies,
    is_local,
    new_token,
    take_cookies,
)
from thinkwire.web.passwords import hashed, is_right
from thinkwire.web.problems import Problem, not_there


async def me(call: Call) -> Response:
    web = call.web
    told = shapes.Me(
        user=_shown(call.user) if call.user else None,
        auth=web.options.auth,
        simulated=web.options.simulated,
        version=__version__,
        needs_setup=web.options.auth and call.user is None and not await web.store.has_users(),
    )
    response = json_response(told)
    give_cookies(call.request, response)
    return response


async def login(call: Call) -> Response:
    _needs_accounts(call)
    name, password = call.body.name, call.body.password
    address = call.request.client.host if call.request.client else "?"
    keys = (f"name {name_key(name)}", f"address {address}")
    await call.web.throttle.take(*keys)
    found = await call.web.store.user_named(name)
    if not await is_right(password, found[1] if found else None) or found is None:
        raise Problem(401, "wrong_password", "the name or the password is wrong")
    await call.web.throttle.give_back(*keys)
    return await _signed_in(call, found[0])


async def logout(call: Call) -> Response:
    token = cookie_of(call.request, SESSION_COOKIE)
    if token:
        await call.web.store.sign_out(digest(token))
    response = json_response(shapes.Done())
    take_cookies(response)
    return response


async def setup(call: Call) -> Response:
    """The first account, made from the machine itself: on the network whoever comes first could take it."""
    _needs_accounts(call)
    if not is_local(call.request):
        message = "the first account is made on the server: thinkwire users add NAME --admin"
        raise Problem(403, "not_local", message)
    user = await call.web.store.create_user(
        call.body.name, await hashed(call.body.password), admin=True, first=True
    )
    return await _signed_in(call, user)


async def join(call: Call) -> Response:
    _needs_accounts(call)
    address = call.request.client.host if call.request.client else "?"
    await call.web.throttle.take(f"join {address}")
    body = call.body
    password = await hashed(body.password)
    user = await call.web.store.create_user(body.name, password, invitation=digest(body.token))
    return await _signed_in(call, user)


async def invite(call: Call) -> shapes.Invitation:
    _needs_accounts(call)
    token, expires = new_token(), time.time() + call.body.days * 86_400
    await call.web.store.invite(digest(token), expires=expires, invited_by=call.owner, admin=call.body.admin)
    return shapes.Invitation(token, expires)


async def list_users(call: Call) -> list[shapes.UserEntry]:
    _needs_accounts(call)
    return [_entry(user) for user in await call.web.store.users()]


async def add_user(call: Call) -> shapes.UserEntry:
    _needs_accounts(call)
    body = call.body
    user = await call.web.store.create_user(body.name, await hashed(body.password), admin=body.admin)
    return _entry(user)


async def remove_user(call: Call) -> shapes.Done:
    """Signs a user out everywhere and for good; `purge` removes what they had as well."""
    _needs_accounts(call)
    try:
        await call.web.store.remove_user(call.named("id"), purge=call.query.purge)
    except NotKept:
        raise not_there("user") from None
    return shapes.Done()


async def _signed_in(call: Call, user: UserRow) -> Response:
    token = new_token()
    await call.web.store.sign_in(user.id, digest(token), time.time() + SESSION_DAYS * 86_400)
    response = json_response(shapes.SignedIn(_shown(user)))
    give_cookies(call.request, response, token)
    return response


def _needs_accounts(call: Call) -> None:
    if not call.web.options.auth:
        raise Problem(404, "no_accounts", "this server has no accounts; `thinkwire serve --auth` has them")


def _shown(user: UserRow) -> shapes.User:
    return shapes.User(user.id, user.name, user.admin)


def _entry(user: UserRow) -> shapes.UserEntry:
    return shapes.UserEntry(user.id, user.name, user.admin, user.created, user.removed)
