"""``is`` between items of lists that loops go over as over the rows of arrays, and as over tables of numbers."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_like_python, assert_value_and_slope

N = 50


def tuples_of_numbers(a):
    pairs = [(i, (i * 7) % N) for i in range(N)]
    s = 0.0
    for pair in pairs:
        if pair is pairs[3]:
            continue
        s += a[pair[0]] * a[pair[1]]
    return s


def rows(a):
    vectors = []
    for i in range(N):
        vectors.append(np.array([a[i], a[i] ** 2]))
    first, s = vectors[0], 0.0
    for v in vectors:
        if v is first:
            continue
        s += v @ v
    return s


def tuples_of_rows(a):
    found = []
    for i in range(N):
        found.append((i, np.array([a[i], a[i] ** 2])))
    s = 0.0
    for one in found:
        if one is not found[3]:
            s += one[1] @ one[1]
    return s


def by_places(a):
    pairs = [(i, (i * 7) % N) for i in range(N)]
    first, s = pairs[0], 0.0
    for i in range(N):
        if pairs[i] is not first and pairs[i] is not pairs[2]:
            s += a[i] ** 2
    return s


def several(a):
    return tuples_of_numbers(a) + 3 * rows(a) ** 2 + tuples_of_rows(a) + by_places(a) ** 2


def test_items_are_told_apart_by_identity(rng):
    a = rng.uniform(0.1, 1.0, N)
    assert sdfgad.differentiate(several).value(a) == pytest.approx(several(a), rel=1e-12)
    sdfgad.check_grads(several, a)


def test_items_that_are_one_array(rng):
    def program(x):
        values, by_key, s = [], {}, 0.0
        h = x[0] * 2.0
        for i in range(60):
            values.append(h)
            by_key[i] = h
            s = s + x[i, 0]
        s += 1.0 if values[0] is values[1] else 2.0
        return s + (3.0 if by_key[2] is h else 5.0) + (7.0 if values[4] is by_key[5] else 11.0)

    assert_like_python(program, rng.uniform(size=(60, 3)))


def by_flags(x):
    total = 0.0
    for k in range(40):
        is_late = k > 5
        is_far = x[0] * k > 3
        if bool(is_far) is True:
            total += x[1] * k
        if is_late is False:
            total -= x[2]
        if is_far is True or is_late is True:
            # NumPy's truth values are not Python's.
            total += x[0]
    return total


def test_truth_values_that_only_a_run_tells():
    """They were never `True` and never `False`."""
    assert_value_and_slope(by_flags, np.array([0.7, 0.3, 0.45]))


def small_integers(x):
    one, three, total = 1, 3, 0.0
    n = one
    for v in x:
        if v > 0.5:
            n = three
        total += v if n is three else v * v
    return total * x[0] if n is not one else total


def test_small_integers_are_one_object_each():
    """`is` was false of those that data decides."""
    for x in (np.array([0.7, 0.3, 0.45]), np.array([0.1, 0.7, 0.45]), np.array([0.1, 0.2, 0.45])):
        assert_value_and_slope(small_integers, x)


def mixed_flags(x):
    flag = True
    if x[0] > 0.5:
        flag = x[1] > 0.5
    return x[0] * 2 if flag is True else x[0]


def test_a_truth_value_that_is_pythons_or_numpys():
    """It was refused."""
    gradient = sdfgad.differentiate(mixed_flags)
    for x in (np.array([0.7, 0.3]), np.array([0.7, 0.9]), np.array([0.2, 0.3])):
        assert gradient.value(x) == mixed_flags(x)
        np.testing.assert_array_equal(gradient(x)["x"], [2.0 if x[0] < 0.5 else 1.0, 0.0])
