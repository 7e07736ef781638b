"""Definite assignment: whether a routine sets a variable from around it before it reads it: nobody must pass it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.arguments import by_name
from sdfgad.fortran.assignments import is_unallocated
from sdfgad.fortran.designators import base_name
from sdfgad.fortran.loops import DO_LOOPS
from sdfgad.fortran.routine import Routine
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import listed, name_of, walk

# What statements do first with a variable: nothing, setting all of it, setting it on some ways alone, or another thing.
NOT_USED, SET, MAY_SET, READ = "", "set", "may set", "read"


def first_use(routine: Routine, variable: Variable) -> str:
    """What a routine that has been translated does first with an argument, or a variable from around it."""
    if not _is_known(routine, variable):
        return NOT_USED
    body = routine.part(f03.Execution_Part)
    return _Uses(routine, variable).of(getattr(body, "children", ()))


@dataclass(frozen=True)
class _Uses:
    """The uses of a variable in a routine."""

    routine: Routine
    variable: Variable

    def of(self, nodes: Iterable[Any]) -> str:
        state, may_have_left = NOT_USED, False
        for node in nodes:
            found = self._of(node)
            if found == READ or (found == SET and not may_have_left):
                return found
            state = MAY_SET if found else state
            may_have_left |= any(isinstance(one, f03.Return_Stmt) for one in walk(node))
        return state

    def _of(self, node: Any) -> str:
        if any(isinstance(one, f03.Use_Stmt) for one in walk(node)):
            # A block has names of its own.
            return READ
        if not self._is_in(node):
            return NOT_USED
        if isinstance(node, f03.Assignment_Stmt):
            return self._assignment(node)
        if isinstance(node, f03.Allocate_Stmt):
            places = [one for one in walk(node) if isinstance(one, f03.Allocation)]
            is_read = any(self._is_in(one.children[1]) for one in places) or self._is_in(node.children[2])
            return READ if is_read or not any(self._is_all(one.children[0]) for one in places) else SET
        if isinstance(node, f03.Pointer_Assignment_Stmt):
            return READ if self._is_in(node.children[2]) or not self._is_all(node.children[0]) else SET
        if isinstance(node, f03.Call_Stmt):
            return self._call(node)
        if isinstance(node, DO_LOOPS):
            return self._loop(node)
        if isinstance(node, (f03.If_Construct, f03.Case_Construct)):
            return self._branches(node)
        if isinstance(node, f03.If_Stmt) and not self._is_in(node.children[0]):
            found = self._of(node.children[1])
            return MAY_SET if found == SET else found
        return READ

    def _assignment(self, node: Any) -> str:
        target, _, source = node.children
        needs_storage = self.variable.is_allocatable and not is_unallocated(self.variable)
        return READ if self._is_in(source) or not self._is_all(target) or needs_storage else SET

    def _call(self, node: Any) -> str:
        name = node.children[0]
        candidates = self.routine.scope.candidates(name_of(name))
        if len(candidates) != 1 or candidates[0].procedural:
            return READ
        callee = candidates[0]
        actuals = by_name(callee, listed(node.children[1]))
        intents = {one.name: one.intent for one in callee.dummies}
        passed = [key for key, actual in actuals.items() if self._is_in(actual)]
        if any(intents.get(key) != "out" or not self._is_all(actuals[key]) for key in passed):
            return READ
        return SET if passed else first_use(callee, self.variable)

    def _loop(self, node: Any) -> str:
        head, *body = node.children
        controls = [one for one in walk(head) if isinstance(one, f03.Loop_Control)]
        counter = controls[0].children[1] if controls else None
        if counter is not None and not any(self._is_in(one) for one in counter[1]) and self._is_all(counter[0]):
            return SET
        found = READ if self._is_in(head) else self.of(body)
        return MAY_SET if found == SET else found

    def _branches(self, node: Any) -> str:
        heads = (f03.If_Then_Stmt, f03.Else_If_Stmt, f03.Else_Stmt, f03.Case_Stmt, f03.Select_Case_Stmt)
        sides: list[list[Any]] = []
        is_complete = False
        for one in node.children:
            if isinstance(one, heads):
                if self._is_in(one):
                    return READ
                is_complete |= isinstance(one, f03.Else_Stmt) or "DEFAULT" in str(one).upper()
                if not isinstance(one, f03.Select_Case_Stmt):
                    sides.append([])
            elif sides:
                sides[-1].append(one)
        found = {self.of(side) for side in sides}
        if READ in found or found <= {NOT_USED}:
            return READ if READ in found else NOT_USED
        return SET if found == {SET} and is_complete else MAY_SET

    # --- names

    def _is_in(self, node: Any) -> bool:
        """Whether statements use it, themselves or by calls; also where only a name like its own is there."""
        return node is not None and any(isinstance(one, f03.Name) and self._means(name_of(one)) for one in walk(node))

    def _means(self, name: str) -> bool:
        scope = self.routine.scope
        library = self.routine.library
        for one in (*scope.candidates(name), *(library.bound_routines() if name in library.bindings else ())):
            if any(_is_known(each, self.variable) for each in (one, *one.bound.values())):
                return True
        found = scope.variables.get(name) or (scope.variable(name) or (None, None))[1]
        return found is not None and self.variable in found.leaves

    def _is_all(self, node: Any) -> bool:
        """Whether a node designates all of it, and nothing else."""
        if not isinstance(node, (f03.Name, f03.Data_Ref)) or not self._means(base_name(node)):
            return False
        path = str(node).replace(" ", "").lower().split("%")
        own = self.variable.name.split("%")
        return path[1:] == own[1:] and "(" not in str(node)


def _is_known(routine: Routine, variable: Variable) -> bool:
    # What has not been translated is not called.
    is_translated = "shared" in vars(routine)
    return is_translated and (variable.scope is routine.scope or variable in routine.shared.views)


def is_set_first(routine: Routine, variable: Variable, is_output: bool = False) -> bool:
    """Whether what a variable is before the call makes no difference."""
    found = first_use(routine, variable)
    return found == SET or (found == MAY_SET and not is_output)
