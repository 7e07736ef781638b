"""Contraction ordering: products of several factors are multiplied and summed in the order that takes least work.

``for k, e, q, w: y[k, e] += g[k, e - w] @ (d[q, w] * h)`` multiplies, for each k and e, by the same ``d[q, w] * h``
summed over q, a matrix for each w. All that such a nest adds to its target is taken as one product of factors, summed
over counters and axes, and so is a chain of statements (`chains`), ``t = A @ B; y = t @ v``; `order` finds the
cheapest order to multiply and sum them in. A partial sum is computed only for the points at which the nest has a term,
so that what a condition excludes stays excluded; results change in rounding only. The pass runs before differentiation:
with less arithmetic in the program, its adjoint has less, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sdfgad.ir.expr import Expr, Int, Lin, reads, rewrite, symbols_of
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    buffers_of,
    walk,
    with_blocks,
    written,
)
from sdfgad.optimise.blocks import flat_map
from sdfgad.optimise.names import names_of
from sdfgad.optimise.sizes import known_bytes
from sdfgad.optimise.sums.chains import Chains, few_elements
from sdfgad.optimise.sums.emit import Emission
from sdfgad.optimise.sums.line import Line
from sdfgad.optimise.sums.nests import Nest, Sum, nest_of
from sdfgad.optimise.sums.order import Domain, Step

# So many times as many operations as with sums made before are worth them, if they are at least so many.
GAIN, WORK = 1.5, 1000


def factor_sums(program: Program) -> Program:
    """The program with such partial sums before the loops."""
    factoring = _Factoring(program)
    body = factoring.block(program.body)
    gone = factoring.gone - {name for statement in walk(body) for name in buffers_of(statement)}
    kept = {name: buffer for name, buffer in factoring.buffers.items() if name not in gone}
    return replace(program, body=body, buffers=kept)


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
        end = len(block) - 1
        while end >= 0:
            changed = self.chain(block, end)
            if changed is None and (parts := self.with_copy(block[end])):
                changed = self.chain((*block[:end], *parts, *block[end + 1 :]), end)
            # The rest of the block behind the chain stays.
            end += -1 if changed is None else len(changed) - len(block)
            block = block if changed is None else changed
        return block

    def with_copy(self, statement: Statement) -> Block:
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
        """A block with the chain that ends at a position rewritten; None if there is none, or that is not worth it."""
        members = Chains(block, self.uses, self.program.interface).ending(end)
        made = self.made(Nest((), (), tuple(block[k] for k in members))) if members else None
        if made is None:
            return None
        before = tuple(s for k, s in enumerate(block[:end]) if k not in members)
        return (*before, *made, *block[end + 1 :])

    def statement(self, statement: Statement) -> Block:
        """A loop as the sum that it computes, or a statement with its blocks rewritten."""
        nest = nest_of(statement) if isinstance(statement, Loop) else None
        made = None if nest is None else self.made(nest)
        return (with_blocks(statement, self.block),) if made is None else made

    def made(self, nest: Nest) -> Block | None:
        """What computes the sum of a nest in fewer operations; None if it is no sum, or that is not worth it."""
        found = self.sum_of(nest)
        # The search takes longer than most nests are worth.
        if found is None or found.work < WORK:
            return None
        step = found.order.best
        if step is None or not self.is_worth(found, step):
            return None
        made = Emission(found, self.names, self.buffers).block(step)
        self.gone |= written(nest.body) - {found.addition.target.buffer, "status"}
        self.uses += _uses(made)
        self.uses -= _uses(nest.around)
        return made

    # --- which

    def sum_of(self, nest: Nest) -> Sum | None:
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
        found = Sum(nest, addition, tuple(line.checks), extents, domain)
        return found if all(domain.onto(found.names(check.value)) is not None for check in line.checks) else None

    def temporaries(self, body: Block) -> set[str]:
        """The temporaries private to a nest: written in it and mentioned nowhere else."""
        inside = Counter(name for statement in body for name in buffers_of(statement))
        return {name for name in written(body) - self.program.interface if inside[name] == self.uses[name]}

    def is_worth(self, found: Sum, step: Step) -> bool:
        """Whether this takes fewer operations, and partial sums no more bytes than the arrays they come from."""
        dtype = self.buffers[found.addition.target.buffer].dtype
        arrays = {read.buffer for read in reads(*found.factors)} | {found.addition.target.buffer}
        room = sum(known_bytes(self.buffers[name]) for name in arrays)
        is_one_kind = all(factor.dtype == dtype for factor in found.factors)
        is_other = bool(step.before) or (not found.nest.loops and len(found.nest.body) > 1)
        is_less = found.work >= GAIN * step.cost and is_other
        return is_one_kind and is_less and step.extra * dtype.itemsize <= room


def _uses(block: Block) -> Counter[str]:
    """How many statements mention a buffer."""
    return Counter(name for statement in walk(block) for name in buffers_of(statement))
