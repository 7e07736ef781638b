"""Lowering of library calls for a device: to those that its libraries have, and to statements that become kernels.

The libraries have single steps on column-major matrices, in double precision as on the CPU: factors, and solutions by
them. What turns matrices, extends their type, and finds out whether some of them failed, are statements like all
others, so that the accounts of memory have their temporaries, and other passes merge them with what is around.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from sdfgad.ir.program import Block, Buffer, Call, Program, Statement, transform
from sdfgad.optimise.device import side
from sdfgad.optimise.device.call_steps import CallSteps
from sdfgad.optimise.device.lower_determinants import (
    lower_determinant,
    lower_determinant_factored,
    lower_log_determinant,
    lower_sign_log_factored,
)
from sdfgad.optimise.device.lower_factorisations import (
    lower_eigen,
    lower_orthogonal,
    lower_singular_values,
)
from sdfgad.optimise.device.lower_pullbacks import lower_cholesky_pullback, lower_solve_pullback
from sdfgad.optimise.device.lower_search import lower_search
from sdfgad.optimise.device.lower_solvers import (
    lower_cholesky,
    lower_factor,
    lower_inverse,
    lower_inverse_factored,
    lower_lu,
    lower_regular,
    lower_solve,
    lower_solve_factored,
)
from sdfgad.optimise.device.lower_sort import lower_sort
from sdfgad.optimise.device.lower_transforms import lower_transform
from sdfgad.optimise.names import names_of
from sdfgad.schedule.device_library import LONGEST, has_device_form, is_whole, seconds_of
from sdfgad.schedule.work import work_of

Lower = Callable[[CallSteps], Iterator[Statement]]
TRANSFORMS = ("fourier", "real_fourier", "half_fourier")
LOWERED: dict[str, Lower] = {
    **dict.fromkeys(TRANSFORMS, lower_transform),
    "solve": lower_solve,
    "inverse": lower_inverse,
    "regular": lower_regular,
    "factor": lower_factor,
    "lu": lower_lu,
    "solve_factored": lower_solve_factored,
    "inverse_factored": lower_inverse_factored,
    "determinant_factored": lower_determinant_factored,
    "sign_log_factored": lower_sign_log_factored,
    "determinant": lower_determinant,
    "sign_log_determinant": lower_log_determinant,
    "cholesky": lower_cholesky,
    "solve_pullback": lower_solve_pullback,
    "cholesky_pullback": lower_cholesky_pullback,
    "symmetric_eigen": lower_eigen,
    "singular_values": lower_singular_values,
    "all_singular_vectors": lower_singular_values,
    "only_symmetric_eigenvalues": lower_eigen,
    "only_singular_values": lower_singular_values,
    "qr": lower_orthogonal,
    "searchsorted": lower_search,
    "argsort": lower_sort,
}
# The operations of LAPACK in each element and column, where a device takes one matrix after another.
OPERATIONS = {
    **{"symmetric_eigen": 9, "singular_values": 20, "all_singular_vectors": 20, "qr": 4},
    **{"only_symmetric_eigenvalues": 1.5, "only_singular_values": 3},
}

# The steps of a sorting network, of launches each, take longer than the host has for fewer elements.
MANY = 1 << 13


def lower_calls(program: Program) -> Program:
    """The program with such calls said by those that libraries of the device have."""
    names, buffers = names_of(program), dict(program.buffers)

    def each(statement: Statement) -> Block:
        if not isinstance(statement, Call) or not _is_lowered(statement):
            return (statement,)
        added = dict[str, Buffer]()
        found = tuple(LOWERED[statement.name](CallSteps(statement, names, added)))
        if not _is_worth(statement, found):
            return (statement,)
        buffers.update(added)
        return found

    body = transform(program.body, each)
    return replace(program, body=body, buffers=buffers)


def _is_lowered(call: Call) -> bool:
    if call.name not in LOWERED or has_device_form(call) or not is_whole(call):
        return False
    if call.name == "argsort":
        return math.prod(call.sizes) >= MANY
    return call.name in (*TRANSFORMS, "searchsorted") or all(size <= LONGEST for size in call.sizes[1:])


def _is_worth(call: Call, found: Block) -> bool:
    """Whether the device takes less time than LAPACK between copies: for many small matrices it does not."""
    if call.name not in OPERATIONS:
        return True
    seconds, wholes = side.SECONDS, (*call.inputs, *call.outputs)
    size = sum(whole.dtype.itemsize * math.prod(extent.const for extent in whole.shape) for whole in wholes)
    host = seconds.copy * len(wholes) + seconds.byte * size + seconds.host * OPERATIONS[call.name] * work_of((call,))
    return sum(seconds_of(one, seconds.device) for one in found if isinstance(one, Call)) < host
