"""Integers that decide how long a list is: counters and arguments become constants."""

import math

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ShapeMismatch, UnsupportedProgram
from tests.helpers import line_of

P = np.linspace(0.2, 1.0, 5)


def others_by_generator(P):
    n, s = len(P), 0.0
    for i in range(n):
        s += P[i] * sum(P[j] for j in range(n) if j != i)
    return s


def others_by_index(P, slack):
    n, s = len(P), 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i and j != slack]
        s += P[i] * np.sum(P[others] ** 2)
    return s


def one_left_out(P, slack):
    n = len(P)
    kept = [i for i in range(n) if i != slack]
    return np.sum(P[kept] * np.arange(n - 1))


def one_left_out_by_append(P, slack):
    n, kept = len(P), []
    for i in range(n):
        if i != slack:
            kept.append(i)
    return np.sum(P[kept] * np.arange(n - 1))


def list_of_a_branch(P, order):
    weights = [1.0]
    if order > 1:
        weights.append(P[1])
        if order > 2:
            weights.append(P[2] ** 2)
    return sum(w * p for w, p in zip(weights, P, strict=False))


def dict_or_list(P, kind):
    parts = {"first": P, "last": P[1:]} if kind == 0 else [P, P**2]
    total = 0.0
    for part in parts:
        total += np.sum(parts[part] if kind == 0 else part)
    return total


def dict_or_list_by_branch(P, kind):
    if kind == 0:
        parts = {"first": P, "last": P[1:]}
    else:
        parts = [P, P**2]
    total = 0.0
    for part in parts:
        total += np.sum(parts[part] if kind == 0 else part)
    return total


@pytest.mark.parametrize(
    "program",
    [
        others_by_generator,
        others_by_index,
        one_left_out,
        one_left_out_by_append,
        list_of_a_branch,
        dict_or_list,
        dict_or_list_by_branch,
    ],
)
def test_that_they_decide(program):
    for number in (0, 3, 2):
        args = (P, number)[: program.__code__.co_argcount]
        np.testing.assert_allclose(sdfgad.differentiate(program, wrt="P").value(*args), program(*args), rtol=1e-13)
        sdfgad.check_grads(program, *args, wrt="P")


def modes(P, mode):
    if mode == 1:
        return np.sum(np.ma.masked_array(P, P > 1.0))
    total = 0.0
    for i in range(3):
        if mode == 2:
            total += np.sum(P @ np.zeros(7))
        else:
            total += P[i] ** 2
    return total


def test_that_a_branch_which_an_integer_rules_out_may_hold_what_is_refused():
    gradient = sdfgad.differentiate(modes, wrt="P")
    np.testing.assert_allclose(gradient(P, 0), [*(2 * P[:3]), 0, 0], rtol=1e-13)
    with pytest.raises(UnsupportedProgram, match=r"masked arrays of np\.ma are not supported") as caught:
        gradient(P, 1)
    assert line_of(modes, "masked_array") in str(caught.value)
    with pytest.raises(ShapeMismatch, match="inner extents 5 and 7 of a matrix product differ") as caught:
        gradient(P, 2)
    assert line_of(modes, "zeros(7)") in str(caught.value)


X = np.linspace(0.4, 1.5, 16)


def half_a_grid(X, n):
    half = 0.5 * n
    spacing = 1 / half
    return np.sum(X[: int(half)] * np.linspace(0, 1, int(2 / spacing))[::2])


def pyramid(X, levels):
    images = [X]
    while len(images) < levels:
        images.append(images[-1][::2] ** 2)
    return sum(image.sum() for image in images)


def bonds_that_grow(X, sweeps):
    for _ in range(sweeps):
        X = np.concatenate([X[::2], [1.0, X[0] * X[1]]])
    return np.sum(X * np.arange(len(X)))


@pytest.mark.parametrize("program", [half_a_grid, pyramid, bonds_that_grow])
def test_that_they_decide_by_numbers_made_of_them_and_in_loops(program):
    gradient = sdfgad.differentiate(program, wrt="X")
    for number in (2, 4):
        np.testing.assert_allclose(gradient.value(X, number), program(X, number), rtol=1e-13)
        sdfgad.check_grads(program, X, number, wrt="X")


def too_many_to_unroll(X, sweeps):
    for _ in range(sweeps):
        X = np.concatenate([X, X[:1]])
    return np.sum(X)


def test_that_the_loop_is_named_where_it_is_too_long_to_be_unrolled():
    with pytest.raises(UnsupportedProgram, match="`X` changes its shape in a branch or loop") as caught:
        sdfgad.differentiate(too_many_to_unroll, wrt="X")(X, 1000)
    assert line_of(too_many_to_unroll, "for _") in str(caught.value)


def radial(X, h):
    """Zernike polynomials, whose degree a `while` finds."""
    total = 0.0
    for j, weight in enumerate(X, start=2):
        n, left = 0, j - 1
        while left > n:
            n += 1
            left -= n
        for k in range(n // 2 + 1):
            total += weight * math.factorial(n - k) / math.factorial(k) * h ** (n - 2 * k)
    return total


def test_that_a_loop_before_decides_them_where_loops_around_are_unrolled():
    np.testing.assert_allclose(sdfgad.differentiate(radial, wrt="X").value(P, 0.7), radial(P, 0.7), rtol=1e-13)
    sdfgad.check_grads(radial, P, 0.7)


def landmarks(X, n):
    """Slices that have a name."""
    means, total = np.zeros(2 * n), 0.0
    for j in range(len(X)):
        pair = slice(2 * (j % n), 2 * (j % n) + 2)
        means[pair] += X[j]
        total += np.sum(means[pair] ** 2)
    return total


def test_that_bounds_of_named_slices_are_known():
    np.testing.assert_allclose(sdfgad.differentiate(landmarks, wrt="X").value(P, 2), landmarks(P, 2), rtol=1e-13)
    sdfgad.check_grads(landmarks, P, 2, wrt="X")


def sliced_by_data(X):
    total = X[0]
    while total < 100.0:
        part = slice(int(total), 4)
        total += np.sum(X[part]) + 1.0
    return total


def test_that_named_slices_by_data_say_what_to_write():
    with pytest.raises(UnsupportedProgram, match=r"a bound of `slice\(...\)` is known only at run time") as caught:
        sdfgad.differentiate(sliced_by_data)(P)
    assert line_of(sliced_by_data, "slice(") in str(caught.value)
