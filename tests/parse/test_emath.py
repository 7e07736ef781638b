"""Functions of np.emath: of complex numbers; of real ones, data would decide the dtype."""

import numpy as np
import pytest
from numpy.lib import scimath

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.3, 1.4, 0.8])
NAMES = ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"]


@pytest.mark.parametrize("name", NAMES)
def test_of_complex_numbers(name):
    function = getattr(np.emath, name)

    def program(x):
        return np.sum(np.abs(function(x + 1j * (x**2 + 0.3)) * scimath.sqrt(-2.0)) ** 2)

    assert_value_and_slope(program, X)


def test_power_of_complex_numbers():
    def program(x):
        return np.sum(np.abs(np.emath.power(x + 0.5j, 2.5)) ** 2)

    assert_value_and_slope(program, X)


@pytest.mark.parametrize("name", [*NAMES, "power"])
def test_of_real_numbers_is_refused(name):
    function = getattr(np.emath, name)

    def program(x):
        return np.sum(function(x, 0.5) if name == "power" else function(x))

    with pytest.raises(UnsupportedProgram, match=rf"whether np\.emath\.{name} of real numbers is real or complex"):
        sdfgad.differentiate(program)(X)
