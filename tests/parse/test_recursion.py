"""Functions that return sums with calls of themselves, as deep as data decides, against Python and differences."""

import ast

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.parse.recursion import as_loop
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

P = np.array([0.7, 1.3, 0.3])


def curve(x, p):
    return np.exp(-p[0] * x) * np.sin(4.0 * p[1] * x) + p[2] * x**2


def simpson(p, a, b, tol, depth=0):
    """The rule for an interval, or those for both halves."""
    m = 0.5 * (a + b)
    coarse = (b - a) / 6 * (curve(a, p) + 4 * curve(m, p) + curve(b, p))
    fine = (b - a) / 12 * (curve(a, p) + 4 * curve(0.5 * (a + m), p) + 2 * curve(m, p))
    fine += (b - a) / 12 * (4 * curve(0.5 * (m + b), p) + curve(b, p))
    if abs(fine - coarse) <= 15 * tol or depth > 12:
        return fine + (fine - coarse) / 15
    return simpson(p, a, m, tol / 2, depth + 1) + simpson(p, m, b, depth=depth + 1, tol=tol / 2)


def quadrature(p):
    return simpson(p, 0, 3.0, 1e-6) ** 2


def of_a_nested_function(p):
    scale = p[2] + 1.0

    def area(f, a, b, fa, fb):
        m = (a + b) / 2
        fm = f(m)
        if abs((b - a) * (fa - 2 * fm + fb)) < 1e-3:
            return scale * (b - a) * (fa + 2 * fm + fb) / 4
        else:
            left = area(f, a, m, fa, fm)
            right = area(f, m, b, fm, fb)
            return left + right

    def f(x):
        return curve(x, p)

    return area(f, 0.0, 2.0, f(0.0), f(2.0))


def with_factors(p):
    def tree(x, k):
        if x < 0.01:
            return x * p[2]
        rest = x * x
        return p[0] * tree(0.5 * x, k + 1) - (0.3 * tree(0.4 * x, k + 1) - rest) / (1 + k) + -tree(0.1 * x, k)

    return tree(p[1], 0)


def root(p):
    def newton(x):
        y = 0.5 * (x + p[1] / x)
        return y if abs(y - x) < 1e-12 else newton(y)

    return newton(100.0)


def chosen(p):
    """Where both sides come to what follows them."""

    def walk(x, y):
        if x > y:
            x = 0.4 * x
            if x < 0.003:
                return y
        else:
            y = 0.5 * y + 0.001
        z = x * y
        if y < 0.01:
            return z
        return z + walk(x, y)

    return walk(p[0], p[1])


CASES = [quadrature, of_a_nested_function, with_factors, root, chosen]


@pytest.mark.parametrize("program", CASES, ids=lambda one: one.__name__)
def test_values_and_slopes(program):
    assert_value_and_slope(program, P)


def all_of_them(p):
    return quadrature(p) + of_a_nested_function(p) * with_factors(p) + root(p) + chosen(p)


