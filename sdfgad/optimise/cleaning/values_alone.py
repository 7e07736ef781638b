"""Eigenvalues and singular values without vectors: LAPACK's cheaper forms, where nothing reads the vectors.

Only after differentiation: the adjoint of the values reads the vectors.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Block, Call, Program, Statement, reads_of, transform, walk


def compute_values_alone(program: Program) -> Program:
    """The program in which calls compute no vectors that nothing reads."""
    used = {read.buffer for statement in walk(program.body) for read in reads_of(statement)}
    used |= set(program.outputs.values())

    def each(statement: Statement) -> Block:
        return (_without_vectors(statement, used) if isinstance(statement, Call) else statement,)

    return program.with_body(transform(program.body, each))


def _without_vectors(call: Call, used: set[str]) -> Call:
    """The same call, or that of the values and of whether it failed."""
    name, rank = LIBRARY[call.name].values, len(call.inputs[0].shape)
    if not name or any(len(whole.shape) == rank and whole.buffer in used for whole in call.outputs):
        return call
    return replace(call, name=name, outputs=tuple(whole for whole in call.outputs if len(whole.shape) < rank))
