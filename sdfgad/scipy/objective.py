"""A scalar-valued program as SciPy's minimisers want it: value, gradient and Hessian as functions of a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sdfgad.api.differentiate import differentiate
from sdfgad.api.products import curved, curved_along_all
from sdfgad.scipy.flat import Flat, Vector


def objective(
    program: Callable[..., Any], x0: Any, *args: Any, memory_limit: int | str | None = None, **options: Any
) -> Objective:
    """A program as a function of one vector, with its derivatives, for `scipy.optimize` and solvers like it.

    Args:
        program: a NumPy function that returns a real number; its first argument is what varies.
        x0: where to start: a number, an array, or a dict, list, tuple or dataclass of them. Its integers, booleans and
            other constants do not vary.
        args: the other arguments of the program, which are constant.
        memory_limit, options: as in `differentiate`.

    Returns:
        An `Objective` ``o``: pass ``o.fun``, ``o.x0``, ``jac=True`` and, if the method wants it, ``hessp=o.hessp`` or
        ``hess=o.hess``; ``o.tree(result.x)`` is arranged as `x0` is.

    Raises:
        ArgumentError: `x0` has no floats; else as `differentiate` and the calls of its result do.

    Example:
        >>> o = sdfgad.scipy.objective(loss, {"w": w, "b": 0.0}, data)  # doctest: +SKIP
        >>> found = scipy.optimize.minimize(o.fun, o.x0, jac=True, method="L-BFGS-B")  # doctest: +SKIP
        >>> parameters = o.tree(found.x)  # doctest: +SKIP
    """
    return Objective(program, x0, args, {"memory_limit": memory_limit, **options})


class Objective:
    """Value, gradient and Hessian of a program as functions of a vector; `objective` makes it.

    Attributes:
        x0: the vector to start from (n,).
        jac: True, as `fun` returns the gradient, too.
    """

    jac = True

    def __init__(self, program: Callable[..., Any], x0: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        self._flat, self._args = Flat.of(x0), args
        self._gradient = differentiate(program, wrt=0, allow_unused=True, **options)
        self.x0 = self._flat.start

    def fun(self, x: Any) -> tuple[float, Vector]:
        """The value, and the gradient (n,), at a vector (n,)."""
        value, gradient = self._gradient.value_and_grad(*self._at(x))
        return float(value), self._flat.vector(gradient)

    def value(self, x: Any) -> float:
        """The value alone, at a vector (n,)."""
        return float(self._gradient.value(*self._at(x)))

    def hessp(self, x: Any, p: Any) -> Vector:
        """The product of the Hessian with a vector (n,), without the Hessian."""
        found = curved(self._gradient, self._at(x), {0: self._flat.direction(p)})
        return self._flat.vector(found)

    def hess(self, x: Any) -> np.ndarray[Any, Any]:
        """The Hessian (n, n)."""
        if not self._flat.is_real_array:
            return np.stack([self.hessp(x, one) for one in np.eye(self._flat.size)], axis=1)
        (found,) = curved_along_all(self._gradient, self._at(x), 0)
        return found.T.astype(np.float64)

    def tree(self, x: Any) -> Any:
        """A vector (n,) arranged as the program's first argument is."""
        return self._flat.tree(x)

    def vector(self, tree: Any) -> Vector:
        """The vector (n,) of what is arranged as the program's first argument is."""
        return self._flat.vector(tree)

    def _at(self, x: Any) -> tuple[Any, ...]:
        return (self._flat.tree(x), *self._args)
