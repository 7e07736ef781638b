"""Forward-mode tangent program: each statement is preceded by one that computes the tangent of what it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sdfgad.analysis.activity import active_buffers
from sdfgad.errors import MissingRule
from sdfgad.ir.expr import Const, Expr, Op, Read
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Call,
    Compute,
    Program,
    Statement,
    with_blocks,
)
from sdfgad.reverse.adjoint import dependences
from sdfgad.reverse.calls import missing_call_rules
from sdfgad.rules.algebra import const
from sdfgad.rules.statements import extremum_share, stored_totals, target_params
from sdfgad.tangent.calls import pushforward_of_call
from sdfgad.tangent.expression import pushforward


@dataclass(frozen=True)
class TangentProgram:
    """A program that computes its values and their derivatives in a direction; it stores nothing for later.

    Attributes:
        program: its inputs are the primal's, then the tangents.
        tangents: inputs of the primal -> the inputs of their tangents, for those on which an output depends.
        derivatives: outputs of the primal -> the buffer of the derivative, for those that depend on such an input.
    """

    program: Program
    tangents: Mapping[str, str]
    derivatives: Mapping[str, str]

    @cached_property
    def without_values(self) -> Program:
        """The program with the derivatives as its only outputs."""
        return replace(self.program, outputs={f"derivative of {n}": dot for n, dot in self.derivatives.items()})


def tangent_program(primal: Program, wrt: Iterable[str]) -> TangentProgram:
    """The program for the derivatives of all floating outputs in directions of input buffers.

    Raises:
        MissingRule: an operation on the differentiated path has no rule.
    """
    wrt = tuple(wrt)
    floating = {name: buffer for name, buffer in primal.outputs.items() if primal.buffers[buffer].is_floating}
    active = frozenset().union(*(active_buffers(primal, wrt, one, dependences)[0] for one in floating.values()))
    missing = missing_call_rules(primal, active)
    if missing:
        raise MissingRule(list(dict.fromkeys(missing)))
    forward = _Forward(primal, active)
    body = forward.block(primal.body)
    tangents = {name: forward.dots[name] for name in wrt if name in active}
    derivatives = {name: forward.dots[buffer] for name, buffer in floating.items() if buffer in active}
    program = replace(
        primal,
        name=forward.names.fresh(f"{primal.name}_tangent"),
        buffers=dict(primal.buffers) | forward.buffers,
        inputs=(*primal.inputs, *tangents.values()),
        outputs=dict(primal.outputs) | {f"derivative of {name}": dot for name, dot in derivatives.items()},
        body=body,
    )
    return TangentProgram(program, tangents, derivatives)


class _Forward:
    """The tangents of the statements of a program.

    Attributes:
        dots: active buffers -> their tangents.
        buffers: the storage of tangents, and what their computation needs.
    """

    def __init__(self, primal: Program, active: frozenset[str]) -> None:
        self.primal = primal
        self.names = Names(primal.identifiers)
        self.dots = {name: self.names.fresh(f"{name}_dot") for name in primal.buffers if name in active}
        self.buffers = {dot: replace(primal.buffers[name], name=dot) for name, dot in self.dots.items()}

    def block(self, block: Block) -> Block:
        return tuple(one for statement in block for one in self.statement(statement))

    def statement(self, statement: Statement) -> Block:
        if isinstance(statement, Call):
            is_active = any(whole.buffer in self.dots for whole in statement.outputs)
            return (statement, *(self.call(statement) if is_active else ()))
        if not isinstance(statement, Compute):
            return (with_blocks(statement, self.block),)
        # Before the statement, which may overwrite what it reads.
        return (*(self.compute(statement) if statement.target.buffer in self.dots else ()), statement)

    def call(self, call: Call) -> Block:
        return pushforward_of_call(call, self.primal.buffers, self.dots, self.buffers, self.names)

    def compute(self, statement: Compute) -> Block:
        assert not statement.fresh
        tangent = pushforward(statement.value, self.tangent_of, statement.where)
        target = Access(self.dots[statement.target.buffer], statement.target.index)
        if statement.accumulate == "add":
            parts = [] if tangent is None else [tangent]
            if len(target_params(statement)) < len(statement.params):
                # A sum of products has two sums of products as its tangent, for BLAS.
                parts = [term for part in parts for term in _terms(part)]
            return tuple(replace(statement, target=target, value=part) for part in parts)
        tangent = Const(0, statement.value.dtype) if tangent is None else tangent
        if statement.accumulate is None:
            return (replace(statement, target=target, value=tangent),)
        return self.extremum(statement, target, tangent)

    def extremum(self, statement: Compute, target: Access, tangent: Expr) -> Block:
        """The mean of the tangents of the elements that attain a maximum or minimum, as the reverse mode has it."""
        like = self.primal.buffers[statement.target.buffer]
        share, totals = extremum_share(statement, tangent)
        first, reading = stored_totals(statement, totals, like, self.buffers, self.names)
        clear = Compute(target_params(statement), target, const(0, tangent), None, statement.where)
        return (*first, clear, replace(statement, target=target, value=reading(share), accumulate="add"))

    def tangent_of(self, read: Read) -> Expr | None:
        dot = self.dots.get(read.buffer)
        return None if dot is None else Read(dot, read.index, read.dtype)


def _terms(value: Expr) -> list[Expr]:
    """The terms of a sum."""
    if isinstance(value, Op) and value.name == "add":
        return [term for arg in value.args for term in _terms(arg)]
    return [value]
