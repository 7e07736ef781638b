"""Table of the library functions that a `Call` may name: the C++ header of each, and the errors it reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LibraryFunction:
    """A function of ``targets/cpu/include``.

    Attributes:
        header: the file that defines it.
        failure: the error message where the function returns 1; empty if it cannot fail. A call of a function that can
            fail has one more output, the returned status.
        is_differentiable: whether its outputs vary differentiably with its inputs.
        is_of_adjoints: whether only adjoints call it, so that it needs no derivative rule.
        check: the function of the first input that computes this status alone, if there is one.
        has_batch: whether the first size counts what it does one after another, along a leading axis of all arrays.
    """

    header: str
    failure: str = ""
    is_differentiable: bool = True
    is_of_adjoints: bool = False
    check: str = ""
    has_batch: bool = True


SINGULAR = "a matrix is singular"
LIBRARY: dict[str, LibraryFunction] = {
    "solve": LibraryFunction("linalg.h", SINGULAR, check="regular"),
    "solve_pullback": LibraryFunction("solve_pullback.h"),
    "solve_banded": LibraryFunction("factored.h", SINGULAR, has_batch=False),
    "factor_banded": LibraryFunction("factored.h", SINGULAR, is_differentiable=False, has_batch=False),
    "solve_factored_band": LibraryFunction("factored.h", has_batch=False),
    "factor": LibraryFunction("factored.h", SINGULAR, is_differentiable=False, has_batch=False),
    "solve_factored": LibraryFunction("factored.h", has_batch=False),
    "inverse": LibraryFunction("linalg.h", SINGULAR, check="regular"),
    "regular": LibraryFunction("linalg.h", SINGULAR, is_differentiable=False, is_of_adjoints=True),
    "pseudo_inverse": LibraryFunction("pseudo_inverse.h", "the singular values did not converge"),
    "determinant": LibraryFunction("linalg.h"),
    "sign_log_determinant": LibraryFunction("linalg.h"),
    "cholesky": LibraryFunction("linalg.h", "a matrix is not positive definite"),
    "cholesky_pullback": LibraryFunction("cholesky_pullback.h"),
    "qr": LibraryFunction("linalg.h"),
    "singular_values": LibraryFunction("linalg.h", "the singular values did not converge"),
    "all_singular_vectors": LibraryFunction("linalg.h", "the singular values did not converge"),
    "eigen": LibraryFunction("eigen.h", "a matrix is not finite, or the eigenvalues did not converge"),
    "symmetric_eigen": LibraryFunction("linalg.h", "the eigenvalues did not converge"),
    "fourier": LibraryFunction("fourier.h"),
    "real_fourier": LibraryFunction("fourier.h"),
    "half_fourier": LibraryFunction("fourier.h"),
    "argsort": LibraryFunction("sorting.h", is_differentiable=False),
    "nonzero": LibraryFunction("sorting.h", is_differentiable=False, has_batch=False),
    "searchsorted": LibraryFunction("sorting.h", is_differentiable=False, has_batch=False),
}
