"""Entry: the Python function by which a routine is called from outside, and what its arguments must be.

Arrays come with their axes in reverse order, so that a Fortran array in memory is a NumPy array row by row.
"""

from __future__ import annotations

import keyword
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, Location, OutputError
from sdfgad.fortran.calls import function_name
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.library import Routine
from sdfgad.fortran.lines import Lines
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import line_of, names_in
from sdfgad.fortran.translation import Translation, declared_extent
from sdfgad.fortran.values import Value, constant, plain, strong
from sdfgad.fortran.written import evaluated

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Size:
    """The declared size of one axis of an argument, counted as NumPy has the axes here."""

    variable: Variable
    axis: int
    declared: Value

    @property
    def tells(self) -> tuple[str, int]:
        """The name of an integer that the size tells, ``""`` for none, and by how much the size is larger."""
        return self.declared.base or self.declared.text, self.declared.offset


class Entry:
    """A routine as a Python function of what its caller must pass.

    Attributes:
        function: its parameters are the arguments that are not only results, arrays with their axes in reverse order.
        output: what `differentiate` calls the chosen output.
    """

    def __init__(self, routine: Routine, output: str | None) -> None:
        """Raises: UnsupportedProgram, where something is not supported; OutputError, where there is no such output."""
        self.routine, self.dummies = routine, routine.dummies
        self._refuse_kinds()
        self.sizes = list(self._declared_sizes())
        chosen = self._chosen(output)
        self.translation = Translation()
        self.translation.add(None, routine)
        is_returned = chosen == routine.result or self._is_result(routine.scope.variables[chosen])
        self.output = "return" if is_returned or not routine.scope.variables[chosen].rank else parameter(chosen)
        name = f"entry_{routine.name}"
        self.function: Callable[..., Any] = self.translation.define(name, routine, self._lines(name, chosen))

    @property
    def where(self) -> Location:
        return self.routine.file.where(self.routine.head)

    def _refuse_kinds(self) -> None:
        for one in self.dummies:
            if one.kind.base == "character":
                self.routine.file.refuse(one.node, f"the text `{one.name}` as an argument is not supported",
                                         "Pass an integer instead.")  # fmt: skip

    def _declared_sizes(self) -> Any:
        e = Expressions(self.routine.scope)
        for one in self.dummies:
            for dim in range(one.rank):
                declared = declared_extent(e, one, dim)
                if declared is not None:
                    yield Size(one, one.rank - 1 - dim, declared)

    def _is_result(self, variable: Variable) -> bool:
        """Whether an argument is only a result: what it is before the call makes no difference."""
        return variable.intent == "out"

    @cached_property
    def outputs(self) -> list[str]:
        """What may be differentiated: a function's result, or the floating arguments that may change."""
        if self.routine.is_function:
            return [self.routine.result]
        return [one.name for one in self.dummies if one.name in self.routine.changed and one.kind.is_floating]

    def _chosen(self, output: str | None) -> str:
        wanted = None if output is None else output.lower()
        if self.routine.is_function and wanted in (None, "return", self.routine.name):
            return self.routine.result
        if wanted in self.outputs:
            return str(wanted)
        listed = ", ".join(f'"{name}"' for name in self.outputs)
        if wanted is None and len(self.outputs) == 1:
            return self.outputs[0]
        what = "the output is ambiguous" if wanted is None and self.outputs else f"there is no output {output!r}"
        todo = f"Pass output=..., one of: {listed}." if listed else "Change a floating argument."
        raise OutputError(f"{what} of `{self.routine.name}`", self.where, todo)

    # --- text

    @cached_property
    def parameters(self) -> list[Variable]:
        """The arguments that the function takes: all but results whose size is declared, or that are numbers."""
        declared = {one.name for one in self.dummies if not any(dim.is_open for dim in one.dims)}
        return [one for one in self.dummies if not (self._is_result(one) and one.name in declared)]

    @cached_property
    def shaping(self) -> list[Variable]:
        """Integers in bounds of arrays that no size tells: constants of a compiled program, for which they are tuples.

        As run-time integers they would make each index a form of many symbols, and become constants in the end.
        """
        dims = [dim for one in self.routine.scope.variables.values() for dim in one.dims]
        named = set().union(*(names_in(node) for dim in dims for node in (dim.lower, dim.upper) if node is not None))
        integers = [one for one in self.parameters if one.kind.base == "integer" and not one.rank]
        return [one for one in integers if one.name in named and one.text not in self.told]

    def _lines(self, name: str, chosen: str) -> Lines:
        """The function: integers that sizes tell, results, and the call."""
        lines, at = Lines(), line_of(self.routine.head)
        names = {one.name: parameter(one.name) for one in self.dummies}
        with lines.block(f"def {name}({', '.join(names[one.name] for one in self.parameters)}):", at):
            for one in self.dummies:
                if names[one.name] != one.text and one in self.parameters:
                    lines.add(f"{one.text} = {names[one.name]}", at)
            for one in self.shaping:
                lines.add(f"({one.text},) = {one.text}", at)
            for told, text in self.told.items():
                lines.add(f"{told} = {text}", at)
            for one in filter(self._is_result, self.dummies):
                lines.add(f"{one.text} = {self._made(one)}", line_of(one.node))
            self._call(lines, chosen, at)
        return lines

    @cached_property
    def told(self) -> dict[str, str]:
        """Integers -> the texts by which sizes of arrays tell them: they are constants of a compiled program."""
        integers = {one.text for one in self.dummies if one.kind.base == "integer" and not one.rank}
        found: dict[str, str] = {}
        for size in self.sizes:
            told, offset = size.tells
            is_passed = size.variable in self.parameters and not size.variable.is_optional
            if told in integers - {*found} and is_passed:
                text = f"{size.variable.text}.shape[{size.axis}]"
                found[told] = f"{text} - {offset}" if offset > 0 else f"{text} + {-offset}" if offset else text
        return found

    def _made(self, variable: Variable) -> str:
        """What a result is before the call: undefined in Fortran, and zeros here, so that each call gives the same."""
        if not variable.rank:
            return strong(constant(0, variable.kind)).text
        if variable in self.parameters:
            return f"np.zeros({variable.text}.shape, {variable.kind.numpy})"
        extents = [plain(one.declared) for one in sorted(self._sizes_of(variable), key=lambda one: one.axis)]
        return f"np.zeros(({', '.join(extents)},), {variable.kind.numpy})"

    def _sizes_of(self, variable: Variable) -> list[Size]:
        return [one for one in self.sizes if one.variable is variable]

    def _call(self, lines: Lines, chosen: str, at: int) -> None:
        call = f"{function_name(self.routine)}({', '.join(one.text for one in self.dummies)})"
        changed = [one.text for one in self.dummies if not one.rank and one.name in self.routine.changed]
        if self.routine.is_function:
            lines.add(f"return {call}", at)
            return
        lines.add(f"{', '.join(changed)}{',' if len(changed) == 1 else ''} = {call}" if changed else call, at)
        if self.output == "return":
            lines.add(f"return {self.routine.scope.variables[chosen].text}", at)

    # --- calls

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What the function is called with, by parameter.

        Raises:
            ArgumentError: one is missing, unknown, of another kind, or not as large as it is declared.
        """
        given = self._bound(args, kwargs)
        values = {one.text: self._converted(one, given[one.name]) for one in self.dummies}
        self._tell(values)
        for one in self.dummies:
            if values[one.text] is None and one in self.parameters and not one.is_optional:
                raise self._error(f"the argument `{one.name}` is missing", f"Pass {one.name}=...")
        self._require_sizes(values)
        for one in self.shaping:
            values[one.text] = (values[one.text],)
        return {parameter(one.name): values[one.text] for one in self.parameters}

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = [one.name for one in self.dummies]
        known = {parameter(name): name for name in names} | {name: name for name in names}
        named = {known.get(name.lower()): value for name, value in kwargs.items()}
        twice = {*names[: len(args)]} & {*named}
        if len(args) > len(names) or None in named or twice:
            what = f"the call does not fit `{self.routine.name}`"
            raise self._error(what, f"Its arguments are {', '.join(names)}; pass each once.")
        return dict.fromkeys(names) | dict(zip(names, args, strict=False)) | {str(n): v for n, v in named.items()}

    def _converted(self, variable: Variable, value: Any) -> Any:
        """An argument as the compiled program takes it."""
        if value is None:
            return None
        try:
            converted = _array(variable, value) if variable.rank else _number(variable, value)
        except (TypeError, ValueError, OverflowError):
            converted = None
        if converted is None:
            kind = (
                f"an array of {variable.kind.dtype} with {variable.rank} axes" if variable.rank else variable.kind.noun
            )
            shown = (
                f"an array of {value.dtype} with {value.ndim} axes" if isinstance(value, np.ndarray) else repr(value)
            )
            raise self._error(f"the argument `{variable.name}` is {kind}, not {shown}", "Convert it: x.astype(...).")
        return converted

    def _tell(self, values: dict[str, Any]) -> None:
        """Integers that are left out, and that sizes of arrays tell."""
        for size in self.sizes:
            told, offset = size.tells
            array = values[size.variable.text]
            if told in values and values[told] is None and array is not None:
                values[told] = array.shape[size.axis] - offset

    def _require_sizes(self, values: Mapping[str, Any]) -> None:
        for size in self.sizes:
            array = values[size.variable.text]
            if array is None:
                continue
            declared = evaluated(size.declared.text, values)
            if array.shape[size.axis] != max(declared, 0):
                dim = size.variable.rank - size.axis
                what = (
                    f"`{size.variable.name}` has {array.shape[size.axis]} elements along axis {dim}, and is declared "
                )
                raise self._error(f"{what}with {declared}", "Pass arrays as large as they are declared.")

    def _error(self, what: str, todo: str) -> ArgumentError:
        return ArgumentError(what, self.where, todo)


def parameter(name: str) -> str:
    """A name as a parameter of a Python function."""
    return f"{name}_" if keyword.iskeyword(name) or name == "np" else name


def _array(variable: Variable, value: Any) -> Array | None:
    """An array with its axes in reverse order; None where it is another one than is declared."""
    if not isinstance(value, np.ndarray) or value.ndim != variable.rank:
        return None
    kind = variable.kind
    fits = value.dtype.kind in "iu" if kind.base == "integer" else value.dtype == kind.dtype
    return value.T if fits else None


def _number(variable: Variable, value: Any) -> Any:
    base = variable.kind.base
    if base == "integer":
        return operator.index(value)
    if base == "logical":
        return bool(value) if isinstance(value, (bool, np.bool_)) else None
    converted = variable.kind.dtype.type(value)
    # Of double precision NumPy's numbers and Python's are the same.
    return converted.item() if variable.kind.bytes == 8 else converted
