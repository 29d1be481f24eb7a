"""How much a browser must fetch."""

from __future__ import annotations

import gzip

import pytest

from tests.support import need

LIMIT = 350_000


@pytest.mark.e2e
def test_the_whole_app_is_small() -> None:
    pages = need("pages")
    files = [path for path in pages.rglob("*") if path.suffix in (".js", ".css", ".html", ".svg")]
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in files}
    assert sum(sizes.values()) < LIMIT, sizes


@pytest.mark.e2e
def test_the_page_has_no_code_or_style_inside() -> None:
    pages = need("pages")

    page = (need("pages") / "index.html").read_text()
    assert "<style" not in page
    assert all("src=" in tag.partition(">")[0] for tag in page.split("<script")[1:])
    assert pages.joinpath("theme.js").is_file()
