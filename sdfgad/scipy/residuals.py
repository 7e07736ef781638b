"""A program that returns an array, as SciPy's solvers of equations and least squares want it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.api.matrices import jacobian
from sdfgad.api.products import along, gradient_of, weighted_curved
from sdfgad.errors import ArgumentError
from sdfgad.scipy.flat import Flat, Vector

Array = np.ndarray[Any, Any]


class Residuals:
    """Values (m,) and Jacobian (m, n) of a program as functions of a vector (n,).

    Args:
        x0: how the program's first argument is arranged, which varies; `args` are the others.
        sparsity: as in `sdfgad.jacobian`; the Jacobian is then a sparse matrix.

    Raises:
        ArgumentError: `sparsity` is given, and `x0` is no array of real numbers.
    """

    def __init__(self, program: Callable[..., Any], x0: Any, args: tuple[Any, ...], sparsity: Any = None) -> None:
        self.flat, self._args, self._program, self._sparsity = Flat.of(x0), args, program, sparsity
        if sparsity is not None and not self.flat.is_real_array:
            todo = "Pass one array, and take it apart in the program; or leave `sparsity` out."
            raise ArgumentError("a sparse Jacobian is asked for by what is no array of real numbers", todo=todo)
        self._gradient = gradient_of(program, 0, None)
        self._shape: tuple[int, ...] | None = None

    def fun(self, x: Any) -> Vector:
        """The values of the program, in one vector (m,).

        Raises:
            ArgumentError: they are complex.
        """
        found = np.asarray(self._gradient.value(*self._at(x)))
        if np.iscomplexobj(found):
            todo = "Return its real and imaginary parts: np.concatenate([z.real, z.imag])."
            raise ArgumentError("the program returns complex numbers, where real ones are wanted", todo=todo)
        return found.astype(np.float64).reshape(-1)

    def jac(self, x: Any) -> Any:
        """The Jacobian (m, n), dense, or a ``scipy.sparse.csr_matrix``."""
        if self.flat.is_real_array:
            found = self._jacobian(*self._at(x))
            return found if self._sparsity is not None else found.reshape(-1, self.flat.size).astype(np.float64)
        columns = (along(self._gradient, self._at(x), {0: one})[1] for one in self._directions)
        return np.stack([np.asarray(one, np.float64).reshape(-1) for one in columns], axis=1)

    def weighted_hess(self, x: Any, weights: Any, p: Any) -> Vector:
        """The product of the Hessian of ``weights @ fun(x)`` with a vector (n,)."""
        at = self._at(x)
        if self._shape is None:
            self._shape = np.shape(self._gradient.value(*at))
        cotangent = np.reshape(weights, self._shape)
        tangents = (self.flat.direction(p), *(None for _ in self._args))
        return self.flat.vector(weighted_curved(self._gradient, at, cotangent, tangents))

    def _at(self, x: Any) -> tuple[Any, ...]:
        return (self.flat.tree(x), *self._args)

    @cached_property
    def _jacobian(self) -> Callable[..., Any]:
        return jacobian(self._program, 0, sparsity=self._sparsity)

    @cached_property
    def _directions(self) -> list[Any]:
        return [self.flat.direction(one) for one in np.eye(self.flat.size)]
