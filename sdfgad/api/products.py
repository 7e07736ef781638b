"""Products with derivatives: with the Jacobian from either side, and with the Hessian.

The Hessian's product with v is the gradient of <grad f(x), v>, a program that calls a gradient.
"""

from __future__ import annotations

import math
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

    def argument(self, args: tuple[Any, ...]) -> Array:
        """The argument's value.

        Raises:
            ArgumentError: it is complex: of what is not holomorphic the derivative is no matrix of complex numbers.
        """
        return real_argument(args, self.position)

    def rows(self, args: tuple[Any, ...], value: Array, cotangents: Array) -> Array:
        """c J for each real c (vectors, argument's size)."""
        found = self._pulled(args, value, cotangents)
        # A cotangent gives the real part of conj(c) J.
        return found + 1j * self._pulled(args, value, 1j * cotangents) if np.iscomplexobj(value) else found

    def _pulled(self, args: tuple[Any, ...], value: Array, cotangents: Array) -> Array:
        call, specialisation = specialised(self.gradient, args, {})
        stacked = cotangents.reshape(len(cotangents), *value.shape).astype(value.dtype)
        found = directions_of(specialisation).gradients_of_all(call, value, {COTANGENT: stacked})
        (name,) = specialisation.wrt
        return found[name].reshape(len(cotangents), math.prod(call.kinds[name].shape))

    def columns(self, args: tuple[Any, ...], value: Array, tangents: Array) -> Array:
        """J t for each t (vectors, output's size)."""
        call, specialisation = specialised(self.gradient, args, {})
        (name,) = specialisation.wrt
        kind = call.kinds[name]
        stacked = tangents.reshape(len(tangents), *kind.shape).astype(kind.dtype)
        found = directions_of(specialisation).along_all(call, {name: stacked})
        return found.reshape(len(tangents), math.prod(found.shape[1:]))


def real_argument(args: tuple[Any, ...], position: int) -> Array:
    """The value of an argument by which a matrix of derivatives is asked for.

    Raises:
        ArgumentError: it is complex.
    """
    x = np.asarray(args[position])
    if np.iscomplexobj(x):
        what = f"the argument {position} is complex, and a function of it that is not holomorphic has no Jacobian"
        raise ArgumentError(what, todo="Pass real and imaginary part as two arguments, or use jvp, vjp and hvp.")
    return x


def curved_along_all(product: DifferentiatedProgram, args: tuple[Any, ...], position: int) -> Array:
    """The product of the Hessian by one argument, given by `curvature`, with each unit vector (size, size)."""
    x = real_argument(args, position)
    call, specialisation = specialised(product, (args, (args[position],)), {})
    basis = np.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    found = directions_of(specialisation).gradients_of_all(call, specialisation.ones(), {"tangents[0]": basis})
    return found[specialisation.wrt[0]].reshape(x.size, x.size)


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
        if np.iscomplexobj(part) and kind.dtype.kind != "c":
            what = f"the tangent of `{leaf}` is complex, the argument real"
            raise ArgumentError(what, todo="Pass a real tangent.")
        found[leaf] = np.ascontiguousarray(part, dtype=kind.dtype).reshape(kind.shape)
    return found
