"""Table of the functions that a `Call` may name: of C++, by header, and procedures, which are programs themselves."""

from __future__ import annotations

from dataclasses import dataclass

from sdfgad.errors import ProgramRaises, SdfgadError, SingularMatrix, UnsupportedProgram
from sdfgad.ir.expr import Read
from sdfgad.ir.program import Block, Call, Program, reads_of, walk


@dataclass(frozen=True)
class LibraryFunction:
    """A function of ``targets/cpu/include``, a procedure, or a copy of values whose derivative is a procedure.

    Attributes:
        header: the file that defines it.
        failure: the error message where the function returns 1; empty if it cannot fail. A call of a function that can
            fail has one more output, the returned status.
        raises, todo: the error where the function returns 1, and what to do then.
        is_differentiable: whether its outputs vary differentiably with its inputs.
        is_of_adjoints: whether only adjoints call it, so that it needs no derivative rule.
        check: the function of the first input that computes this status alone, if there is one.
        values: the function that computes its real or complex vector of values and the status alone, if there is one.
        procedure: the program that the call runs: its inputs and outputs are those of the call, in this order.
        pullback, pushforward: of a copy with a rule of the user's (`sdfgad.specialise.linked`), the procedures that
            compute the cotangents of its arguments, and its tangents, if there is a rule for that.
        is_of_any_order: whether such a copy stays in gradients that programs call, so that its rule holds in theirs.
        next_order: of such a copy in the forward rule of another one: the copy that stands for it in the gradient.
        title: what messages call it, if not by its name.
        columns: the input whose columns do not depend on each other, and the size that counts them; () if none.
        is_ordered: whether it communicates: each such call reads and writes `MESSAGES`, so that they keep their order
            and none is left out, and is never run again in the reverse sweep.
        has_batch: whether the first size counts what it does one after another, along a leading axis of all arrays.
    """

    header: str
    failure: str = ""
    is_differentiable: bool = True
    is_of_adjoints: bool = False
    check: str = ""
    values: str = ""
    raises: type[SdfgadError] = SingularMatrix
    todo: str = "NumPy raises LinAlgError here, too."
    is_ordered: bool = False
    has_batch: bool = True
    columns: tuple[int, int] | tuple[()] = ()
    procedure: Program | None = None
    pullback: str = ""
    pushforward: str = ""
    next_order: str = ""
    is_of_any_order: bool = False
    title: str = ""

    @property
    def has_linear_pullback(self) -> bool:
        """Whether its cotangents are certainly linear in those of its outputs: what has a forward mode is."""
        return not self.pullback or bool(self.pushforward)


