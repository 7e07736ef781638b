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
from tests.fortran.cases import PROGRAMS
from tests.fortran.constructs import ALL, AT, CONSTRUCTS, constructs_of

REFERENCE = json.loads((Path(__file__).parent / "gfortran.json").read_text())["constructs"]


@cache
def library(path):
    return Library.of([File.read(path)])


@cache
def gradient(path):
    """One compiled program of all constructs of a file, whose results are weighted."""
    return fortran.differentiate(path, ALL[path], wrt="x", output="total")


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda one: one.routine)
def test_construct(construct):
    name, others = construct.routine, constructs_of(construct.path)
    entry = Entry(library(construct.path).find(name), "y")

    def computed(x):
        y = np.zeros(6)
        with np.errstate(invalid="ignore"):
            entry.function(**entry.arguments((x.copy(), y), {}))
        return y

    position = others.index(construct)
    np.testing.assert_allclose(computed(AT), REFERENCE[name], rtol=1e-13, atol=1e-14)
    weights = np.zeros((6, len(others)))
    weights[:, position] = np.random.default_rng(position).uniform(0.5, 1.5, 6)
    value, found = gradient(construct.path).value_and_grad(x=AT, w=weights)
    np.testing.assert_allclose(value, weights[:, position] @ REFERENCE[name], rtol=1e-12)
    h = 1e-4
    moves = [
        (8 * (computed(AT + h * e) - computed(AT - h * e)) - computed(AT + 2 * h * e) + computed(AT - 2 * h * e))
        / (12 * h)
        for e in np.eye(6)
    ]
    np.testing.assert_allclose(found, np.array(moves) @ weights[:, position], rtol=1e-8, atol=1e-9)


def test_every_construct_is_called():
    assert len(CONSTRUCTS) == len(REFERENCE) == 71


def test_a_program_that_stops():
    path = PROGRAMS / "constructs.f90"
    with pytest.raises(ProgramRaises, match="x is large") as caught:
        gradient(path).value_and_grad(x=AT + 1000, w=np.ones((6, len(constructs_of(path)))))
    assert caught.value.where.text.startswith("if (x(1) > 100) stop")
