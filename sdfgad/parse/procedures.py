"""Procedures: programs that calls run. They are expanded, in place of the calls, before a program is optimised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sdfgad.ir.expr import INT, Const, Expr
from sdfgad.ir.library import LIBRARY, require_silent
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
    require_silent(program.body, "a function with a derivative rule of its own")
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


def expanded(program: Program, is_last: bool = True) -> Program:
    """The program with statements in place of calls of procedures, and of copies with a derivative of their own.

    Args:
        is_last: whether nothing is differentiated any more. Else copies with a derivative of any order, and those in
            procedures, keep theirs.
    """

    def is_left(call: Call) -> bool:
        return LIBRARY[call.name].procedure is not None or (is_last and _is_copy(call))

    result = _expanded_once(program, lambda call: is_left(call) or _is_copy(call, of_any_order=False), is_last)
    while any(isinstance(one, Call) and is_left(one) for one in walk(result.body)):
        result = _expanded_once(result, is_left, is_last)
    return result


def _is_copy(call: Call, of_any_order: bool = True) -> bool:
    function = LIBRARY[call.name]
    return bool(function.pullback) and (of_any_order or not function.is_of_any_order)


def _expanded_once(program: Program, is_expanded: Callable[[Call], bool], is_last: bool) -> Program:
    if not any(isinstance(one, Call) and is_expanded(one) for one in walk(program.body)):
        return program
    b = Builder({})
    b.names, b.buffers = Names(program.identifiers), dict(program.buffers)

    def each(statement: Statement) -> Block:
        if not isinstance(statement, Call) or not is_expanded(statement):
            return (statement,)
        following = LIBRARY[statement.name].next_order
        if following and not is_last:
            return (replace(statement, name=following),)
        if _is_copy(statement):
            return tuple(map(_copied, statement.inputs, statement.outputs))
        return _inlined(b, statement)

    body = transform(program.body, each)
    return replace(program, buffers=b.buffers, body=body)


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
    return (*transform(tuple(b.blocks[0]), partial(_numbered, call.sizes[0])), *map(_copied, results, call.outputs))


def _numbered(first: int, statement: Statement) -> Block:
    """A statement of a procedure whose checks are numbered from `first` on in the program that calls it."""
    if isinstance(statement, Call) and _is_copy(statement):
        return (replace(statement, sizes=(statement.sizes[0] + first, *statement.sizes[1:])),)
    return (statement,)


def _copied(source: Whole, target: Whole) -> Compute:
    return Compute(target.params, target.access, Access(source.buffer, target.access.index).read(source.dtype))
