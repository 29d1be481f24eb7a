"""Small, and kept small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support import ROOT

FILE_LINES = 400
FUNCTION_LINES = 60

SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_no_file_is_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: length for path, length in lengths.items() if length > FILE_LINES} == {}


def test_no_function_is_long() -> None:
    lengths = {where: length for path in SOURCES for where, length in function_lengths(path)}
    assert {where: length for where, length in lengths.items() if length > FUNCTION_LINES} == {}


def function_lengths(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1
