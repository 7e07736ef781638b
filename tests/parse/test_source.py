"""Finding a function's syntax tree and quoting its lines."""

import functools
import linecache

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, UnsupportedProgram
from sdfgad.parse.source import read_source
from tests.helpers import module_from


def decorated_by(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def plain(x):
    """A docstring."""
    y = x + 1
    return y


@decorated_by
def decorated(x):
    return x


class Holder:
    def plain(self, x):
        return x * 3


square, cube = (lambda x: x * x), (lambda x: x * x * x)


def test_plain_function():
    source = read_source(plain)
    assert source.name == source.node.name == "plain"
    assert len(source.body) == 3
    where = source.where(source.body[1])
    assert where.file == __file__
    assert where.text == "y = x + 1"
    assert where.line == plain.__code__.co_firstlineno + 2
    assert source.outer["np"] is np


def test_wrapped_function():
    source = read_source(decorated)
    assert source.name == "decorated"
    # A decorator's function is what is called.
    assert source.where(source.body[0]).text == "return function(*args)"


def test_functions_of_one_name_are_told_apart():
    def plain(x):
        return x * 2

    assert read_source(plain).where(read_source(plain).body[0]).text == "return x * 2"
    assert read_source(Holder.plain).where(read_source(Holder.plain).body[0]).text == "return x * 3"


def test_lambdas_on_one_line_are_told_apart():
    import ast

    assert ast.unparse(read_source(square).body[0]) == "return x * x"
    assert ast.unparse(read_source(cube).body[0]) == "return x * x * x"
    nested = lambda x: (lambda y: y + 1)(x)  # noqa: E731
    assert ast.unparse(read_source(nested).body[0]) == "return (lambda y: y + 1)(x)"


def test_names_from_outside():
    scale = 2.0

    def inner(x):
        return x * scale * later  # noqa: F821

    source = read_source(inner)
    assert source.outer["scale"] == 2.0
    assert "later" not in source.outer


def test_unfilled_closure():
    def inner(x):
        return x * later

    assert "later" not in read_source(inner).outer
    later = 1.0
    assert read_source(inner).outer["later"] == later


def test_source_is_not_available():
    space = {}
    exec("def made(x):\n    return x", space)
    with pytest.raises(UnsupportedProgram, match="source of `made` is not available") as caught:
        read_source(space["made"])
    assert "file" in str(caught.value)
    assert "source=text" in str(caught.value)


TEXT = """
import numpy as np

def helper(x):
    return x * x

def made(x, s):
    f = lambda u: helper(u) * s
    return np.sum(f(x)) + {}
"""


def test_source_that_is_passed():
    found = []
    for number in (1.0, 2.0):
        space, text = {}, TEXT.format(number)
        exec(text, space)
        found.append(sdfgad.differentiate(space["made"], source=text))
    for number, g in zip((1.0, 2.0), found, strict=True):
        assert g.value(np.ones(3), 2.0) == 6.0 + number
        np.testing.assert_array_equal(g(np.ones(3), 2.0)["x"], 4.0 * np.ones(3))
    space = {}
    exec(TEXT.format("np.roll(x, x)"), space)
    with pytest.raises(UnsupportedProgram) as caught:
        sdfgad.differentiate(space["made"], source=TEXT.format("np.roll(x, x)"))(np.ones(3), 2.0)
    assert str(caught.value.where) == "<string>:9: return np.sum(f(x)) + np.roll(x, x)"


@pytest.mark.parametrize("text", ["def made(x):\n    return x", "def other(x, s):\n    return x", "no text"])
def test_source_of_something_else(text):
    space = {}
    exec(TEXT.format("s"), space)
    with pytest.raises(ArgumentError, match="`source` does not define `made` as it is"):
        sdfgad.differentiate(space["made"], source=text)


@pytest.mark.parametrize("function", [len, np.sin, print])
def test_not_a_python_function(function):
    with pytest.raises(UnsupportedProgram, match="is not a Python function"):
        read_source(function)


def test_a_file_that_has_changed(tmp_path):
    module = module_from("def made(x):\n    return x * 2.0", tmp_path)
    (tmp_path / f"{module.__name__}.py").write_text("import math\n")
    linecache.checkcache()
    with pytest.raises(UnsupportedProgram, match="its file has changed since"):
        read_source(module.made)
