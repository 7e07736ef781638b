"""Gradients of Fortran routines: called with their arguments by name, arrays with indices in Fortran's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from sdfgad.api import CheckResult
from sdfgad.api import check_grads as check_function
from sdfgad.api import differentiate as differentiate_function
from sdfgad.api.differentiate import Measurement
from sdfgad.errors import WrtError
from sdfgad.fortran.entry import Entry
from sdfgad.fortran.library import Library
from sdfgad.fortran.names import gathered
from sdfgad.fortran.passing import parameter
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
            for all floating ones that are not only results, as a dict. Variables of modules and the like are arguments,
            too (``"level"``, ``"tank%level"``), and so are components (``"grid%u"``) and what has such.
        output: the argument that is differentiated, of those that the routine changes; of a function its result. None:
            the only one there is.
        **options: `memory_limit`, `reduce`, `strategy` and others, as `sdfgad.differentiate` has them.

    Returns:
        A `DifferentiatedSubroutine` ``g``: ``g(n=..., u=...)`` takes NumPy arrays with indices in Fortran's order, in
        any order of memory, leaves them as they are, and returns gradients of their shapes and dtypes. Real arrays must
        have the declared precision. Arguments with intent(out) may be left out, unless only what is passed tells their
        size, and so may integers that the size of an array tells, variables that have a first value, and those that
        the routine sets before it reads them. Derived types are objects or dicts, and gradients by them are such.

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
    texts = [parameter(entry.names.leaves[kept].text) for kept in _chosen(entry, _names(entry, wrt))]
    names = [text for text in texts if passed[text] is not None]
    values = list(passed.values())
    return check_function(
        entry.function, *values, wrt=names, output=entry.output, allow_unused=wrt is None, **(options or {})
    )


def _floating(entry: Entry) -> list[str]:
    """The numbers and arrays that have a gradient."""
    leaves = entry.names.leaves.items()
    return [path for path, one in leaves if one.kind.is_floating and one.intent != "out"]


def _names(entry: Entry, wrt: str | Sequence[str] | None) -> list[str]:
    """The names to differentiate by; without `wrt` those of all that may be."""
    floating = _floating(entry)
    if wrt is None:
        return floating
    names = [name.lower() for name in ([wrt] if isinstance(wrt, str) else wrt)]
    for name in names:
        below = entry.names.below(name)
        if not {*below.values()} & {*floating}:
            _refuse(entry, name, floating)
    return names


def _refuse(entry: Entry, name: str, floating: list[str]) -> NoReturn:
    what = f"`{entry.routine.name}` has no argument `{name}`"
    known = entry.names.below(name) or {one.name: one.name for one in entry.routine.dummies if one.name == name}
    variable = next((entry.names.leaves[kept] for kept in known.values() if kept in entry.names.leaves), None)
    if variable is not None:
        reason = variable.kind.noun
        if variable.intent == "out" and variable.kind.is_floating:
            reason = "intent(out)" if variable.is_dummy else "only a result"
        what = f"the argument `{name}` is {reason}, which has no gradient"
    raise WrtError(what, entry.where, f"Its floating arguments are: {', '.join(floating)}.")


def _chosen(entry: Entry, names: Sequence[str]) -> list[str]:
    """The numbers and arrays in what is named, each once."""
    floating = _floating(entry)
    return list(dict.fromkeys(kept for name in names for kept in entry.names.below(name).values() if kept in floating))


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
        self._entry, self._is_single, self._is_open = entry, isinstance(wrt, str), wrt is None
        self._names = _names(entry, wrt)
        self._chosen = _chosen(entry, self._names)
        # Of what is named as a whole some parts may be unused.
        has_wholes = any(list(entry.names.below(name)) != [""] for name in self._names)
        self._options = {"allow_unused": wrt is None or has_wholes, **options}
        self._made: dict[Any, Any] = {}
        self.__name__ = f"gradient of {entry.routine.name}"
        self._gradient(None if self._is_open else tuple(self._chosen))

    def _gradient(self, chosen: tuple[str, ...] | None) -> Any:
        """The gradient by some arguments; without `wrt` each call tells which optional ones there are."""
        if chosen not in self._made:
            names = None if chosen is None else tuple(map(self._parameter, chosen))
            function, output = self._entry.function, self._entry.output
            self._made[chosen] = differentiate_function(function, wrt=names, output=output, **self._options)
        return self._made[chosen]

    def _given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
        """What is differentiated by: of what is named as a whole, the numbers and arrays that are there."""
        values = self._entry.arguments(args, kwargs)
        return [kept for kept in self._chosen if kept in self._names or values[self._parameter(kept)] is not None]

    def _parameter(self, kept: str) -> str:
        return parameter(self._entry.names.leaves[kept].text)

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
        return self._arranged(self._call("__call__", args, kwargs), args, kwargs)

    def value_and_grad(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output's value (its sum with ``reduce="sum"``) and the gradient."""
        value, gradients = self._call("value_and_grad", args, kwargs)
        return value, self._arranged(gradients, args, kwargs)

    def value(self, *args: Any, **kwargs: Any) -> Any:
        """The output alone, from the compiled forward program."""
        return turned(self._call("value", args, kwargs))

    def vjp(self, *args: Any, cotangent: Any, **kwargs: Any) -> Any:
        """The gradient of ``np.sum(output * cotangent)``; the cotangent is shaped like the output."""
        return self._arranged(self._call("vjp", args, kwargs, cotangent=np.asarray(cotangent).T), args, kwargs)

    def jvp(self, *args: Any, tangents: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The output and its derivative in a direction, which is arranged as the gradient is; None is zero."""
        given = {self._names[0]: tangents} if self._is_single else dict(tangents)
        spread = self._entry.names.spread({name: one for name, one in given.items() if one is not None})
        directions = {kept: turned(spread[kept]) if kept in spread else None for kept in self._given(args, kwargs)}
        arranged: Any = tuple(directions.values())
        if self._is_open:
            arranged = {self._parameter(kept): one for kept, one in directions.items() if one is not None}
        value, derivative = self._call("jvp", args, kwargs, tangents=arranged)
        return turned(value), turned(derivative)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """All the work of a first ``g(...)``, except running it."""
        self._call("compile", args, kwargs)

    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """The `Plan` for arguments like these; its lines are those of the Fortran file."""
        plan: Plan = self._call("plan", args, kwargs)
        return plan

    def measure(self, *args: Any, repeats: int = 3, **kwargs: Any) -> Measurement:
        """Run the gradient, and measure its peak memory in bytes, and its time in seconds."""
        measured: Measurement = self._call("measure", args, kwargs, repeats=repeats)
        return measured

    def sdfg(self, *args: Any, **kwargs: Any) -> Any:
        """The `dace.SDFG` whose code is compiled; arrays have their axes in reverse order."""
        return self._call("sdfg", args, kwargs)

    def _call(self, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], **more: Any) -> Any:
        g = self._gradient(None if self._is_open else tuple(self._given(args, kwargs)))
        return getattr(g, method)(*self._entry.arguments(args, kwargs).values(), **more)

    def _arranged(self, gradients: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Gradients by the names that were asked for, in the structure of what was passed under them."""
        if self._is_open:
            names = {kept: self._parameter(kept) for kept in self._chosen}
            found = {kept: gradients[name] for kept, name in names.items() if name in gradients}
        else:
            found = dict(zip(self._given(args, kwargs), gradients, strict=True))
        found = {kept: turned(one) for kept, one in found.items()}
        given = self._entry.bound(args, kwargs)
        wanted = self._given_names(found, given) if self._is_open else self._names
        arranged = {name: self._of(name, found, given) for name in wanted}
        return arranged[self._names[0]] if self._is_single else arranged

    def _given_names(self, found: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
        """The names under which the arguments that have gradients were passed, or would be."""
        under = {kept: name for name in given for kept in self._entry.names.below(name).values()}
        return list(dict.fromkeys(under.get(kept, kept) for kept in found))

    def _of(self, name: str, found: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
        below = self._entry.names.below(name)
        return gathered(given.get(name), {rest: found[kept] for rest, kept in below.items() if kept in found})


def turned(value: Any) -> Any:
    """An array with its axes in the order in which the user has them."""
    return value.T if isinstance(value, np.ndarray) else value
