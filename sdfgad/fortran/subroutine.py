"""Gradients of Fortran routines: called with their arguments by name, arrays with indices in Fortran's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sdfgad.api import CheckResult
from sdfgad.api import check_grads as check_function
from sdfgad.api import differentiate as differentiate_function
from sdfgad.api.differentiate import Measurement
from sdfgad.errors import WrtError
from sdfgad.fortran.entry import Entry, parameter
from sdfgad.fortran.library import Library
from sdfgad.fortran.syntax import File
from sdfgad.plan import Plan

Paths = str | Path | Sequence[str | Path]


def differentiate(
    path: Paths, routine: str, *, wrt: str | Sequence[str] | None = None, output: str | None = None, **options: Any
) -> DifferentiatedSubroutine:
    """The gradient of a Fortran subroutine or function, by reverse-mode automatic differentiation.

    Args:
        path: a Fortran file, free or fixed form by its ending, or several, of which one uses modules of others.
        routine: the name of a subroutine or function, in a module or in none.
        wrt: the argument to differentiate by, whose gradient is returned, or a sequence of them (a dict by name); None
            for all floating ones that are not intent(out), as a dict.
        output: the argument that is differentiated, of those that the routine changes; of a function its result. None:
            the only one there is.
        **options: `memory_limit`, `reduce`, `strategy` and others, as `sdfgad.differentiate` has them.

    Returns:
        A `DifferentiatedSubroutine` ``g``: ``g(n=..., u=...)`` takes NumPy arrays with indices in Fortran's order, in
        any order of memory, leaves them as they are, and returns gradients of their shapes and dtypes. Real arrays must
        have the declared precision. Arguments with intent(out) may be left out, unless only what is passed tells their
        size, and so may integers that the size of an array tells.

    Raises:
        UnsupportedProgram: a statement or declaration is not supported; it names the file, the line and its text.
        ArgumentError: there is no such file or routine, or an option is not understood.
        OutputError: there is no such output, or several.
        WrtError: `wrt` names no floating argument.

    Example:
        >>> g = differentiate("heat.f90", "heat_1d", wrt=("u", "a"), output="cost")  # doctest: +SKIP
        >>> g(steps=10, u=u, a=a)["a"].shape == a.shape  # doctest: +SKIP
    """
    paths = [path] if isinstance(path, (str, Path)) else path
    return _made([File.read(one) for one in paths], routine, wrt, output, options)


def _made(
    files: list[File], routine: str, wrt: str | Sequence[str] | None, output: str | None, options: Mapping[str, Any]
) -> DifferentiatedSubroutine:
    entry = Entry(Library.of(files).find(routine), output)
    return DifferentiatedSubroutine(entry, wrt, options, (files, routine, wrt, output, options))


def check_grads(
    path: Paths,
    routine: str,
    *args: Any,
    wrt: str | Sequence[str] | None = None,
    output: str | None = None,
    options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> CheckResult:
    """Compare the gradient of a routine with differences of its NumPy translation, as `sdfgad.check_grads` does.

    Args:
        path, routine, wrt, output: as for `differentiate`.
        *args, **kwargs: the arguments of the routine.
        options: those of `sdfgad.check_grads`, such as `directions` and `tolerance`.

    Raises:
        GradientMismatch: they differ; else as `differentiate` and a call of its result do.

    Example:
        >>> check_grads("heat.f90", "heat_1d", output="cost", steps=3, u=u, a=a).rate > 1.9  # doctest: +SKIP
    """
    paths = [path] if isinstance(path, (str, Path)) else path
    entry = Entry(Library.of(map(File.read, paths)).find(routine), output)
    passed = entry.arguments(args, kwargs)
    names = [name for name in map(parameter, _names(entry, wrt)) if passed[name] is not None]
    values = list(passed.values())
    return check_function(
        entry.function, *values, wrt=names, output=entry.output, allow_unused=wrt is None, **(options or {})
    )


def _names(entry: Entry, wrt: str | Sequence[str] | None) -> list[str]:
    """The arguments to differentiate by; without `wrt` those that may be."""
    known = {one.name: one for one in entry.dummies}
    floating = [name for name, one in known.items() if one.kind.is_floating and one.intent != "out"]
    if wrt is None:
        return floating
    names = [name.lower() for name in ([wrt] if isinstance(wrt, str) else wrt)]
    wrong = [name for name in names if name not in floating]
    if wrong:
        what = f"`{entry.routine.name}` has no argument `{wrong[0]}`"
        if wrong[0] in known:
            variable = known[wrong[0]]
            reason = "intent(out)" if variable.intent == "out" else variable.kind.noun
            what = f"the argument `{wrong[0]}` is {reason}, which has no gradient"
        raise WrtError(what, entry.where, f"Its floating arguments are: {', '.join(floating)}.")
    return names


class DifferentiatedSubroutine:
    """The gradient of a Fortran routine, as `differentiate` returns it; other transformations do not take it."""

    # Arrays have their axes in another order inside: what called it as a program would see that.
    is_final = True

    def __init__(
        self,
        entry: Entry,
        wrt: str | Sequence[str] | None,
        options: Mapping[str, Any],
        made_of: tuple[Any, ...],
    ) -> None:
        self._made_of = made_of
        self._entry, self._is_single = entry, isinstance(wrt, str)
        self._names = _names(entry, wrt)
        self._arguments = entry.arguments
        given = {"allow_unused": wrt is None, **options}
        # Without `wrt` each call tells which optional arguments there are.
        names = None if wrt is None else tuple(parameter(name) for name in self._names)
        self._g = differentiate_function(entry.function, wrt=names, output=entry.output, **given)
        self._is_open = names is None
        self.__name__ = f"gradient of {entry.routine.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        """The texts of the files, which another process reads again; the compiled library is in the cache."""
        return _made, self._made_of

    @property
    def text(self) -> str:
        """The NumPy functions that the routine is read as: arrays have their axes in reverse order, counted from 0."""
        return "\n".join(["import math\n\nimport numpy as np\n", *self._entry.translation.texts])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient: one array or number, or a dict by name.

        Raises:
            ArgumentError: the arguments do not fit the routine; else as gradients of NumPy programs do.
        """
        return self._arranged(self._call(self._g, args, kwargs))

    def value_and_grad(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output's value (its sum with ``reduce="sum"``) and the gradient."""
        value, gradients = self._call(self._g.value_and_grad, args, kwargs)
        return value, self._arranged(gradients)

    def value(self, *args: Any, **kwargs: Any) -> Any:
        """The output alone, from the compiled forward program."""
        return turned(self._call(self._g.value, args, kwargs))

    def vjp(self, *args: Any, cotangent: Any, **kwargs: Any) -> Any:
        """The gradient of ``np.sum(output * cotangent)``; the cotangent is shaped like the output."""
        return self._arranged(self._call(self._g.vjp, args, kwargs, cotangent=np.asarray(cotangent).T))

    def jvp(self, *args: Any, tangents: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output and its derivative in a direction, which is arranged as the gradient is; None is zero."""
        given = [tangents] if self._is_single else [tangents.get(name) for name in self._names]
        arranged: Any = tuple(map(turned, given))
        if self._is_open:
            arranged = {parameter(n): one for n, one in zip(self._names, arranged, strict=True) if one is not None}
        value, derivative = self._call(self._g.jvp, args, kwargs, tangents=arranged)
        return turned(value), turned(derivative)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """All the work of a first ``g(...)``, except running it."""
        self._call(self._g.compile, args, kwargs)

    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """The `Plan` for arguments like these; its lines are those of the Fortran file."""
        plan: Plan = self._call(self._g.plan, args, kwargs)
        return plan

    def measure(self, *args: Any, repeats: int = 3, **kwargs: Any) -> Measurement:
        """Run the gradient, and measure its peak memory in bytes, and its time in seconds."""
        measured: Measurement = self._call(self._g.measure, args, kwargs, repeats=repeats)
        return measured

    def sdfg(self, *args: Any, **kwargs: Any) -> Any:
        """The `dace.SDFG` whose code is compiled; arrays have their axes in reverse order."""
        return self._call(self._g.sdfg, args, kwargs)

    def _call(self, method: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], **more: Any) -> Any:
        return method(*self._arguments(args, kwargs).values(), **more)

    def _arranged(self, gradients: Any) -> Any:
        if self._is_open:
            names = [name for name in self._names if parameter(name) in gradients]
            return {name: turned(gradients[parameter(name)]) for name in names}
        found = dict(zip(self._names, map(turned, gradients), strict=True))
        return found[self._names[0]] if self._is_single else found


def turned(value: Any) -> Any:
    """An array with its axes in the order in which the user has them."""
    return value.T if isinstance(value, np.ndarray) else value
