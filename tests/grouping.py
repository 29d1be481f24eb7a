"""Data-driven tests: one test per group of cases, which runs all of them and reports every failure."""

from __future__ import annotations

import functools
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from _pytest.outcomes import Exit, OutcomeException

FULL_REPORTS = 5
"""Failures of a group that are shown with their traceback; the others with one line each."""

Case = tuple[str, dict[str, Any]]
"""The id of a case, and its arguments."""


def for_each(
    names: str,
    values: Iterable[Any],
    *,
    group: Callable[..., str] | None = None,
    ids: Callable[[Any], str] | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Parametrise a test over groups of values instead of over single values.

    Takes what `pytest.mark.parametrize` takes. `group` gets the arguments of a case and returns the name of
    its group; without it all cases are one group. `ids` names a case by its value, where it has only one.
    Cases share the fixtures of their group, so a test must not change them. A case must not skip itself.
    """
    argnames = [name.strip() for name in names.split(",")]
    parameters = [_parameter(argnames, value, ids) for value in values]

    def decorate(test: Callable[..., Any]) -> Any:
        run = _async_runner(test) if inspect.iscoroutinefunction(test) else _runner(test)
        functools.update_wrapper(run, test)
        del run.__wrapped__  # type: ignore[attr-defined]
        run.__signature__ = _signature(test, argnames)  # type: ignore[attr-defined]
        return pytest.mark.parametrize("cases", _groups(argnames, parameters, group))(run)

    return decorate


def _parameter(argnames: list[str], value: Any, ids: Callable[[Any], str] | None) -> ParameterSet:
    if isinstance(value, ParameterSet):
        return value
    if len(argnames) > 1:
        return pytest.param(*value)
    return pytest.param(value, id=ids(value) if ids else None)


def _groups(
    argnames: list[str], parameters: list[ParameterSet], group: Callable[..., str] | None
) -> list[ParameterSet]:
    """One parameter per group; a marked case (skipped for a missing part) stays a parameter of its own."""
    alone: list[ParameterSet] = []
    groups: defaultdict[str, list[Case]] = defaultdict(list)
    for parameter in parameters:
        arguments = dict(zip(argnames, parameter.values, strict=True))
        if parameter.marks:
            alone.append(
                pytest.param([(str(parameter.id), arguments)], id=str(parameter.id), marks=parameter.marks)
            )
            continue
        name = (
            str(parameter.id) if parameter.id else ", ".join(f"{value!r:.80}" for value in arguments.values())
        )
        groups[group(**arguments) if group else "all"].append((name, arguments))
    return [*(pytest.param(cases, id=name) for name, cases in groups.items()), *alone]


def _signature(test: Callable[..., Any], argnames: list[str]) -> inspect.Signature:
    signature = inspect.signature(test)
    rest = [parameter for name, parameter in signature.parameters.items() if name not in argnames]
    cases = inspect.Parameter("cases", inspect.Parameter.KEYWORD_ONLY)
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in rest]
    return signature.replace(parameters=[cases, *keyword])


def _runner(test: Callable[..., Any]) -> Callable[..., Any]:
    def run(*, cases: list[Case], **fixtures: Any) -> None:
        failures: list[tuple[str, BaseException]] = []
        for name, arguments in cases:
            try:
                test(**arguments, **fixtures)
            except (Exception, OutcomeException) as error:
                _keep(failures, name, error)
        _report(failures, len(cases))

    return run


def _async_runner(test: Callable[..., Any]) -> Callable[..., Any]:
    async def run(*, cases: list[Case], **fixtures: Any) -> None:
        failures: list[tuple[str, BaseException]] = []
        for name, arguments in cases:
            try:
                await test(**arguments, **fixtures)
            except (Exception, OutcomeException) as error:
                _keep(failures, name, error)
        _report(failures, len(cases))

    return run


def _keep(failures: list[tuple[str, BaseException]], name: str, error: BaseException) -> None:
    if isinstance(error, Exit):
        raise error
    failures.append((name, error))


def _report(failures: list[tuple[str, BaseException]], count: int) -> None:
    if not failures:
        assert count, "no cases: a test without cases cannot fail"
        return
    shown = [f"{name}\n{_traceback(error)}" for name, error in failures[:FULL_REPORTS]]
    listed = [f"{name}: {_first_line(error)}" for name, error in failures[FULL_REPORTS:]]
    pytest.fail(
        f"{len(failures)} of {count} cases failed\n\n" + "\n\n".join([*shown, *listed]), pytrace=False
    )


def _traceback(error: BaseException) -> str:
    return str(pytest.ExceptionInfo.from_exception(error).getrepr(style="short"))


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"
