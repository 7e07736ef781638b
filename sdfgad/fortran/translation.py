"""Translation: a routine, and all that it calls, to Python functions whose lines are those of the Fortran file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arrays import at_least_zero, lower_bound
from sdfgad.fortran.assignments import allocations, empty
from sdfgad.fortran.calls import function_name
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.library import Routine
from sdfgad.fortran.lines import Lines
from sdfgad.fortran.scope import Dim, Variable
from sdfgad.fortran.statements import Statements
from sdfgad.fortran.syntax import line_of, listed, name_of, names_in, walk
from sdfgad.fortran.values import Value, constant, strong
from sdfgad.fortran.written import defined, scope
from sdfgad.parse.source import Source


@dataclass
class Translation:
    """The functions of a routine and of what it calls.

    Attributes:
        names: what generated text refers to: NumPy, and the functions by name.
        texts: of the functions, in the order in which they were finished.
    """

    names: dict[str, Any] = field(default_factory=scope)
    texts: list[str] = field(default_factory=list)
    _routines: dict[str, Routine] = field(default_factory=dict)
    _open: list[Routine] = field(default_factory=list)

    def add(self, node: Any, routine: Routine) -> None:
        """Translate a routine that is called at a node, unless that is done.

        Raises:
            UnsupportedProgram: it calls itself, or something in it is not supported.
        """
        if routine in self._open:
            what = f"`{routine.name}` calls itself, and recursion is not supported"
            self._open[-1].file.refuse(node, what, "Write a loop.")
        known = self._routines.setdefault(routine.name, routine)
        if known is not routine:
            what = f"two routines have the name `{routine.name}`"
            self._open[-1].file.refuse(node, what, "Rename one of them.")
        if function_name(routine) in self.names:
            return
        self._open.append(routine)
        lines = function_of(routine, self.add)
        self._open.pop()
        self.define(function_name(routine), routine, lines)

    def define(self, name: str, routine: Routine, lines: Lines) -> Callable[..., Any]:
        """Make a function of its lines, with the Fortran file as its source."""
        module = lines.tree()
        node = module.body[0]
        assert isinstance(node, ast.FunctionDef)
        function = defined(module, name, routine.file.name, self.names)
        function.__name__ = function.__qualname__ = routine.name
        function.__module__ = __name__
        source = Source(function, node, routine.file.name, routine.file.text, self.names, counts_back=False)
        function.source = source  # type: ignore[attr-defined]
        self.texts.append(lines.text)
        return function


def function_of(routine: Routine, called: Callable[[Any, Routine], None]) -> Lines:
    """The lines of a routine's function: its checks, its local arrays, and its body."""
    statements = Statements(routine, called)
    e, body = statements.e, routine.part(f03.Execution_Part)
    _require_simple(routine, body)
    inner = statements.lines
    inner.depth = 1
    _shapes(routine, e, inner)
    _locals(routine, e, inner, body)
    statements.body(body)
    if not inner.texts or inner.texts[-1] != f"    {statements.returned}":
        inner.add(statements.returned, line_of(routine.node.children[-1]))
    head = Lines()
    parameters = ", ".join(one.text for one in routine.dummies)
    head.add(f"def {function_name(routine)}({parameters}):", line_of(routine.head))
    for name, text in e.constant_arrays.items():
        head.add(f"    {name} = {text}", line_of(routine.head))
    return Lines([*head.texts, *inner.texts], [*head.origins, *inner.origins])


def _require_simple(routine: Routine, body: Any) -> None:
    """Raises: UnsupportedProgram, for prefixes and attributes that change what calls mean."""
    prefix = str(routine.head.children[0] or "").upper()
    if "RECURSIVE" in prefix:
        routine.file.refuse(routine.head, f"`{routine.name}` is recursive, which is not supported", "Write a loop.")
    for name, bounds in allocations(Expressions(routine.scope), body).items():
        if name in routine.scope.variables:
            routine.scope.variables[name].is_allocated = True
        if len(bounds) > 1:
            what = f"`{name}` is allocated with different lower bounds"
            routine.file.refuse(body, what, "Use an array of its own for each.")


def _shapes(routine: Routine, e: Expressions, lines: Lines) -> None:
    """Checks of the declared sizes of arrays, which along their last axis are the first elements of what is passed."""
    for one in routine.dummies:
        for dim in range(one.rank):
            declared = declared_extent(e, one, dim)
            # An optional array that is left out has no shape.
            if declared is None or one.is_optional:
                continue
            at, size = line_of(one.node), f"{one.text}.shape[{one.rank - 1 - dim}]"
            is_last = dim == one.rank - 1
            with lines.block(f"if {size} {'<' if is_last else '!='} {declared.text}:", at):
                message = f"{one.name} is not as large as it is declared along axis {dim + 1}"
                lines.add(f'raise ValueError("{message}")', at)
            if is_last:
                lines.add(f"{one.text} = {one.text}[:{at_least_zero(declared)}]", at)


def declared_extent(e: Expressions, variable: Variable, dim: int) -> Value | None:
    """The declared size of an axis; None where it is that of what is passed."""
    declared = variable.dims[dim]
    if declared.is_open:
        return None
    upper, lower = e.integer(declared.upper), lower_bound(e, variable, dim)
    if lower.number is not None:
        return upper.shifted(1 - lower.number)
    return Value(f"({upper.text} - {lower.text} + 1)", upper.kind)


def _locals(routine: Routine, e: Expressions, lines: Lines, body: Any) -> None:
    """Allocate what the routine declares for itself; its elements are undefined, as in Fortran."""
    passed, asked = _passed(body), _asked(body)
    for one in routine.scope.variables.values():
        is_open = any(dim.is_open for dim in one.dims)
        one.is_asked = one.name in asked
        if one.is_asked and one.is_allocatable and not one.is_dummy:
            lines.add(f"{one.text} = None", line_of(one.node))
        if one.is_dummy or one.value is not None or one.is_allocatable:
            continue
        if not one.rank:
            if one.name in passed and one.kind.base != "character":
                # Undefined in Fortran, too; a name that is passed must have a value in Python.
                lines.add(f"{one.text} = {strong(constant(0, one.kind)).text}", line_of(one.node))
            continue
        if is_open:
            routine.file.refuse(one.node, f"`{one.name}` has no size", "Declare bounds, or make it allocatable.")
        dims: tuple[Dim, ...] = one.dims
        lines.add(f"{one.text} = {empty(e, one, dims)}", line_of(one.node))


def _passed(body: Any) -> set[str]:
    """The names that are arguments of subroutines."""
    calls = [one for one in walk(body) if isinstance(one, f03.Call_Stmt)] if body is not None else []
    return {name_of(arg) for call in calls for arg in listed(call.children[1]) if isinstance(arg, f03.Name)}


def _asked(body: Any) -> set[str]:
    """The arrays of which `allocated` asks whether they have storage."""
    calls = [one for one in walk(body) if isinstance(one, f03.Intrinsic_Function_Reference)] if body is not None else []
    asked = [one for one in calls if name_of(one.children[0]) == "allocated"]
    return {name for one in asked for name in names_in(one.children[1])}
