"""Loops as statements of a NumPy function: with counters, conditions, jumps out of them, and in any order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.designators import designated
from sdfgad.fortran.expressions import Expressions
from sdfgad.fortran.lines import Lines
from sdfgad.fortran.loops import DO_LOOPS, Counter, OpenLoop, counted, counter_of, is_used_outside, leaves_itself
from sdfgad.fortran.routine import Routine
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import label_of, line_of, line_of_first, name_of, walk
from sdfgad.fortran.values import Value, plain


class LoopStatements(ABC):
    """Translates loops of one routine; other statements are left to `statement`."""

    def __init__(self, routine: Routine) -> None:
        self.routine, self.scope = routine, routine.scope
        self.e = Expressions(self.scope, shared=routine.shared)
        self.lines = Lines()
        self._loops: list[OpenLoop] = []
        self._body: Any = None

    @abstractmethod
    def statement(self, node: Any) -> None:
        """Translate a statement."""

    @abstractmethod
    def _condition(self, node: Any) -> str:
        """The text of a condition."""

    def _add(self, text: str, node: Any) -> None:
        self.lines.add(text, line_of(node))

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
            self._concurrent(header, OpenLoop(""), node, [one])
            if not self._is_by_element(target, (source, header)):
                what = f"`{target}` in a `forall` is computed from other elements of what it changes"
                self.e.refuse(one, f"{what}, which is not supported", "Write `do` loops, from a copy.")

    def _is_by_element(self, target: Any, others: Any) -> bool:
        """Whether expressions use nothing of an array that is assigned but the element that is."""
        path = _path(target)
        used = [one for one in walk(others) if isinstance(one, (f03.Name, f03.Part_Ref, f03.Data_Ref))]
        inner = [part for one in used if isinstance(one, f03.Data_Ref) for part in walk(one.children)]
        same = [one for one in used if _path(one) == path and not any(one is part for part in inner)]
        heads = [one.children[0] for one in same if isinstance(one, f03.Part_Ref)]
        if any(str(one) != str(target) for one in same if not any(one is head for head in heads)):
            return False
        found = designated(self.e, target)
        called = [each for one in used for each in self.e.scope.candidates(name_of(one))]
        # Functions may use it as a variable around them.
        return found is not None and not any(found.variable in one.shared.views for one in called)

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


def _path(node: Any) -> str:
    """The names of a designator without its subscripts."""
    parts = node.children if isinstance(node, f03.Data_Ref) else (node,)
    return "%".join(name_of(one.children[0] if isinstance(one, f03.Part_Ref) else one) for one in parts)


def _nearest(node: Any) -> Any:
    """The innermost loop around a statement."""
    while not isinstance(node, DO_LOOPS):
        node = node.parent
    return node
