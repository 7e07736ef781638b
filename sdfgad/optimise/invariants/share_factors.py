"""Common-subexpression elimination of LU factorisations: systems with the same matrix share one.

A system becomes two calls, ``lu = factor(a)`` and ``x = solve_factored(lu, b)``. The reverse sweep solves the adjoint
system by the same factors, another system with the same matrix has them, too, as have its inverse and determinant, and
in a loop that leaves the matrix as it is `move_invariants` takes the factorisation out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sdfgad.ir.expr import INT, Lin
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Block, Buffer, Call, Compute, Program, Statement, Whole, walk, with_blocks
from sdfgad.optimise.names import names_of

FORWARD = 0
# In single precision factors would have another type than the matrix.
WIDE = (np.dtype(np.float64), np.dtype(np.complex128))


@dataclass(frozen=True)
class _Factors:
    """What a matrix was factored into, and whether that failed."""

    lu: Whole
    rows: Whole
    failed: Whole


# Matrices -> their factors, which hold until the matrix is written.
_Known = Mapping[str, _Factors]
# Functions of a matrix -> the same by its factors; to factor the matrix is most of their work.
BY_FACTORS = {
    "solve": "solve_factored",
    "inverse": "inverse_factored",
    "determinant": "determinant_factored",
    "sign_log_determinant": "sign_log_factored",
}


def share_factors(program: Program) -> Program:
    """The program with each system of one matrix solved by factors of it."""
    calls = [one for one in walk(program.body) if isinstance(one, Call) and _is_of_one_matrix(one)]
    counts = Counter(one.inputs[0].buffer for one in calls)
    # An inverse that has the factors for itself gains nothing: its adjoint is two products.
    systems = {one.inputs[0].buffer for one in calls if one.name == "solve"}
    sharing = _Sharing(program, systems.union(name for name, count in counts.items() if count > 1))
    return replace(program, body=sharing.block(program.body, {}), buffers=sharing.buffers)


class _Sharing:
    """Available-expressions analysis and rewriting in one walk."""

    def __init__(self, program: Program, matrices: Set[str]) -> None:
        self.buffers, self.names, self.matrices = dict(program.buffers), names_of(program), matrices

    def block(self, block: Block, known: _Known) -> Block:
        result: list[Statement] = []
        for statement in block:
            if isinstance(statement, Call) and self.is_by_factors(statement):
                found, known = self.call(statement, known)
                result.extend(found)
            else:
                # Each trip of a loop finds what the trip before has written.
                known = _without(known, statement.written)
                result.append(with_blocks(statement, partial(self.block, known=known)))
        return tuple(result)

    def is_by_factors(self, call: Call) -> bool:
        return _is_of_one_matrix(call) and call.inputs[0].buffer in self.matrices

    def call(self, call: Call, known: _Known) -> tuple[Block, _Known]:
        """A call as calls of factors, and what is known after it."""
        matrix, factors, before = call.inputs[0], known.get(call.inputs[0].buffer), list[Statement]()
        if factors is None:
            factors = self.factors(matrix, call)
            outputs = (factors.lu, factors.rows, factors.failed)
            before.append(Call("factor", (matrix,), outputs, call.sizes[1:2], call.where))
        after = replace(_by_factors(call, factors), name=BY_FACTORS[call.name])
        status = (_copy(call.outputs[-1], factors.failed, call),) if LIBRARY[call.name].failure else ()
        return (*before, *status, after), {**_without(known, after.written), matrix.buffer: factors}

    def factors(self, matrix: Whole, call: Call) -> _Factors:
        shape = matrix.shape
        return _Factors(
            self.new(shape, matrix.dtype, call), self.new(shape[:1], np.dtype(np.int32), call), self.new((), INT, call)
        )

    def new(self, shape: tuple[Lin, ...], dtype: np.dtype[Any], call: Call) -> Whole:
        buffer = Buffer(self.names.fresh("factor"), shape, dtype, "factor", call.where)
        self.buffers[buffer.name] = buffer
        return Whole(buffer.name, shape, dtype)


def _is_of_one_matrix(call: Call) -> bool:
    return call.name in BY_FACTORS and len(call.inputs[0].shape) == 2 and call.inputs[0].dtype in WIDE


def _by_factors(call: Call, factors: _Factors) -> Call:
    """The call with factors for its matrix, and without a batch and a status; its name is still that of the matrix."""
    kept, (_, *sizes) = (factors.lu, factors.rows), call.sizes
    if call.name == "solve":
        return replace(call, inputs=(*kept, call.inputs[1]), outputs=call.outputs[:1], sizes=(*sizes, FORWARD))
    if call.name == "inverse":
        return replace(call, inputs=kept, outputs=call.outputs[:1], sizes=tuple(sizes))
    return replace(call, inputs=(*kept, factors.failed), sizes=tuple(sizes))


def _copy(target: Whole, source: Whole, call: Call) -> Compute:
    return Compute((), target.access, source.access.read(source.dtype), where=call.where)


def _without(known: _Known, written: Set[str]) -> _Known:
    return {name: one for name, one in known.items() if name not in written}
