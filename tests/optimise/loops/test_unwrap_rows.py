"""Rows whose indices wrap around are copied before a loop of many operations."""

import numpy as np
import pytest

import sdfgad
from sdfgad.optimise.loops.unwrap_rows import unwrap_rows
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of

SHAPES = {"X": (6, 20), "Z": (6, 20)}
MANY = "exp(sin({0}) * {0} - sin({0} + 2.0) / ({0} * {0} + 3.0)) * sin({0} * 5.0)"
MOVED = "X[i, remainder(j + 3, 20)]"


def nest(*lines, inner="loop parallel j < 20:"):
    text = "\n".join(["loop i < 6:", f"    {inner}", *(f"        {line}" for line in lines)])
    return program_of(text, SHAPES, ["X"], ["Z"])


def test_a_row_is_copied():
    program = nest(f"Z[i, j] = {MANY.format(MOVED)} + X[i, j]")
    changed = unwrap_rows(program)
    copy, loop = changed.body[0].body
    assert "remainder" in str(copy)
    assert "remainder" not in str(loop)
    arrays = {"X": np.random.default_rng(0).random((6, 20))}
    assert_same(outputs(changed, arrays), outputs(program, arrays), "with a copy")


STAYS = {
    "few operations": nest(f"Z[i, j] = {MOVED} + X[i, j]"),
    "no remainder": nest(f"Z[i, j] = {MANY.format('X[i, j]')}"),
    "of rows": nest(f"Z[i, j] = {MANY.format('X[remainder(i + 3, 6), j]')}"),
    "in sequence": nest(f"Z[i, j] = {MANY.format(MOVED)}", inner="loop j < 20:"),
    "from another place": nest(f"Z[i, j] = {MANY.format('X[remainder(j, 6), remainder(j + 3, 20)]')}"),
}


@pytest.mark.parametrize("program", STAYS.values(), ids=STAYS)
def test_loops_that_stay(program):
    assert unwrap_rows(program) == program


def limited(q, u, steps):
    for _ in range(steps):
        a, b = q - np.roll(q, 1, 1), np.roll(q, -1, 1) - q
        slope = np.where(a * b > 0.0, 2.0 * a * b / (a + b), 0.0)
        left, right = q + 0.5 * slope, np.roll(q - 0.5 * slope, -1, 1)
        flux = np.where(u > 0.0, u * left * np.sqrt(left**2 + 1.0), u * right * np.sqrt(right**2 + 1.0))
        q = q - 0.1 * (flux - np.roll(flux, 1, 1))
    return np.sum(q * q)


def test_the_gradient_of_a_limited_scheme():
    rng = np.random.default_rng(0)
    q, u = 1.0 + rng.random((3, 21)), rng.random((3, 21)) - 0.5
    g = sdfgad.differentiate(limited, wrt=("q", "u"))
    assert np.isclose(g.value(q, u, 3), limited(q, u, 3), rtol=1e-13)
    assert sdfgad.check_grads(limited, q, u, 3, wrt=("q", "u")).error < 1e-6
