"""np.unique, of integers that are known while parsing and of data."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_slope, assert_value_and_slope, outputs_of, parsed

GROUPS = np.array([3, 1, 3, 3, 7, 1], np.int32)
X = np.random.default_rng(4).uniform(0.5, 1.5, 6)


def means_of_groups(x):
    names, first, inverse, counts = np.unique(GROUPS, return_index=True, return_inverse=True, return_counts=True)
    total = np.zeros(len(names))
    np.add.at(total, inverse, x**2)
    return total / counts * names + x[first]


def made_of_constants(x):
    groups = np.arange(6) // 2 * 2
    return [np.sum(x[groups == name] ** 2) * name for name in np.unique(groups)]


def of_rows(x):
    rows, counts = np.unique(np.array([[1, 2], [0, 1], [1, 2]]), axis=0, return_counts=True)
    return x[:2] * counts + np.sum(rows)


def of_an_argument(x, groups):
    names, inverse = np.unique(groups, return_inverse=True)
    total = np.zeros(names.size)
    np.add.at(total, inverse, x**2)
    return np.sum(total**2)


def of_data(x):
    whole = np.floor(4.0 * np.concatenate((x, x[:4])).reshape(2, 5)) + x[0]
    names, first, inverse, counts = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
    return names * counts + np.sum(x[first % 6] ** 2) + np.sum(inverse * np.arange(10).reshape(2, 5)) * x[1]


def in_rows(x):
    return np.unique(x.reshape(2, 3), axis=0)


@pytest.mark.parametrize("program", [means_of_groups, of_rows, made_of_constants], ids=lambda program: program.__name__)
def test_of_constants(program):
    assert_like_python(program, X)
    if program is not made_of_constants:
        assert_slope(program, X)


def test_the_program_is_made_for_the_elements_of_an_argument():
    g = sdfgad.grad(of_an_argument, "x")
    for groups in (np.array([0, 0, 1, 1, 2, 2]), np.array([5, 5, 5, 5, 5, 8])):
        _, inverse = np.unique(groups, return_inverse=True)
        total = np.bincount(inverse, X**2)
        np.testing.assert_allclose(g(X, groups), 4.0 * total[inverse] * X)


def test_lengths_of_counts():
    def constant(x):
        return np.sum(np.bincount(np.array([0, 1, 2, 2, 0, 1]), weights=x) ** 2)

    assert_like_python(constant, X)
    assert_slope(constant, X)
    g = sdfgad.grad(lambda x, groups: np.sum(np.bincount(groups, x) ** 2), "x")
    for groups in (np.array([0, 0, 1, 1, 2, 2]), np.array([5, 5, 0, 5, 5, 8])):
        np.testing.assert_allclose(g(X, groups), 2.0 * np.bincount(groups, X)[groups])


def test_membership():
    def program(x):
        mask = np.isin(np.arange(6), [1, 4])
        K = np.outer(x, x)
        K[np.diag_indices_from(K)] += 1.0
        return np.sum(x[mask] ** 2) + np.sum(x[np.isin(np.arange(6), [0, 1], invert=True)] ** 3) + np.sum(K**3)

    assert_value_and_slope(program, X)


def test_set_functions_of_integers():
    def program(x):
        free = np.setdiff1d(np.arange(6), [1, 4])
        both, mine, theirs = np.intersect1d(free, [5, 3, 0, 9], return_indices=True)
        either = np.union1d(both, np.setxor1d(free, [0, 1]))
        return x[free].sum() * x[both[0]] + np.sum(x[either] ** 2) + x[mine[1]] * x[theirs[2]]

    assert_value_and_slope(program, X)


def test_of_numbers_that_are_data():
    for x in (X, X[::-1], X + np.array([0.0, np.nan, 0.0, np.nan, 0.0, 0.0])):
        assert_like_python(of_data, x)
    assert_slope(of_data, X)


def test_rows_that_are_data_are_refused():
    with pytest.raises(UnsupportedProgram, match="known only at run time is not supported with axis") as caught:
        parsed(in_rows, X)
    assert str(caught.value.where) == line_of(in_rows, "return")
    assert "pass what it returns" in str(caught.value)


# --- sets of two arrays, of which one is data

SETS = [
    "np.union1d(x, y)",
    "np.setdiff1d(x, y)",
    "np.intersect1d(x, y)",
    "np.setxor1d(x, y)",
    "np.union1d(k, x)",
    "np.intersect1d(k, x)",
    "np.setdiff1d(k, x)",
    "np.union1d(x, [0.5])",
    "np.setdiff1d(x, y, assume_unique=True)",
    "np.sum(np.union1d(x, y) ** 2)",
    "len(np.union1d(x, y)) * x[0]",
    "np.union1d(x.reshape(2, -1), y)",
    "np.union1d(x[x > 1], y)",
    "x[np.setdiff1d(np.arange(len(x)), np.nonzero(x > 1)[0])]",
    "x[np.setdiff1d(np.arange(len(x)), k)]",
    "np.setdiff1d([3, 1], [2, 1]) * x[0]",
    "np.setdiff1d(range(4), k) * x[0]",
]


@pytest.mark.parametrize("expression", SETS)
def test_sets_of_data(expression, tmp_path):
    program = module_from(f"import numpy as np\n\ndef program(x, y, k):\n    return {expression}\n", tmp_path).program
    rng = np.random.default_rng(7)
    for trial in range(5):
        x, y = np.round(rng.uniform(0, 3, 2 * rng.integers(1, 4))), np.round(rng.uniform(0, 3, rng.integers(1, 6)))
        x[0] = np.nan if trial == 4 else x[0]
        k = rng.integers(0, 2, 4)
        expected = np.asarray(program(x, y, k))
        found = outputs_of(parsed(program, x, y, k), x, y, k)["return"]
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def rest_and_union(x, y):
    return np.sum(np.sin(np.union1d(x, y))) + np.sum(np.setdiff1d(x, y) ** 3) + np.sum(np.intersect1d(x, y[:2]) ** 2)


def test_slopes_of_sets_of_data():
    x, y = np.array([0.3, 0.9, 0.5, 0.7]), np.array([0.2, 0.4, 0.8])
    assert_slope(rest_and_union, x, y)
    gradient = sdfgad.differentiate(rest_and_union, wrt=("x", "y"))
    value, (of_x, of_y) = gradient.value_and_grad(x, y)
    assert value == pytest.approx(rest_and_union(x, y), rel=1e-14)
    np.testing.assert_allclose(of_x, np.cos(x) + 3 * x**2, rtol=1e-12)
    np.testing.assert_allclose(of_y, np.cos(y), rtol=1e-12)
    # What both have is that of the first one.
    both = sdfgad.differentiate(lambda x, y: np.sum(np.intersect1d(x, y) ** 2), wrt=("x", "y"), allow_unused=True)
    np.testing.assert_allclose(both(x, x[:2].copy())[0], [0.6, 1.8, 0.0, 0.0], rtol=1e-12)


def test_places_of_what_both_have_are_refused():
    with pytest.raises(UnsupportedProgram, match=r"Write np.nonzero\(np.isin\(x, y\)\)\[0\]"):
        parsed(lambda x: np.sum(np.intersect1d(x, x, return_indices=True)[1]) * x[0], X)
