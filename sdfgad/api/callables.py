"""Callables as plain functions: bound methods, partials and callable objects, with the arguments that they hold."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, WrtError
from sdfgad.parse.closures import Closure
from sdfgad.parse.program_source import ProgramSource
from sdfgad.parse.registry import known_function
from sdfgad.parse.source import unwrapped
from sdfgad.parse.transformed import Transformed
from sdfgad.specialise.signature import definition


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

    @property
    def held(self) -> tuple[Any, ...]:
        """The function and the arguments that are bound to it."""
        return (self.function, *self.positional, *self.keywords.values())

    @functools.cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters that a call passes, in order."""
        found = list(inspect.signature(self.function).parameters.values())
        found = found[min(len(self.positional), self._before_several) :]
        return [one for one in found if one.name not in self.keywords]

    @functools.cached_property
    def _before_several(self) -> int:
        """The number of the function's parameters before the one that takes any number of arguments, or of all."""
        found = list(inspect.signature(self.function).parameters.values())
        return next((k for k, one in enumerate(found) if one.kind is one.VAR_POSITIONAL), len(found))

    def name_of(self, position: int) -> str | None:
        """The name of the argument at a position of a call, a parameter or ``args[k]``; None if there is none.

        A negative position counts from the last parameter on.
        """
        names = [one.name for one in self.parameters]
        several = next((k for k, one in enumerate(self.parameters) if one.kind is one.VAR_POSITIONAL), len(names))
        if several < len(names) and position >= several:
            held = max(len(self.positional) - self._before_several, 0)
            return f"{names[several]}[{position - several + held}]"
        return names[position] if -len(names) <= position < len(names) else None

    def positions(self, entries: Sequence[int | str]) -> tuple[int, ...]:
        """The positions of arguments that are given by position or name.

        Raises:
            WrtError: there is no such argument.
        """
        names = [one.name for one in self.parameters]
        return tuple(self._position(one, names) for one in entries)

    def _position(self, entry: int | str, names: list[str]) -> int:
        if isinstance(entry, str) and entry in names:
            return names.index(entry)
        if isinstance(entry, int) and self.name_of(entry) is not None:
            return entry if entry >= 0 else entry + len(names)
        what, todo = f"`{self.function.__name__}` has no argument {entry!r}", f"Its arguments are: {', '.join(names)}."
        raise WrtError(what, definition(self.function), todo)


def callee_of(program: Any) -> Callee:
    """The function behind a program.

    Raises:
        ArgumentError: there is none that is written in Python.
    """
    owner = getattr(program, "__self__", None)
    if isinstance(program, Transformed):
        return Callee(_caller_of(program, program))
    if isinstance(owner, Transformed) and program.__name__ == "value_and_grad":
        return Callee(_caller_of(program, owner))
    if type(program).__name__ in ("SDFG", "DaceProgram"):
        return _of_graph(program)
    if isinstance(program, functools.partial):
        found = callee_of(program.func)
        args, kwargs = found.arguments(program.args, program.keywords)
        return Callee(found.function, args, kwargs)
    if isinstance(program, (Closure, ProgramSource)):
        return Callee(program)
    if getattr(type(program), "is_final", False):
        what = f"the {program.__name__} cannot be differentiated or transformed again"
        raise ArgumentError(what, todo="Call it, or its methods, such as `g.vjp` and `g.jvp`.")
    if inspect.ismethod(program):
        return Callee(unwrapped(program.__func__), (program.__self__,))
    plain = unwrapped(program) if callable(program) else program
    if _is_of_library(program) and known_function(program) is not None:
        return Callee(_caller_of(program, _Known(program)))
    if inspect.isfunction(plain):
        return _of_function(plain)
    method = inspect.getattr_static(type(program), "__call__", None)
    if inspect.isfunction(method):
        return Callee(unwrapped(method), (program,))
    raise ArgumentError(f"{program!r} is not a Python function", todo="Pass a function written in Python with `def`.")


def _of_graph(program: Any) -> Callee:
    """The callee of an SDFG, or of a `dace.program`: its function, unless that names what only DaCe reads."""
    from sdfgad.sdfg.foreign.dace_programs import names_dace, program_of  # DaCe takes a second to import.

    if type(program).__name__ == "DaceProgram" and not names_dace(program):
        return callee_of(program.f)
    return Callee(program_of(program))


@functools.lru_cache(256)
def _of_function(function: Callable[..., Any]) -> Callee:
    """The callee of a plain function, whose parameters are looked up once."""
    return Callee(function)


def is_local(program: Any) -> bool:
    """Whether a program that is being parsed defines the function behind a program: it is another one each time."""
    while isinstance(program, functools.partial):
        program = program.func
    return isinstance(program, Closure)


class OfCallee(Transformed):
    """A program made of a function, whose parameters it has."""

    _callee: Callee

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of a call."""
        return self._callee.parameters

    @property
    def held(self) -> Iterable[Any]:
        return self._callee.held


@dataclass(frozen=True)
class _Shown:
    """What `inspect.signature` finds behind a function: the parameters that it shows."""

    __signature__: inspect.Signature


@dataclass(frozen=True)
class _Known:
    """A function of NumPy's, as its callers see it: it takes what has no default by name, and more by position."""

    function: Callable[..., Any]

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", "function"))

    @property
    def parameters(self) -> list[inspect.Parameter]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if isinstance(self.function, np.ufunc):
            return [inspect.Parameter(f"x{k + 1}", kind) for k in range(self.function.nin)]
        found = inspect.signature(self.function).parameters.values()
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        needed = [one for one in found if one.default is one.empty and one.kind not in kinds]
        more = inspect.Parameter("more", inspect.Parameter.VAR_POSITIONAL)
        return [*(inspect.Parameter(one.name, kind) for one in needed), more]


def _is_of_library(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, np.ufunc) or module.partition(".")[0] in {"numpy", "scipy", "math"}


def _caller_of(program: Callable[..., Any], owner: Transformed | _Known) -> Callable[..., Any]:
    """A function that calls a transformed program, or a method with its parameters, so that it can be transformed."""

    def caller(*args: Any, **kwargs: Any) -> Any:
        return program(*args, **kwargs)

    return with_parameters(caller, owner.parameters, getattr(owner, "__name__", "transformed"))


def with_parameters(function: Callable[..., Any], parameters: list[inspect.Parameter], name: str) -> Callable[..., Any]:
    """A function that takes any arguments, by a name, with the parameters that it shows."""
    function.__wrapped__ = _Shown(inspect.Signature(parameters))  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    return function
