"""Integer linear forms."""

import itertools

import numpy as np
import pytest

from sdfgad.ir.expr import INT, Const, Int, Lin, Op, Read, as_linear

I, J, N = (Lin.symbol(name) for name in "ijn")


def test_equal_forms_are_equal_however_they_are_written():
    assert I + J + 1 == 1 + J + I
    assert (I - I).is_const
    assert (I + J).scaled(2) - J == I + I + J
    assert hash(I + J) == hash(J + I)
    assert len({I + 1, 1 + I, Lin(1) + I}) == 1
    assert 3 - I == -(I - 3)
    assert I != J
    assert Lin.of(I) is I
    assert Lin.of(np.int32(3)) == Lin(3)


def test_arithmetic_agrees_with_integers():
    form = (I.scaled(2) - J + 5).scaled(-3) + N
    for i, j, n in itertools.product((-2, 0, 3), repeat=3):
        value = form.substitute({"i": i, "j": j, "n": n})
        assert value.is_const
        assert value.const == (2 * i - j + 5) * -3 + n


def test_scaling_by_zero_leaves_nothing():
    assert I.scaled(0) == Lin(0)
    assert I.scaled(0).is_const


def test_coefficients():
    form = I.scaled(4) - J + 2
    assert (form.coefficient("i"), form.coefficient("j"), form.coefficient("n")) == (4, -1, 0)


def test_substitution_is_simultaneous():
    assert (I.scaled(2) + J).substitute({"i": J, "j": I}) == J.scaled(2) + I
    assert (I + J).substitute({"i": -J + 1}) == Lin(1)


def test_atoms_that_are_expressions():
    quotient = Op("floor_divide", (Int(I), Const(2, INT)), INT)
    form = as_linear(quotient) + I
    assert form.coefficient(quotient) == 1
    assert form.substitute({"i": J}) == as_linear(quotient) + J
    moved = form.substitute({"i": J}, lambda _: Const(7, INT))
    assert moved == J + 7


def test_as_linear():
    assert as_linear(Int(I + 1)) == I + 1
    assert as_linear(Const(4, INT)) == Lin(4)
    read = Read("x", (I,), INT)
    assert as_linear(read) == Lin.symbol(read)


@pytest.mark.parametrize(("form", "text"), [(Lin(0), "0"), (I.scaled(2) + J - 1, "2*i + j + -1"), (I, "i")])
def test_text(form, text):
    assert str(form) == text
