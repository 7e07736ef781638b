"""Checks of second derivatives: against differences of gradients (Taylor test), and by symmetry.

Forward mode is checked by duality: <J t, c> = <t, J^T c>.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.api.joint import Joint
from sdfgad.api.products import pullback
from sdfgad.parse.structure import path_of
from sdfgad.specialise.directions import directions_of
from sdfgad.specialise.signature import Call
from sdfgad.specialise.specialise import Specialisation

Array = np.ndarray[Any, Any]
Vector = Mapping[str, Array]


class SecondOrder:
    """A gradient at a point, and what calls it: J t, and the Hessian of the output weighted by a cotangent.

    Vectors are dicts by the leaves of `wrt`.
    """

    def __init__(self, call: Call, specialisation: Specialisation, cotangent: Array) -> None:
        self.call, self.specialisation, self.cotangent = call, specialisation, cotangent
        self.leaves = specialisation.wrt

    @cached_property
    def gradient(self) -> DifferentiatedProgram:
        function = self.specialisation.primal.source.function
        output = self.specialisation.output
        return differentiate(function, wrt=self.leaves, output=output, allow_unused=True, device="cpu")

    def pulled(self, values: Mapping[str, Any]) -> Vector:
        """J^T c at other values of the leaves."""
        return self._by_leaf(self.gradient.vjp(*self._arguments(values), cotangent=self.cotangent))

    def pushed(self, tangent: Vector) -> Array:
        """J t."""
        return directions_of(self.specialisation).along(self.call, tangent)[1]

    def curved(self, tangent: Vector) -> Vector:
        """H t."""
        call, forward = self._pullback.forward((self._arguments(self.call.values), self.cotangent))
        parameters = [one.name for one in self.gradient.parameters]
        places = {}
        for leaf in self.leaves:
            root = (path_of(leaf) or (leaf, ()))[0]
            places[f"primals[{parameters.index(root)}]{leaf[len(root) :]}"] = tangent[leaf]
        return self._by_leaf(forward.derivative(call, places))

    def _by_leaf(self, found: Any) -> Vector:
        """Gradients as the program returns them, by leaf."""
        return found if isinstance(found, Mapping) else dict(zip(self.leaves, found, strict=True))

    @cached_property
    def _pullback(self) -> Joint:
        return pullback(self.gradient)

    def _arguments(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        arguments = self.call.arguments(values)
        return tuple(arguments[one.name] for one in self.gradient.parameters)


def dot(x: Mapping[str, Any], y: Mapping[str, Any]) -> float:
    return sum(float(np.sum((np.conj(x[name]) * y[name]).real)) for name in x)


def norm(x: Mapping[str, Any]) -> float:
    return float(np.sqrt(dot(x, x)))


def duality_error(second: SecondOrder, tangent: Vector) -> float:
    """How far <J t, c> is from <t, J^T c>, relative to the norms."""
    pushed, pulled = {"": second.pushed(tangent)}, second.pulled(second.call.values)
    scale = max(norm(pushed) * norm({"": second.cotangent}), norm(tangent) * norm(pulled), 1e-300)
    return abs(dot(pushed, {"": second.cotangent}) - dot(tangent, pulled)) / scale


def symmetry_error(second: SecondOrder, tangents: Sequence[Vector]) -> float:
    """How far <H t, s> is from <t, H s>, relative to the norms."""
    t, s = tangents
    along_t, along_s = second.curved(t), second.curved(s)
    scale = max(norm(along_t) * norm(s), norm(along_s) * norm(t), 1e-300)
    return abs(dot(along_t, s) - dot(t, along_s)) / scale


def difference_error(second: SecondOrder, tangent: Vector, steps: Sequence[float], moved: Any) -> tuple[float, float]:
    """How far H t is from central differences of gradients, relative to the gradient, and the Taylor rate."""
    exact, start = second.curved(tangent), second.pulled(second.call.values)
    scale = max(1.0, norm(exact))

    def shifted(h: float) -> Vector:
        values = second.call.values
        return second.pulled({name: moved(value, tangent.get(name), h) for name, value in values.items()})

    def central(h: float) -> float:
        ahead, behind = shifted(h), shifted(-h)
        return norm({name: (ahead[name] - behind[name]) / (2 * h) - exact[name] for name in exact}) / scale

    def remainder(h: float) -> float:
        ahead = shifted(h)
        return norm({name: ahead[name] - start[name] - h * exact[name] for name in exact})

    remainders, noise = [remainder(1e-2 / 4**k) for k in range(8)], 1e-12 * max(scale, norm(start))
    rates = [np.log(coarse / fine) / np.log(4.0) for coarse, fine in itertools.pairwise(remainders) if fine > noise]
    return min(map(central, steps)), float(rates[-1]) if rates else np.inf
