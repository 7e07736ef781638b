"""Loops that narrow an interval by comparisons alone: where they end has no derivative by what is compared."""

import warnings

import numpy as np
import pytest
from scipy import optimize

import sdfgad
from sdfgad.analysis.bracketing import bracketings
from sdfgad.errors import BisectionWarning
from sdfgad.reverse.adjoint import dependences
from tests.helpers import line_of
from tests.helpers_ir import parsed


def found_in(program, *args):
    primal = parsed(program, *args)
    names = {buffer: name for name, buffer in primal.inputs.items()}
    found = bracketings(primal.program, names, primal.program.outputs["return"], dependences)
    return [(str(one.where), {names[buffer] for buffer in one.inputs}) for one in found]


def bisection(a, b):
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle**2 > a:
            high = middle
        else:
            low = middle
    return b * 0.5 * (low + high)


def with_an_end_that_depends(a, b):
    low, high, k = 0.0, 3.0 * a, 0
    while high - low > 1e-12 and k < 99:
        middle = (low + high) / 2
        value = middle**3 + middle - a
        if value == 0:
            break
        if (low**3 + low - a) * value < 0:
            high = middle
        else:
            low = middle
        k += 1
    return middle * b


def in_a_function(a, b):
    def root(c):
        low, high = 0.0, 2.0
        for _ in range(50):
            middle = low + (high - low) / 2
            low, high = (low, middle) if middle**2 > c else (middle, high)
        return low

    return root(a) + root(2 * a) * b


def of_arrays(a, b):
    low, high = np.zeros(3), np.full(3, 2.0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        is_above = middle**3 > a * np.arange(3)
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return np.sum(low) * b


def by_masks(a, b):
    low, high = np.zeros(3), np.full(3, 2.0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        is_above = middle**3 > a * np.arange(3)
        high[is_above] = middle[is_above]
        low[~is_above] = middle[~is_above]
    return np.sum(low) * b


def golden_sections(a, b):
    low, high = 0.0, 2.0
    while abs(high - low) > 1e-9:
        left, right = high - 0.618 * (high - low), low + 0.618 * (high - low)
        if (left - a) ** 2 < (right - a) ** 2:
            high = right
        else:
            low = left
    return (low + high) * b


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (bisection, "if middle**2 > a:"),
        (with_an_end_that_depends, "if (low**3"),
        (in_a_function, "low, high = (low"),
        (of_arrays, "low, high = np.where"),
        (by_masks, "high[is_above] ="),
        (golden_sections, "if (left - a)"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_intervals_that_comparisons_narrow(program, line):
    found = found_in(program, 1.3, 0.7)
    assert found
    assert all(inputs == {"a"} and where == str(line_of(program, line)) for where, inputs in found)


def of_a_constant_function(a, b):
    low, high = 0.0, a
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle**2 > 1.0:
            high = middle
        else:
            low = middle
    return low * b


def unused(a, b):
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle**2 > a:
            high = middle
        else:
            low = middle
    return a * b + (1.0 if low > 1.0 else 2.0)


def regula_falsi(a, b):
    low, high = 0.0, 2.0
    for _ in range(60):
        f, g = low**2 - a, high**2 - a
        middle = (low * g - high * f) / (g - f)
        if middle**2 > a:
            high = middle
        else:
            low = middle
    return middle * b


def steps(a, b):
    t, step, count, total = 0.0, 0.1, 0.0, a
    while t < 1.0:
        total, t = total * (1 - step * b), t + step
        if total > 0.5:
            count += 1.0
        else:
            step = min(2 * step, 1.0 - t + 1e-3)
    return total + count


def rotations(a, b):
    u, v = 1.0, b
    for _ in range(9):
        if u > a:
            u, v = 0.8 * u - 0.6 * v, 0.6 * u + 0.8 * v
        else:
            u, v = 0.8 * u + 0.6 * v, -0.6 * u + 0.8 * v
    return u + v


def library(a, b):
    return optimize.brentq(lambda x: x**2 - a, 0.0, 2.0) * b + optimize.bisect(lambda x: x**3 - b, 0.0, 2.0)


@pytest.mark.parametrize(
    "program", [of_a_constant_function, unused, regula_falsi, steps, rotations, library], ids=lambda one: one.__name__
)
def test_other_loops(program):
    assert found_in(program, 1.3, 0.7) == []


def test_the_warning():
    with pytest.warns(BisectionWarning, match=r"no derivative by `a`, .*if middle\*\*2 > a:.*brentq") as caught:
        sdfgad.differentiate(bisection).value(1.3, 0.7)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdfgad.differentiate(bisection, wrt="b").value(1.3, 0.7)
