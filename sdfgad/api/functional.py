"""`grad` and `value_and_grad`, with the names and arguments of JAX's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdfgad.api.differentiate import differentiate
from sdfgad.api.with_aux import gradient_with_aux
from sdfgad.options import Ranks
from sdfgad.parse.transformed import transformation

Argnums = int | str | Sequence[int | str]


@transformation
def grad(
    program: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    allow_unused: bool = False,
    ranks: Ranks | None = None,
) -> Callable[..., Any]:
    """A function that returns the gradient of a scalar-valued program.

    Args:
        program: a NumPy function that returns a scalar, or with `has_aux` a pair of a scalar and anything else.
        argnums: position or name of the argument to differentiate by, or a sequence of either (a tuple results).
        has_aux: the program returns ``(value, aux)``, and the result ``(gradient, aux)``. `aux` is an array, a number,
            or a dict, list, tuple or object of them, as the program returns it; it comes from the same compiled run.
        allow_unused: zeros for arguments on which the value does not depend, instead of an error.
        ranks: as of `differentiate`, for programs that communicate.

    Raises:
        ArgumentError: with `has_aux`, the program does not return a pair; else as `differentiate` and the calls of its
            result do.

    Example:
        >>> grad(lambda x: np.sum(x * x))(np.ones(3))  # doctest: +SKIP
        array([2., 2., 2.])
        >>> grad(lambda x: (np.sum(x * x), {"largest": np.max(x)}), has_aux=True)(np.ones(3))  # doctest: +SKIP
        (array([2., 2., 2.]), {'largest': 1.0})
    """
    return _gradient(program, argnums, has_aux, allow_unused, ranks)


@transformation
def value_and_grad(
    program: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    allow_unused: bool = False,
    ranks: Ranks | None = None,
) -> Callable[..., Any]:
    """A function that returns the value of a scalar-valued program and its gradient; arguments as in `grad`.

    With `has_aux` it returns ``((value, aux), gradient)``.

    Example:
        >>> value_and_grad(lambda x: np.sum(x * x))(np.ones(2))  # doctest: +SKIP
        (2.0, array([2., 2.]))
    """
    value_and_gradient: Callable[..., Any] = _gradient(program, argnums, has_aux, allow_unused, ranks).value_and_grad
    return value_and_gradient


def _gradient(
    program: Callable[..., Any], argnums: Argnums, has_aux: bool, allow_unused: bool, ranks: Ranks | None
) -> Any:
    if has_aux:
        return gradient_with_aux(program, argnums, allow_unused, ranks)
    return differentiate(program, wrt=argnums, allow_unused=allow_unused, ranks=ranks)
