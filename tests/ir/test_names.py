"""Generated names: plain identifiers, no two alike, and the same for the same requests."""

import keyword

import pytest
import sympy

from sdfgad.ir.names import Names


def test_no_two_are_alike():
    names = Names(["x"])
    found = [names.fresh(base) for base in ("x", "x", "y", "x_1", "y", "x_", "_x", "x_1")]
    assert len(set(found)) == len(found)
    assert "x" not in found
    assert found[2] == "y"


@pytest.mark.parametrize(
    "base",
    ["double", "int", "E", "N", "I", "sin", "mod", "exists", "status", "sdfgad", "lambda", "def", "is", "floor", "not"],
)
def test_reserved_words_are_avoided(base):
    name = Names().fresh(base)
    assert name != base
    assert name.startswith(base)
    assert not hasattr(sympy, name)


def test_whatever_sympy_defines_is_avoided():
    defined = [name for name in dir(sympy) if not name.strip("_").isupper() and name.strip("_") == name]
    assert len(defined) > 900
    assert not [name for name in defined if name != "lazy_function" and Names().fresh(name) == name]


@pytest.mark.parametrize("base", ["δ", "a b", "3d", "", "__x__", "x.y", "größe", "_", "naïve_", "[0]"])
def test_any_text_gives_an_identifier(base):
    name = Names().fresh(base)
    assert name.isascii()
    assert name.isidentifier()
    assert not keyword.iskeyword(name)
    assert name.strip("_") == name


def test_restoring_gives_the_same_names_again():
    names = Names()
    names.fresh("x")
    state = names.snapshot()
    first = [names.fresh("x"), names.fresh("y")]
    names.restore(state)
    assert [names.fresh("x"), names.fresh("y")] == first
    names.restore(state)
    assert names.fresh("x") == first[0]
