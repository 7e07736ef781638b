"""The library functions that a `Call` may name: which header defines each, and what it raises where it fails."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LibraryFunction:
    """A function of ``targets/cpu/include``.

    Attributes:
        header: the file that defines it.
        failure: what went wrong where it returns 1, if it may; a call then has one more output, which tells.
        is_differentiable: whether its outputs vary differentiably with its inputs.
        is_of_adjoints: whether only adjoints call it, so that it needs no rule of its own.
        check: the function of the first input that only tells whether this one fails, if there is one.
    """

    header: str
    failure: str = ""
    is_differentiable: bool = True
    is_of_adjoints: bool = False
    check: str = ""


SINGULAR = "a matrix is singular"
LIBRARY: dict[str, LibraryFunction] = {
    "solve": LibraryFunction("linalg.h", SINGULAR, check="regular"),
    "solve_pullback": LibraryFunction("solve_pullback.h", is_of_adjoints=True),
    "inverse": LibraryFunction("linalg.h", SINGULAR, check="regular"),
    "regular": LibraryFunction("linalg.h", SINGULAR, is_differentiable=False, is_of_adjoints=True),
    "pseudo_inverse": LibraryFunction("pseudo_inverse.h", "the singular values did not converge"),
    "determinant": LibraryFunction("linalg.h"),
    "sign_log_determinant": LibraryFunction("linalg.h"),
    "cholesky": LibraryFunction("linalg.h", "a matrix is not positive definite"),
    "cholesky_pullback": LibraryFunction("cholesky_pullback.h", is_of_adjoints=True),
    "qr": LibraryFunction("linalg.h"),
    "singular_values": LibraryFunction("linalg.h", "the singular values did not converge"),
    "symmetric_eigen": LibraryFunction("linalg.h", "the eigenvalues did not converge"),
    "fourier": LibraryFunction("fourier.h"),
    "argsort": LibraryFunction("sorting.h", is_differentiable=False),
    "nonzero": LibraryFunction("sorting.h", is_differentiable=False),
    "searchsorted": LibraryFunction("sorting.h", is_differentiable=False),
}
