"""Liveness of names: which ones statements assign, read before they assign them, or leave to be read later."""

import ast
import textwrap

import pytest

from sdfgad.parse.liveness import assigned_names, captured_names, is_exposed, is_read_outside, reads_name


def parsed(text):
    return ast.parse(textwrap.dedent(text)).body


def test_assigned_names():
    (loop,) = parsed(
        """
        for i, (j, _) in z:
            a = b[0] = 1
            c += d
            if e:
                f, g = h
            with k as m:
                n: int = 3
        """
    )
    assert assigned_names(loop) == set("ij_acfgmn")


@pytest.mark.parametrize(
    ("text", "exposed"),
    [
        ("y = x", True),
        ("x = 1", False),
        ("x = x + 1", True),
        ("x += 1", True),
        ("x = 1; y = x", False),
        ("y = x; x = 1", True),
        ("x[0] = 1", True),
        ("x[0] += 1", True),
        ("y[x] = 1", True),
        ("y = z", False),
        ("if x: pass", True),
        ("if c:\n  x = 1\nelse:\n  x = 2\ny = x", False),
        ("if c:\n  x = 1\ny = x", True),
        ("if c:\n  y = x\nelse:\n  x = 1", True),
        ("for i in x: pass", True),
        ("for i in z:\n  x = 1\ny = x", True),
        ("for i in z:\n  x = 1\n  y = x", False),
        ("for i in z:\n  y = x\n  x = 1", True),
        ("while x: pass", True),
        ("x, y = y, 1", False),
        ("x, y = y, x", True),
        ("f(x)", True),
        ("x.sort()", True),
    ],
)
def test_is_exposed(text, exposed):
    assert is_exposed(parsed(text), "x") is exposed


FUNCTION = """
def f(x):
    before = a
    for i in x:
        c = b
        for j in x:
            a = b = c = d = e = 1
        e += 1
        b = 2
    return d
"""


@pytest.mark.parametrize(
    ("name", "inner", "outer"), [("a", False, False), ("b", True, False), ("d", True, True), ("e", True, False)]
)
def test_is_read_outside(name, inner, outer):
    (function,) = ast.parse(FUNCTION).body
    first = function.body[1]
    second = first.body[1]
    assert is_read_outside(function, second, [first], name) is inner
    assert is_read_outside(function, first, [], name) is outer


def test_names_of_comprehensions_are_their_own():
    (function,) = ast.parse(
        "def f(x):\n    for a in x:\n        pass\n    return sum(a * b for a in x if a for b in a), [a for a in a]"
    ).body
    # The last iterable alone is the name of the function.
    assert reads_name(function.body[1], "a")
    assert not reads_name(function.body[1].value.elts[0], "a")
    assert captured_names(function) == {"sum", "x", "a"}


def test_names_that_kept_generators_capture():
    assert captured_names(ast.parse("g = (a * b for a in x)")) == {"b", "x"}
    assert captured_names(ast.parse("h = lambda: [a for a in y]")) == {"y"}
