"""Emission of a sum of products in a given order: the partial sums, and the nest that adds to the target."""

from __future__ import annotations

from functools import reduce

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Branch, Buffer, Compute, Params, Statement, reindexed
from sdfgad.optimise.sums.nests import Sum
from sdfgad.optimise.sums.order import Step


class Emission:
    """Emits the statements that compute a sum step by step; adds the arrays of partial sums to `buffers`."""

    def __init__(self, found: Sum, names: Names, buffers: dict[str, Buffer]) -> None:
        self.found, self.names, self.buffers = found, names, buffers
        self.where = found.addition.statement.where
        self.before: list[Statement] = []

    def block(self, step: Step) -> Block:
        """The checks, the partial sums, and the last step."""
        checks = [self.over_box(check, self.found.names(check.value)) for check in self.found.checks]
        value = self.value(step)
        return (*checks, *self.before, *self.clear(), self.nest(step, value))

    def clear(self) -> Block:
        """The clear of what the sum is assigned to; nothing if it is added."""
        addition = self.found.addition
        if not addition.is_fresh:
            return ()
        names = self.found.names(*map(Int, addition.target.index))
        zero = Const(0, self.buffers[addition.target.buffer].dtype)
        return (self.over_box(Compute((), addition.target, zero, where=self.where), names),)

    def value(self, step: Step) -> Expr:
        """The product of a step's parts, given factors and elements of partial sums."""
        parts = [self.found.factors[part] if isinstance(part, int) else self.made(part) for part in step.parts]
        return reduce(lambda x, y: Op("multiply", (x, y), x.dtype), parts)

    def made(self, step: Step) -> Expr:
        """An element of an array of partial sums, after emitting the statements that compute the array."""
        value, found = self.value(step), self.found
        own, box = found.ordered(step.kept), found.domain.onto(step.over)
        assert box is not None
        shape = tuple(Lin(box[name][1] - box[name][0]) for name in own)
        buffer = Buffer(self.names.fresh(f"{found.addition.target.buffer}_part"), shape, value.dtype, "", self.where)
        self.buffers[buffer.name] = buffer
        element = Access(buffer.name, tuple(Lin.symbol(name) - box[name][0] for name in own))
        is_sum = step.kept < step.over
        if is_sum:
            clear = Compute((), element, Const(0, value.dtype), where=self.where)
            self.before.append(self.over_box(clear, step.kept))
        statement = Compute((), element, value, "add" if is_sum else None, self.where)
        self.before.append(self.over_box(statement, step.over))
        return element.read(value.dtype)

    def over_box(self, statement: Compute, names: frozenset[str]) -> Compute:
        """A statement over all values of some variables, which become parameters with new names."""
        box = self.found.domain.onto(names)
        assert box is not None
        params: list[tuple[str, Lin]] = []
        symbols: dict[str, Lin] = {}
        for name in self.found.ordered(names):
            low, high = box[name]
            params.append((self.names.fresh("p"), Lin(high - low)))
            symbols[name] = Lin.symbol(params[-1][0]) + low
        return reindexed(statement, tuple(params), symbols)

    def nest(self, step: Step, value: Expr) -> Statement:
        """The loops that remain, around the last step."""
        found, counters = self.found, {loop.var for loop in self.found.nest.loops}
        names = [name for name in found.ordered(step.over) if name not in counters]
        params: Params = tuple((name, Lin(found.extents[name])) for name in names)
        statement: Statement = Compute(params, found.addition.target, value, "add", self.where)
        guards = tuple(form for form in found.nest.guards if form.terms and found.names(Int(form)) <= step.over)
        if guards:
            statement = Branch(_all_hold(guards), (statement,), (), guards, self.where)
        for loop in reversed(found.nest.loops):
            if loop.var in step.over:
                statement = loop.with_trips(loop.trips, (statement,))
        return statement


def _all_hold(guards: tuple[Lin, ...]) -> Expr:
    tests: list[Expr] = [Op("greater_equal", (Int(form), Const(0, INT)), BOOL) for form in guards]
    return reduce(lambda x, y: Op("logical_and", (x, y), BOOL), tests)
