"""Writes the reviewed matrix anew: `python -m tests.reasoning.matrix`. Read the difference it makes."""

from __future__ import annotations

from tests.reasoning.test_laws import GOLDEN, matrix

if __name__ == "__main__":
    GOLDEN.write_text("\n".join(matrix()) + "\n", "utf-8")
