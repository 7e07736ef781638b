"""Evaluation of integer expressions by NumPy."""

import numpy as np
import pytest

from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read

I, J = Lin.symbol("i"), Lin.symbol("j")
GRID = {"i": np.arange(4)[:, None], "j": np.arange(3)}
TABLE = np.array([3, 1, 2, 0])


def integer(value, dtype=INT):
    return Const(value, np.dtype(dtype))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Int(I.scaled(2) + J - 1), lambda i, j: 2 * i + j - 1),
        (Read("t", (I,), INT), lambda i, j: TABLE[i]),
        (Int(Lin.symbol(Read("t", (I,), INT)).scaled(3) + J), lambda i, j: 3 * TABLE[i] + j),
        (Op("floor_divide", (Int(I - 2), integer(2)), INT), lambda i, j: (i - 2) // 2),
        (Op("remainder", (Int(J - I), integer(3)), INT), lambda i, j: (j - i) % 3),
        (Op("wrap", (Int(I - 2), integer(4)), INT), lambda i, j: (i - 2) % 4),
        (
            Op("select", (Op("less", (Int(I), Int(J)), BOOL), Int(I), integer(7)), INT),
            lambda i, j: np.where(i < j, i, 7),
        ),
        (Op("cast", (Op("less", (Int(I), Int(J)), BOOL),), INT), lambda i, j: (i < j) + 0),
        (Op("add", (integer(100, "int8"), integer(100, "int8")), np.dtype("int8")), lambda i, j: -56),
    ],
)
def test_values_at_all_points(expression, expected):
    found = evaluated(expression, GRID, {"t": TABLE})
    wide = np.broadcast_to(found, (4, 3))
    np.testing.assert_array_equal(wide, np.broadcast_to(expected(GRID["i"], GRID["j"]), (4, 3)))


def test_what_is_not_known_has_no_value():
    assert evaluated(Int(I + Lin.symbol("n")), GRID, {}) is None
    assert evaluated(Read("u", (I,), INT), GRID, {"t": TABLE}) is None
    assert evaluated(Const(1.5, np.dtype(float)), GRID, {}) is None
    assert evaluated(Read("t", (I + 1,), INT), GRID, {"t": TABLE}) is None, "out of range"
    assert evaluated(Int(Lin(3)), {}, {}) == 3
