"""Programs that call gradients, whose gradients are products with derivatives of first and second order.

The Hessian's product with v is the gradient of <grad f(x), v>. The vector-Jacobian product is linear in its cotangent:
the gradient of <J^T c, t> by c is the Jacobian-vector product J t (transposition of the transposed map).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.api.differentiate import DifferentiatedProgram, differentiate

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
def pushforward(g: DifferentiatedProgram) -> DifferentiatedProgram:
    """J t as a function of the arguments, any cotangent, and t."""
    return differentiate(_paired(g), wrt="cotangent", allow_unused=True)


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
        found = [self.gradient.vjp(*args, cotangent=c.reshape(value.shape))[0] for c in cotangents]
        return np.array(found).reshape(len(cotangents), np.size(args[self.position]))

    def columns(self, args: tuple[Any, ...], value: Array, tangents: Array) -> Array:
        """J t for each t (vectors, output's size)."""
        x, zero, push = np.asarray(args[self.position]), np.zeros_like(value), pushforward(self.gradient)
        found = [push(tuple(args), zero, (t.reshape(x.shape).astype(x.dtype),)) for t in tangents]
        return np.array(found).reshape(len(tangents), value.size)
