"""Loops: `do` with a counter, whose trips are counted at its start, `do while`, `do concurrent`, `exit` and `cycle`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fparser.two import Fortran2003 as f03

from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.kinds import INTEGER
from sdfgad.fortran.scope import Variable
from sdfgad.fortran.syntax import name_of, walk
from sdfgad.fortran.values import Value, constant, plain

DO_LOOPS = tuple(
    getattr(f03, name)
    for name in ("Block_Nonlabel_Do_Construct", "Block_Label_Do_Construct", "Action_Term_Do_Construct")
    if hasattr(f03, name)
)


@dataclass
class OpenLoop:
    """A loop whose body is being translated.

    Attributes:
        label: the name of the construct.
        leave, skip: names of flags that an inner loop raises to leave this one, or to go on with its next trip.
    """

    label: str
    leave: str = ""
    skip: str = ""


@dataclass(frozen=True)
class Counter:
    """The counter of a loop and its bounds."""

    variable: Variable
    first: Value
    last: Value
    step: Value

    @property
    def is_upwards(self) -> bool:
        return self.step.number is not None and self.step.number > 0

    @property
    def low(self) -> int | None:
        """What the counter is never below."""
        if self.step.number is None:
            return None
        return self.first.low if self.step.number > 0 else self.last.low

    def range(self, first: str, last: Value) -> str:
        """The Python range of its values."""
        if self.step.number is None:
            stop = f"{last.text} + (1 if {self.step.text} > 0 else -1)"
            return f"range({first}, {stop}, {plain(self.step)})"
        stop = plain(last.shifted(1 if self.is_upwards else -1))
        suffix = "" if self.step.number == 1 else f", {self.step.number}"
        return f"range({first}, {stop}{suffix})"

    def after(self, first: str, last: str) -> str:
        """What the counter is after all trips: the first value that is not taken."""
        step = self.step.number
        if step == 1:
            return f"max({first}, {last} + 1)"
        if step == -1:
            return f"min({first}, {last} - 1)"
        if step is not None:
            span = f"{last} - {first}" if step > 0 else f"{first} - {last}"
            return f"{first} + max(({span} + {abs(step)}) // {abs(step)}, 0) * {step}"
        trips = f"max(({last} - {first} + {self.step.text}) // {self.step.text}, 0)"
        return f"{first} + {trips} * {self.step.text}"


def counter_of(e: Evaluator, node: Any, variable: Variable, bounds: list[Any]) -> Counter:
    """The counter that a loop's head declares.

    Raises:
        UnsupportedProgram: it is no integer, or its step is 0.
    """
    if variable.kind.base != "integer" or variable.rank:
        e.refuse(node, f"the counter `{variable.name}` is no integer", "Count by an integer, and compute from it.")
    first, last = e.integer(bounds[0]), e.integer(bounds[1])
    step = e.integer(bounds[2]) if len(bounds) > 2 and bounds[2] is not None else constant(1, INTEGER)
    if step.number == 0:
        e.refuse(node, "the step of this loop is 0", "Write another one, such as 1.")
    return Counter(variable, first, last, step)


def is_used_outside(body: Any, name: str) -> bool:
    """Whether a name occurs other than in loops that count by it."""
    return any(isinstance(one, f03.Name) and name_of(one) == name and not _is_in_loop(one, name) for one in walk(body))


def _is_in_loop(node: Any, name: str) -> bool:
    below, above = node, node.parent
    while above is not None:
        if isinstance(above, DO_LOOPS):
            head = above.children[0]
            control = next((one for one in walk(head) if isinstance(one, f03.Loop_Control)), None)
            counter = control.children[1] if control is not None else None
            if counter is not None and name_of(counter[0]) == name:
                # The bounds are computed before the loop.
                return below is not head or node is counter[0]
            if name in {name_of(one.children[0]) for one in walk(head) if isinstance(one, f03.Forall_Triplet_Spec)}:
                return True
        if isinstance(above, f03.Ac_Implied_Do):
            return True
        below, above = above, above.parent
    return False


def leaves_itself(loop: Any) -> bool:
    """Whether `exit` may end a loop before its last trip."""
    return any(isinstance(one, f03.Exit_Stmt) for one in walk(loop.children))


@contextmanager
def counted(e: Evaluator, counter: Counter) -> Iterator[None]:
    """The body of a loop, in which its counter is known to be no smaller than a number."""
    name, held = counter.variable.text, e.lows.get(counter.variable.text)
    e.lows.pop(name, None)
    if counter.low is not None:
        e.lows[name] = counter.low
    yield
    e.lows.pop(name, None)
    if held is not None:
        e.lows[name] = held
