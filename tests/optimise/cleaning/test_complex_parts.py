"""Functions of complex numbers become those of real ones, where these are as good."""

import numpy as np
import pytest

import sdfgad
from sdfgad.explain.explain import explain
from sdfgad.explain.listing import program_listing
from sdfgad.optimise.cleaning.complex_parts import split_complex

X = np.linspace(-2.0, 2.0, 12)


def listing(function, *args):
    return program_listing(split_complex(explain(function, *args, stage="parsed").record))


PHASES = {
    "a factor": lambda x, w: np.exp(1j * x),
    "several": lambda x, w: np.exp(-0.5j * w * (x + 1.0) / 3.0),
    "a sum": lambda x, w: np.exp(-(1j * x - 2j * w) * 0.5),
    "of two of them": lambda x, w: np.exp((1j * x) * (2j * w) * 1j),
    "a conjugate": lambda x, w: np.exp(np.conj(1j * x) * w),
}


@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES)
def test_phases(phase):
    def function(x, w):
        z = phase(x, w) * (1.0 + 2j * x)
        return np.sum(z.real * x + z.imag**2)

    text = listing(function, X, 0.7)
    assert "cos(" in text
    assert "exp(" not in text
    assert np.isclose(sdfgad.differentiate(function).value(X, 0.7), function(X, 0.7), rtol=1e-14)
    assert sdfgad.check_grads(function, X, 0.7).error < 1e-8


@pytest.mark.parametrize("other", [lambda x: np.exp((1j + 1e-9) * x), lambda x: np.exp(np.sqrt(x + 0j)), np.exp])
def test_other_exponentials_stay(other):
    assert "exp(" in listing(lambda x: np.sum(np.abs(other(x))), X)


def power(x):
    z = x * (1.0 + 0.5j) + 1j * x**2
    return np.sum(np.abs(z) ** 2 * x)


def test_squares_of_absolute_values():
    assert "absolute" not in listing(power, X)
    assert np.isclose(sdfgad.differentiate(power).value(X), power(X), rtol=1e-14)
    assert sdfgad.check_grads(power, X).error < 1e-8
    assert np.all(sdfgad.differentiate(power, wrt="x")(np.zeros(4)) == 0.0)


def test_what_is_compared_stays():
    def escaped(x):
        size = np.abs(x * (1.0 + 0.5j)) ** 2
        return np.sum(np.where(size > 1.0, x, x * np.abs(x * 1j) ** 2))

    assert listing(escaped, X).count("absolute") == 2
