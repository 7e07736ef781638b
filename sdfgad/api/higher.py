"""Products with derivatives of first and second order, with the names of JAX's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdfgad.api.joint import Joint, Outputs, joint
from sdfgad.api.products import along, curved, gradient_of
from sdfgad.errors import ArgumentError
from sdfgad.specialise.forward import ReturnsNothing
from sdfgad.specialise.outgrown import repeated
from sdfgad.specialise.signature import own_copy

Argnums = int | str | Sequence[int | str]


@repeated
def vjp(
    program: Callable[..., Any], *args: Any, argnums: Argnums | None = None, output: Outputs = None
) -> tuple[Any, Callable[[Any], Any]]:
    """The value of a program, and its pullback: the function that maps a cotangent of it to those of the arguments.

    Args:
        args: the program's arguments.
        argnums: positions or names of the arguments to differentiate by; None: all floating ones, a dict by name.
        output: which output, as in `differentiate`, or a sequence of several; None: all that is returned.

    Returns:
        What the program returns, or a tuple of the outputs that are named; and the pullback, which keeps copies of the
        arguments. Where the value is a container of arrays, the cotangent is one, too, with None for zeros.

    Raises:
        ArgumentError: the cotangent has another structure or shape than the value; else as `differentiate` and the
            calls of its result do.

    Example:
        >>> value, pullback = vjp(np.sin, x)  # doctest: +SKIP
        >>> (dx,) = pullback(np.ones_like(x))  # doctest: +SKIP
    """
    several, kept = _several(program, output, args), tuple(map(own_copy, args))
    if several is None:
        g = gradient_of(program, _hashable(argnums), output)
        return g.value(*args), lambda cotangent: g.vjp(*kept, cotangent=cotangent)
    call, forward = several.forward(args)
    positions, arranged = several.chosen(call, _hashable(argnums))
    return forward.value(call), lambda cotangent: arranged(several.pulled(kept, positions, cotangent))


@repeated
def jvp(
    program: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, output: Outputs = None
) -> tuple[Any, Any]:
    """The value of a program, and its derivative in a direction: the Jacobian-vector product, by forward mode.

    Nothing is stored for it, however long the program runs.

    Args:
        primals: the program's arguments.
        tangents: for each argument its part of the direction, of its shape and structure; None where it is constant.
        output: which output, as in `differentiate`, or a sequence of several; None: all that is returned.

    Returns:
        What the program returns, or a tuple of the outputs that are named, and the derivative of it.

    Raises:
        ArgumentError: tangents and arguments do not fit; else as `differentiate` and the calls of its result do.

    Example:
        >>> jvp(lambda x: x**2, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))  # doctest: +SKIP
        (array([1., 4.]), array([2., 0.]))
    """
    positions = _positions(primals, tangents)
    given = {k: tangents[k] for k in positions}
    several = _several(program, output, tuple(primals))
    if several is not None:
        return several.along(tuple(primals), given)
    value, derivative = along(gradient_of(program, positions, output), tuple(primals), given)
    return value[()], derivative[()]


@repeated
def linearize(program: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of a program, and its derivative as a function of tangents of all arguments, None for constants.

    Example:
        >>> value, push = linearize(np.sin, x)  # doctest: +SKIP
        >>> slope = push(np.ones_like(x))  # doctest: +SKIP
    """
    call, forward = joint(program, None).forward(primals)
    kept = tuple(map(own_copy, primals))
    return forward.value(call), lambda *tangents: jvp(program, kept, tangents)[1]


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
    g = gradient_of(program, positions, output)
    found = curved(g, tuple(primals), {k: tangents[k] for k in positions})
    return found[0] if len(found) == 1 else found


# --- arguments


def _several(program: Callable[..., Any], output: Outputs, args: tuple[Any, ...]) -> Joint | None:
    """What differentiates several outputs at once; None where there is one."""
    if isinstance(output, str):
        return None
    found = joint(program, None if output is None else tuple(output))
    try:
        _, forward = found.forward(args)
    except ReturnsNothing:
        return None
    return None if output is None and forward.is_single else found


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
        if not isinstance(primals[k], (np.ndarray, float)):
            continue
        shapes = np.shape(primals[k]), np.shape(tangents[k])
        if shapes[0] != shapes[1]:
            what = f"the tangent of argument {k} has shape {shapes[1]}, the argument {shapes[0]}"
            raise ArgumentError(what, todo="Pass a tangent shaped like the argument.")
    return found
