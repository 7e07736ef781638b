"""Basic induction variables: integers to which each trip of a loop adds the same, as ``i += 1`` in a ``for`` does.

Such a name is not handed on from trip to trip. It is its value from before the loop plus the step times the number of
trips so far, so that it is known which element ``out[i]`` is, as with the loop's own counter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sdfgad.ir.expr import Int, Lin, reads
from sdfgad.parse.builder import Builder
from sdfgad.parse.python_numbers import count_of, magnitude

# The product of two integers that stay below has 64 bits.
LARGE = 2**31


@dataclass
class Inductions:
    """The basic induction variables of one loop, as far as they are known.

    Attributes:
        steps: what each trip adds to them.
        barred: names that some trips change otherwise, as an attempt to parse the loop has shown.
    """

    steps: dict[str, int] = field(default_factory=dict)
    barred: set[str] = field(default_factory=set)

    def after(self, before: Mapping[str, Any], trips: Lin) -> dict[str, Any]:
        """Their values after some trips, by those from before the loop."""
        values = {
            name: Lin.of(before[name]) + trips.scaled(step) for name, step in self.steps.items() if name in before
        }
        return {name: value.plain for name, value in values.items()}

    def hold(self, outside: Mapping[str, Any], inside: Mapping[str, Any]) -> bool:
        """Whether a trip that begins with the values `outside`, and ends with those `inside`, adds the steps; the names
        that it changes otherwise are barred."""
        others = {name for name, step in self.steps.items() if _step(outside.get(name), inside.get(name)) != step}
        self.barred |= others
        self.steps = {name: step for name, step in self.steps.items() if name not in others}
        return not others

    def add(self, b: Builder, changed: Mapping[str, tuple[Any, Any]], trips: Lin) -> bool:
        """Add those of the names that a trip changes, each with its value before and after; returns whether there are
        some. Integers that may outgrow 64 bits are left to `integer_growth`."""
        count = count_of(trips)
        known = self.barred | self.steps.keys()
        steps = {name: _step(*ends) or 0 for name, ends in changed.items() if name not in known}
        sizes = {name: magnitude(b, changed[name][0]) + abs(step) * count for name, step in steps.items()}
        found = {name: step for name, step in steps.items() if step and sizes[name] < LARGE}
        self.steps |= found
        return bool(found)


def _step(start: Any, end: Any) -> int | None:
    """What is added to an integer; None where that is not one known number, or there is no integer."""
    if not all(isinstance(one, (int, Lin)) and not isinstance(one, bool) for one in (start, end)):
        return None
    first = Lin.of(start)
    step = Lin.of(end) - first
    # Data may be overwritten in the loop.
    return step.const if step.is_const and not reads(Int(first)) else None
