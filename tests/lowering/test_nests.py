"""Loop nests as functions: which choices in vector loops compute both sides."""

import numpy as np
import pytest

from sdfgad.ir.expr import BOOL, Const, Op, Read
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import Access, Buffer, Compute, Loop
from sdfgad.lowering.nests import nest_of

F64 = np.dtype(np.float64)
I, J = Lin.symbol("i"), Lin.symbol("j")
BUFFERS = {
    "x": Buffer("x", (Lin(10),), F64),
    "y": Buffer("y", (Lin(10),), F64),
    "mask": Buffer("mask", (Lin(10),), BOOL),
    "indices": Buffer("indices", (Lin(10),), np.dtype(np.int64)),
}


def written(place, trips=10, start=0):
    """The text of ``for i: y[i] = x[place] if mask[i] else 0``."""
    value = Op("select", (Read("mask", (I,), BOOL), Read("x", (place,), F64), Const(0, F64)), F64)
    statement = Compute((), Access("y", (I,)), value)
    guards = (I, Lin.of(trips) - I - 1)
    loop = Loop("i", Lin.of(trips), (statement,), guards, start=Lin(start), is_parallel=True)
    return nest_of(loop, "nest", BUFFERS, BUFFERS).code


@pytest.mark.parametrize("place", [I, 9 - I, Lin(4), Lin(0)])
def test_what_is_in_the_array_is_read_without_a_branch(place):
    assert "sdfgad::select<double>" in written(Lin.of(place))


@pytest.mark.parametrize("place", [I + 1, I - 1, 8 - I, I.scaled(2), Lin(10), Lin(-1), J])
def test_what_may_be_outside_is_read_where_it_is_asked_for(place):
    assert "sdfgad::select" not in written(Lin.of(place))


def test_unknown_ranges_are_not_trusted():
    assert "sdfgad::select" not in written(I, trips=J)
    assert "sdfgad::select" not in written(I, trips=5, start=2)
    assert "sdfgad::select" not in written(I, trips=11)
