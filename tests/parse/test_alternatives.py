"""Refusals of functions name those that are supported, and other ways out."""

import numpy as np
import pytest
import scipy.special

from sdfgad.errors import UnsupportedProgram
from sdfgad.parse.alternatives import instead_of
from tests.helpers_ir import parsed


def test_similar_names_come_first():
    assert instead_of(np.poly1d).startswith("Supported are polyder, polyadd; or call it outside of the function")


def test_ufuncs_of_libraries_are_not_to_be_written_in_python():
    assert instead_of(scipy.special.wrightomega).startswith("Call it outside of the function, and pass what it returns")


def test_other_functions_are_to_be_written_in_python():
    assert instead_of(pytest.raises).startswith("Write it in Python with NumPy")
    assert instead_of(object()).startswith("Write it in Python with NumPy")


def program(x):
    return np.sum(np.apply_over_axes(np.sum, x, [0]))


def test_in_a_refusal():
    with pytest.raises(UnsupportedProgram, match=r"`np.apply_over_axes` is not supported\n.*\n  Call it outside"):
        parsed(program, np.ones((2, 3)))


def length(x):
    chosen = x[x > 0]
    return np.sum(np.ones(len(chosen)))


def test_lengths_that_are_data():
    with pytest.raises(UnsupportedProgram, match=r"np.where\(mask, x, 0.0\) instead of x\[mask\]"):
        parsed(length, np.ones(3))
