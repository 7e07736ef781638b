"""Rows of a triangle are cut into rectangles and written-out rims, which have all its points and no others."""

import numpy as np
import pytest

from sdfgad.ir.program import Loop, computes
from sdfgad.ir.text import program_text
from sdfgad.optimise.names import names_of
from sdfgad.optimise.products.cuts import Cuts
from sdfgad.optimise.products.rows import Rows
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of

ROWS = 27
LOWER = f"loop i < {ROWS}:\n    for p < i, q < 70: "
SUMS = {
    "rows": "y[i, q] += x[i, p] * z[p, q]",
    "columns": "y[p, q] += x[i, p] * z[i, q]",
    "elements": "y[i, p] += x[i, q] * z[p, q]",
}


def cut(text):
    """The program, and the one with the points of its loop cut."""
    shapes = {"x": (70, 70), "z": (70, 70), "y": (70, 70)}
    program = program_of(text, shapes, ["x", "z", "y"], ["y"])
    (loop,) = program.body
    assert isinstance(loop, Loop)
    (statement,) = loop.body
    rows = Rows("i", ROWS, "p", 0, 1, 0)
    return program, program.with_body(Cuts(rows, statement, names_of(program)).exact())


@pytest.mark.parametrize("name", SUMS)
def test_all_points_and_no_others(name):
    program, changed = cut(LOWER + SUMS[name])
    rng = np.random.default_rng(4)
    arrays = {key: rng.normal(size=(70, 70)) for key in "xyz"}
    # Whatever no row reads stays where it is.
    arrays["x"][np.triu_indices(70)] = np.inf if name != "elements" else arrays["x"][np.triu_indices(70)]
    assert_same(outputs(changed, arrays), outputs(program, arrays), name)


def test_rims_are_written_out():
    _, changed = cut(LOWER + SUMS["rows"])
    rims = [s for s in computes(changed.body) if len(s.params) == 1]
    assert "y[26, q] += ((x[26, 24] * z[24, q]) + (x[26, 25] * z[25, q]))" in program_text(changed)
    assert all(name == "q" for s in rims for name, _ in s.params)
    assert all(extent.is_const for s in computes(changed.body) for _, extent in s.params)
