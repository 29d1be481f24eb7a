"""What the pages get: their files as they go over the line, and whose key a failure is about."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from thinkwire.errors import Failure
from thinkwire.web.errors import shown
from thinkwire.web.static import page

SCRIPT = "export const odd = n => n % 2 === 1;\n" * 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/index-1.js").write_text(SCRIPT)
    (tmp_path / "assets/letters.woff2").write_bytes(b"packed already")
    (tmp_path / "index.html").write_text("<!doctype html>")
    return tmp_path


def asked(folder: Path, path: str, accepts: str = "") -> Response:
    headers = [(b"accept-encoding", accepts.encode())] if accepts else []
    scope = {"type": "http", "method": "GET", "headers": headers, "path_params": {"path": path}}
    return page(Request(scope), folder)


@pytest.mark.parametrize("accepts", ["gzip", "gzip, deflate, br, zstd", "br;q=1, gzip;q=0.8"])
def test_a_script_is_packed_for_those_who_take_it_packed(folder: Path, accepts: str) -> None:
    answer = asked(folder, "assets/index-1.js", accepts)
    assert gzip.decompress(answer.body).decode() == SCRIPT
    assert len(answer.body) < len(SCRIPT) / 3
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("accepts", ["", "identity", "br", "gzip;q=0", "gzip; q=0.0, identity"])
def test_and_as_it_is_for_those_who_do_not(folder: Path, accepts: str) -> None:
    answer = asked(folder, "assets/index-1.js", accepts)
    assert isinstance(answer, FileResponse)
    assert "content-encoding" not in answer.headers
    assert answer.headers["vary"] == "accept-encoding"


def test_what_is_packed_already_is_not_packed_again(folder: Path) -> None:
    answer = asked(folder, "assets/letters.woff2", "gzip")
    assert isinstance(answer, FileResponse)
    assert "content-encoding" not in answer.headers


def test_a_file_that_changed_is_packed_anew(folder: Path) -> None:
    script = folder / "assets/index-1.js"
    asked(folder, "assets/index-1.js", "gzip")
    script.write_text("changed")
    os.utime(script, (1, 1))
    assert gzip.decompress(asked(folder, "assets/index-1.js", "gzip").body) == b"changed"


@pytest.mark.parametrize(
    ("failure", "variable"),
    [
        (Failure("auth", "no key", code="missing_key", param="SOME_API_KEY"), "SOME_API_KEY"),
        (Failure("auth", "invalid x-api-key", provider="anthropic", status=401), "ANTHROPIC_API_KEY"),
        (Failure("auth", "refused", provider="a service of one's own", status=401), None),
        (Failure("rate_limit", "wait", provider="anthropic", status=429), None),
    ],
)
def test_a_key_that_is_missing_or_refused_is_told_by_its_variable(
    failure: Failure, variable: str | None
) -> None:
    assert shown(failure).get("variable") == variable
