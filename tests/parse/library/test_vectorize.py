"""``np.vectorize``: the type of the results is that of `otypes`, or of the first one."""

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


@pytest.mark.parametrize("program", [of_given_types, of_the_first_result], ids=lambda one: one.__name__)
def test_values(program):
    # `otypes` was ignored.
    assert_value_and_slope(program, X)


def test_an_integer_that_data_makes_the_first_result():
    def program(x):
        return np.sum(np.vectorize(lambda a: 0 if a < 0.5 else a)(x))

    with pytest.raises(SdfgadError, match=r"(?s)a float or an integer, which is decided only at run time.*vectorize"):
        parsed(program, X)
