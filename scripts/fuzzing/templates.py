"""Templates of NumPy expressions.

In braces stand kinds of operands: {x} real, {f} single precision, {c} complex, {i} integers, {b} bool, {z} any of
these, {v} a real vector, {m} a real matrix, {q} a square one, {s} a real number; {a} an axis, {d} a dtype, {k} a small
integer. What does not fit together is left out by whoever asks NumPy (`scripts/fuzzing/batches.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

Templates = tuple[str, ...]


@dataclass(frozen=True)
class Theme:
    """Expressions that are alike.

    Attributes:
        exact: what has no rounding error: it gives the same bits, if its operands are exact.
        rounded: what has.
        is_normwise: errors are relative to the largest element of a result, as those of matrices and transforms are.
        roundings: an error that is allowed whatever the arguments are, relative, in roundings of the dtype.
        is_tame: no special numbers are passed.
    """

    exact: Templates = ()
    rounded: Templates = ()
    is_normwise: bool = False
    roundings: float = 64
    is_tame: bool = False


def each(template: str, names: str) -> Templates:
    """A template with each of some names in the place of ``<>``."""
    return tuple(template.replace("<>", name) for name in names.split())


def listed(text: str) -> Templates:
    """The templates of a text, which semicolons and lines separate."""
    return tuple(one.strip() for line in text.strip().splitlines() for one in line.split(" ; "))


OPERANDS: dict[str, Templates] = {
    "x": ("x", "y", "x", "A", "B", "T", "o", "e", "A[:, 0]", "A[-1]", "x[::-1]", "A.T", "A[::-1]", "T[0]", "T[..., 0]"),
    "v": ("x", "y", "p", "x[::-1]", "A[:, 0]", "A[-1]", "T[0, :, -1]", "y[1:]", "x[::2]", "A.ravel()", "o", "e"),
    "m": ("A", "B", "A.T", "T[0]", "T[:, 0]", "A[::-1]", "B[:, ::-1]", "A[1:]", "Q", "A[:, :1]", "x[:, None]", "A[:0]"),
    "q": ("Q", "Q.T", "(Q + 4.0 * np.eye(4))", "(Q @ Q.T + np.eye(4))", "Q[:2, :2]", "Q[::-1]"),
    "f": ("f", "F", "f[::-1]", "F[:, 0]", "F.T", "np.float32(0.7)"),
    "c": ("c", "C", "c[::-1]", "C.T", "C[0]", "(p + 1j * p[::-1])", "(1j * C)", "(0.5 - 2j)", "np.conj(c)"),
    "i": ("i", "j", "u", "h", "w", "K", "i[::-1]", "K[:, 0]", "K.T", "u[1:]", "h", "(x > 0).astype(int)"),
    "b": ("b", "M", "~b", "(x > 0)", "(A > B)", "(i > 1)", "b[::-1]", "M.T", "np.isfinite(x)", "(b & (x < 1))"),
    "s": ("s", "x[0]", "A[-1, 0]", "0.5", "-2.0", "2.0", "3.0", "p[0]", "y[-1]", "s", "0.0", "1.0"),
    "a": ("0", "-1", "1", "None", "(0, 1)", "0"),
    "d": ("np.int8", "np.uint8", "np.int32", "np.int64", "np.float32", "np.float64", "bool", "np.complex128", "float"),
    "k": ("0", "1", "2", "3", "-1", "-2"),
}  # fmt: skip
