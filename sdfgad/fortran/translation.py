"""Translation: a routine, and all that it calls, to Python functions whose lines are those of the Fortran file."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arrays import at_least_zero, lower_bound
from sdfgad.fortran.assignments import empty
from sdfgad.fortran.calls import function_name
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.lines import Lines
from sdfgad.fortran.routine import Routine
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.statements import Statements
from sdfgad.fortran.syntax import line_of
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
    _routines: list[Routine] = field(default_factory=list)
    _open: list[Routine] = field(default_factory=list)

    def add(self, node: Any, routine: Routine) -> None:
        """Translate a routine that is called at a node, unless that is done.

        Raises:
            UnsupportedProgram: it calls itself, or something in it is not supported.
        """
        if routine in self._open:
            what = f"`{routine.name}` calls itself, and recursion is not supported"
            self._open[-1].file.refuse(node, what, "Write a loop.")
        if routine in self._routines:
            return
        taken, stem, count = {function_name(one) for one in self._routines}, function_name(routine), 1
        while function_name(routine) in taken:
            # Another module or host has a routine of this name, too.
            count += 1
            routine.label = f"{stem}_{count}"
        self._routines.append(routine)
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
    if "RECURSIVE" in str(routine.head.children[0] or "").upper():
        routine.file.refuse(routine.head, f"`{routine.name}` is recursive, which is not supported", "Write a loop.")
    statements = Statements(routine, called)
    e, body, inner = statements.e, routine.part(f03.Execution_Part), statements.lines
    inner.depth = 1
    _mark_initialised(routine)
    statements.body(body)
    statements.finish(line_of(routine.node.children[-1]))
    before = Lines(depth=1)
    _shapes(routine, e, before)
    _locals(routine, e, before)
    _require_bounds(routine)
    head = Lines()
    parameters = ", ".join(one.text for one in routine.parameters)
    head.add(f"def {function_name(routine)}({parameters}):", line_of(routine.head))
    for name, text in e.constant_arrays.items():
        head.add(f"    {name} = {text}", line_of(routine.head))
    parts = (head, before, inner)
    return Lines([text for one in parts for text in one.texts], [at for one in parts for at in one.origins])


def _mark_initialised(routine: Routine) -> None:
    """Components with first values have them in each call, in results and in arguments that are only results."""
    for one in _leaves(routine):
        base = one.name.partition("%")[0]
        is_result = base == routine.result or routine.scope.variables[base].intent == "out"
        if one.initial is not None and is_result and not one.is_kept:
            one.is_used = one.is_changed = True


def _leaves(routine: Routine) -> list[Variable]:
    return [leaf for one in routine.scope.variables.values() for leaf in one.leaves]


def _require_bounds(routine: Routine) -> None:
    """Raises: UnsupportedProgram, where what is shared makes a lower bound, and is changed."""
    for one in routine.shared.views.values():
        if one.is_changed and one.text in routine.shared.bounds:
            what = f"`{one.name}` is a lower bound of an array of `{routine.name}`, and is changed"
            routine.file.refuse(routine.head, what, "Keep the bound in a variable of its own.")


def _shapes(routine: Routine, e: Expressions, lines: Lines) -> None:
    """Checks of the declared sizes of arrays, which along their last axis are the first elements of what is passed."""
    leaves = [(one, leaf) for one in routine.dummies for leaf in one.leaves if leaf.is_used or one.type_of is None]
    for dummy, one in leaves:
        for dim in range(one.rank):
            declared = declared_extent(e, one, dim)
            # An optional array that is left out has no shape.
            if declared is None or dummy.is_optional:
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
    if declared.is_open or declared.upper is None:
        return None
    upper, lower = e.within(declared.home).integer(declared.upper), lower_bound(e, variable, dim)
    if lower.number is not None:
        return upper.shifted(1 - lower.number)
    return Value(f"({upper.text} - {lower.text} + 1)", upper.kind)


def _locals(routine: Routine, e: Expressions, lines: Lines) -> None:
    """Allocate what the routine declares for itself; its elements are undefined, as in Fortran."""
    for one in _leaves(routine):
        base = routine.scope.variables[one.name.partition("%")[0]]
        is_ours = routine.shared.is_own(one) and (one.is_used or base.type_of is None) and one.value is None
        if not is_ours or (base.is_dummy and not (base.intent == "out" and one.initial is not None)):
            continue
        at = line_of(one.node)
        if one.is_allocatable:
            if one.is_asked or one.is_lent:
                lines.add(f"{one.text} = None", at)
        elif one.rank and not base.is_dummy:
            if any(dim.is_open for dim in one.dims):
                routine.file.refuse(one.node, f"`{one.name}` has no size", "Declare bounds, or make it allocatable.")
            lines.add(f"{one.text} = {empty(e, one, one.dims)}", at)
        if one.initial is not None:
            lines.add(f"{one.text}{'[...]' if one.rank else ''} = {strong(one.initial).text}", at)
        elif not one.rank and one.is_lent and one.kind.base != "character":
            # Undefined in Fortran, too; a name that is passed must have a value in Python.
            lines.add(f"{one.text} = {strong(constant(0, one.kind)).text}", at)
