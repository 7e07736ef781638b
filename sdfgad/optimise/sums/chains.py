"""Chains of products in straight-line code: a sum of products with the statements that compute its factors.

``t = A @ B; s = sum of t[i, i]`` is one sum of products, ``s = sum of A[i, k] * B[k, i]``, if nothing else reads `t`.
Of the factors of a product at most one is a sum itself: a product of two sums that cancel, ``(A @ x) * (B @ y)``, is
more exact than the sum of all their products, and stays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Const, Int, Op, Read, postorder, reads, symbols_of
from sdfgad.ir.program import Block, Buffer, Compute, Statement, reads_of, written
from sdfgad.optimise.accumulation.first_assign import is_clear

FACTORS = ("multiply", "negative", "conjugate")
# An array has so many times as many elements as the few that are needed.
FEW = 2


@dataclass(frozen=True)
class _Part:
    """Statements of a chain, by position; `is_sum` if one of them sums over something."""

    positions: frozenset[int]
    is_sum: bool


@dataclass(frozen=True)
class Chains:
    """The chains of a block.

    Attributes:
        uses: buffer -> how many statements of the whole program mention it.
        outside: buffers that the caller sees.
    """

    block: Block
    uses: Mapping[str, int]
    outside: frozenset[str]

    def ending(self, end: int) -> tuple[int, ...]:
        """The positions of the statements of the chain that ends with a statement, which may run right before that one.

        Empty if the statement is no product.
        """
        part = self._with_factors(end)
        if part is None:
            return ()
        members = sorted(part.positions)
        operands = {read.buffer for k in members for read in reads_of(self.block[k])}
        between = tuple(s for k, s in enumerate(self.block[members[0] : end], members[0]) if k not in part.positions)
        return () if written(between) & operands else tuple(members)

    def _with_factors(self, position: int) -> _Part | None:
        statement = self.block[position]
        if not isinstance(statement, Compute) or not _is_product(statement):
            return None
        positions, is_sum = frozenset((position,)), False
        for read in reads(statement.value):
            factor = self._factor(position, read)
            if factor is not None and not (is_sum and factor.is_sum):
                positions, is_sum = positions | factor.positions, is_sum or factor.is_sum
        return _Part(positions, is_sum or len(own_params(statement)) < len(statement.params))

    def _factor(self, reader: int, read: Read) -> _Part | None:
        """The statements that compute what one statement, and nothing else, reads once."""
        name, statement = read.buffer, self.block[reader]
        made = self._made(name, reader)
        if not made or sum(other.buffer == name for other in reads_of(statement)) > 1:
            return None
        if not _fills(name, [self.block[k] for k in made]):
            return None
        part = self._with_factors(made[-1])
        return None if part is None else _Part(part.positions.union(made), part.is_sum)

    def _made(self, name: str, reader: int) -> list[int]:
        """The positions of all other statements that mention what one reads, where they may be an assignment, or a
        clear and an addition; empty if not. They are looked for backwards: mostly they are near."""
        count = self.uses[name] - 1
        if name in self.outside or count not in (1, 2):
            return []
        found: list[int] = []
        for k in range(reader - 1, -1, -1):
            if name not in self.block[k].mentioned:
                continue
            found.insert(0, k)
            if len(found) == count:
                return found
            if not _adds_to(name, self.block[k]):
                return []
        return []


def _adds_to(name: str, statement: Statement) -> bool:
    return isinstance(statement, Compute) and statement.target.buffer == name and not statement.assigns


def _fills(name: str, block: list[Statement]) -> bool:
    """Whether statements are an assignment to a buffer, or a clear and an addition."""
    *clears, last = block
    if not isinstance(last, Compute) or last.target.buffer != name or len(clears) != int(not last.assigns):
        return False
    return all(isinstance(s, Compute) and is_clear(s, 0) for s in clears)


def _is_product(statement: Compute) -> bool:
    """Whether a statement assigns, or adds, products of elements and constants."""
    nodes = list(postorder(statement.value))
    are_factors = all(isinstance(n, (Const, Read)) or (isinstance(n, Op) and n.name in FACTORS) for n in nodes)
    is_plain = not any(read.children for read in reads(statement.value))
    return are_factors and is_plain and statement.value.dtype.kind in "fc" and statement.accumulate in (None, "add")


def few_elements(statement: Statement, buffers: Mapping[str, Buffer]) -> Read | None:
    """A read of an array, of which the statement needs few elements, such as those of its diagonal, and no others."""
    if not isinstance(statement, Compute) or isinstance(statement.value, Read):
        return None
    extents = dict(statement.params)
    if not all(extent.is_const for extent in extents.values()):
        return None
    # Of a projection, `p[:2] / p[2]`, all is needed, though each of the two reads takes but a part.
    mentions = Counter(read.buffer for read in reads(statement.value, *map(Int, statement.target.index)))
    mentions[statement.target.buffer] += 1
    for read in reads(statement.value):
        shape = buffers[read.buffer].shape
        points = math.prod(extents[name].const for name in symbols_of(read) & extents.keys())
        is_known = mentions[read.buffer] == 1 and not read.children and all(e.is_const for e in shape)
        if is_known and FEW * points <= math.prod(e.const for e in shape):
            return read
    return None
