"""Gradients of gradients: programs with mirror images of loops in them, by the interpreter."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.program import Loop, walk
from tests.helpers import line_of
from tests.helpers_ir import evaluated_gradients, gradient_of, outputs_of, parsed

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


def by_indices(x, s):
    r = np.zeros(6, dtype=int)
    for e in range(6):
        r[e] = s[5 - e]
    product = sp.csr_matrix((x, (r, np.arange(6))), shape=(6, 6)) @ x
    return np.sum(product**2 * s) + np.sum(np.linspace(0.0, 1.0, s[0] + 2)) * x[s[0]] ** 3


slopes_by_indices = sdfgad.differentiate(by_indices, wrt="x")


def twice(x, s):
    total = np.sum(slopes_by_indices(x, s) * x)
    s[:] = 1
    return total + np.sum(slopes_by_indices(x, s) * x)


def updated_later(x, s):
    total, k = np.sum(slopes_by_indices(x, s) * x), 0
    while total > 1.0:
        total = total * 0.5
        s[k % 6] = k % 3
        k += 1
    return total + np.sum(s * x)


def updated_in_the_loop(x, s):
    total = 0.0
    for k in range(3):
        total = total + np.sum(slopes_by_indices(x, s) * x)
        s[k] = (s[k] + 1) % 6
    return total


INDICES = ([1, 0, 2, 5, 5, 4], [0, 3, 3, 1, 1, 5])


@pytest.mark.slow
@pytest.mark.parametrize("program", [twice, updated_later])
def test_numbers_of_an_argument_decide_what_a_gradient_within_is(program):
    for indices in map(np.array, INDICES):
        primal = parsed(program, X, indices.copy())
        assert primal.decisive.keys() == {"s"}
        np.testing.assert_allclose(
            outputs_of(primal, X, indices.copy())["return"], program(X, indices.copy()), rtol=1e-12
        )


def test_numbers_that_change_in_the_loop_around_a_gradient_are_not_known():
    with pytest.raises(UnsupportedProgram, match="known only at run time") as error:
        parsed(updated_in_the_loop, X, np.array(INDICES[0]))
    assert line_of(by_indices, "csr_matrix") in str(error.value)


@pytest.mark.slow
def test_hessians_and_batches_of_gradients_are_specialised_for_such_numbers():
    hessian, direction = sdfgad.hessian(by_indices), np.cos(X)
    for indices in map(np.array, (*INDICES, INDICES[0])):
        ends = [slopes_by_indices(X + h * direction, indices) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose(hessian(X, indices) @ direction, (ends[0] - ends[1]) / 2e-6, rtol=1e-7)
    points = np.stack([X, X[::-1]])
    found = sdfgad.vmap(sdfgad.grad(by_indices), (0, None))(points, indices)
    np.testing.assert_allclose(found, [slopes_by_indices(x, indices) for x in points], rtol=1e-14)
