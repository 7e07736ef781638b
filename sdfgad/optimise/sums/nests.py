"""Nests and chains as one sum of products: the counters, parameters and factors of all that they add to an array."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdfgad.ir.expr import Expr, Int, Lin, Op, postorder, symbols_of
from sdfgad.ir.program import Block, Branch, Compute, Loop, computes
from sdfgad.optimise.sums.line import Addition
from sdfgad.optimise.sums.order import Domain, Order


@dataclass(frozen=True)
class Nest:
    """Perfectly nested loops and conditions, or none; the body runs where the guards are >= 0."""

    loops: tuple[Loop, ...]
    guards: tuple[Lin, ...]
    body: Block

    @property
    def around(self) -> Block:
        """The nest as statements."""
        return self.loops[:1] or self.body


@dataclass(frozen=True)
class Sum:
    """The sum of products that a nest adds to its target.

    Attributes:
        extents: variable -> how many values it has: the loops' counters and the statement's parameters, in their order.
    """

    nest: Nest
    addition: Addition
    checks: tuple[Compute, ...]
    extents: dict[str, int]
    domain: Domain

    @property
    def factors(self) -> tuple[Expr, ...]:
        return self.addition.term.factors

    def names(self, *roots: Expr) -> frozenset[str]:
        return frozenset(symbols_of(*roots)) & self.extents.keys()

    def ordered(self, names: frozenset[str]) -> list[str]:
        """Variables in the order of axes: counters, then what the statement sums over, then the target's axes.

        So the last factor of a matrix product is read along its rows.
        """
        own = [name for name, _ in self.addition.own]
        return [name for name in (*(n for n in self.extents if n not in own), *own) if name in names]

    @property
    def order(self) -> Order:
        """The search for the order; the target's variables, and counters that no factor has, are kept to the end."""
        factors = tuple(map(self.names, self.factors))
        idle = self.extents.keys() - frozenset[str]().union(*factors)
        return Order(self.domain, factors, self.names(*map(Int, self.addition.target.index)) | idle)

    @property
    def work(self) -> int:
        """The operations of the nest as it is."""
        trips = self.domain.points(frozenset(loop.var for loop in self.nest.loops))
        return trips * sum(map(_operations, computes(self.nest.body)))


def nest_of(loop: Loop) -> Nest | None:
    """The perfect nest of loops and conditions, if all trip counts are known."""
    loops: list[Loop] = []
    guards: list[Lin] = []
    body: Block = (loop,)
    while len(body) == 1 and isinstance(body[0], (Loop, Branch)):
        (statement,) = body
        if isinstance(statement, Loop):
            is_plain = not (statement.is_open or statement.backward or statement.is_parallel)
            if not is_plain or statement.start != Lin(0) or not statement.trips.is_const or statement.trips.const < 1:
                return None
            loops.append(statement)
            body = statement.body
        elif isinstance(statement, Branch):
            if statement.orelse or not statement.guards:
                return None
            guards += statement.guards
            body = statement.then
    return Nest(tuple(loops), tuple(guards), body)


def _operations(statement: Compute) -> int:
    """The floating-point operations of a statement; a sign, or a conjugate, is none."""
    operations = [node for node in postorder(statement.value) if isinstance(node, Op) and node.dtype.kind in "fc"]
    count = sum(one.name not in ("negative", "conjugate") for one in operations)
    return (count + (statement.accumulate is not None)) * math.prod(extent.const for _, extent in statement.params)
