"""Loops over the places of arrays, and indirect sorts, through compiled code."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, SdfgadError
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


def numbered(A, k, n):
    top = np.unravel_index(np.argmax(A), A.shape)
    i, j = top
    flat = np.ravel_multi_index(k.T, (3, 4))
    wrapped = np.ravel_multi_index((k[:, 0] + 7, k[:, 1] - 9), A.shape, mode=("wrap", "clip"), order="F")
    total = A[top] ** 2 + A[i, j - 1] * j + np.sum(A.ravel()[flat] ** 2) + np.sum(A.ravel(order="F")[wrapped] ** 3)
    for q in range(n):
        total += A[np.unravel_index(q, A.shape, order="F")] * q
    rows, columns = np.unravel_index([5, 7, 11], A.shape)
    size = np.zeros(np.ravel_multi_index((1, 2), (2, n))).size
    return total + np.sum(A[rows, columns] ** 2) * size


def test_places_and_their_numbers():
    for k in (np.array([[0, 3], [2, 1], [1, 1]]), np.array([[1, 0], [0, 2], [2, 3]])):
        value = sdfgad.differentiate(numbered, wrt="A").value(A, k, 5)
        np.testing.assert_allclose(value, numbered(A, k, 5), rtol=1e-13)
        sdfgad.check_grads(numbered, A, k, 5, wrt="A")


def outside_number(A, k):
    return A[np.unravel_index(k[0], (3, 4))]


def outside_place(A, k):
    return A.ravel()[np.ravel_multi_index(k, (3, 4))]


@pytest.mark.parametrize(
    ("program", "k", "message"), [(outside_number, [12, 0], "out of bounds"), (outside_place, [3, 0], "invalid entry")]
)
def test_numbers_and_places_outside(program, k, message):
    with pytest.raises(ValueError, match=message):
        program(A, np.array(k))
    with pytest.raises(ProgramRaises, match=f"{message}[\\s\\S]*NumPy raises here, too") as caught:
        sdfgad.differentiate(program, wrt="A")(A, np.array(k))
    assert line_of(program, "return") in str(caught.value)
