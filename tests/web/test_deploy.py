"""What `deploy/` says is run as it stands there: the same commands and environments at other addresses."""

from __future__ import annotations

import asyncio
import base64
import configparser
import importlib.metadata
import ipaddress
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.postgres import PostgreSQL
from tests.redis import RedisServer
from tests.support import ROOT, need
from tests.web.compose import filled, read
from tests.web.processes import browser_at
from tests.web.test_processes import follow
from tests.web.webs import Browser, folded
from thinkwire.providers import default_providers

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

UNIT = ROOT / "deploy" / "thinkwire.service"
COMPOSE = ROOT / "deploy" / "compose.yaml"
RANDOM = base64.b64encode(bytes(range(32))).decode()
"""As `openssl rand -base64 32` prints it."""
SECRETS = {
    **{
        "DB_PASSWORD": "not-a-secret",
        "CACHE_PASSWORD": "nor-this",
        "STORE_KEY": RANDOM,
        "GATEWAY_KEY": RANDOM,
    },
    "PROXY_ADDRESS": "127.0.0.1",
}
PASSWORD = "correct horse battery"
NOBODY = 65534
UVICORNS = "FORWARDED_ALLOW_IPS"
"""The one variable that is not ours."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that an unprivileged user can reach."""
    made = Path(tempfile.mkdtemp(prefix="thinkwire-deploy-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


class Machine:
    """Runs commands as a machine or a container would: with nothing in the environment but what is given.

    Root becomes nobody, where nobody can start the Python of the tests.
    """

    def __init__(self, environment: dict[str, str], own: Path) -> None:
        self._environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"} | environment
        self._someone: dict[str, Any] = {}
        if os.geteuid() == 0 and _nobody_can_run_python():
            self._someone = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            shutil.chown(own, NOBODY, NOBODY)
        self._log = own.parent / f"{own.name}.log"

    def run(self, *command: str, said: str = "") -> str:
        done = subprocess.run(
            _ours(command), input=said, capture_output=True, text=True, timeout=60, **self._how
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def serving(self, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(_ours(command), stdout=log, stderr=log, **self._how)
        try:
            yield process
        except AssertionError:
            print(self._log.read_text())
            raise
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(20)

    @property
    def _how(self) -> dict[str, Any]:
        return {"env": self._environment, "cwd": "/", **self._someone}


def _nobody_can_run_python() -> bool:
    try:
        command = [sys.executable, "-c", "import thinkwire"]
        return subprocess.run(command, user=NOBODY, cwd="/", capture_output=True).returncode == 0
    except PermissionError:
        return False


def _ours(command: tuple[str, ...]) -> list[str]:
    """The command with the program of the tests in place of the installed one."""
    program = Path(command[0]).name
    assert program in ("thinkwire", "python"), command
    return [str(Path(sys.executable).with_name(program)), *command[1:]]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


async def signed_in(url: str, http: aiohttp.ClientSession) -> Browser:
    browser = await browser_at(url, http)
    await browser.post("/api/login", {"name": "ada", "password": PASSWORD})
    return browser


def the_unit() -> tuple[configparser.ConfigParser, list[str]]:
    """The unit, and its lines of environment: a parser of INI files keeps only the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(UNIT.read_text())
    return parser, re.findall(r"^Environment=(.+)$", UNIT.read_text(), re.MULTILINE)


@pytest.mark.needs("systemd")
def test_systemd_has_nothing_to_say_about_the_unit(tmp_path: Path) -> None:
    service = the_unit()[0]["Service"]
    program = shlex.split(service["ExecStart"])[0]
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace(program, sys.executable))
    command = [str(need("systemd")), "verify", "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


async def test_the_units_command_serves_with_its_environment(folder: Path) -> None:
    unit, environment = the_unit()
    service = unit["Service"]
    state = folder / "state"
    state.mkdir(mode=0o700)
    places = {f"/var/lib/{service['StateDirectory']}": state, "/etc/thinkwire": folder / "etc"}
    given = dict(line.split("=", 1) for line in environment)
    assert set(given.values()) <= set(places), "it writes where the unit lets it, and nowhere else"
    machine = Machine({name: str(places[value]) for name, value in given.items()}, state)
    program, *words = shlex.split(service["ExecStart"])
    machine.run("thinkwire", "users", "add", "ada", "--admin", "--password-stdin", said=PASSWORD)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as http:
        with machine.serving(program, *words, "--port", str(port)) as process:
            browser = await signed_in(url, http)
            talk = await browser.talk()
            told = folded(await browser.say(talk, "[[think:Hm.]] [[say:Yes.]]"))
            assert told["metadata"]["status"] == "complete"
            after = (await browser.get("/api/events"))["after"]
            waiting = asyncio.ensure_future(browser.ask("GET", f"/api/events?after={after}"))
            # That question goes over the kept connection, this one over a new one: it comes later.
            await browser.get("/api/me")
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 60) in (0, -signal.SIGTERM)
            assert time.monotonic() - began < 15, "who waits for news holds up nobody's end"
            answer = await waiting
            assert answer.status == 200
            its_own = {talk.rpartition("/")[2]}
            assert set(answer.body["conversations"]) <= its_own, "at most its title has come"
    assert not (folder / "etc").exists()
    assert {path.name for path in folder.iterdir()} == {"state", "state.log"}


def test_the_compose_file_names_what_there_is() -> None:
    services = read(COMPOSE.read_text())["services"]
    ours = [service for service in services.values() if service["image"] == "thinkwire"]
    assert len(ours) == 2
    keys = {key for provider in default_providers().values() for key in provider.keys}
    sources = "".join(path.read_text() for path in (ROOT / "src/thinkwire").rglob("*.py"))
    for name in {name for service in ours for name in service["environment"]}:
        assert name in keys or name == UVICORNS or f'"{name}"' in sources, name
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
    ports = services["thinkwire"]["ports"][0]
    first, last = re.fullmatch(r"127\.0\.0\.1:(\d+)-(\d+):4141", ports).groups()  # type: ignore[union-attr]
    assert int(last) - int(first) + 1 == services["thinkwire"]["deploy"]["replicas"], "a port for each"
    with pytest.raises(ValueError, match="STORE_KEY"):
        filled(services["thinkwire"]["environment"]["THINKWIRE_STORE_KEY"], {})


async def test_the_services_of_the_compose_file_work_together(
    folder: Path, postgres: PostgreSQL, redis: RedisServer
) -> None:
    services = read(COMPOSE.read_text())["services"]
    database = {name: filled(value, SECRETS) for name, value in services["db"]["environment"].items()}
    user, name = database["POSTGRES_USER"], database["POSTGRES_DB"]
    postgres.run(f"CREATE ROLE {user} SUPERUSER LOGIN PASSWORD '{database['POSTGRES_PASSWORD']}'")
    postgres.run(f"CREATE DATABASE {name} OWNER {user}")
    redis.say("FLUSHALL")
    for volume in ("config", "state"):
        (folder / volume).mkdir()

    def machine(service: str) -> Machine:
        return Machine(_environment(services[service], folder, postgres, redis), folder / "state")

    words = {service: shlex.split(services[service]["command"]) for service in ("upgrade", "thinkwire")}
    machine("upgrade").run(*words["upgrade"])
    replica = machine("thinkwire")
    replica.run("thinkwire", "keys", "create", "first")
    replica.run("thinkwire", "users", "add", "ada", "--admin", "--password-stdin", said=PASSWORD)
    ports = [free_port(), free_port()]
    commands = [[word.replace("4141", str(port)) for word in words["thinkwire"]] for port in ports]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        with replica.serving(*commands[0]), replica.serving(*commands[1]):
            one = await signed_in(f"http://127.0.0.1:{ports[0]}", http)
            two = await browser_at(f"http://127.0.0.1:{ports[1]}", http)
            talk = await one.talk()
            said = {"message": {"text": "[[think:First half.]] [[stall:0.5]] [[say:Second half.]]"}}
            async with one.request("POST", f"{talk}/chat", said) as reply:
                assert reply.status == 200, await reply.text()
                told = folded([frame for _, frame in await follow(two, talk)])
            assert told["parts"][-1]["text"] == "Second half."
            assert (await two.messages(talk))[-1]["metadata"]["status"] == "complete"
            proxied = await one.ask("GET", "/api/me", headers={"x-forwarded-proto": "https"})
            assert "strict-transport-security" in proxied.headers, "the proxy is believed"
            kind, *test = services["thinkwire"]["healthcheck"]["test"]
            assert kind == "CMD"
            for port in ports:
                replica.run(*(word.replace("4141", str(port)) for word in test))


def _environment(
    service: dict[str, Any], folder: Path, postgres: PostgreSQL, redis: RedisServer
) -> dict[str, str]:
    """What a service is given, with the addresses and folders of this test."""
    moved = {"@db/": f"@127.0.0.1:{postgres.port}/", "redis://:nor-this@cache:6379/0": f"{redis.url}?db=0"}
    moved |= {mounted: f"{folder}{mounted}" for mounted in ("/config", "/state")}
    given: dict[str, str] = {}
    for name, value in service["environment"].items():
        value = filled(value, SECRETS)
        for old, new in moved.items():
            if old in value and (not old.startswith("/") or old == value):
                value = value.replace(old, new)
        given[name] = value
    assert "db" not in json.dumps(given).split("@")[-1].split("/")[0]
    return given


def test_the_unit_gives_the_service_what_it_needs_and_no_more() -> None:
    service = the_unit()[0]["Service"]
    assert int(service["LimitNOFILE"]) == 65536
    filters = re.findall(r"^SystemCallFilter=(.+)$", UNIT.read_text(), re.MULTILINE)
    assert filters == ["@system-service", "~@privileged"]
    for name in ("NoNewPrivileges", "PrivateDevices", "PrivateTmp", "ProtectHome", "RestrictSUIDSGID"):
        assert service[name] == "yes"
    assert service["CapabilityBoundingSet"] == ""
    assert service["ProtectSystem"] == "strict"
    assert service["User"] == "thinkwire"
    assert (service["UMask"], service["StateDirectoryMode"]) == ("0077", "0700")


@pytest.mark.needs("systemd")
def test_systemd_rates_the_unit_well() -> None:
    command = [str(need("systemd")), "security", "--offline=true", "--threshold=15", str(UNIT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_compose_file_holds_no_secret_and_trusts_one_proxy() -> None:
    text = COMPOSE.read_text()
    document = read(text)
    services = document["services"]
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD|_KEY$", name):
                assert re.fullmatch(r"\$\{\w+:[?-]\}", value), f"{name} comes from the environment"
            for password in re.findall(r"://[^@/:]*:([^@]*)@", value):
                assert re.fullmatch(r"\$\{\w+:\?\}", password)
        assert service.get("ports", ["127.0.0.1:"])[0].startswith("127.0.0.1:"), "nothing is open to others"
        assert re.fullmatch(r"thinkwire|[\w/]+:\d+\.\d+[\w.-]*", service["image"]), "images have versions"
    trusted = filled(services["thinkwire"]["environment"][UVICORNS], {})
    network = document["networks"]["default"]["ipam"]["config"][0]
    assert ipaddress.ip_address(trusted) in ipaddress.ip_network(network["subnet"])
    assert trusted == network["gateway"], "the other services are no proxies"
    for name in ("thinkwire", "db", "cache"):
        assert services[name]["ulimits"]["nofile"] == {"soft": 65536, "hard": 65536}
    for name in ("thinkwire", "upgrade", "cache"):
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.needs("redis")
def test_the_cache_of_the_compose_file_wants_its_password(tmp_path: Path) -> None:
    program, flag, script = read(COMPOSE.read_text())["services"]["cache"]["command"]
    socket_path = tmp_path / "s"
    options = f'--port 0 --unixsocket {socket_path} --save "" --dir {tmp_path}'
    script = script.replace("$$", "$").replace("redis-server -", f"redis-server - {options}", 1)
    environment = {"PATH": os.environ["PATH"], "CACHE_PASSWORD": "nor-this"}
    command = [program, flag, script]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            server = RedisServer(tmp_path)
            server.path = socket_path
            deadline = time.monotonic() + 10
            while not socket_path.exists():
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            assert server.say("PING").startswith(b"-NOAUTH")
            assert server.say("AUTH wrong").startswith(b"-WRONGPASS")
            assert server.say("AUTH nor-this") == b"+OK\r\n"
            shown = subprocess.run(["ps", "-o", "args=", str(process.pid)], capture_output=True, text=True)
            assert "nor-this" not in shown.stdout
        finally:
            process.terminate()
    assert process.returncode == 0, "it hears the signal that ends it"


def test_the_image_is_pinned_unprivileged_and_watched() -> None:
    lines = (ROOT / "deploy" / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    bases = {line.split()[1] for line in lines if line.startswith("FROM ")}
    assert all(re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base) for base in bases)
    assert len(bases) == 1
    installs = [part for line in lines for part in line.split("&&") if "pip install" in part]
    assert len(installs) == 2
    assert all("--require-hashes" in part or "--no-index" in part for part in installs)
    assert all("--no-deps" in part for part in installs)
    users = [line for line in lines if line.startswith("USER ")]
    assert users == ["USER thinkwire"]
    assert any(line.startswith("HEALTHCHECK ") and "/healthz" in line for line in lines)
    copied = {word for line in lines if re.match(r"COPY [^-]", line) for word in line.split()[1:-1]}
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    assert allowed[0] == "*"
    assert {f"!{name}" for name in copied} == set(allowed[1:])


def test_the_image_gets_every_package_that_runs_and_no_tool() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "runtime_lock.py"), str(ROOT / "requirements.lock")]
    lock = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    kept = set(re.findall(r"(?m)^([a-z0-9-]+)==", lock))
    assert kept >= _needed("thinkwire", "all")
    assert not kept & {"pytest", "mypy", "ruff", "hypothesis", "playwright", "openai", "anthropic"}
    for block in re.split(r"(?m)^(?=[a-z0-9])", lock)[1:]:
        assert "--hash=sha256:" in block, block


def _needed(package: str, extra: str = "") -> set[str]:
    """What an installed package needs on this machine."""
    found: set[str] = set()
    waiting = [(package, extra)]
    seen = set(waiting)
    while waiting:
        name, wanted = waiting.pop()
        for line in importlib.metadata.requires(name) or []:
            requirement = Requirement(line)
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": wanted}):
                continue
            plain = canonicalize_name(requirement.name)
            found.add(plain)
            for each in {"", *requirement.extras}:
                if (plain, each) not in seen:
                    seen.add((plain, each))
                    waiting.append((plain, each))
    return found - {"thinkwire"}


def test_actions_are_pinned_to_commits() -> None:
    workflows = [path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    used = [line for text in workflows for line in re.findall(r"uses: *(.+)", text)]
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in used), used
