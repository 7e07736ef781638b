"""Sums, means and extrema over axes."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import assert_expressions

EXPRESSIONS = [
    "np.sum(a * a)",
    "np.sum(a * a, axis=0)",
    "np.sum(a * a, axis=(0, 2))",
    "np.sum(a * a, axis=-1, keepdims=True) * a",
    "a.sum(1) * a.sum()",
    "a.sum(axis=(-1, 0)) ** 2",
    "np.mean(a * a)",
    "a.mean(axis=1) * a[:, 0]",
    "np.mean(a, (0, 1), keepdims=True) * a",
    "np.max(a)",
    "np.min(a, axis=0) * a[0]",
    "a.max(axis=(1, 2)) ** 2",
    "np.amax(a, -1, keepdims=True) * a",
    "a.min()",
    "np.max(x * x) * np.sum(x)",
    "np.sum(np.sum(a, axis=0) ** 2)",
    "(x - np.mean(x)) / np.sum(np.abs(x))",
    "np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x)))",
    "np.sum(x[x.shape[0] - 2:]) * len(x) * x.size",
    "np.sum(x > 0.0) * x",
    "np.sum(s) * np.max(s) * np.mean(s)",
]


def test_expressions(rng, tmp_path):
    arguments = {"a": rng.standard_normal((2, 3, 4)), "x": rng.standard_normal(5), "s": 1.5}
    assert_expressions(EXPRESSIONS, arguments, tmp_path)


def test_empty_sums():
    def program(a, x):
        return np.sum(x[3:] * x[3:]) + np.sum(np.sum(a, axis=0)) + x[0]

    found = sdfgad.differentiate(program)(np.ones((0, 2)), np.ones(3))
    np.testing.assert_array_equal(found["x"], [1, 0, 0])
    np.testing.assert_array_equal(found["a"], np.zeros((0, 2)))


def test_sum_of_single_precision_stays_single():
    x = np.linspace(0, 1, 7, dtype=np.float32)
    value, found = sdfgad.differentiate(lambda x: np.sum(x) * np.mean(x), wrt="x").value_and_grad(x)
    assert value.dtype == found.dtype == np.float32
    np.testing.assert_allclose(found, np.full(7, 2 * x.sum() / 7), rtol=1e-6)


def test_extremum_with_nan_is_nan():
    value = sdfgad.differentiate(lambda x: np.max(x)).value(np.array([1.0, np.nan, 2.0]))
    assert np.isnan(value)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (lambda x: np.sum(x, axis=1), "axis 1 does not fit"),
        (lambda x: np.sum(x, axis=(0, -1)), "does not fit"),
        (lambda x: np.max(x[3:]), "may be empty"),
    ],
)
def test_refusals(program, what):
    with pytest.raises(UnsupportedProgram, match=what):
        sdfgad.differentiate(program, reduce="sum")(np.ones(3))
