"""Contraction ordering: products of several factors are multiplied and summed in the order that takes least work.

``for k, e, q, w: y[k, e] += g[k, e - w] @ (d[q, w] * h)`` multiplies, for each k and e, by the same ``d[q, w] * h``
summed over q, a matrix for each w. All that such a nest adds to its target is taken as one product of factors, summed
over counters and axes, and so is a chain of statements (`chains`), ``t = A @ B; y = t @ v``; `sum_order` finds the cheapest order to multiply and sum them in. A partial sum is computed only
for the points at which the nest has a term, so that what a condition excludes stays excluded; results change in
rounding only. The pass runs before differentiation: with less arithmetic in the program, its adjoint has less, too.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, postorder, reads, rewrite, symbols_of
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    buffers_of,
    computes,
    reindexed,
    walk,
    with_blocks,
    written,
)
from sdfgad.optimise.blocks import flat_map
from sdfgad.optimise.names import names_of
from sdfgad.optimise.products.chains import Chains, few_elements
from sdfgad.optimise.products.nest_terms import Addition, Line
from sdfgad.optimise.products.sum_order import Domain, Order, Step
from sdfgad.optimise.sizes import known_bytes

# So many times as many operations as with sums made before are worth them, if they are at least so many.
GAIN, WORK = 1.5, 1000


def factor_sums(program: Program) -> Program:
    """The program with such partial sums before the loops."""
    factoring = _Factoring(program)
    body = factoring.block(program.body)
    gone = factoring.gone - {name for statement in walk(body) for name in buffers_of(statement)}
    kept = {name: buffer for name, buffer in factoring.buffers.items() if name not in gone}
    return replace(program, body=body, buffers=kept)


@dataclass(frozen=True)
class _Nest:
    """Perfectly nested loops and conditions, or none; the body runs where the guards are >= 0."""

    loops: tuple[Loop, ...]
    guards: tuple[Lin, ...]
    body: Block

    @property
    def around(self) -> Block:
        """The nest as statements."""
        return self.loops[:1] or self.body


@dataclass(frozen=True)
class _Sum:
    """The sum of products that a nest adds to its target.

    Attributes:
        extents: variable -> how many values it has: the loops' counters and the statement's parameters, in their order.
    """

    nest: _Nest
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


class _Factoring:
    def __init__(self, program: Program) -> None:
        self.program, self.buffers = program, dict(program.buffers)
        self.names = names_of(program)
        self.uses = _uses(program.body)
        self.gone: set[str] = set()

    def block(self, block: Block) -> Block:
        """A block with the chains and the largest nests in it rewritten for which that is worth it."""
        return flat_map(self.chains(block), self.statement)

    def chains(self, block: Block) -> Block:
        """A block with its chains rewritten, also those of which a statement needs few elements."""
        for end in reversed(range(len(block))):
            changed = self.chain(block, end)
            if changed is None and (parts := self.in_two(block[end])):
                changed = self.chain((*block[:end], *parts, *block[end + 1 :]), end)
            if changed is not None:
                return self.chains(changed)
        return block

    def in_two(self, statement: Statement) -> Block:
        """A statement after a copy of the few elements of an array that it reads; empty if it reads most of one."""
        read = few_elements(statement, self.buffers)
        if read is None or not isinstance(statement, Compute):
            return ()
        box = tuple(param for param in statement.params if param[0] in symbols_of(read))
        name = self.names.fresh(f"{read.buffer}_needed")
        self.buffers[name] = Buffer(name, tuple(extent for _, extent in box), read.dtype, "", statement.where)
        self.gone.add(name)
        element = Access(name, tuple(Lin.symbol(param) for param, _ in box))
        swap: dict[Expr, Expr] = {read: element.read(read.dtype)}
        copy = Compute(box, element, read, where=statement.where)
        return copy, replace(statement, value=rewrite(statement.value, replace=swap.get))

    def chain(self, block: Block, end: int) -> Block | None:
        members = Chains(block, self.uses, self.program.interface).ending(end)
        made = self.made(_Nest((), (), tuple(block[k] for k in members))) if members else None
        before = tuple(s for k, s in enumerate(block[:end]) if k not in members)
        return None if made is None else (*before, *made, *block[end + 1 :])

    def statement(self, statement: Statement) -> Block:
        nest = _nest(statement) if isinstance(statement, Loop) else None
        made = None if nest is None else self.made(nest)
        return (with_blocks(statement, self.block),) if made is None else made

    def made(self, nest: _Nest) -> Block | None:
        """What computes the sum of a nest in fewer operations; None if it is no sum, or that is not worth it."""
        found = self.sum_of(nest)
        step = None if found is None else found.order.best
        if found is None or step is None or not self.is_worth(found, step):
            return None
        made = _Making(self, found).block(step)
        self.gone |= written(nest.body) - {found.addition.target.buffer, "status"}
        self.uses += _uses(made)
        self.uses -= _uses(nest.around)
        return made

    # --- which

    def sum_of(self, nest: _Nest) -> _Sum | None:
        """The sum that a nest adds to its target, if it does nothing else."""
        line = Line(self.buffers, self.names, self.temporaries(nest.body))
        if not line.read(nest.body) or len(line.additions) != 1:
            return None
        (addition,) = line.additions
        if addition.is_fresh and nest.loops:
            return None
        roots = (*addition.term.factors, *map(Int, addition.target.index), *(check.value for check in line.checks))
        if {read.buffer for read in reads(*roots)} & written(nest.body):
            return None
        counts = {loop.var: loop.trips.const for loop in nest.loops}
        extents = counts | {name: extent.const for name, extent in (*addition.own, *addition.term.sums)}
        domain = Domain.of(extents, nest.guards)
        if domain is None:
            return None
        found = _Sum(nest, addition, tuple(line.checks), extents, domain)
        return found if all(domain.onto(found.names(check.value)) is not None for check in line.checks) else None

    def temporaries(self, body: Block) -> set[str]:
        """The temporaries private to a nest: written in it and mentioned nowhere else."""
        inside = Counter(name for statement in body for name in buffers_of(statement))
        return {name for name in written(body) - self.program.interface if inside[name] == self.uses[name]}

    def is_worth(self, found: _Sum, step: Step) -> bool:
        """Whether this takes fewer operations, and partial sums no more bytes than the arrays they come from."""
        dtype = self.buffers[found.addition.target.buffer].dtype
        arrays = {read.buffer for read in reads(*found.factors)} | {found.addition.target.buffer}
        room = sum(known_bytes(self.buffers[name]) for name in arrays)
        is_one_kind = all(factor.dtype == dtype for factor in found.factors)
        is_other = bool(step.before) or (not found.nest.loops and len(found.nest.body) > 1)
        is_less = found.work >= WORK and found.work >= GAIN * step.cost and is_other
        return is_one_kind and is_less and step.extra * dtype.itemsize <= room


class _Making:
    """Emits the statements that compute a sum step by step."""

    def __init__(self, factoring: _Factoring, found: _Sum) -> None:
        self.factoring, self.found, self.names = factoring, found, factoring.names
        self.where = found.addition.statement.where
        self.before: list[Statement] = []

    def block(self, step: Step) -> Block:
        checks = [self.over_box(check, self.found.names(check.value)) for check in self.found.checks]
        value = self.value(step)
        return (*checks, *self.before, *self.clear(), self.nest(step, value))

    def clear(self) -> Block:
        addition = self.found.addition
        if not addition.is_fresh:
            return ()
        names = self.found.names(*map(Int, addition.target.index))
        zero = Const(0, self.factoring.buffers[addition.target.buffer].dtype)
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
        self.factoring.buffers[buffer.name] = buffer
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


def _nest(loop: Loop) -> _Nest | None:
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
    return _Nest(tuple(loops), tuple(guards), body)


def _uses(block: Block) -> Counter[str]:
    """How many statements mention a buffer."""
    return Counter(name for statement in walk(block) for name in buffers_of(statement))


def _operations(statement: Compute) -> int:
    """The floating-point operations of a statement; a sign, or a conjugate, is none."""
    operations = [node for node in postorder(statement.value) if isinstance(node, Op) and node.dtype.kind in "fc"]
    count = sum(one.name not in ("negative", "conjugate") for one in operations)
    return (count + (statement.accumulate is not None)) * math.prod(extent.const for _, extent in statement.params)


def _all_hold(guards: tuple[Lin, ...]) -> Expr:
    tests: list[Expr] = [Op("greater_equal", (Int(form), Const(0, INT)), BOOL) for form in guards]
    return reduce(lambda x, y: Op("logical_and", (x, y), BOOL), tests)