SINGULAR = "a matrix is singular"
UNKNOWN_SINGULAR = "the singular values did not converge"
UNKNOWN_HERMITIAN = "the eigenvalues did not converge"
UNKNOWN_EIGEN = "a matrix is not finite, or the eigenvalues did not converge"
TITLE = "communication by mpi4py"
LIBRARY: dict[str, LibraryFunction] = {
    "solve": LibraryFunction("linalg.h", SINGULAR, check="regular", columns=(1, 2)),
    "solve_pullback": LibraryFunction("solve_pullback.h"),
    "solve_banded": LibraryFunction("factored.h", SINGULAR, has_batch=False),
    "factor_banded": LibraryFunction("factored.h", SINGULAR, is_differentiable=False, has_batch=False),
    "solve_factored_band": LibraryFunction("factored.h", has_batch=False),
    "factor": LibraryFunction("factored.h", SINGULAR, has_batch=False),
    "solve_factored": LibraryFunction("factored.h", has_batch=False, columns=(2, 1)),
    **dict.fromkeys(
        ("inverse_factored", "determinant_factored", "sign_log_factored"),
        LibraryFunction("factored.h", has_batch=False),
    ),
    "lu": LibraryFunction("factored.h", SINGULAR, has_batch=False),
    "inverse": LibraryFunction("linalg.h", SINGULAR, check="regular"),
    "regular": LibraryFunction("linalg.h", SINGULAR, is_differentiable=False, is_of_adjoints=True),
    "pseudo_inverse": LibraryFunction("pseudo_inverse.h", "the singular values did not converge"),
    "determinant": LibraryFunction("linalg.h"),
    "sign_log_determinant": LibraryFunction("linalg.h"),
    "cholesky": LibraryFunction("linalg.h", "a matrix is not positive definite"),
    "cholesky_pullback": LibraryFunction("cholesky_pullback.h"),
    "qr": LibraryFunction("linalg.h"),
    "singular_values": LibraryFunction("linalg.h", UNKNOWN_SINGULAR, values="only_singular_values"),
    "all_singular_vectors": LibraryFunction("linalg.h", UNKNOWN_SINGULAR, values="only_singular_values"),
    "eigen": LibraryFunction("eigen.h", UNKNOWN_EIGEN, values="only_eigenvalues"),
    "symmetric_eigen": LibraryFunction("linalg.h", UNKNOWN_HERMITIAN, values="only_symmetric_eigenvalues"),
    "only_singular_values": LibraryFunction("linalg.h", UNKNOWN_SINGULAR, is_differentiable=False, is_of_adjoints=True),
    "only_eigenvalues": LibraryFunction("eigen.h", UNKNOWN_EIGEN, is_differentiable=False, is_of_adjoints=True),
    "only_symmetric_eigenvalues": LibraryFunction(
        "linalg.h", UNKNOWN_HERMITIAN, is_differentiable=False, is_of_adjoints=True
    ),
    "fourier": LibraryFunction("fourier.h"),
    "real_fourier": LibraryFunction("fourier.h"),
    "half_fourier": LibraryFunction("fourier.h"),
    **dict.fromkeys(
        (
            "lu_columns",
            "lu_solve_columns",
            "cholesky_columns",
            "upper_solve_columns",
            "hermitian_columns",
            "singular_columns",
            "qr_columns",
        ),
        LibraryFunction("columns.h", is_differentiable=False, is_of_adjoints=True),
    ),
    "pure_callback": LibraryFunction(
        "callback.h",
        "the function that pure_callback calls raised an exception",
        has_batch=False,
        title="pure_callback",
        raises=ProgramRaises,
        todo="See the exception above; a custom_vjp gives such a function a derivative.",
    ),
    **{
        f"message_{kind}{back}": LibraryFunction(
            "messages.h", is_of_adjoints=bool(back), is_ordered=True, has_batch=False, title=TITLE
        )
        for kind in ("share", "exchange", "send", "receive", "signal")
        for back in ("", "_back")
    },
    "argsort": LibraryFunction("sorting.h", is_differentiable=False),
    "nonzero": LibraryFunction("sorting.h", is_differentiable=False, has_batch=False),
    "searchsorted": LibraryFunction("sorting.h", is_differentiable=False, has_batch=False),
}


def communicates(block: Block) -> bool:
    """Whether a block has calls that communicate."""
    return any(isinstance(one, Call) and LIBRARY[one.name].is_ordered for one in walk(block))


def require_silent(block: Block, what: str) -> None:
    """Refuse to derive something of a block that communicates.

    Raises: UnsupportedProgram.
    """
    found = next((one for one in walk(block) if isinstance(one, Call) and LIBRARY[one.name].is_ordered), None)
    if found is not None:
        raise UnsupportedProgram(
            f"{what} that communicates by mpi4py is not supported",
            found.where,
            "Of such programs there are gradients: sdfgad.differentiate(f, ranks=...), on the CPU.",
        )


def differentiable_inputs(call: Call) -> list[Read]:
    """The inputs with which the outputs of a call vary differentiably."""
    function = LIBRARY[call.name]
    found = reads_of(call) if function.is_differentiable else []
    # Of a copy these are its arguments: neither the values nor what the pullback needs besides the cotangents.
    return found[len(call.outputs) + call.sizes[1] :] if function.pullback else found
