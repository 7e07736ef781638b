"""Nested and decorated functions, `nonlocal`, recursion, and programs that decorators wrap."""

import functools

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.random.default_rng(8).uniform(0.5, 1.5, 4)
HEAD = """
import functools
import numpy as np

FACTOR = 2.5

def doubled(f):
    @functools.wraps(f)
    def inner(*args, **kw):
        return f(*args, **kw) * 2.0
    return inner

def times(factor):
    def decorate(f):
        @functools.wraps(f)
        def inner(a, *rest):
            return factor * f(a, *rest)
        return inner
    return decorate

@doubled
@times(3.0)
def product(a, b):
    return a * b

@functools.lru_cache(maxsize=None)
def factorial(k):
    return 1.0 if k <= 1 else k * factorial(k - 1)

def chebyshev(a, k):
    if k == 0:
        return 1.0
    if k == 1:
        return a
    return 2.0 * a * chebyshev(a, k - 1) - chebyshev(a, k - 2)

def program(x, s, n):
"""
RIGHT = {
    "wrapped": "return np.sum(product(x, s)) + np.sum(product(x, b=s) if False else product(s, x))",
    "cached": "return np.sum(x) * factorial(4) * s",
    "cached, of an argument": "return np.sum(x) * factorial(n) * s",
    "recursion": "return np.sum(chebyshev(x * s, 4))",
    "recursion of an argument": "return np.sum(chebyshev(x * s, n))",
    "recursion on halves": "def total(a):\n    m = len(a) // 2\n"
    "    return a[0] * s if len(a) == 1 else total(a[:m]) - total(a[m:])\n"
    "return total(x)",
    "decorated inside": "def twice(f):\n    def inner(a):\n        return f(f(a))\n    return inner\n@twice\n"
    "@doubled\n"
    "def g(a):\n    return a * s\nreturn np.sum(g(x))",
    "wraps inside": "def logged(f):\n    @functools.wraps(f)\n    def inner(*a):\n"
    "        return f(*a) + len(a)\n    return inner\n"
    "@logged\ndef g(a):\n    return a * s\nreturn np.sum(g(x))",
    "nonlocal": "t = 0.0\ndef add(v):\n    nonlocal t\n    t = t + v\nadd(np.sum(x))\nadd(s)\nreturn t",
    "nonlocal in a loop": "t = 0.0\ndef add(v):\n    nonlocal t\n    t += v\nfor i in range(4):\n"
    "    add(x[i] * s)\nreturn t",
    "nonlocal in a long loop": "t, k = s, 0\ndef step(v):\n    nonlocal t, k\n    t = 0.9 * t + v\n    k += 1\n"
    "for i in range(400):\n    step(x[i % 4] * s)\nreturn t * k",
    "nonlocal in a loop of its own": "t = s\ndef run(m):\n    nonlocal t\n    for i in range(m):\n"
    "        t = 0.9 * t + x[i % 4]\n"
    "run(300)\nrun(2)\nreturn t",
    "nonlocal in a branch": "t = 0.0\ndef add(v):\n    nonlocal t\n    if v > 0.5:\n        t = t + v\n"
    "    else:\n        t = t * v\n"
    "for i in range(4):\n    add(x[i] * s)\nreturn t",
    "nonlocal of a parameter": "def f(a):\n    def g():\n        nonlocal a\n        a = a * s\n    g()\n"
    "    g()\n    return a\n"
    "return np.sum(f(x))",
    "nonlocal, two levels": "t = 1.0\ndef f():\n    def g():\n        nonlocal t\n        t = t * s\n    g()\n"
    "    g()\nf()\n"
    "return t * np.sum(x)",
    "nonlocal arrays": "u = x\ndef f():\n    nonlocal u\n    u = u * s\nv = u\nf()\nv[0] = 2.0\nreturn np.sum(u * v)",
    "a counter": "def make():\n    k = 0\n    def count():\n        nonlocal k\n        k += 1\n"
    "        return k\n    return count\n"
    "c = make()\na = c()\nb = c()\nreturn np.sum(x) * s * (a + 10 * b)",
    "a global constant": "global FACTOR\nreturn np.sum(x) * FACTOR * s",
    "several lambdas": "f, g = (lambda a: a * s), (lambda a: a + s)\nreturn np.sum(f(g(x)))",
    "defaults that are arrays": "def f(a, w=x):\n    return a * w\nreturn np.sum(f(s))",
    "an attribute": "return np.sum(x) * s * getattr(product, 'missing', 2.0)",
    "a name": "def f(a):\n    return a\nreturn np.sum(x) * s * len(f.__name__)",
}
REFUSED = {
    "a class": ("class A:\n    k = s\nreturn s", "k = s", "an attribute of a class is `s`"),
    "endless recursion": ("def f(k):\n    return f(k + 1)\nreturn f(n)", "return f(", "the recursion is too deep"),
    "recursion on data": (
        "def f(a):\n    return a if a > 9e30 else 1.0 / f(a * 2.0)\nreturn f(s)",
        "return a",
        "the recursion is too deep",
    ),
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_as_in_python(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    assert_value_and_slope(program, X, 0.7, 5)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    body, line, what = REFUSED[name]
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(program_of(body, tmp_path), X, 0.7, 5)
    assert caught.value.where.text.startswith(line)
    assert caught.value.todo


def squared(f):
    @functools.wraps(f)
    def inner(*args, **keywords):
        return f(*args, **keywords) ** 2

    return inner


@squared
def weighted(x, w, *, scale=1.0):
    return np.sum(x * w) * scale


@functools.lru_cache
def cached(x):
    return np.sum(x * x)


def test_decorated_programs():
    x, w = np.arange(3.0), np.array([1.0, 2.0, 0.5])
    expected = 2.0 * (x @ w) * w
    np.testing.assert_allclose(sdfgad.grad(weighted)(x, w), expected)
    np.testing.assert_allclose(sdfgad.grad(weighted, "x")(x, w=w, scale=2.0), 4.0 * expected)
    np.testing.assert_allclose(sdfgad.grad(cached)(x), 2.0 * x)
