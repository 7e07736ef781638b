"""Entry: the Python function by which a routine is called from outside, and what its arguments must be.

Arrays come with their axes in reverse order, so that a Fortran array in memory is a NumPy array row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, Location, OutputError
from sdfgad.fortran.calls import function_name
from sdfgad.fortran.definitions import is_set_first
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.lines import Lines
from sdfgad.fortran.names import Names
from sdfgad.fortran.passing import converted_of, initial_of, keyword_of, parameter
from sdfgad.fortran.routine import Routine
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.sharing import identifiers
from sdfgad.fortran.syntax import line_of
from sdfgad.fortran.translation import Translation, declared_extent
from sdfgad.fortran.values import Value, constant, strong
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
        self.routine = routine
        self._refuse_kinds()
        self.translation = Translation()
        self.translation.add(None, routine)
        self.names = Names(*self._found((output or "").lower()))
        # Numbers and arrays in the order of the parameters of the routine's function.
        self.leaves = list(self.names.leaves.values())
        self.sizes = list(self._declared_sizes())
        chosen = self._chosen(output)
        is_place = chosen is not None and chosen.rank and not (self._is_result(chosen) or chosen.is_rebound)
        self.output = parameter(chosen.text) if chosen is not None and is_place else "return"
        name = f"entry_{routine.name}"
        self.function: Callable[..., Any] = self.translation.define(name, routine, self._lines(name, chosen))

    @property
    def where(self) -> Location:
        return self.routine.file.where(self.routine.head)

    def _refuse_kinds(self) -> None:
        if self.routine.procedural:
            what = f"the routine `{min(self.routine.procedural)}` as an argument from outside is not supported"
            self.routine.file.refuse(self.routine.head, what, "Differentiate a routine that passes it.")
        for one in self.routine.dummies:
            if one.kind.base == "character":
                self.routine.file.refuse(one.node, f"the text `{one.name}` as an argument is not supported",
                                         "Pass an integer instead.")  # fmt: skip

    def _found(self, output: str) -> tuple[list[Variable], list[Variable]]:
        """The arguments, and what is shared; what is assigned before it is read, and may be so, is only a result."""

        def seen(original: Variable, one: Variable) -> Variable:
            is_result = not one.intent and is_set_first(self.routine, original, output.endswith(one.name))
            return replace(one, intent="out") if is_result else one

        shared = self.routine.shared.views
        own = [one for one in self.routine.parameters if one not in shared.values()]
        return [seen(one, one) for one in own], [seen(original, view) for original, view in shared.items()]

    def _declared_sizes(self) -> Any:
        e = Expressions(self.routine.scope, shared=self.routine.shared)
        for one in self.leaves:
            for dim in range(one.rank):
                declared = declared_extent(e, one, dim)
                if declared is not None:
                    yield Size(one, one.rank - 1 - dim, declared)

    def _is_result(self, variable: Variable) -> bool:
        """Whether an argument is only a result: what it is before the call makes no difference."""
        return variable.intent == "out"

    @cached_property
    def outputs(self) -> dict[str, Variable]:
        """What may be differentiated but for a function's result: the floating numbers and arrays that may change."""
        if self.routine.is_function:
            return {}
        changed, is_own = self.routine.changed, self.routine.shared.is_own
        return {path: one for path, one in self.names.leaves.items() if one.kind.is_floating
                and (one.is_changed or (is_own(one) and one.name in changed))}  # fmt: skip

    def _chosen(self, output: str | None) -> Variable | None:
        """The output; None for a function's result."""
        wanted = None if output is None else output.lower()
        if self.routine.is_function and wanted in (None, "return", self.routine.name, self.routine.result):
            if len(self.routine.own_results) == 1:
                return None
            what = f"the result of `{self.routine.name}` is of a derived type, and is no output"
            raise OutputError(what, self.where, "Write a function whose result is a number or an array.")
        kept = self.names.paths().get(wanted or "")
        if kept in self.outputs:
            return self.outputs[str(kept)]
        listed = ", ".join(f'"{name}"' for name in self.outputs)
        if wanted is None and len(self.outputs) == 1:
            return next(iter(self.outputs.values()))
        what = "the output is ambiguous" if wanted is None and self.outputs else f"there is no output {output!r}"
        todo = f"Pass output=..., one of: {listed}." if listed else "Change a floating argument."
        raise OutputError(f"{what} of `{self.routine.name}`", self.where, todo)

    # --- text

    @cached_property
    def parameters(self) -> list[Variable]:
        """The arguments that the function takes: all but results whose size is declared, or that are numbers."""
        made = [one for one in self.leaves if self._is_result(one) and self._is_sized(one)]
        return [one for one in self.leaves if one not in made]

    def _is_sized(self, variable: Variable) -> bool:
        """Whether its size is declared, or it is allocated by the routine."""
        return variable.is_allocatable or not any(dim.is_open for dim in variable.dims)

    @cached_property
    def shaping(self) -> list[Variable]:
        """Integers in bounds of arrays that no size tells: constants of a compiled program, for which they are tuples.

        As run-time integers they would make each index a form of many symbols, and become constants in the end.
        """
        e = Expressions(self.routine.scope, shared=self.routine.shared)
        dims = [dim for one in self.routine.scope.variables.values() for leaf in one.leaves for dim in leaf.dims]
        nodes = [(dim.home, node) for dim in dims for node in (dim.lower, dim.upper) if node is not None]
        named = set().union(*(identifiers(e.within(home).integer(node).text) for home, node in nodes))
        integers = [one for one in self.parameters if one.kind.base == "integer" and not one.rank]
        return [one for one in integers if one.text in named and one.text not in self.told]

    def _lines(self, name: str, chosen: Variable | None) -> Lines:
        """The function: integers that sizes tell, results, and the call."""
        lines, at = Lines(), line_of(self.routine.head)
        with lines.block(f"def {name}({', '.join(parameter(one.text) for one in self.parameters)}):", at):
            for one in self.parameters:
                if parameter(one.text) != one.text:
                    lines.add(f"{one.text} = {parameter(one.text)}", at)
            for one in self.shaping:
                lines.add(f"({one.text},) = {one.text}", at)
            for told, text in self.told.items():
                lines.add(f"{told} = {text}", at)
            for one in filter(self._is_result, self.leaves):
                lines.add(f"{one.text} = {self._made(one)}", line_of(one.node))
            self._call(lines, chosen, at)
        return lines

    @cached_property
    def told(self) -> dict[str, str]:
        """Integers -> the texts by which sizes of arrays tell them: they are constants of a compiled program."""
        integers = {one.text for one in self.leaves if one.kind.base == "integer" and not one.rank}
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
        if variable.is_allocatable:
            return "None"
        if not variable.rank:
            return strong(constant(0, variable.kind)).text
        if variable in self.parameters:
            return f"np.zeros({variable.text}.shape, {variable.kind.numpy})"
        return f"np.zeros(({', '.join(self._extents_of(variable))},), {variable.kind.numpy})"

    def _extents_of(self, variable: Variable) -> list[str]:
        """The declared sizes of an array, as NumPy has its axes."""
        own = [one for one in self.sizes if one.variable is variable]
        return [one.declared.text for one in sorted(own, key=lambda one: one.axis)]

    def _call(self, lines: Lines, chosen: Variable | None, at: int) -> None:
        call = f"{function_name(self.routine)}({', '.join(one.text for one in self.routine.parameters)})"
        changed = [one.text for one in self.routine.results]
        if chosen is None and not changed:
            lines.add(f"return {call}", at)
            return
        targets = [*(["__value"] if self.routine.is_function else []), *changed]
        lines.add(f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {call}" if targets else call, at)
        if self.output == "return":
            lines.add(f"return {'__value' if chosen is None else chosen.text}", at)

    # --- calls

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What the function is called with, by parameter.

        Raises:
            ArgumentError: one is missing, unknown, of another kind, or not as large as it is declared.
        """
        given = self.names.spread(self.bound(args, kwargs))
        values = {one.text: self._converted(path, one, given.get(path)) for path, one in self.names.leaves.items()}
        self._tell(values)
        # What is undefined in Fortran has no value that would be right.
        missing = [path for path, one in self.names.leaves.items() if values[one.text] is None and self._is_needed(one)]
        if missing:
            which = (
                f"the argument `{missing[0]}` is" if len(missing) == 1 else f"the arguments {', '.join(missing)} are"
            )
            raise self._error(f"{which} missing", f"Pass {keyword_of(missing[0])}")
        self._require_sizes(values)
        for one in self.shaping:
            values[one.text] = (values[one.text],)
        return {parameter(one.text): values[one.text] for one in self.parameters}

    def _is_needed(self, variable: Variable) -> bool:
        may_be_none = variable.is_asked or (variable.is_rebound and (variable.is_allocated or variable.is_pointer))
        return variable in self.parameters and not (variable.is_optional or may_be_none)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What is passed, by name.

        Raises:
            ArgumentError: a name is passed twice, or stands for nothing.
        """
        names = self.routine.names
        known = {parameter(name): name for name in names}
        lowered = {known.get(name.lower(), name.lower()): value for name, value in kwargs.items()}
        twice = {*names[: len(args)]} & {*lowered}
        unknown = [name for name in lowered if not self.names.below(name) and name not in names]
        if len(args) > len(names) or unknown or twice:
            what = f"the call does not fit `{self.routine.name}`"
            raise self._error(what, f"Its arguments are {', '.join(self.names.tops())}; pass each once.")
        given = dict(zip(names, args, strict=False)) | lowered
        return {name: value for name, value in given.items() if value is not None and self.names.below(name)}

    def _converted(self, path: str, variable: Variable, value: Any) -> Any:
        """An argument as the compiled program takes it."""
        if value is None:
            return None if variable.initial is None else initial_of(variable, self._extents_of(variable))
        converted = converted_of(variable, value)
        if converted is None:
            kind = (
                f"an array of {variable.kind.dtype} with {variable.rank} axes" if variable.rank else variable.kind.noun
            )
            shown = (
                f"an array of {value.dtype} with {value.ndim} axes" if isinstance(value, np.ndarray) else repr(value)
            )
            raise self._error(f"the argument `{path}` is {kind}, not {shown}", "Convert it: x.astype(...).")
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
