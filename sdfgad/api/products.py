"""Products with derivatives: with the Jacobian from either side, and with the Hessian.

The Hessian's product with v is the derivative of the gradient along v: forward mode over reverse mode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sdfgad.api.callables import is_local
from sdfgad.api.differentiate import DifferentiatedProgram, differentiate, specialised
from sdfgad.api.joint import MOST_KEPT, Joint, joint
from sdfgad.errors import ArgumentError, MissingRule
from sdfgad.parse.structure import flattened
from sdfgad.specialise.directions import COTANGENT, directions_of
from sdfgad.specialise.outgrown import repeated
from sdfgad.specialise.tangents import tangents_of

Array = np.ndarray[Any, Any]


def gradient_of(program: Callable[..., Any], argnums: Any, output: Any) -> DifferentiatedProgram:
    """The gradient by these arguments: always the same object, but for a function that a program defines."""
    if is_local(program):
        return _gradient_of.__wrapped__(program, argnums, output)
    return _gradient_of(program, argnums, output)


@lru_cache(MOST_KEPT)
def _gradient_of(program: Callable[..., Any], argnums: Any, output: str | None) -> DifferentiatedProgram:
    return differentiate(program, wrt=argnums, output=output, allow_unused=True, device="cpu")


@dataclass(frozen=True)
class Products:
    """Products of vectors with the Jacobian of a gradient's program by the argument at a position."""

    gradient: DifferentiatedProgram
    position: int

    def argument(self, args: tuple[Any, ...]) -> Array:
        """The argument's value.

        Raises:
            ArgumentError: it is a container; or complex: of what is not holomorphic the derivative is no matrix of
                complex numbers.
        """
        return real_argument(args, self.position)

    def has_forward_mode(self, args: tuple[Any, ...]) -> bool:
        """Whether the program has a derivative in forward mode: a `custom_vjp` may have none."""
        _, specialisation = specialised(self.gradient, args, {})
        try:
            _ = directions_of(specialisation).tangent
        except MissingRule:
            return False
        return True

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
        ArgumentError: it is a container of arrays, or complex.
    """
    if flattened(args[position], "")[0] is not None:
        raise no_array(position, type(args[position]))
    x = np.asarray(args[position])
    if np.iscomplexobj(x):
        raise no_real(position)
    return x


def no_array(position: int, cls: type) -> ArgumentError:
    what = f"the argument {position} is a {cls.__name__}, not an array"
    return ArgumentError(what, todo="Pass one array, and take it apart in the program; or use jvp, vjp and hvp.")


def no_real(position: int) -> ArgumentError:
    what = f"the argument {position} is complex, and a function of it that is not holomorphic has no Jacobian"
    return ArgumentError(what, todo="Pass real and imaginary part as two arguments, or use jvp, vjp and hvp.")


@repeated
def along(g: DifferentiatedProgram, primals: tuple[Any, ...], tangents: Mapping[int, Any]) -> tuple[Any, Any]:
    """The value of a gradient's program and its derivative, given the tangents of arguments at some positions.

    Raises:
        ArgumentError: a tangent has another structure or shape than its argument.
    """
    call, specialisation = specialised(g, primals, {})
    return directions_of(specialisation).along(call, tangents_of(call, g.name_of, tangents))


# --- second order


@repeated
def curved(g: DifferentiatedProgram, primals: tuple[Any, ...], tangents: Mapping[int, Any]) -> Any:
    """The derivative of a gradient, as it arranges it, in the direction of tangents of arguments at some positions."""
    return joint(g, None).derivative(primals, tangents)


def pulled_by(g: DifferentiatedProgram) -> Callable[..., Any]:
    """``g.vjp`` as a program of a tuple of the arguments and the cotangent."""

    def pulled(primals, cotangent):  # type: ignore[no-untyped-def]
        return g.vjp(*primals, cotangent=cotangent)

    return pulled


@lru_cache(MOST_KEPT)
def pullback(g: DifferentiatedProgram) -> Joint:
    """The derivatives of that program."""
    return Joint(pulled_by(g), None)


@repeated
def weighted_curved(
    g: DifferentiatedProgram, primals: tuple[Any, ...], cotangent: Any, tangents: tuple[Any, ...]
) -> Any:
    """The derivative of the gradient for a cotangent, in the direction of tangents of all arguments (or None)."""
    return pullback(g).derivative((primals, cotangent), {0: tangents})


@repeated
def curved_along_all(g: DifferentiatedProgram, args: tuple[Any, ...], position: int) -> tuple[Array, ...]:
    """The derivatives of the gradients along the elements of one argument (its size, the gradient's size)."""
    x = real_argument(args, position)
    basis = np.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    found = joint(g, None).derivatives_along_all(args, position, basis)
    return tuple(one.reshape(x.size, math.prod(one.shape[1:])) for one in found)
