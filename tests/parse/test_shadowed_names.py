"""Names that a comprehension binds, and that are others' around it; and attributes of integers, such as counters."""

import numpy as np
import pytest

from tests.helpers_ir import assert_value_and_slope

X = np.array([1.0, -0.5, 0.2])


def method_of_another_type(x):
    n = 0
    while n < 2:
        n += 1
    return [sum(x[i] for i, n in enumerate(["ab", "ta", "ub"]) if n.startswith("t")) / c for c in (1.0, 2.0)][1] + n


def compared_with_the_inner_one(x):
    n = 7
    return [sum(x[i] for i, n in enumerate([1, 2, 3]) if n == 2) / c for c in (1.0, 2.0)][1] + n


def bump(v):
    v[0] += 1.0
    return v[0]


def functions_of_the_inner_name(x):
    f, a = np.sum, x.copy()
    return a[0] + sum([f(a) for f in (bump, np.sum)]) + a[0] * f(x)


def attributes_of_counters(x):
    t, k = 0.0, 8
    for k in range(3):
        t += x[k] * k.real + k.imag + k.conjugate() + k.numerator * x[k] + k.denominator + k.bit_length()
    return t + sum(x[i] * k.bit_length() for i, k in enumerate([1, 2, 3])) + k * x[0]


PROGRAMS = [method_of_another_type, compared_with_the_inner_one, functions_of_the_inner_name, attributes_of_counters]


@pytest.mark.parametrize("program", PROGRAMS)
def test_value_and_slope(program):
    assert_value_and_slope(program, X.copy())
