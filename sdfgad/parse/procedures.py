"""Procedures: programs that calls run. They are expanded, in place of the calls, before a program is optimised."""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.expr import INT, Const, Expr
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    FIRST_CHECK,
    Access,
    Block,
    Buffer,
    Call,
    Compute,
    Program,
    Statement,
    Whole,
    rewrite_statement,
    transform,
    walk,
)
from sdfgad.ir.rename import renamed
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.inlining import Inlining, inline
from sdfgad.parse.values import view_of

FAILED = "failed"


def procedure_of(program: Program, outputs: tuple[str, ...]) -> Program:
    """A program as a procedure, with some of its outputs, and one that tells which of its checks has failed.

    Of n checks the first has the number n, and 0 means that none has failed.
    """
    names, count = Names(program.identifiers), len(program.checks)
    failed = Buffer(names.fresh(FAILED), (), INT)

    def numbered(node: Expr) -> Expr | None:
        is_code = isinstance(node, Const) and node.dtype == INT and FIRST_CHECK - count <= node.value < FIRST_CHECK
        return Const(int(node.value) - FIRST_CHECK + 1 + count, INT) if is_code else None  # type: ignore[attr-defined]

    def each(statement: Statement) -> Block:
        is_check = isinstance(statement, Compute) and statement.target.buffer == failed.name
        return (rewrite_statement(statement, replace_node=numbered) if is_check else statement,)

    start = () if count else (Compute((), Access(failed.name), Const(0, INT)),)
    body = transform(renamed(program.body, {STATUS: failed.name}), each)
    buffers = {name: buffer for name, buffer in program.buffers.items() if name != STATUS}
    return replace(
        program,
        buffers=buffers | {failed.name: failed},
        outputs={name: program.outputs[name] for name in outputs} | {FAILED: failed.name},
        body=(*start, *body),
    )


def expanded(program: Program, within_procedures: bool = True) -> Program:
    """The program with statements in place of calls of procedures, and of copies with a derivative of their own.

    Args:
        within_procedures: whether copies in procedures are expanded, too; else they keep their derivatives.
    """
    if not any(isinstance(one, Call) and _is_expanded(one) for one in walk(program.body)):
        return program
    b = Builder({})
    b.names, b.buffers = Names(program.identifiers), dict(program.buffers)

    def each(statement: Statement) -> Block:
        if not isinstance(statement, Call) or not _is_expanded(statement):
            return (statement,)
        if LIBRARY[statement.name].pullback:
            return tuple(map(_copied, statement.inputs, statement.outputs))
        block = _inlined(b, statement)
        return transform(block, each) if within_procedures else block

    body = transform(program.body, each)
    return replace(program, buffers=b.buffers, body=body)


def _is_expanded(call: Call) -> bool:
    function = LIBRARY[call.name]
    return function.procedure is not None or bool(function.pullback)


def _inlined(b: Builder, call: Call) -> Block:
    procedure = LIBRARY[call.name].procedure
    assert procedure is not None
    b.blocks, b.where = [[]], call.where
    given = {name: view_of(b.buffers[whole.buffer]) for name, whole in zip(procedure.inputs, call.inputs, strict=True)}
    # Its checks are made by what calls it.
    found = inline(b, Inlining(replace(procedure, checks=()), {}, ()), given)
    results = [
        Whole(found[buffer], whole.shape, whole.dtype)
        for buffer, whole in zip(procedure.outputs.values(), call.outputs, strict=True)
    ]
    return (*b.blocks[0], *map(_copied, results, call.outputs))


def _copied(source: Whole, target: Whole) -> Compute:
    return Compute(target.params, target.access, Access(source.buffer, target.access.index).read(source.dtype))
