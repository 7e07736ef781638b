"""Copy propagation of arguments: reads that only the copy of an argument reaches read the argument itself.

An argument that a program updates in place is copied to a working copy first. The argument is never overwritten, so
its reads need no residual. Which reads no update reaches is found by a reaching-definitions analysis.
"""

from __future__ import annotations

import islpy as isl

from sdfgad.analysis.dataflow import flow
from sdfgad.analysis.model import AccessRelation, access_relation, depth_of, placed
from sdfgad.ir.expr import Expr, Lin, Read
from sdfgad.ir.program import (
    Access,
    Block,
    Compute,
    Program,
    Statement,
    boxed_reads,
    rewrite_statement,
    with_blocks,
    writes_of,
)


def forward_inputs(program: Program, context: isl.Set) -> Program:
    """The program with the reads that no update of a working copy reaches redirected to the arguments."""
    copies = _working_copies(program)
    if not copies:
        return program
    unmodified = _unmodified_reads(program, context, copies)
    number = -1

    def visit(block: Block) -> Block:
        nonlocal number
        result: list[Statement] = []
        for statement in block:
            number += 1
            changed = _redirected(statement, copies, unmodified.get(number, frozenset()))
            result.append(with_blocks(changed, visit))
        return tuple(result)

    return program.with_body(visit(program.body))


def _working_copies(program: Program) -> dict[str, tuple[int, str]]:
    """Working copy -> number of the statement that copies, and the input that it copies."""
    result: dict[str, tuple[int, str]] = {}
    for number, statement in enumerate(program.body):
        if not isinstance(statement, Compute) or not isinstance(statement.value, Read):
            break
        if statement.value.buffer not in program.inputs or not _is_whole(program, statement, statement.value):
            break
        result[statement.target.buffer] = (number, statement.value.buffer)
    return result


def _is_whole(program: Program, statement: Compute, read: Read) -> bool:
    """Whether a statement copies all of a buffer to another of the same shape."""
    shapes = {program.buffers[name].shape for name in (read.buffer, statement.target.buffer)}
    in_order = tuple(Lin.symbol(name) for name, _ in statement.params)
    is_plain = statement.accumulate is None and read.index == statement.target.index == in_order
    return is_plain and shapes == {tuple(extent for _, extent in statement.params)}


def _unmodified_reads(
    program: Program, context: isl.Set, copies: dict[str, tuple[int, str]]
) -> dict[int, frozenset[Read]]:
    """Statement number -> its reads of working copies that no update reaches."""
    depth = depth_of(program.body)
    sinks: list[tuple[int, Read, AccessRelation]] = []
    writes: list[AccessRelation] = []
    for number, statement, place in placed(program.body):
        for read, params in boxed_reads(statement):
            if read.buffer in copies:
                access = Access(read.buffer, read.index)
                sinks.append(
                    (number, read, access_relation(f"R{len(sinks)}", place, access, params, 0, depth, context))
                )
        for access, params in writes_of(statement):
            if access.buffer in copies:
                writes.append(access_relation(f"W{number}", place, access, params, 1, depth, context))
    if not sinks:
        return {}
    found = flow([t for _, _, t in sinks], [w for w in writes if not w.is_exact], [w for w in writes if w.is_exact])
    if found is None:
        return {}
    own = {f"W{number}" for number, _ in copies.values()}
    stale = {sink for source, sink in found if source not in own}
    unmodified: dict[int, frozenset[Read]] = {}
    for position, (number, read, _) in enumerate(sinks):
        if f"R{position}" not in stale:
            unmodified[number] = unmodified.get(number, frozenset()) | {read}
    return unmodified


def _redirected(statement: Statement, copies: dict[str, tuple[int, str]], reads: frozenset[Read]) -> Statement:
    def moved(node: Expr) -> Expr | None:
        if isinstance(node, Read) and node in reads:
            return Read(copies[node.buffer][1], node.index, node.dtype)
        return None

    return rewrite_statement(statement, replace_node=moved) if reads else statement
