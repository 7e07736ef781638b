"""Rolled copies are read where they come from, in the program and in its adjoint."""

import numpy as np
import pytest

import sdfgad
from sdfgad.explain.explain import explain
from sdfgad.ir.program import computes
from sdfgad.optimise.cleaning.rotations import forward_rotations, turn
from tests.helpers_passes import assert_becomes, assert_stays

ROLLED = """for p < 1: a[p] = x[p + 19]
for p < 19: a[p + 1] = x[p]
"""


def test_a_rolled_copy_is_read_where_it_comes_from():
    assert_becomes(
        forward_rotations,
        ROLLED + "for p < 19: z[p] = a[p + 1] - x[p] * a[p]\nz[19] = a[0]",
        """
        for p < 19: z[p] = (x[p] - (x[p] * x[remainder(p + 19, 20)]))
        z[19] = x[19]
        """,
    )


def test_a_copy_of_a_copy():
    assert_becomes(
        forward_rotations,
        ROLLED
        + """for p < 17: b[p] = a[p + 3]
for p < 3: b[p + 17] = a[p]
for p < 20: z[p] = b[p] * y[p]
""",
        """
        for p < 20: z[p] = (x[remainder(p + 2, 20)] * y[p])
        """,
    )


STAYS = {
    "the source changes": f"for p < 20: x[p] = y[p]\n{ROLLED}x[3] = 0.5\nfor p < 20: z[p] = a[p]",
    "between the parts": """
    for p < 20: x[p] = y[p]
    for p < 1: a[p] = x[p + 19]
    x[3] = 0.5
    for p < 19: a[p + 1] = x[p]
    for p < 20: z[p] = a[p]
    """,
    "no rotation": """
    for p < 1: a[p] = x[p + 18]
    for p < 19: a[p + 1] = x[p]
    for p < 20: z[p] = a[p]
    """,
    "a reflection": """
    for p < 10: a[p] = x[-p + 19]
    for p < 10: a[p + 10] = x[p]
    for p < 20: z[p] = a[p]
    """,
    "a part is missing": """
    for p < 20: a[p] = 0.0
    for p < 1: a[p] = x[p + 19]
    for p < 18: a[p + 1] = x[p]
    for p < 20: z[p] = a[p]
    """,
    "twice the same part": """
    for p < 20: a[p] = 0.0
    for p < 10: a[p] = x[p + 10]
    for p < 10: a[p] = x[p]
    for p < 20: z[p] = a[p]
    """,
    "of two arrays": """
    for p < 19: a[p] = x[p]
    for p < 1: a[p + 19] = s
    for p < 20: z[p] = a[p]
    """,
    "a part is updated": f"{ROLLED}for p < 19: a[p + 1] = a[p + 1] * y[p]\nfor p < 20: z[p] = a[p]",
    "an output": "    for p < 1: z[p] = x[p + 19]\n    for p < 19: z[p + 1] = x[p]",
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_copies_that_stay(text):
    assert_stays(forward_rotations, text)


def test_what_wraps_around_is_turned():
    assert_becomes(
        turn,
        """
        for p < 20: z[p] = y[p]
        for p < 20: z[remainder(p + 3, 20)] += x[p] * y[remainder(p + 1, 20)]
        """,
        """
        for p < 20: z[p] = y[p]
        for p < 20: z[p] += (x[remainder(p + 17, 20)] * y[remainder(p + 18, 20)])
        """,
    )


def updated_in_part(u, a):
    w = np.roll(u, 3, axis=1)
    w[:-1, 1:] += 0.3 * w[:-1, 1:] * a[1:, :-1]
    return np.sum(np.roll(w, -1, axis=0) * a) + np.sum(np.sin(w))


def test_a_rolled_array_that_is_updated_in_part():
    rng = np.random.default_rng(1)
    u, a = rng.random((2, 6, 9))
    np.testing.assert_allclose(sdfgad.differentiate(updated_in_part).value(u, a), updated_in_part(u, a))
    assert sdfgad.check_grads(updated_in_part, u, a, wrt=("u", "a")).error < 1e-7


def diffusion(u, a, shift, steps):
    for _ in range(steps):
        u += a * (np.roll(u, 1, 0) + np.roll(u, -1, axis=0) + np.roll(np.roll(u, shift, 1), -1, 0) - 3.0 * u) * u
    flux = np.roll(a[1:, 2:] - u[1:, 2:], (2, -3), axis=(0, 1))
    return np.sum(flux * u[1:, 2:] ** 2) + u[0, 0] * np.roll(u, 5)[3, 3]


@pytest.mark.parametrize(("shape", "shift"), [((7, 11), 1), ((5, 64), -2), ((4, 9), 0), ((5, 8), 21)])
def test_gradients_of_rolled_arrays(shape, shift):
    rng = np.random.default_rng(0)
    u, a = rng.random(shape), 0.1 * rng.random(shape)
    g = sdfgad.differentiate(diffusion, wrt=("u", "a"))
    assert np.isclose(g.value(u, a, shift, 3), diffusion(u.copy(), a, shift, 3), rtol=1e-12)
    assert sdfgad.check_grads(diffusion, u, a, shift, 3, wrt=("u", "a")).error < 1e-7


def laplacian(u, steps):
    for _ in range(steps):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u) * u
    return np.sum(u)


def test_no_copy_is_left():
    program = explain(laplacian, np.ones((20, 30)), 4, stage="parsed").record
    before, after = (len(list(computes(one.body))) for one in (program, forward_rotations(program)))
    assert before - after == 7
