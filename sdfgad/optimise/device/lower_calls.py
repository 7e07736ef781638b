"""Lowering of library calls for a device: to those that its libraries have, and to statements that become kernels.

The libraries have single steps on column-major matrices, in double precision as on the CPU: factors, and solutions by
them. What turns matrices, extends their type, and finds out whether some of them failed, are statements like all
others, so that the accounts of memory have their temporaries, and other passes merge them with what is around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sdfgad.ir.program import Block, Call, Program, Statement, transform
from sdfgad.optimise.device.call_steps import CallSteps
from sdfgad.optimise.device.lower_determinants import lower_determinant, lower_log_determinant
from sdfgad.optimise.device.lower_factorisations import (
    lower_eigen,
    lower_orthogonal,
    lower_singular_values,
)
from sdfgad.optimise.device.lower_pullbacks import lower_cholesky_pullback, lower_solve_pullback
from sdfgad.optimise.device.lower_solvers import (
    lower_cholesky,
    lower_factor,
    lower_inverse,
    lower_regular,
    lower_solve,
    lower_solve_factored,
)
from sdfgad.optimise.device.lower_transforms import lower_transform
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_library import LONGEST, has_device_form, is_whole

Lower = Callable[[CallSteps], Iterator[Statement]]
TRANSFORMS = ("fourier", "real_fourier", "half_fourier")
LOWERED: dict[str, Lower] = {
    **dict.fromkeys(TRANSFORMS, lower_transform),
    "solve": lower_solve,
    "inverse": lower_inverse,
    "regular": lower_regular,
    "factor": lower_factor,
    "solve_factored": lower_solve_factored,
    "determinant": lower_determinant,
    "sign_log_determinant": lower_log_determinant,
    "cholesky": lower_cholesky,
    "solve_pullback": lower_solve_pullback,
    "cholesky_pullback": lower_cholesky_pullback,
    "symmetric_eigen": lower_eigen,
    "singular_values": lower_singular_values,
    "all_singular_vectors": lower_singular_values,
    "qr": lower_orthogonal,
}


def lower_calls(program: Program) -> Program:
    """The program with such calls said by those that libraries of the device have."""
    names, buffers = names_of(program), dict(program.buffers)

    def each(statement: Statement) -> Block:
        if not isinstance(statement, Call) or not _is_lowered(statement):
            return (statement,)
        return tuple(LOWERED[statement.name](CallSteps(statement, names, buffers)))

    body = transform(program.body, each)
    return replace(program, body=body, buffers=buffers)


def _is_lowered(call: Call) -> bool:
    if call.name not in LOWERED or has_device_form(call) or not is_whole(call):
        return False
    return call.name in TRANSFORMS or all(size <= LONGEST for size in call.sizes[1:])
