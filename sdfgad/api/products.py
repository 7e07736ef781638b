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
from sdfgad.errors import ArgumentError
from sdfgad.parse.structure import flattened, names
from sdfgad.specialise.directions import COTANGENT, directions_of
from sdfgad.specialise.signature import Call

Array = np.ndarray[Any, Any]
# The functions whose derivatives are kept.
MOST_KEPT = 256


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


def inner(x, y):  # type: ignore[no-untyped-def]
    """The real inner product of two arrays, or of containers of arrays of the same structure."""
    if x is None:
        return 0.0
    if isinstance(x, dict):
        return sum([inner(x[key], y[key]) for key in x])
    if isinstance(x, (list, tuple)):
        return sum([inner(a, b) for a, b in zip(x, y, strict=True)])
    return np.sum((np.conj(x) * y).real)


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
        found |= _leaves_of(call, parameters[position], tangent)
    return directions_of(specialisation).along(call, found)


def _leaves_of(call: Call, name: str, tangent: Any) -> dict[str, Array]:
    """The leaves of a tangent by the names of those of its argument."""
    structure = call.structures.get(name)
    own, leaves = flattened(tangent, name)
    if own != structure:
        what = f"the tangent of `{name}` has another structure than the argument"
        raise ArgumentError(what, todo="Pass a tangent with the argument's keys, each with an array of its shape.")
    found: dict[str, Array] = {}
    for leaf, part in zip(names(structure, name), leaves, strict=True):
        if leaf not in call.floating:
            continue
        kind = call.kinds[leaf]
        if np.shape(part) != kind.shape:
            what = f"the tangent of `{leaf}` has shape {np.shape(part)}, the argument {kind.shape}"
            raise ArgumentError(what, todo="Pass a tangent shaped like the argument.")
        found[leaf] = np.ascontiguousarray(part, dtype=kind.dtype).reshape(kind.shape)
    return found
