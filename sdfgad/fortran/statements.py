"""Executable statements: assignments, branches, loops and calls, as statements of a NumPy function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from fparser.two import Fortran2003 as f03
from fparser.two import Fortran2008 as f08

from sdfgad.errors import IgnoredPrint
from sdfgad.fortran.assignments import allocated, assigned, deallocated, masked
from sdfgad.fortran.blocks import associated, block
from sdfgad.fortran.callees import callee
from sdfgad.fortran.calls import function_call, subroutine_call
from sdfgad.fortran.conditions import case_condition
from sdfgad.fortran.designators import base_name, designated
from sdfgad.fortran.evaluator import described
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.loop_statements import LoopStatements
from sdfgad.fortran.loops import DO_LOOPS
from sdfgad.fortran.pointers import nullified, pointed
from sdfgad.fortran.routine import Routine
from sdfgad.fortran.structures import structure_assigned
from sdfgad.fortran.syntax import line_of, line_of_first, listed, name_of
from sdfgad.fortran.values import plain

REFUSED = {
    "Goto_Stmt": ("a jump by `goto`", "Write `if`, `do while`, `exit` or `cycle`."),
    "Computed_Goto_Stmt": ("a jump by `goto`", "Write `select case`."),
    "Arithmetic_If_Stmt": ("an `if` with three labels", "Write `if (...) then`."),
    "Entry_Stmt": ("an `entry`", "Write a subroutine of its own."),
    "Select_Type_Construct": ("a `select type`", "Write a routine for each type."),
    "Label_Do_Stmt": ("loops that share their last statement", "End each loop by `end do`."),
    "Data_Stmt": ("a data statement", "Assign the values at the start, or declare a parameter."),
    **{
        f"{name}_Stmt": ("input and output", "Leave it away, and return what is to be shown.")
        for name in ("Write", "Read", "Open", "Close", "Inquire", "Rewind", "Backspace", "Flush")
    },
}
BLOCKS = f08.Block_Construct
# Stands for the statement that hands back a function's result, or what a subroutine changes.
RETURNED = "return __results"
OTHERWISE = "Write assignments, `if`, `select case`, `do`, `where` and calls."


class Statements(LoopStatements):
    """Translates the body of one routine."""

    def __init__(self, routine: Routine, called: Callable[[Any, Routine], None]) -> None:
        super().__init__(routine)
        self._called = called
        self.e = Expressions(self.scope, function_call, routine.shared)
        self.e.called = called

    # --- statements

    def body(self, part: Any) -> None:
        self._body = part
        for node in getattr(part, "children", ()):
            self.statement(node)

    def statement(self, node: Any) -> None:
        """Raises: UnsupportedProgram, with the line of a statement that is not supported."""
        with self.scope.file.understood(node):
            self._statement(node)

    def _statement(self, node: Any) -> None:
        if isinstance(node, f03.Assignment_Stmt):
            for line in self._assigned(node):
                self._add(line, node)
        elif isinstance(node, (f03.If_Construct, f03.Case_Construct)):
            self._branches(node)
        elif isinstance(node, f03.If_Stmt):
            with self.lines.block(f"if {self._condition(node.children[0])}:", line_of(node)):
                self.statement(node.children[1])
        elif isinstance(node, DO_LOOPS):
            self._loop(node)
        elif isinstance(node, (f03.Where_Construct, f03.Where_Stmt)):
            for line, origin in masked(self.e, node):
                self._add(line, origin)
        elif isinstance(node, f03.Call_Stmt):
            for line in self._call(node):
                self._add(line, node)
        elif isinstance(node, (f03.Exit_Stmt, f03.Cycle_Stmt)):
            self._jump(node)
        else:
            self._other(node)

    def _is_shown(self, node: Any) -> bool:
        """Whether what is written goes to the screen or a file, and to no variable."""
        controls = [one.children for one in listed(node.children[0])]
        unit = next((value for key, value in controls if key in (None, "UNIT")), None)
        is_text = isinstance(unit, (f03.Name, f03.Part_Ref)) and self.e.value(unit).kind.base != "integer"
        return not is_text and all(key in (None, "UNIT", "FMT", "ADVANCE") for key, _ in controls)

    def _assigned(self, node: Any) -> list[str]:
        target = node.children[0]
        if self._is_formula(node):
            names = [name_of(one) for one in listed(target.children[1])]
            self.scope.formulas[name_of(target.children[0])] = names, node.children[2]
            return []
        with self.e.ahead() as lines:
            found = designated(self.e, target)
            if found is not None and found.variable.type_of is not None:
                own = structure_assigned(self.e, node, found)
            else:
                own = assigned(self.e, node)
        return [*lines, *own]

    def _is_formula(self, node: Any) -> bool:
        """Whether an assignment is a statement function: it precedes all other statements, and assigns to no array."""
        target = node.children[0]
        before = [one for one in self._body.children if one is not node and line_of(one) < line_of(node)]
        kinds = (f03.Assignment_Stmt, f03.Comment, f03.Data_Stmt, f03.Format_Stmt)
        if not isinstance(target, f03.Part_Ref) or not all(isinstance(one, kinds) for one in before):
            return False
        is_first = all(self.scope.formula(base_name(one)) for one in before if isinstance(one, f03.Assignment_Stmt))
        is_named = all(isinstance(one, f03.Name) for one in listed(target.children[1]))
        return is_first and is_named and designated(self.e, target) is None

    def _call(self, node: Any) -> list[str]:
        with self.e.ahead() as lines:
            own = subroutine_call(self.e, node, self._callee(node))
        return [*lines, *own]

    def _within(self, node: Any) -> None:
        """The statements of an `associate` or a `block`."""
        is_block = isinstance(node, BLOCKS)
        with block(self.e, node, self.routine) if is_block else associated(self.e, node) as lines:
            for line in lines:
                self._add(line, node.children[0])
            for one in node.children[1:-1]:
                if not isinstance(one, f03.Specification_Part):
                    self.statement(one)

    def _other(self, node: Any) -> None:
        if isinstance(node, (f03.Associate_Construct, BLOCKS)):
            self._within(node)
        elif isinstance(node, (f03.Pointer_Assignment_Stmt, f03.Nullify_Stmt)):
            is_null = isinstance(node, f03.Nullify_Stmt)
            for line in nullified(self.e, node) if is_null else pointed(self.e, node):
                self._add(line, node)
        elif isinstance(node, (f03.Forall_Stmt, f03.Forall_Construct)):
            self._forall(node)
        elif isinstance(node, f03.Return_Stmt):
            self._add(RETURNED, node)
        elif isinstance(node, f03.Print_Stmt) or (isinstance(node, f03.Write_Stmt) and self._is_shown(node)):
            # What is shown changes no number.
            where = self.scope.file.where(node)
            warnings.warn(f"output is ignored at {where.file}:{where.line}", IgnoredPrint, stacklevel=2)
        elif type(node).__name__ in ("Stop_Stmt", "Error_Stop_Stmt"):
            self._add(f"raise RuntimeError({str(node)!r})", node)
        elif isinstance(node, f03.Allocate_Stmt):
            for line in allocated(self.e, node):
                self._add(line, node)
        elif isinstance(node, f03.Deallocate_Stmt):
            for line in deallocated(self.e, node):
                self._add(line, node)
        elif not isinstance(node, (f03.Continue_Stmt, f03.Comment, f03.Format_Stmt)):
            what, todo = REFUSED.get(type(node).__name__, (f"`{str(node).splitlines()[0]}`", OTHERWISE))
            self.scope.file.refuse(node, f"{what} is not supported", todo)

    def finish(self, line: int) -> None:
        """Write what is returned, which is known when the body is."""
        if not self.lines.texts or self.lines.texts[-1] != f"    {RETURNED}":
            self.lines.add(RETURNED, line)
        own = self.routine.own_results if self.routine.is_function else []
        names = [one.text for one in (*own, *self.routine.results)]
        is_one = len(names) == 1
        if own and is_one:
            text = f"return {names[0]}"
        else:
            text = f"return {', '.join(names)}{',' if is_one else ''}" if names else "return"
        self.lines.texts = [one.replace(RETURNED, text) for one in self.lines.texts]

    # --- calls

    def _callee(self, node: Any) -> Routine:
        name, routine, _ = callee(self.e, node)
        if routine is None:
            todo = 'Pass all files that it may come from: differentiate(["one.f90", "other.f90"], ...).'
            self.e.refuse(node, f"the subroutine `{name}` is in none of the files", todo)
        self._called(node, routine)
        found: Routine = routine
        return found

    # --- branches

    def _condition(self, node: Any) -> str:
        value = self.e.value(node)
        if value.kind.base != "logical" or value.rank:
            self.e.refuse(
                node, f"the condition `{node}` is {described(value)}", "Write a comparison, any(x) or all(x)."
            )
        return plain(value)

    def _branches(self, node: Any) -> None:
        """The sides of an `if` or `select case`, in the order in which they are tried."""
        sides = _sides(node)
        if isinstance(node, f03.Case_Construct):
            selector = self.e.value(node.children[0].children[0])
            tests = [case_condition(self.e, head, selector) for head, _ in sides]
        else:
            tests = [_test_of(head) and self._condition(_test_of(head)) for head, _ in sides]
        ordered = [k for k, test in enumerate(tests) if test is not None]
        ordered += [k for k, test in enumerate(tests) if test is None]
        for position, k in enumerate(ordered):
            head, statements = sides[k]
            word = "if" if position == 0 else "elif"
            text = "else:" if tests[k] is None and position else f"{word} {tests[k] or 'True'}:"
            with self.lines.block(text, line_of_first(head)):
                for one in statements:
                    self.statement(one)


def _sides(node: Any) -> list[tuple[Any, list[Any]]]:
    """The heads of the sides of a branch, with their statements."""
    heads = (f03.If_Then_Stmt, f03.Else_If_Stmt, f03.Else_Stmt, f03.Case_Stmt)
    ends = (f03.End_If_Stmt, f03.Select_Case_Stmt, f03.End_Select_Stmt)
    sides: list[tuple[Any, list[Any]]] = []
    for one in node.children:
        if isinstance(one, heads):
            sides.append((one, []))
        elif not isinstance(one, ends) and sides:
            sides[-1][1].append(one)
    return sides


def _test_of(head: Any) -> Any:
    """The condition of a side of an `if`; None of the last one."""
    return None if isinstance(head, f03.Else_Stmt) else head.children[0]
