"""``np.vectorize`` and ``np.apply_along_axis``: the results have the type of `otypes`, or of the first one."""

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.3, 1.71, 12)
WHOLE = np.vectorize(lambda a: 2.6 * a, otypes=[int])


@np.vectorize
def scaled(a, b=2.0):
    return a * b


def of_given_types(x):
    inside = np.vectorize(lambda a: 1 if a > 1 else 2, otypes=[float])(x) * x
    return np.sum(WHOLE(x)) * x[0] + np.sum(inside) + np.sum(np.vectorize(lambda a: a > 1, otypes=[bool])(x) * x)


def of_the_first_result(x):
    chosen = np.vectorize(lambda a: 0.0 if a < 0.5 else a)(x)
    return (
        np.sum(chosen) + np.sum(scaled(x)) + np.sum(scaled(x, b=3.0)) + np.sum(np.vectorize(abs)(np.arange(4))) * x[0]
    )


def of_slices(x):
    rows = x.reshape(4, 3)
    whole = np.apply_along_axis(lambda v: 1 if v[0] > 100 else 2, 1, rows)
    parts = np.apply_along_axis(lambda v: np.trunc(3 * v).astype(int) if v.shape[0] == 3 else v, 1, rows)
    return np.sum(whole) * x[0] + np.sum(parts) * x[1] + np.sum(np.apply_along_axis(np.cumsum, 0, rows) * rows)


def truth_values(x):
    is_large = np.vectorize(lambda a: True if a > 1 else False)(x)  # noqa: SIM210
    in_rows = np.apply_along_axis(lambda v: bool(v[0] > 0.9), 1, x.reshape(4, 3))
    return np.sum(x[is_large]) + np.sum(x[:4][in_rows]) + np.sum(~is_large) * x[0]


PROGRAMS = [truth_values, of_given_types, of_the_first_result, of_slices]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_values(program):
    # `otypes` was ignored.
    assert_value_and_slope(program, X)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.sum(np.vectorize(lambda a: 0 if a < 0.5 else a)(x)),
        lambda x: np.sum(np.apply_along_axis(lambda v: 0 if v[0] < 0.5 else v.sum(), 1, x.reshape(4, 3))),
    ],
)
def test_an_integer_that_data_makes_the_first_result(program):
    with pytest.raises(SdfgadError, match=r"(?s)a float or an integer, which is decided only at run time.*lambda x:"):
        parsed(program, X)
