"""Reduction recognition: ``total[p] = total[p] + x[p]`` in a loop around library calls is a sum.

Threads can share such a loop where its trips only add to what they have in common, as ``total[p] += x[p]`` says.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import Expr, Op, reads
from sdfgad.ir.program import Block, Compute, Loop, Program, Statement, transform
from sdfgad.schedule.thread_independence import has_calls


def recognise_sums(program: Program) -> Program:
    """The program with such sums in outermost loops."""
    return program.with_body(tuple(map(_outermost, program.body)))


def _outermost(statement: Statement) -> Statement:
    if not isinstance(statement, Loop) or not has_calls(statement):
        return statement
    return replace(statement, body=transform(statement.body, _one))


def _one(statement: Statement) -> Block:
    if not isinstance(statement, Compute) or (added := _added(statement)) is None:
        return (statement,)
    return (replace(statement, value=added, accumulate="add"),)


def _added(statement: Compute) -> Expr | None:
    """What an assignment adds to its target; None if it does something else."""
    value, target = statement.value, statement.target.read(statement.value.dtype)
    if statement.accumulate or not isinstance(value, Op) or value.name != "add" or target not in value.args:
        return None
    first, second = value.args
    added = second if first == target else first
    return added if all(read.buffer != target.buffer for read in reads(added)) else None
