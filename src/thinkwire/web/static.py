"""The browser's part: files that were built into the package."""

from __future__ import annotations

import gzip
import mimetypes
import re
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from thinkwire.web.errors import not_there
from thinkwire.web.request import problem_response

FOLDER = Path(__file__).parent / "static"

_NOT_BUILT = """\
thinkwire is running, but its pages are not built: run `make web`.
The API is at /api/openapi.json.
"""
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2"}

_TEXT = (".js", ".css", ".svg")


def page(request: Request, folder: Path = FOLDER) -> Response:
    """A built file, or the page itself for every address that is a place in the app."""
    path = request.path_params.get("path", "").strip("/")
    if path:
        found = _inside(folder, path)
        if found is not None:
            return _file(found, path, packed=_takes_gzip(request))
        if path.startswith(("assets/", "api/")) or "." in path.rpartition("/")[2]:
            return problem_response(not_there())
    index = folder / "index.html"
    if not index.is_file():
        return PlainTextResponse(_NOT_BUILT, 503)
    return FileResponse(index, media_type="text/html", headers={"cache-control": "no-cache"})


def _inside(folder: Path, path: str) -> Path | None:
    """The file of this path; None for what is not there, or not inside."""
    try:
        found = (folder / path).resolve()
    except (OSError, ValueError):
        return None
    return found if found.is_relative_to(folder.resolve()) and found.is_file() else None


def _file(file: Path, path: str, *, packed: bool) -> Response:
    kept = "public, max-age=31536000, immutable" if path.startswith("assets/") else "no-cache"
    media = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    headers = {"cache-control": kept}
    if file.suffix not in _TEXT:
        return FileResponse(file, media_type=media, headers=headers)
    headers["vary"] = "accept-encoding"
    if not packed:
        return FileResponse(file, media_type=media, headers=headers)
    content = _packed(file, file.stat().st_mtime_ns)
    return Response(content, media_type=media, headers=headers | {"content-encoding": "gzip"})


def _takes_gzip(request: Request) -> bool:
    return bool(
        re.search(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?![\d.]))", request.headers.get("accept-encoding", ""))
    )


@lru_cache(maxsize=64)
def _packed(file: Path, changed: int) -> bytes:
    """A file as it goes over the line, a third of its size; packed once, and again when it has changed."""
    return gzip.compress(file.read_bytes(), mtime=0)
