"""The least work of gradients, as formulas of the sizes: bytes between memory and processor, or operations.

A byte counts where it must be read or written once if nothing is kept in a cache from one pass over an array to the
next; vectors beside matrices, and edges, do not count. An operation is an addition or a multiplication; products that
follow from others (as that by a factor `alpha` does) do not count. W is the adjoint of the output, and given.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from npbench_suite import Entry

DOUBLE = 8
BYTES, FLOPS = "bytes", "flops"


@dataclass(frozen=True)
class Work:
    """How much of what a gradient needs at least."""

    unit: str
    formula: Callable[..., float]

    def amount(self, sizes: Mapping[str, int | float]) -> float:
        names = self.formula.__code__.co_varnames[: self.formula.__code__.co_argcount]
        return float(self.formula(**{name: sizes[name] for name in names}))


WORK = {
    # Linear, so nothing runs forward. Two sweeps a step; each reads the adjoint of what it wrote, and writes another.
    "jacobi_2d": Work(BYTES, lambda TSTEPS, N: DOUBLE * 2 * (TSTEPS - 1) * 2 * N**2),
    # As jacobi_2d.
    "heat_3d": Work(BYTES, lambda TSTEPS, N: DOUBLE * 2 * (TSTEPS - 1) * 2 * N**3),
    # Linear. A step changes the adjoints of three arrays in place; one pass can do that, a row behind another.
    "fdtd_2d": Work(BYTES, lambda TMAX, NX, NY: DOUBLE * TMAX * 6 * NX * NY),
    # Reads in_field (it decides the limiter), coeff and W; writes the adjoints of in_field, of coeff, and of out_field.
    "hdiff": Work(BYTES, lambda I, J, K: DOUBLE * K * (2 * (I + 4) * (J + 4) + 4 * I * J)),  # noqa: E741
    # Row by row t = A x, u = A W and u A, while that row is in the cache; the adjoint t W^T + u x^T is written.
    "atax": Work(BYTES, lambda M, N: DOUBLE * 2 * M * N),
    # Only r A is differentiated: its adjoints are A W, which reads A, and r W^T, which is written.
    "bicg": Work(BYTES, lambda M, N: DOUBLE * 2 * M * N),
    # Only x1 is differentiated: its adjoints are W A, which reads A, and W y_1^T, which is written.
    "mvt": Work(BYTES, lambda N: DOUBLE * 2 * N**2),
    # One pass reads A for y A and W A; with what follows from these another reads it, and writes its adjoint.
    "gemver": Work(BYTES, lambda N: DOUBLE * 3 * N**2),
    # W B^T and A^T W.
    "gemm": Work(FLOPS, lambda NI, NJ, NK: 4 * NI * NJ * NK),
    # T = A B again, T^T W, V = W C^T, then V B^T and A^T V.
    "k2mm": Work(FLOPS, lambda NI, NJ, NK, NL: 6 * NI * NJ * NK + 4 * NI * NJ * NL),
    # T = A B and S = T C again; S^T W and V = W D^T; T^T V and U = V C^T; U B^T and A^T U.
    "k3mm": Work(FLOPS, lambda NI, NJ, NK, NL, NM: 6 * NI * NJ * NK + 6 * NI * NJ * NM + 4 * NI * NM * NL),
    # (L + L^T) A, where L is the lower triangle of W.
    "syrk": Work(FLOPS, lambda M, N: 2 * N**2 * M),
    # (L + L^T) B and (L + L^T) A, where L is the lower triangle of W.
    "syr2k": Work(FLOPS, lambda M, N: 4 * N**2 * M),
    # S W, where S is the symmetric matrix, and W B^T, whose upper triangle is added to the lower one.
    "symm": Work(FLOPS, lambda M, N: 4 * M**2 * N),
    # Half of W B^T, and a product of W with a triangle.
    "trmm": Work(FLOPS, lambda M, N: 2 * M * (M - 1) * N),
    # W C4^T and A^T W, where A and W are matrices of NR NQ rows.
    "doitgen": Work(FLOPS, lambda NR, NQ, NP: 4 * NR * NQ * NP**2),
}


def work_of(entry: Entry, preset: str) -> tuple[str, float] | None:
    """The unit and the least amount of a program's gradient; None where nobody worked it out."""
    work = WORK.get(entry.name)
    return None if work is None else (work.unit, work.amount(entry.presets[preset]))
