"""Library functions of a device: which calls cuFFT, cuSOLVER and cuBLAS run, and about how long they take.

`sdfgad.optimise.device.lower_calls` says other calls by these. Everything else runs on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sdfgad.ir.program import Call
from sdfgad.schedule.work import work_of

# Dimensions that cuSOLVER counts in 32 bits, its workspaces included.
LONGEST = 1 << 15
# The types that libraries know, by kind and bytes.
NUMBERS = ("f4", "f8", "c8", "c16")


@dataclass(frozen=True)
class Device:
    """A function of a library.

    Attributes:
        fits: whether the sizes of a call are among those that it takes.
        steps: how many parts of it must follow each other, given the sizes: each waits for the one before.
    """

    fits: Callable[..., bool]
    steps: Callable[..., int]


def _lines(outer: int, _n: int, inner: int, _sign: int = 0) -> bool:
    """Lines whose elements are neighbours, or that are neighbours themselves: one plan has them all."""
    return outer == 1 or inner == 1


def _matrices(_batch: int, n: int, *_rest: int) -> bool:
    return n <= LONGEST


def _with_columns(_batch: int, n: int, m: int, *_rest: int) -> bool:
    return max(n, m) <= LONGEST


TRANSFORM = Device(_lines, lambda *_: 1)
# Of one column after the other; of larger matrices one after another, as in solvers.h.
LARGEST_IN_BATCH = 256
FACTORS = Device(_matrices, lambda batch, n, *_: n if n <= LARGEST_IN_BATCH else batch * n)
SOLUTION = Device(_with_columns, lambda _batch, n, *_: 1 + n // 32)
# One matrix after another, in many passes over each.
PASSES = 20
ITERATION = Device(_matrices, lambda batch, n, *_: PASSES * batch * n)
FUNCTIONS: dict[str, Device] = {
    "fourier": TRANSFORM,
    "real_fourier": TRANSFORM,
    "half_fourier": TRANSFORM,
    "lu_columns": FACTORS,
    "lu_solve_columns": SOLUTION,
    "cholesky_columns": FACTORS,
    "upper_solve_columns": SOLUTION,
    "hermitian_columns": ITERATION,
    "singular_columns": Device(_with_columns, lambda batch, m, n, *_: PASSES * batch * (m + n)),
    "qr_columns": Device(_with_columns, lambda batch, m, n: batch * min(m, n)),
}
# The seconds of a call of a library, and of a step in it, beside its work.
CALL_SECONDS, STEP_SECONDS = 2e-5, 1e-6


def has_device_form(call: Call) -> bool:
    """Whether a library of the device runs a call."""
    function = FUNCTIONS.get(call.name)
    first = call.inputs[0].dtype if call.inputs else None
    if function is None or first is None or f"{first.kind}{first.itemsize}" not in NUMBERS:
        return False
    return is_whole(call) and function.fits(*call.sizes)


def is_whole(call: Call) -> bool:
    """Whether all arrays of a call have elements."""
    return all(math.prod(e.const for e in whole.shape) > 0 for whole in (*call.inputs, *call.outputs))


def seconds_of(call: Call, operation: float) -> float:
    """The estimated seconds of a call on the device, where an elementary operation takes so many."""
    return CALL_SECONDS + STEP_SECONDS * FUNCTIONS[call.name].steps(*call.sizes) + operation * work_of((call,))
