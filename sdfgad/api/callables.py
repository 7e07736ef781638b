"""Callables as plain functions: bound methods, partials and callable objects, with the arguments that they hold."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sdfgad.errors import ArgumentError
from sdfgad.parse.closures import Closure
from sdfgad.parse.source import unwrapped
from sdfgad.parse.transformed import Transformed


@dataclass(frozen=True)
class Callee:
    """A Python function, and the arguments that are passed to it besides those of a call.

    Attributes:
        function: written with `def` or `lambda`.
        positional, keywords: the arguments that a bound method or a partial holds.
    """

    function: Callable[..., Any]
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """All arguments of a call."""
        if not self.positional and not self.keywords:
            return args, kwargs
        return (*self.positional, *args), {**self.keywords, **kwargs}

    @functools.cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters that a call passes, in order."""
        found = list(inspect.signature(self.function).parameters.values())[len(self.positional) :]
        return [one for one in found if one.name not in self.keywords]


def callee_of(program: Any) -> Callee:
    """The function behind a program.

    Raises:
        ArgumentError: there is none that is written in Python, or it is a matrix of derivatives.
    """
    owner = getattr(program, "__self__", None)
    if isinstance(program, Transformed):
        return Callee(_caller_of(program, program))
    if isinstance(owner, Transformed) and program.__name__ == "value_and_grad":
        return Callee(_caller_of(program, owner))
    inner = getattr(program, "f", None)
    if type(program).__name__ == "DaceProgram" and callable(inner):
        return callee_of(inner)
    if isinstance(program, functools.partial):
        found = callee_of(program.func)
        args, kwargs = found.arguments(program.args, program.keywords)
        return Callee(found.function, args, kwargs)
    if isinstance(program, Closure):
        return Callee(program)
    if inspect.ismethod(program):
        return Callee(unwrapped(program.__func__), (program.__self__,))
    plain = unwrapped(program) if callable(program) else program
    if inspect.isfunction(plain):
        return Callee(plain)
    method = inspect.getattr_static(type(program), "__call__", None)
    if inspect.isfunction(method):
        return Callee(unwrapped(method), (program,))
    raise ArgumentError(f"{program!r} is not a Python function", todo="Pass a function written in Python with `def`.")


@dataclass(frozen=True)
class _Shown:
    """What `inspect.signature` finds behind a function: the parameters that it shows."""

    __signature__: inspect.Signature


def _caller_of(program: Callable[..., Any], owner: Transformed) -> Callable[..., Any]:
    """A function that calls a transformed program, or a method with its parameters, so that it can be transformed."""

    def caller(*args: Any, **kwargs: Any) -> Any:
        return program(*args, **kwargs)

    return with_parameters(caller, owner.parameters, getattr(owner, "__name__", "transformed"))


def with_parameters(function: Callable[..., Any], parameters: list[inspect.Parameter], name: str) -> Callable[..., Any]:
    """A function that takes any arguments, by a name, with the parameters that it shows."""
    function.__wrapped__ = _Shown(inspect.Signature(parameters))  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    return function
