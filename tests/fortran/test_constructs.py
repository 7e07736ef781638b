"""Each construct computes what gfortran computes, and its gradient is that of differences."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sdfgad import fortran
from sdfgad.errors import ProgramRaises
from sdfgad.fortran.entry import Entry
from sdfgad.fortran.library import Library
from sdfgad.fortran.syntax import File
from tests.fortran.constructs import AT, CONSTRUCTS, PATH

REFERENCE = json.loads((Path(__file__).parent / "gfortran.json").read_text())["constructs"]
LIBRARY = Library.of([File.read(PATH)])


@cache
def gradient():
    """One compiled program of all constructs, whose results are weighted."""
    return fortran.differentiate(PATH, "weighed", wrt="x", output="total")


@pytest.mark.parametrize("position", range(len(CONSTRUCTS)), ids=[one.routine for one in CONSTRUCTS])
def test_construct(position):
    name = CONSTRUCTS[position].routine
    function = Entry(LIBRARY.find(name), "y").function

    def computed(x):
        y = np.zeros(6)
        with np.errstate(invalid="ignore"):
            function(x.copy(), y)
        return y

    np.testing.assert_allclose(computed(AT), REFERENCE[name], rtol=1e-13, atol=1e-14)
    weights = np.zeros((6, len(CONSTRUCTS)))
    weights[:, position] = np.random.default_rng(position).uniform(0.5, 1.5, 6)
    value, found = gradient().value_and_grad(x=AT, w=weights)
    np.testing.assert_allclose(value, weights[:, position] @ REFERENCE[name], rtol=1e-12)
    h = 1e-4
    moves = [
        (8 * (computed(AT + h * e) - computed(AT - h * e)) - computed(AT + 2 * h * e) + computed(AT - 2 * h * e))
        / (12 * h)
        for e in np.eye(6)
    ]
    np.testing.assert_allclose(found, np.array(moves) @ weights[:, position], rtol=1e-8, atol=1e-9)


def test_every_construct_is_called():
    assert len(CONSTRUCTS) == len(REFERENCE) == 45


def test_a_program_that_stops():
    with pytest.raises(ProgramRaises, match="x is large") as caught:
        gradient().value_and_grad(x=AT + 1000, w=np.ones((6, len(CONSTRUCTS))))
    assert caught.value.where.text.startswith("if (x(1) > 100) stop")
