"""Code sinking of clears: each row of a matrix is cleared in the trip that works on it, not the matrix before the loop.

``for i: …; for f < i: A[i, f] += t * x[f]`` then finds the row that it adds to in the cache; a matrix larger than the
cache would be written, read and written again.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.accesses import is_whole, mentioned_by, own_params, uses_of
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Block, Compute, Loop, Program, rewrite_statement
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.first_assign import is_clear
from sdfgad.optimise.names import names_of, renamed


def sink_clears(program: Program) -> Program:
    """The program with such clears in the loops, also in nested ones."""
    return program.with_body(everywhere(program.body, _Sinking(program).block))


class _Sinking:
    def __init__(self, program: Program) -> None:
        self.buffers, self.names = program.buffers, names_of(program)

    def block(self, block: Block) -> Block:
        for statement in block:
            if isinstance(statement, Compute) and self.is_matrix_clear(statement):
                block = self.moved(block, statement)
        return block

    def is_matrix_clear(self, statement: Compute) -> bool:
        return is_clear(statement) and len(statement.params) > 1 and is_whole(self.buffers, statement)

    def moved(self, block: Block, clear: Compute) -> Block:
        """The block with a clear in the first loop that uses the matrix, if trips and rows correspond one to one."""
        name = clear.target.buffer
        later = block[block.index(clear) + 1 :]
        loop = next((s for s in later if mentioned_by(s, name)), None)
        if not isinstance(loop, Loop) or not self.is_by_rows(loop, name):
            return block
        row = self.row(clear, loop.var)
        position = next(k for k, s in enumerate(loop.body) if mentioned_by(s, name))
        body = (*loop.body[:position], row, *loop.body[position:])
        return tuple(replace(s, body=body) if s is loop else s for s in block if s is not clear)

    def is_by_rows(self, loop: Loop, name: str) -> bool:
        """Whether each trip uses its own row only, and every row has a trip."""
        extent, counter = self.buffers[name].shape[0], Lin.symbol(loop.var)
        is_all = loop.start == Lin(0) and not loop.is_open and loop.trips == extent and extent.is_const
        # Trips that are elements of a vector had better stay so.
        is_vector = loop.is_parallel and all(isinstance(s, Compute) and not s.params for s in loop.body)
        return is_all and not is_vector and all(use.index[0] == counter for use in uses_of(loop) if use.buffer == name)

    def row(self, clear: Compute, var: str) -> Compute:
        # A parameter of the clear may be called as the loop's counter.
        clear = renamed(clear, [self.names.fresh(name) if name == var else name for name, _ in clear.params])
        (first, _), *rest = own_params(clear)
        changed = rewrite_statement(replace(clear, params=tuple(rest)), {first: Lin.symbol(var)})
        assert isinstance(changed, Compute)
        return changed
