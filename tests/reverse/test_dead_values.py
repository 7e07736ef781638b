"""Values that nothing reads have no adjoint, which could be 0 times infinity."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnusedArgument


def overwritten(x, steps):
    """Each trip first computes what overflows, and replaces it before it is read."""
    total = 0.0
    for k in range(steps):
        t = np.exp(1e3 * x)
        t = t * x + k
        t[:] = np.sin(x) * (k + 1)
        total += np.sum(t * x)
    y = np.empty(3)
    y[:] = 1.0 / x
    y[:] = x**2
    return total + np.sum(y)


@pytest.mark.parametrize("limit", [None, "1 MiB"])
def test_dead_values_that_overflow_leave_no_trace(limit):
    x = np.array([0.0, 1.0, 2.0])
    g = sdfgad.differentiate(overwritten, wrt="x", memory_limit=limit)
    np.testing.assert_allclose(g(x, 4), 10 * (np.sin(x) + x * np.cos(x)) + 2 * x, rtol=1e-13)


def test_an_argument_that_is_overwritten_before_it_is_read_has_a_gradient_of_zeros():
    def program(x, y):
        x[:] = 1.0
        return np.sum(x) * np.sum(y)

    found = sdfgad.differentiate(program)(np.ones(3), np.ones(2))
    np.testing.assert_array_equal(found["x"], np.zeros(3))
    np.testing.assert_array_equal(found["y"], [3.0, 3.0])


def test_an_argument_that_only_dead_code_reads_still_counts_as_unused():
    def program(x, y):
        t = np.sum(y)
        t = np.sum(x)
        return t

    with pytest.raises(UnusedArgument, match="`y`"):
        sdfgad.differentiate(program)(np.ones(3), np.ones(2))
