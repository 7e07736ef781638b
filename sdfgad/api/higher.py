"""Products with derivatives of first and second order, Jacobians and Hessians, with the names of JAX's functions.

All are gradients of programs that call gradients. The Hessian's product with v is the gradient of <grad f(x), v>. The
vector-Jacobian product is linear in its cotangent c: the gradient of <J^T c, t> by c is the Jacobian-vector product
J t (transposition of the transposed map).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.errors import ArgumentError

Argnums = int | str | Sequence[int | str]
Mode = Literal["forward", "reverse"]
# The functions whose derivatives are kept.
MOST_KEPT = 256


def vjp(
    program: Callable[..., Any], *args: Any, argnums: Argnums | None = None, output: str | None = None
) -> tuple[Any, Callable[[Any], Any]]:
    """The value of a program, and the function that maps a cotangent of it to those of the arguments.

    Args:
        args: the program's arguments.
        argnums: positions or names of the arguments to differentiate by; None: all floating ones, a dict by name.
        output: as in `differentiate`.

    Raises:
        As `differentiate` and the calls of its result do.

    Example:
        >>> value, pullback = vjp(np.sin, x)  # doctest: +SKIP
        >>> (dx,) = pullback(np.ones_like(x))  # doctest: +SKIP
    """
    g = _gradient(program, _hashable(argnums), output)
    return g.value(*args), lambda cotangent: g.vjp(*args, cotangent=cotangent)


def jvp(
    program: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, output: str | None = None
) -> tuple[Any, Any]:
    """The value of a program, and its derivative in a direction: the Jacobian-vector product.

    Args:
        primals: the program's arguments.
        tangents: for each argument its part of the direction, of its shape and structure; None where it is constant.
        output: as in `differentiate`.

    Raises:
        ArgumentError: tangents and arguments do not fit; else as `differentiate` and the calls of its result do.

    Example:
        >>> jvp(lambda x: x**2, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))  # doctest: +SKIP
        (array([1., 4.]), array([2., 0.]))
    """
    positions = _positions(primals, tangents)
    g = _gradient(program, positions, output)
    value = np.asarray(g.value(*primals))
    chosen = tuple(tangents[k] for k in positions)
    tangent = _pushforward(g)(tuple(primals), np.zeros_like(value), chosen)
    return value[()], np.asarray(tangent)[()]


def hvp(
    program: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, output: str | None = None
) -> Any:
    """The product of the Hessian of a scalar-valued program with a vector, without the Hessian itself.

    Args:
        primals: the program's arguments.
        tangents: for each argument its part of the vector, of its shape and structure; None where it is constant.
        output: as in `differentiate`.

    Returns:
        The derivative of the gradient in that direction: a tuple with an entry for each tangent that is not None, or
        that entry itself if there is one.

    Raises:
        ArgumentError: tangents and arguments do not fit; else as `differentiate` and the calls of its result do.

    Example:
        >>> hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))  # doctest: +SKIP
        array([ 6., 12.])
    """
    positions = _positions(primals, tangents)
    product = _curvature(_gradient(program, positions, output), positions)
    found = product(tuple(primals), tuple(tangents[k] for k in positions))
    return found[0] if len(found) == 1 else found


def jacobian(
    program: Callable[..., Any], argnums: int = 0, *, mode: Mode | None = None, output: str | None = None
) -> Callable[..., Any]:
    """A function that returns the Jacobian of a program by one array argument.

    Args:
        argnums: the argument's position.
        mode: "reverse" computes it by rows, "forward" by columns; None: by the fewer.
        output: as in `differentiate`.

    Returns:
        A function of the program's arguments; its result has the output's axes, then the argument's.

    Raises:
        ArgumentError: the mode is not known; else as `differentiate` and the calls of its result do.
    """
    if mode not in (None, "forward", "reverse"):
        raise ArgumentError(f"mode={mode!r} is not known", todo='It is "forward", "reverse" or None.')
    g = _gradient(program, (argnums,), output)

    def rows(args: tuple[Any, ...], value: Any) -> Any:
        return [g.vjp(*args, cotangent=basis)[0] for basis in _basis(value)]

    def columns(args: tuple[Any, ...], value: Any) -> Any:
        push, zero = _pushforward(g), np.zeros_like(value)
        found = [push(tuple(args), zero, (basis,)) for basis in _basis(args[argnums])]
        return np.moveaxis(np.array(found).reshape(np.size(args[argnums]), *np.shape(value)), 0, -1)

    def full(*args: Any) -> Any:
        value = np.asarray(g.value(*args))
        is_forward = mode == "forward" or (mode is None and np.size(args[argnums]) < value.size)
        found = (columns if is_forward else rows)(args, value)
        return np.array(found).reshape(*value.shape, *np.shape(args[argnums]))

    return full


def hessian(program: Callable[..., Any], argnums: int = 0, *, output: str | None = None) -> Callable[..., Any]:
    """A function that returns the Hessian of a scalar-valued program by one array argument, with its axes twice.

    Args:
        argnums: the argument's position.
        output: as in `differentiate`.

    Raises:
        As `differentiate` and the calls of its result do.

    Example:
        >>> hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))  # doctest: +SKIP
        array([[ 6.,  0.],
               [ 0., 12.]])
    """
    product = _curvature(_gradient(program, (argnums,), output), (argnums,))

    def full(*args: Any) -> Any:
        x = args[argnums]
        return np.array([product(tuple(args), (basis,))[0] for basis in _basis(x)]).reshape(np.shape(x) * 2)

    return full


# --- programs that call gradients


@lru_cache(MOST_KEPT)
def _gradient(program: Callable[..., Any], argnums: Any, output: str | None) -> DifferentiatedProgram:
    return differentiate(program, wrt=argnums, output=output, allow_unused=True)


@lru_cache(MOST_KEPT)
def _pushforward(g: DifferentiatedProgram) -> DifferentiatedProgram:
    """J t as a function of the arguments, any cotangent, and t."""

    def transposed(primals, cotangent, tangents):  # type: ignore[no-untyped-def]
        return inner(g.vjp(*primals, cotangent=cotangent), tangents)

    return differentiate(transposed, wrt="cotangent", allow_unused=True)


@lru_cache(MOST_KEPT)
def _curvature(g: DifferentiatedProgram, positions: tuple[int, ...]) -> DifferentiatedProgram:
    """The derivative of <gradient, v> as a function of the arguments and v."""

    def product(primals, tangents):  # type: ignore[no-untyped-def]
        return inner(g(*primals), tangents)

    return differentiate(product, wrt=tuple(f"primals[{k}]" for k in positions), allow_unused=True)


def inner(x, y):  # type: ignore[no-untyped-def]
    """The real inner product of two arrays, or of containers of arrays of the same structure."""
    if x is None:
        return 0.0
    if isinstance(x, dict):
        return sum([inner(x[key], y[key]) for key in x])
    if isinstance(x, (list, tuple)):
        return sum([inner(a, b) for a, b in zip(x, y, strict=True)])
    return np.sum((np.conj(x) * y).real)


# --- arguments


def _hashable(argnums: Argnums | None) -> Any:
    return argnums if argnums is None or isinstance(argnums, (int, str)) else tuple(argnums)


def _positions(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[int, ...]:
    """The arguments that have a tangent.

    Raises:
        ArgumentError: there is none, or there are not as many as arguments, or one has another shape.
    """
    if len(primals) != len(tangents):
        what = f"there are {len(tangents)} tangents for {len(primals)} arguments"
        raise ArgumentError(what, todo="Pass a tangent for each argument, None for those that are constant.")
    found = tuple(k for k, tangent in enumerate(tangents) if tangent is not None)
    if not found:
        raise ArgumentError("all tangents are None", todo="Pass one for an argument to differentiate by.")
    for k in found:
        shapes = np.shape(primals[k]), np.shape(tangents[k])
        if isinstance(primals[k], (np.ndarray, float)) and shapes[0] != shapes[1]:
            what = f"the tangent of argument {k} has shape {shapes[1]}, the argument {shapes[0]}"
            raise ArgumentError(what, todo="Pass a tangent shaped like the argument.")
    return found


def _basis(like: Any) -> Any:
    """The arrays shaped like one that are 1 at one element and 0 elsewhere, in the order of the elements."""
    like = np.asarray(like)
    return np.eye(like.size, dtype=like.dtype).reshape(like.size, *like.shape)
