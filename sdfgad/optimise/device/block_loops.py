"""Persistent kernels: which sequential loops one block of threads runs, instead of a launch for each step of each trip.

Outermost ones first: the estimate of `sdfgad.optimise.device.side` decides between the block, launches, and the host.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sdfgad.ir.program import Block, Loop, Program, Statement, with_blocks
from sdfgad.optimise.device.memories import placed_buffers, private_numbers
from sdfgad.optimise.device.side import Side
from sdfgad.schedule.kernels import Form, form_of
from sdfgad.schedule.mean_work import Means, means_in


def block_loops(program: Program) -> Program:
    """The program with such loops marked."""
    private = private_numbers(program)
    side = Side(placed_buffers(program, private), private, program.bounds)

    def each(statement: Statement, means: Means) -> Statement:
        if not isinstance(statement, Loop):
            return with_blocks(statement, partial(block, means=means))
        if form_of(statement, side.buffers, private) is not Form.HOST:
            return statement
        if side.is_in_block(statement, means):
            return replace(statement, is_in_block=True)
        if side.is_host(statement, means):
            return statement
        return with_blocks(statement, partial(block, means=means_in(statement, means)))

    def block(statements: Block, means: Means) -> Block:
        return tuple(each(statement, means) for statement in statements)

    return program.with_body(block(program.body, {}))
