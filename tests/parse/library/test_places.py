"""Loops over the places of arrays, and indirect sorts, through compiled code."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import SdfgadError
from tests.helpers import line_of

RNG = np.random.default_rng(45)
A, X = RNG.standard_normal((3, 4)), RNG.standard_normal(7)


def enumerated(A):
    total = 0.0
    for (i, j), x in np.ndenumerate(A):
        total += x**2 * (i + 1) + A[j % 3, i] * j
    for (k,), x in np.ndenumerate(A[0]):
        total += k * x**3
    return total


def changed(A):
    B = A.T.copy()
    total = 0.0
    for place, x in np.ndenumerate(B.T):
        total += x * place[1]
        # What the loop has not come to yet.
        B[(place[1] + 1) % 4, place[0]] *= 1.5
    return total + np.sum(B**2)


def places(A):
    total, parts = 0.0, []
    for i, j in np.ndindex(3, 4):
        total += A[i, j] ** 2 * (i - j)
    for i, j in np.ndindex(2, 2):
        if i != j:
            parts.append(A[i, j] ** 3)
    for place in np.ndindex(A.shape):
        total += A[place] * place[0]
    for k in np.ndindex(A.shape[:1]):
        total += A[k][1] ** 2
    for i, j in np.ndindex(30, 12):
        total += A[i // 10, j // 3] ** 2 * i
    return total + sum(parts)


@pytest.mark.parametrize("program", [enumerated, changed, places])
def test_loops_over_places(program):
    np.testing.assert_allclose(sdfgad.differentiate(program).value(A), program(A), rtol=1e-12)
    sdfgad.check_grads(program, A)


def sorted_by_two(x, k):
    order = np.lexsort((x, k))
    return np.sum(x[order] * np.arange(7.0) ** 2)


def test_sorting_by_several_keys():
    k = np.array([2, 0, 1, 1, 0, 2, 1])
    np.testing.assert_allclose(sdfgad.differentiate(sorted_by_two).value(X, k), sorted_by_two(X, k), rtol=1e-12)
    sdfgad.check_grads(sorted_by_two, X, k)


def masked(x):
    return np.ma.masked_where(x > 0.0, x).sum()


def by_strides(x):
    return np.sum(np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8)))


@pytest.mark.parametrize(("program", "text"), [(masked, "np.where(mask, 0.0, x)"), (by_strides, "sliding_window_view")])
def test_refusals(program, text):
    with pytest.raises(SdfgadError) as caught:
        sdfgad.grad(program)(X)
    assert text in str(caught.value)
    assert str(caught.value.where) == line_of(program, "return")
