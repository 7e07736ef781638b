"""Jacobian-vector products and Hessians of all programs: duality, symmetry, and differences of gradients."""

import inspect

import numpy as np
import pytest

import npbench_suite
from sdfgad.api.products import along, gradient_of, weighted_curved
from tests.helpers_tiers import some

NAMES = [name for name in npbench_suite.names() if npbench_suite.load(name).arrays]


def random_like(array, rng):
    array = np.asarray(array)
    values = rng.standard_normal(array.shape)
    return (values + 1j * rng.standard_normal(array.shape) if array.dtype.kind == "c" else values).astype(array.dtype)


def dot(x, y):
    return sum(float(np.sum((np.conj(a) * b).real)) for a, b in zip(x, y, strict=True))


def norm(x):
    return np.sqrt(dot(x, x))


class Point:
    """A program's gradient at its test arguments, with a cotangent."""

    def __init__(self, name, rng):
        entry = npbench_suite.load(name)
        parameters = list(inspect.signature(entry.program).parameters)
        self.positions = tuple(parameters.index(one) for one in entry.arrays)
        self.arguments = entry.arguments_for("test")
        self.gradient = gradient_of(entry.program, self.positions, entry.output)
        self.cotangent = random_like(self.gradient.value(*self.arguments), rng)

    def direction(self, rng):
        return tuple(random_like(self.arguments[k], rng) for k in self.positions)

    def pulled(self, tangent, step):
        moved = list(self.arguments)
        for k, t in zip(self.positions, tangent, strict=True):
            moved[k] = (moved[k] + step * t).astype(np.asarray(moved[k]).dtype)
        return self.gradient.vjp(*moved, cotangent=self.cotangent)

    def pushed(self, tangent):
        return along(self.gradient, tuple(self.arguments), dict(zip(self.positions, tangent, strict=True)))[1]

    def curved(self, tangent):
        given = dict(zip(self.positions, tangent, strict=True))
        tangents = tuple(given.get(k) for k in range(len(self.arguments)))
        return weighted_curved(self.gradient, tuple(self.arguments), self.cotangent, tangents)


def is_single(point):
    return point.cotangent.dtype in (np.float32, np.complex64)


@pytest.mark.parametrize("name", some(NAMES, 3))
def test_the_forward_mode_is_dual_to_the_reverse_mode(name, rng):
    point = Point(name, rng)
    t = point.direction(rng)
    pushed, pulled = point.pushed(t), point.pulled(t, 0.0)
    scale = max(norm([pushed]) * norm([point.cotangent]), norm(t) * norm(pulled))
    assert abs(dot([pushed], [point.cotangent]) - dot(t, pulled)) <= (1e-5 if is_single(point) else 1e-12) * scale


@pytest.mark.parametrize("name", some(NAMES, 3))
def test_second_derivatives(name, rng):
    point = Point(name, rng)
    t, s = point.direction(rng), point.direction(rng)
    along_t, along_s = point.curved(t), point.curved(s)
    scale = max(norm(along_t) * norm(s), norm(along_s) * norm(t))
    assert abs(dot(along_t, s) - dot(t, along_s)) <= (1e-5 if is_single(point) else 1e-12) * scale
    if not is_single(point):
        ahead, behind = point.pulled(t, 1e-5), point.pulled(t, -1e-5)
        apart = [(a - b) / 2e-5 - h for a, b, h in zip(ahead, behind, along_t, strict=True)]
        assert norm(apart) <= 1e-6 * max(norm(along_t), norm(point.pulled(t, 0.0)))
