"""Dense matrices, as the parser inlines them: what sparse matrices of SciPy's give as an np.matrix, in plain NumPy.

Their ``*`` is the product of matrices, and what is computed of one and of an array is a matrix again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Sums:
    """Sums along an axis, or single elements, of a sparse matrix, and what is computed of these."""

    A1: Any
    A: Any

    noun = "an np.matrix"
    instead = "Write np.asarray(A.sum(axis=1)).ravel(), or A.sum(axis=1).A1; so also for A[i, j] with arrays i and j."

    @property
    def T(self) -> Any:
        return _matrix(self.A.T)

    def __neg__(self) -> Any:
        return _matrix(-self.A)

    def __add__(self, other: Any) -> Any:
        return _matrix(self.A + _values(other))

    def __radd__(self, other: Any) -> Any:
        return _matrix(_values(other) + self.A)

    def __sub__(self, other: Any) -> Any:
        return _matrix(self.A - _values(other))

    def __rsub__(self, other: Any) -> Any:
        return _matrix(_values(other) - self.A)

    def __truediv__(self, other: Any) -> Any:
        return _matrix(self.A / _values(other))

    def __rtruediv__(self, other: Any) -> Any:
        return _matrix(_values(other) / self.A)

    def __mul__(self, other: Any) -> Any:
        values = _values(other)
        return _matrix(self.A * values if np.ndim(values) == 0 else self.A @ np.atleast_2d(values))

    def __rmul__(self, other: Any) -> Any:
        values = _values(other)
        return _matrix(values * self.A if np.ndim(values) == 0 else np.atleast_2d(values) @ self.A)


def _matrix(values: Any) -> Sums:
    return Sums(np.ravel(values), values)


def _values(operand: Any) -> Any:
    return operand.A if isinstance(operand, Sums) else operand
