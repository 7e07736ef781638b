"""Gradients of gradients: programs with mirror images of loops in them, by the interpreter."""

import numpy as np

import sdfgad
from sdfgad.ir.program import Loop, walk
from tests.helpers_ir import evaluated_gradients, gradient_of, parsed

X = np.linspace(0.3, 1.1, 6)


def until_large(x):
    s, k = x[0], 0
    while s < 3.0:
        s = s + x[k % 6] * s
        k += 1
    return s * s


slopes = sdfgad.differentiate(until_large, wrt="x")


def inner(x, d):
    return np.sum(slopes(x) * d)


def test_mirror_images_of_open_loops_begin_at_their_first_trip():
    """Of an open loop only the first trip is stated, which is the last one of its mirror image."""
    d = np.cos(X)
    primal = parsed(inner, X, d)
    loops = [s for s in walk(primal.program.body) if isinstance(s, Loop) and not s.is_open]
    assert loops
    _, found = evaluated_gradients(primal, gradient_of(primal, ["x"]), 1.0, X, d)

    def slope(x):
        plain = parsed(until_large, x)
        return evaluated_gradients(plain, gradient_of(plain), 1.0, x)[1]["x"]

    ends = [slope(X + h * d) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(found["x"], (ends[0] - ends[1]) / 2e-5, rtol=1e-6, atol=1e-6)
