"""np.any and np.all of masks that `|`, `&` and `^` combine, in the condition of a branch."""

import numpy as np
import pytest

import sdfgad


def outside(x):
    if np.any((x < 0.0) | (x > 1.0)):
        return np.sum(x)
    return np.sum(x * x)


def inside(x):
    if np.all((x > 0.0) & (x < 1.0)):
        return np.sum(x)
    return np.sum(x * x)


def either(x):
    if np.all((x > 0.0) ^ (x > 1.0)):
        return np.sum(x)
    return np.sum(x * x)


@pytest.mark.parametrize("program", [outside, inside, either])
def test_combined_masks(program):
    g = sdfgad.differentiate(program, wrt="x")
    for x in (np.full(3, 0.25), np.array([0.5, 1.5, 0.2])):
        value, gradient = g.value_and_grad(x)
        assert value == program(x)
        is_sum = program(x) == np.sum(x)
        assert np.array_equal(gradient, np.ones(3) if is_sum else 2 * x)
