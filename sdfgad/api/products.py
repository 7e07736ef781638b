"""Products with derivatives: with the Jacobian from either side, and with the Hessian.

The Hessian's product with v is the derivative of the gradient along v: forward mode over reverse mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.api.differentiate import DifferentiatedProgram, differentiate, specialised
from sdfgad.api.joint import MOST_KEPT, Joint, joint, tangents_of
from sdfgad.errors import ArgumentError
from sdfgad.specialise.directions import COTANGENT, directions_of

Array = np.ndarray[Any, Any]


@lru_cache(MOST_KEPT)
def gradient_of(program: Callable[..., Any], argnums: Any, output: str | None) -> DifferentiatedProgram:
    return differentiate(program, wrt=argnums, output=output, allow_unused=True)


@dataclass(frozen=True)
class Products:
    """Products of vectors with the Jacobian of a gradient's program by the argument at a position.

    A complex argument is one of a holomorphic program.
    """

    gradient: DifferentiatedProgram
    position: int

    def rows(self, args: tuple[Any, ...], value: Array, cotangents: Array) -> Array:
        """c J for each c (vectors, argument's size)."""
        x = np.asarray(args[self.position])
        _require_holomorphic(x, value)
        if not (cotangents.size and x.size):
            return np.zeros((len(cotangents), x.size), value.dtype)
        stacked = cotangents.reshape(-1, *value.shape).astype(value.dtype)
        if value.dtype.kind != "c":
            return self._pulled(args, value, stacked)
        if x.dtype.kind == "c":
            # The cotangent of a complex argument is that by the conjugate transpose.
            return np.conj(self._pulled(args, value, np.conj(stacked)))
        return self._pulled(args, value, stacked) + 1j * self._pulled(args, value, 1j * stacked)

    def _pulled(self, args: tuple[Any, ...], value: Array, cotangents: Array) -> Array:
        call, specialisation = specialised(self.gradient, args, {})
        found = directions_of(specialisation).gradients_of_all(call, value, {COTANGENT: cotangents})
        return found[specialisation.wrt[0]].reshape(len(cotangents), -1)

    def columns(self, args: tuple[Any, ...], value: Array, tangents: Array) -> Array:
        """J t for each t (vectors, output's size)."""
        call, specialisation = specialised(self.gradient, args, {})
        (name,) = specialisation.wrt
        kind = call.kinds[name]
        _require_holomorphic(np.asarray(args[self.position]), value)
        if not (tangents.size and value.size):
            return np.zeros((len(tangents), value.size), value.dtype)
        stacked = tangents.reshape(-1, *kind.shape).astype(kind.dtype)
        return directions_of(specialisation).along_all(call, {name: stacked}).reshape(len(tangents), -1)


def _require_holomorphic(x: Array, value: Array) -> None:
    """Raises: ArgumentError, where a complex argument has a real output, which has no complex derivative by it."""
    if x.dtype.kind == "c" and value.dtype.kind != "c":
        what = "the argument is complex and the output real: the output has no complex derivative"
        raise ArgumentError(what, todo="Use grad, or the Jacobian by the real and the imaginary part: f(x + 1j * y).")


def along(g: DifferentiatedProgram, primals: tuple[Any, ...], tangents: Mapping[int, Any]) -> tuple[Any, Any]:
    """The value of a gradient's program and its derivative, given the tangents of arguments at some positions.

    Raises:
        ArgumentError: a tangent has another structure or shape than its argument.
    """
    call, specialisation = specialised(g, primals, {})
    parameters = [one.name for one in g.parameters]
    return directions_of(specialisation).along(call, tangents_of(call, parameters, tangents))


# --- second order


def curved(g: DifferentiatedProgram, primals: tuple[Any, ...], tangents: Mapping[int, Any]) -> Any:
    """The derivative of a gradient, as it arranges it, in the direction of tangents of arguments at some positions."""
    return joint(g, None).derivative(primals, tangents)


@lru_cache(MOST_KEPT)
def pullback(g: DifferentiatedProgram) -> Joint:
    """``g.vjp`` as a function of a tuple of the arguments and the cotangent."""

    def pulled(primals, cotangent):  # type: ignore[no-untyped-def]
        return g.vjp(*primals, cotangent=cotangent)

    return Joint(pulled, None)


def weighted_curved(
    g: DifferentiatedProgram, primals: tuple[Any, ...], cotangent: Any, tangents: tuple[Any, ...]
) -> Any:
    """The derivative of the gradient for a cotangent, in the direction of tangents of all arguments (or None)."""
    return pullback(g).derivative((primals, cotangent), {0: tangents})


def curved_along_all(g: DifferentiatedProgram, args: tuple[Any, ...], position: int) -> Array:
    """The derivatives of the gradient by one argument in the directions of its elements (size, size)."""
    x = np.asarray(args[position])
    basis = np.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    if not x.size:
        return np.zeros((0, 0), x.dtype)
    (found,) = joint(g, None).derivatives_along_all(args, position, basis)
    return found.reshape(x.size, -1)
