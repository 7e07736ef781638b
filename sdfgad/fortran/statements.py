"""Executable statements: assignments, branches, loops and calls, as statements of a NumPy function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
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
from sdfgad.fortran.library import Routine
from sdfgad.fortran.lines import Lines
from sdfgad.fortran.loops import DO_LOOPS, Counter, OpenLoop, counted, counter_of, is_used_outside, leaves_itself
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.structures import structure_assigned
from sdfgad.fortran.syntax import label_of, line_of, line_of_first, listed, name_of, names_in, walk
from sdfgad.fortran.values import Value, plain

REFUSED = {
    "Goto_Stmt": ("a jump by `goto`", "Write `if`, `do while`, `exit` or `cycle`."),
    "Computed_Goto_Stmt": ("a jump by `goto`", "Write `select case`."),
    "Arithmetic_If_Stmt": ("an `if` with three labels", "Write `if (...) then`."),
    "Entry_Stmt": ("an `entry`", "Write a subroutine of its own."),
    "Pointer_Assignment_Stmt": ("a pointer", "Pass a section of an array, or copy."),
    "Nullify_Stmt": ("a pointer", "Pass a section of an array, or copy."),
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


class Statements:
    """Translates the body of one routine."""

    def __init__(self, routine: Routine, called: Callable[[Any, Routine], None]) -> None:
        self.routine, self.scope, self._called = routine, routine.scope, called
        self.e = Expressions(self.scope, function_call, routine.shared)
        self.e.called = called
        self.lines = Lines()
        self._loops: list[OpenLoop] = []
        self._body: Any = None

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

    def _add(self, text: str, node: Any) -> None:
        self.lines.add(text, line_of(node))

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

    # --- loops

    def _loop(self, node: Any) -> None:
        head, *inner = node.children
        statements = [one for one in inner if not isinstance(one, f03.End_Do_Stmt)]
        control = next((one for one in walk(head) if isinstance(one, f03.Loop_Control)), None)
        loop = OpenLoop(label_of(head))
        self._flags(loop, node)
        if control is None:
            self._while("True", loop, head, statements)
        elif control.children[0] is not None:
            self._while(self._condition(control.children[0]), loop, head, statements)
        elif control.children[1] is not None:
            self._counted(control, loop, node, statements)
        else:
            self._concurrent(control.children[3], loop, head, statements)
        for outer in self._loops[:-1] if self._loops else ():
            self._pass_on(outer, node, is_next=False)
        if self._loops:
            self._pass_on(self._loops[-1], node, is_next=True)

    def _flags(self, loop: OpenLoop, node: Any) -> None:
        """Flags for jumps out of loops in this one that name it."""
        for one in walk(node.children):
            if isinstance(one, (f03.Exit_Stmt, f03.Cycle_Stmt)) and loop.label and _label(one) == loop.label:
                if _nearest(one) is not node and isinstance(one, f03.Exit_Stmt):
                    loop.leave = loop.leave or self.e.fresh("leave")
                elif _nearest(one) is not node:
                    loop.skip = loop.skip or self.e.fresh("skip")
        if loop.leave:
            self._add(f"{loop.leave} = False", node.children[0])

    def _pass_on(self, loop: OpenLoop, inner: Any, is_next: bool) -> None:
        """After an inner loop: leave the present one, if a jump in the inner one was to an outer one."""
        jumps = [one for one in walk(inner.children) if isinstance(one, (f03.Exit_Stmt, f03.Cycle_Stmt))]
        named = {type(one) for one in jumps if loop.label and _label(one) == loop.label}
        if f03.Exit_Stmt in named and loop.leave:
            self._guarded(loop.leave, "break", inner)
        if f03.Cycle_Stmt in named and loop.skip:
            self._guarded(loop.skip, "continue" if is_next else "break", inner)

    def _guarded(self, flag: str, jump: str, node: Any) -> None:
        with self.lines.block(f"if {flag}:", line_of_first(node)):
            self.lines.add(jump, line_of_first(node))

    def _inside(self, loop: OpenLoop, head: Any, statements: list[Any]) -> None:
        self._loops.append(loop)
        if loop.skip:
            self._add(f"{loop.skip} = False", head)
        for one in statements:
            self.statement(one)
        self._loops.pop()

    def _while(self, condition: str, loop: OpenLoop, head: Any, statements: list[Any]) -> None:
        with self.lines.block(f"while {condition}:", line_of(head)):
            self._inside(loop, head, statements)

    def _counted(self, control: Any, loop: OpenLoop, node: Any, statements: list[Any]) -> None:
        head = node.children[0]
        name, bounds = control.children[1]
        variable = self.e.used(head, self.e.variable(name))
        variable.is_changed = True
        counter = counter_of(self.e, head, variable, bounds)
        is_used = not self._is_inner(variable) or is_used_outside(self._body, variable.name)
        parts = (counter.first, counter.last, counter.step)
        first, last, step = (self._kept(one, head) if is_used else one for one in parts)
        counter = Counter(variable, first, last, step)
        after = f"{variable.text} = {counter.after(first.text, last.text)}" if is_used else ""
        text = f"for {variable.text} in {counter.range(plain(first), last)}:"
        with self.lines.block(text, line_of(head)), counted(self.e, counter):
            self._inside(loop, head, statements)
        if after and leaves_itself(node):
            with self.lines.block("else:", line_of(head)):
                self._add(after, head)
        elif after:
            self._add(after, head)

    def _is_inner(self, variable: Variable) -> bool:
        """Whether nothing but the statements of this routine uses a variable."""
        is_own = self.routine.shared.is_own(variable) and not variable.is_dummy
        return is_own and not self.routine.lends(variable.name)

    def _kept(self, bound: Value, head: Any) -> Value:
        """A bound as it is before the loop."""
        if bound.number is not None:
            return bound
        name = self.e.fresh("bound")
        self._add(f"{name} = {plain(bound)}", head)
        return Value(name, bound.kind, low=bound.low)

    def _concurrent(self, header: Any, loop: OpenLoop, head: Any, statements: list[Any]) -> None:
        """`do concurrent`: loops in any order, which is that of memory here."""
        triplets = [one for one in walk(header) if isinstance(one, f03.Forall_Triplet_Spec)]
        mask = header.children[1]
        self._nest(list(reversed(triplets)), mask, loop, head, statements)

    def _forall(self, node: Any) -> None:
        """`forall`: each assignment is a loop; none may use what it changes, as all elements are computed first."""
        header = next(one for one in walk(node) if isinstance(one, f03.Forall_Header))
        for one in node.children[1:]:
            if isinstance(one, f03.End_Forall_Stmt):
                continue
            if not isinstance(one, f03.Assignment_Stmt):
                self.e.refuse(one, f"`{one}` in a `forall` is not supported", "Write `do` loops.")
            target, _, source = one.children
            if base_name(target) in names_in((source, header)):
                what = f"`{target}` in a `forall` is computed from `{base_name(target)}`"
                self.e.refuse(one, f"{what}, which is not supported", "Write `do` loops, from a copy.")
            self._concurrent(header, OpenLoop(""), node, [one])

    def _nest(self, left: list[Any], mask: Any, loop: OpenLoop, head: Any, statements: list[Any]) -> None:
        if not left:
            if mask is None:
                return self._inside(loop, head, statements)
            with self.lines.block(f"if {self._condition(mask)}:", line_of(head)):
                return self._inside(loop, head, statements)
        name, *bounds = left[0].children
        variable = self.e.variable(name)
        outer, self.e.scope = self.e.scope, self.e.scope.inside()
        if not self._is_inner(variable) or is_used_outside(self._body, variable.name):
            # The counter is another variable than that of its name outside.
            variable = replace(variable, label=self.e.fresh(variable.name), scope=self.scope, is_kept=False)
            self.e.scope.variables[variable.name] = variable
        counter = counter_of(self.e, head, variable, bounds)
        text = f"for {variable.text} in {counter.range(plain(counter.first), counter.last)}:"
        with self.lines.block(text, line_of(head)), counted(self.e, counter):
            self._nest(left[1:], mask, loop, head, statements)
        self.e.scope = outer

    def _jump(self, node: Any) -> None:
        is_exit, label = isinstance(node, f03.Exit_Stmt), _label(node)
        if not self._loops or (label and all(loop.label != label for loop in self._loops)):
            self.e.refuse(
                node, f"`{node}` is in no loop of that name", "Write `if (...) then` around what is left out."
            )
        target = self._loops[-1] if not label else next(one for one in self._loops if one.label == label)
        flag = target.leave if is_exit else target.skip
        if target is not self._loops[-1]:
            self._add(f"{flag} = True", node)
            self._add("break", node)
        else:
            self._add("break" if is_exit else "continue", node)


def _label(node: Any) -> str:
    return name_of(node.children[1]) if node.children[1] is not None else ""


def _nearest(node: Any) -> Any:
    """The innermost loop around a statement."""
    while not isinstance(node, DO_LOOPS):
        node = node.parent
    return node


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
