"""Arrays and numbers of classes that may compute otherwise than their bases are refused; they were taken for these."""

import enum

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, UnsupportedProgram

X = np.linspace(0.3, 1.5, 4)
MASKED = np.ma.array(np.arange(4.0), mask=[False, True, False, False])
MATRIX = np.arange(4.0).reshape(2, 2).view(np.matrix)


class Shifted(np.ndarray):
    def __mul__(self, other):
        return np.asarray(self) + other


class Length(float):
    def __add__(self, other):
        return Length(100.0)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Named(float):
    def __repr__(self):
        return "named"


SHIFTED, LENGTH, NAMED = np.arange(4.0).view(Shifted), Length(2.0), Named(2.0)


class Holder:
    def __init__(self, values):
        self.values = values


HOLDER = Holder(MASKED)


@pytest.mark.parametrize(
    ("program", "what", "todo"),
    [
        (lambda x: np.sum(MASKED * x), "`MASKED` is a MaskedArray", r"`MASKED.filled\(0.0\)`"),
        (lambda x: np.sum(HOLDER.values * x), "`values` is a MaskedArray", r"`values.filled\(0.0\)`"),
        (lambda x: np.sum(MATRIX * x.reshape(2, 2)), "`MATRIX` is a matrix", r"np.asarray\(MATRIX\), and write `@`"),
        (lambda x: np.sum(SHIFTED * x), "`SHIFTED` is a Shifted", r"Pass np.asarray\(SHIFTED\)"),
        (lambda x: LENGTH + x[0], "is a Length, which may compute otherwise than float", r"Pass float\("),
    ],
)
def test_from_outside(program, what, todo):
    with pytest.raises(UnsupportedProgram, match=f"(?s){what}.*lambda x:.*{todo}"):
        sdfgad.differentiate(program)(X)


@pytest.mark.parametrize(
    ("value", "is_inside"),
    [(MASKED, False), (MATRIX[0], False), (SHIFTED, False), (LENGTH, False), (MASKED, True), (SHIFTED, True)],
)
def test_arguments(value, is_inside):
    def program(a, x):
        return np.sum((a["a"] if is_inside else a) * x)

    g = sdfgad.differentiate(program, wrt="x")
    name = r"`a\['a'\]`" if is_inside else "`a`"
    for _ in range(2):
        with pytest.raises(ArgumentError, match=f"argument {name} is a {type(value).__name__}"):
            g({"a": value} if is_inside else value, X)
        # A call that may be made does not let the next one through.
        g({"a": X} if is_inside else X, X)


def test_those_that_compute_as_their_bases_do():
    def program(m, k, u, x):
        return np.sum(m * x) * k + u * Level.HIGH + NAMED * x[0]

    arguments = np.ma.array(X, mask=False), Level.LOW, Named(0.5), X
    value, gradient = sdfgad.differentiate(program, wrt="x").value_and_grad(*arguments)
    assert value == pytest.approx(float(program(*arguments)), rel=1e-12)
    np.testing.assert_allclose(gradient, X + np.array([2.0, 0.0, 0.0, 0.0]), rtol=1e-12)
