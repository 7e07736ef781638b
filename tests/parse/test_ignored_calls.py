"""Calls that print, warn or log: left out of the compiled program, with a warning while parsing."""

import logging
import sys
import warnings

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import IgnoredPrint

LOG = logging.getLogger(__name__)
X = np.array([0.7, 1.3, 2.1])


def chatty(x):
    logging.debug("begin")
    total = 0.0
    for i in range(3):
        if x[i] > 1.0:
            warnings.warn("large: %d" % i)  # noqa: B028, UP031
            LOG.info("x is %s", x[i])
        sys.stderr.write("." + str(i))
        total += np.sin(x[i])
    sys.stdout.flush()
    return total


def test_output_has_no_effect_on_numbers():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value, gradient = sdfgad.differentiate(chatty, wrt="x").value_and_grad(X)
    assert value == pytest.approx(np.sum(np.sin(X)), rel=1e-14)
    np.testing.assert_allclose(gradient, np.cos(X), rtol=1e-14)
    told = {str(one.message).partition(" is ignored at")[0] for one in caught if one.category is IgnoredPrint}
    assert told == {"logging.debug", "warnings.warn", "LOG.info", "sys.stderr.write", "sys.stdout.flush"}


def filtered(x):
    warnings.filterwarnings("ignore")
    return np.sum(x**2)


def test_filters_of_warnings_are_left_out():
    np.testing.assert_allclose(sdfgad.differentiate(filtered, wrt="x")(X), 2.0 * X)
