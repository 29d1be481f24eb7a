"""Dialects as an option of commands."""

from __future__ import annotations

from typing import Any

import click

from thinkwire import dialects
from thinkwire.dialects import Dialect

NAMES = "|".join(dialects.NAMES)


class _DialectName(click.ParamType[Dialect]):
    name = "dialect"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Dialect:
        try:
            return dialects.get(value)
        except KeyError as error:
            self.fail(str(error.args[0]), param, ctx)


DIALECT = _DialectName()
