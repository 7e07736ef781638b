"""`grad` and `value_and_grad`, with the names and arguments of JAX's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdfgad.api.differentiate import differentiate

Argnums = int | str | Sequence[int | str]


def grad(program: Callable[..., Any], argnums: Argnums = 0, *, allow_unused: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of a scalar-valued program.

    Args:
        program: a NumPy function that returns a scalar.
        argnums: position or name of the argument to differentiate by, or a sequence of them (a tuple results).
        allow_unused: zeros for arguments on which the value does not depend, instead of an error.

    Raises:
        As `differentiate` and the calls of its result do.

    Example:
        >>> grad(lambda x: np.sum(x * x))(np.ones(3))  # doctest: +SKIP
        array([2., 2., 2.])
    """
    return differentiate(program, wrt=argnums, allow_unused=allow_unused)


def value_and_grad(
    program: Callable[..., Any], argnums: Argnums = 0, *, allow_unused: bool = False
) -> Callable[..., Any]:
    """A function that returns the value of a scalar-valued program and its gradient; arguments as in `grad`.

    Example:
        >>> value_and_grad(lambda x: np.sum(x * x))(np.ones(2))  # doctest: +SKIP
        (2.0, array([2., 2.]))
    """
    return differentiate(program, wrt=argnums, allow_unused=allow_unused).value_and_grad