def test_compiled_gradients():
    value, gradient = sdfgad.differentiate(all_of_them, wrt="p").value_and_grad(P)
    assert value == pytest.approx(all_of_them(P), rel=1e-12)
    steps = 1e-6 * np.eye(3)
    expected = [(all_of_them(P + d) - all_of_them(P - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def with_a_wrapper(p):
    def halved(function):
        def inner(x):
            return 0.5 * function(x)

        return inner

    def walk(x):
        if x < 0.001:
            return x
        return x + walk(0.4 * x)

    walk = halved(walk)
    return walk(p[0])


def area(x):
    return 2.0 * x


class Shape:
    def area(self, x):
        if x < 0.01:
            return area(x)
        return area(0.5 * x) + Shape.area(self, 0.4 * x)


def of_a_method(p):
    return Shape().area(p[0])


@pytest.mark.parametrize("program", [with_a_wrapper, of_a_method], ids=lambda one: one.__name__)
def test_calls_of_others_by_the_same_name_are_made(program):
    """The wrapper runs at each call, and the method calls another function."""
    assert sdfgad.differentiate(program, wrt="p").value(P) == pytest.approx(program(P), rel=1e-12)


NO_SUMS = [
    "def f(f, x):\n    if x < 0.1:\n        return x\n    return f(f, 0.5 * x)",
    "def f(x):\n    if x < 0.1:\n        return x\n    return f(0.5 * x) * f(0.3 * x)",
    "def f(x):\n    if x < 0.1:\n        return x\n    return f(f(0.5 * x))",
    "def f(x):\n    seen.append(x)\n    if x < 0.1:\n        return x\n    return f(0.5 * x)",
    "def f(x, y):\n    y[0] = x\n    if x < 0.1:\n        return x\n    return f(0.5 * x, y)",
    "def f(x, y):\n    y += 1\n    if x < 0.1:\n        return x\n    return f(0.5 * x, y)",
    "def f(x):\n    if x < 0.1:\n        return x\n    y = f(0.5 * x)\n    return y + y",
    "def f(x):\n    if x < 0.1:\n        return x\n    y = f(0.5 * x)\n    z = g(x)\n    return y + z",
    "def f(x):\n    if x < 0.1:\n        return x\n    return 1 / f(0.5 * x)",
    "def f(x):\n    if x < 0.1:\n        return x\n    f(0.5 * x)",
    "def f(x):\n    for k in range(3):\n        if x < k:\n            return x\n    return f(0.5 * x)",
    "def f(x, y):\n    z = y\n    z += 1\n    if x < 0.1:\n        return x\n    return f(0.5 * x, y)",
    "def f(x):\n    if x < 0.1:\n        return 0.0\n    return f(x)",
    "def f(x, *more):\n    if x < 0.1:\n        return x\n    return f(0.5 * x, *more)",
    "def f(x):\n    if x < 0.1:\n        return x\n    return sum(map(f, (0.5 * x, 0.2 * x)))",
    "def f(x):\n    if x < 0.1:\n        return f\n    return f(0.5 * x)",
]


@pytest.mark.parametrize("text", NO_SUMS)
def test_other_forms_are_no_loops(text):
    assert as_loop(ast.parse(text).body[0]) is None


def sum_of_arrays(p):
    def walk(v):
        if np.sum(v * v) < 1e-3:
            return v**3
        return 0.5 * walk(0.5 * v) + walk(0.3 * v[::-1])

    return np.sum(walk(p))


def test_a_loop_that_is_refused_is_refused_as_the_recursion():
    with pytest.raises(
        UnsupportedProgram, match="the recursion is too deep, or whether it ends depends on data"
    ) as found:
        parsed(sum_of_arrays, P)
    assert str(found.value.where) == line_of(sum_of_arrays, "return 0.5 * walk(0.5 * v) + walk(0.3 * v[::-1])")


def halved(f, a, b, depth, whole):
    m = 0.5 * (a + b)
    left = (m - a) / 6 * (f(a) + 4 * f(0.5 * (a + m)) + f(m))
    right = (b - m) / 6 * (f(m) + 4 * f(0.5 * (m + b)) + f(b))
    if depth <= 0 or abs(left + right - whole) < 1e-5:
        return left + right + (left + right - whole) / 15
    return halved(f, a, m, depth - 1, left) + halved(f, m, b, depth - 1, right)


def refined_six_times(x):
    def f(s):
        return np.exp(-x[0] * s**2) * np.cos(x[1] * s) + x[2] / (1 + 25 * s * s)

    return halved(f, -1.0, 1.0, 6, f(0.0))


def test_few_calls_within_each_other_are_loops_too():
    """64 of these functions were written out, which took 20 s."""
    primal = assert_value_and_slope(refined_six_times, np.array([2.0, 0.33, 1.0]))
    assert size_of(primal.program.body) < 150
