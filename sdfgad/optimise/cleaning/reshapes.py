"""Copy propagation through reshapes and transposes: reads of the copy become reads of the original.

After ``for p < 12: y[p] = t[p // 4, p % 4]``, which keeps the order of the elements in memory, ``y[4*a + b]`` with b <
4 is ``t[a, b]``. A copy that changes the order is propagated only if its elements are read once: then reading the
original in that order costs no more than the copy did. Where the new indices would have more quotients or remainders,
the copy is read as before.
"""

from __future__ import annotations

from math import prod

from sdfgad.dependence.regions import fills_target
from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Lin, Read, reads
from sdfgad.ir.folding import folded
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Compute, Program, Statement, blocks_of, reads_of, walk
from sdfgad.optimise.cleaning.copies import Forward, Known
from sdfgad.optimise.cleaning.unravel import divisions, rewritten, unravelled
from sdfgad.optimise.names import names_of
from sdfgad.schedule.products import product_of


def forward_reshapes(program: Program) -> Program:
    """The program with reads of such copies replaced."""
    return program.with_body(_Reshapes(program, names_of(program)).block(program.body, Known()))


class _Reshapes(Forward):
    def __init__(self, program: Program, names: Names) -> None:
        super().__init__(program)
        self.program, self.names = program, names

    def is_known(self, statement: Compute) -> bool:
        value, target = statement.value, statement.target
        if not isinstance(value, Read) or value.buffer == target.buffer or reads(*value.children):
            return False
        # A copy of one element is in a register.
        # What its target does not tell, such as the parameter of `for p < 1: x[0] = t[p]`, a read of it cannot know.
        is_told = statement.params and len(own_params(statement)) == len(statement.params)
        if value.index == target.index or not is_told or not fills_target(self.buffers, statement):
            return False
        return self.is_in_order(statement, value) or self.is_read_once(target.buffer)

    def is_in_order(self, copy: Compute, value: Read) -> bool:
        """Whether a copy keeps the order of the elements in memory."""
        ranges = {name: (0, extent.const - 1) for name, extent in copy.params if extent.is_const}
        places = [self.place(access) for access in (Access(value.buffer, value.index), copy.target)]
        known = [folded(place, ranges) for place in places if place is not None]
        return len(known) == 2 and known[0] == known[1]

    def place(self, access: Access) -> Lin | None:
        """The position of an element in memory; None if a size is not known."""
        place = Lin(0)
        for lin, extent in zip(access.index, self.buffers[access.buffer].shape, strict=True):
            if not extent.is_const:
                return None
            place = place.scaled(extent.const) + lin
        return place

    def is_read_once(self, name: str) -> bool:
        """Whether a buffer has a single read, of as many elements as it has, outside of matrix products."""
        users = [s for one in self.program.body if name in one.mentioned for s in walk((one,))]
        found = [(s, r) for s in users for r in reads_of(s) if r.buffer == name]
        if len(found) != 1:
            return False
        user, shape = found[0][0], self.buffers[name].shape
        if not isinstance(user, Compute) or product_of(user, self.buffers) is not None:
            return False
        if not all(extent.is_const for extent in (*shape, *(extent for _, extent in user.params))):
            return False
        is_once = prod(extent.const for _, extent in user.params) <= prod(extent.const for extent in shape)
        return is_once and _is_beside(self.program.body, name, user)

    def replaced(self, statement: Statement, known: Known) -> Statement:
        changed = super().replaced(statement, known)
        if changed == statement or not isinstance(statement, Compute) or not isinstance(changed, Compute):
            return statement
        more = len(divisions(unravelled(changed, self.names)))
        if more > len(divisions(unravelled(statement, self.names))):
            return statement
        return rewritten(changed, {}, changed.params)


def _is_beside(block: Block, name: str, user: Compute) -> bool:
    """Whether a statement is in the same block as one that writes a buffer."""
    if user in block:
        return any(isinstance(s, Compute) and s.target.buffer == name for s in block)
    return any(_is_beside(inner, name, user) for s in block for inner in blocks_of(s) if name in s.mentioned)
