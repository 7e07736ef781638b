"""Products with derivatives: with the Jacobian from either side, and with the Hessian.

The Hessian's product with v is the gradient of <grad f(x), v>, a program that calls a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.api.differentiate import DifferentiatedProgram, differentiate, specialised
from sdfgad.api.joint import MOST_KEPT, inner, leaves_of
from sdfgad.specialise.directions import COTANGENT, directions_of

Array = np.ndarray[Any, Any]


@lru_cache(MOST_KEPT)
def gradient_of(program: Callable[..., Any], argnums: Any, output: str | None) -> DifferentiatedProgram:
    return differentiate(program, wrt=argnums, output=output, allow_unused=True)


def _paired(g: DifferentiatedProgram) -> Callable[..., Any]:
    """<J^T c, t> as a function of the arguments, c and t."""

    def paired(primals, cotangent, tangents):  # type: ignore[no-untyped-def]
        return inner(g.vjp(*primals, cotangent=cotangent), tangents)

    return paired


@lru_cache(MOST_KEPT)
def curvature(g: DifferentiatedProgram, positions: tuple[int, ...]) -> DifferentiatedProgram:
    """The derivative of <gradient, v> as a function of the arguments and v."""

    def product(primals, tangents):  # type: ignore[no-untyped-def]
        return inner(g(*primals), tangents)

    return differentiate(product, wrt=tuple(f"primals[{k}]" for k in positions), allow_unused=True)


@lru_cache(MOST_KEPT)
def weighted_curvature(g: DifferentiatedProgram, places: tuple[str, ...]) -> DifferentiatedProgram:
    """The derivative of <J^T c, t>, by parts of ``primals``, as a function of the arguments, c and t."""
    return differentiate(_paired(g), wrt=places, allow_unused=True)


@dataclass(frozen=True)
class Products:
    """Products of vectors with the Jacobian of a gradient's program by the argument at a position."""

    gradient: DifferentiatedProgram
    position: int

    def rows(self, args: tuple[Any, ...], value: Array, cotangents: Array) -> Array:
        """c J for each c (vectors, argument's size)."""
        call, specialisation = specialised(self.gradient, args, {})
        stacked = cotangents.reshape(-1, *value.shape).astype(value.dtype)
        found = directions_of(specialisation).gradients_of_all(call, value, {COTANGENT: stacked})
        return found[specialisation.wrt[0]].reshape(len(cotangents), -1)

    def columns(self, args: tuple[Any, ...], value: Array, tangents: Array) -> Array:
        """J t for each t (vectors, output's size)."""
        call, specialisation = specialised(self.gradient, args, {})
        (name,) = specialisation.wrt
        kind = call.kinds[name]
        stacked = tangents.reshape(-1, *kind.shape).astype(kind.dtype)
        return directions_of(specialisation).along_all(call, {name: stacked}).reshape(len(tangents), -1)


def curved_along_all(product: DifferentiatedProgram, args: tuple[Any, ...], position: int) -> Array:
    """The product of the Hessian by one argument, given by `curvature`, with each unit vector (size, size)."""
    x = np.asarray(args[position])
    call, specialisation = specialised(product, (args, (args[position],)), {})
    basis = np.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    found = directions_of(specialisation).gradients_of_all(call, specialisation.ones(), {"tangents[0]": basis})
    return found[specialisation.wrt[0]].reshape(x.size, -1)


def along(g: DifferentiatedProgram, primals: tuple[Any, ...], tangents: Mapping[int, Any]) -> tuple[Any, Any]:
    """The value of a gradient's program and its derivative, given the tangents of arguments at some positions.

    Raises:
        ArgumentError: a tangent has another structure or shape than its argument.
    """
    call, specialisation = specialised(g, primals, {})
    parameters = [one.name for one in g.parameters]
    found: dict[str, Array] = {}
    for position, tangent in tangents.items():
        found |= leaves_of(call, parameters[position], tangent)
    return directions_of(specialisation).along(call, found)
