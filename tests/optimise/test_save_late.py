"""What a trip of a loop around calls makes is saved at its end, where the next one would have saved it."""

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.optimise.save_late import save_late
from tests.helpers_passes import check_passes
from tests.helpers_text import program_of, tidy

SHAPES = {"Y": (4, 3), "M": (9, 4, 4), "m": (4, 4), "x": (4, 3), "T": (9, 4, 4), "Z": (9, 4, 4), "failed": ()}
SHAPES |= {"w": (), "v": (9,), "z": (9,), "W": (9,)}
BEFORE = """
loop f < 9:
    for p < 4, c < 4: T[f, p, c] = m[p, c]
    for p < 4, c < 4: m[p, c] = M[f, p, c]
    x, failed = solve(m, Y)
    W[f] = w
    w = x[0, 0]
loop backwards f < 9:
    for p < 4, c < 4: Z[f, p, c] = m[p, c] * w
    w = W[f]
    z[f] = m[0, 0]
    for p < 4, c < 4: m[p, c] = T[f, p, c]
"""
AFTER = """
loop f < 9:
    for p < 4, c < 4: m[p, c] = M[f, p, c]
    x, failed = solve(m, Y)
    w = x[0, 0]
    for p < 4, c < 4: T[f, p, c] = m[p, c]
    W[f] = w
loop backwards f < 9:
    w_1 = W[f]
    for p < 4, c < 4: m_1[p, c] = T[f, p, c]
    for p < 4, c < 4: Z[f, p, c] = (m_1[p, c] * w_1)
    z[f] = m_1[0, 0]
"""


def program(text, outputs=("Z", "z")):
    return program_of(text, SHAPES, ["Y", "M"], outputs, dtypes={"failed": np.int64})


def test_arrays_and_scalars():
    made = program(BEFORE)
    assert program_text(save_late(made)) == tidy(AFTER)
    rng = np.random.default_rng(0)
    check_passes(made, {name: rng.normal(size=SHAPES[name]) for name in ("Y", "M")}, passes=[save_late])


STAYS = {
    "no call": ("    x, failed = solve(m, Y)\n", ""),
    "a loop that goes on": (
        "    for p < 4, c < 4: m[p, c] = M[f, p, c]\n",
        "    for p < 4, c < 4: m[p, c] += M[f, p, c]\n",
    ),
    "in part": ("m[p, c] = M[f, p, c]", "m[0, c] = M[f, p, c]"),
    "used between": ("loop backwards", "z[0] = m[0, 0]\nloop backwards"),
    "another order": ("loop backwards", "loop"),
    "other trips": ("loop backwards f < 9", "loop backwards f < 8"),
    "restored before it is read": (
        "    z[f] = m[0, 0]\n    for p < 4, c < 4: m[p, c] = T[f, p, c]\n",
        "    for p < 4, c < 4: m[p, c] = T[f, p, c]\n    z[f] = m[0, 0]\n",
    ),
    "changed backwards": ("    z[f] = m[0, 0]\n", "    m[0, 0] = 1.0\n"),
    "another place": ("m[p, c] = T[f, p, c]", "m[p, c] = T[8 - f, p, c]"),
    "turned": ("m[p, c] = T[f, p, c]", "m[p, c] = T[f, c, p]"),
    "not a copy": ("m[p, c] = T[f, p, c]", "m[p, c] = 2.0 * T[f, p, c]"),
    "read elsewhere": ("    z[f] = m[0, 0]\n", "    z[f] = T[0, 0, 0]\n"),
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    old, new = STAYS[name]
    assert old in BEFORE
    made = save_late(program(BEFORE.replace(old, new, 1)))
    assert "m_1" not in made.buffers


def test_outputs_stay():
    assert "m_1" not in save_late(program(BEFORE, ["Z", "z", "m"])).buffers
