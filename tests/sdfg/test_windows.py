"""What a view sees: indices found by strides, or by the position in memory, or refused."""

import numpy as np
import pytest

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import Int, Lin
from sdfgad.sdfg.windows import Layout, Part, Window, axis, seen

N = Lin.symbol("n")


def layout(shape, strides=None):
    strides = strides or [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    return Layout(tuple(map(Lin.of, shape)), tuple(map(Lin.of, strides)))


def part(starts):
    """A part that begins somewhere, of which nothing else is known."""
    return Part(tuple(map(Lin.of, starts)), (Lin(-1),) * len(starts), (Lin(1),) * len(starts))


def elements(inner, outer, starts):
    """The elements that are seen, as numbers of the array's elements."""
    index = seen(inner, outer, part(starts), "v")
    window = Window("x", inner.shape, index)
    values = np.arange(np.prod([e.const for e in outer.shape])).reshape([e.const for e in outer.shape])
    found = np.empty([e.const for e in inner.shape], int)
    for place in np.ndindex(found.shape):
        at = window.at(tuple(map(Lin, place))).index
        found[place] = values[tuple(int(evaluated(Int(form), {}, {})) for form in at)]
    return found


@pytest.mark.parametrize(
    ("shape", "view", "strides", "start"),
    [
        ((6,), (3,), (1,), (2,)),
        ((4, 6), (6,), (1,), (2, 0)),
        ((4, 6), (4,), (6,), (0, 3)),
        ((4, 6), (6, 4), (1, 6), (0, 0)),
        ((4, 6), (2, 3), (6, 1), (1, 2)),
        ((4, 6), (24,), (1,), (0, 0)),
        ((4, 6), (8, 3), (3, 1), (0, 0)),
        ((24,), (4, 6), (6, 1), (0,)),
        ((2, 3, 4), (6, 4), (4, 1), (0, 0, 0)),
        ((4, 6), (2, 6), (12, 1), (1, 0)),
        ((5, 1), (5,), (1,), (0, 0)),
        ((1,), (1, 1), (1, 1), (0,)),
    ],
)
def test_elements_are_those_of_the_pointer(shape, view, strides, start):
    flat = np.arange(np.prod(shape))
    offset = int(np.ravel_multi_index(start, shape))
    expected = np.lib.stride_tricks.as_strided(flat[offset:], view, [8 * stride for stride in strides])
    np.testing.assert_array_equal(elements(layout(view, strides), layout(shape), start), expected)


def test_symbols_as_sizes():
    array = Layout((N, Lin(4)), (Lin(4), Lin(1)))
    row = seen(Layout((Lin(4),), (Lin(1),)), array, part((Lin.symbol("i"), 0)), "v")
    assert row == (Lin.symbol("i"), Lin.symbol(axis(0)))
    columns = Part((Lin(0), Lin(0)), (N, Lin(1)), (Lin(1), Lin(1)))
    assert seen(Layout((N,), (Lin(4),)), array, columns, "v") == (Lin.symbol(axis(0)), Lin(0))
    with pytest.raises(UnsupportedGraph):
        seen(Layout((N.scaled(4),), (Lin(1),)), array, columns, "v")


@pytest.mark.parametrize(
    ("inner", "outer", "starts"),
    [
        (layout((3,), (5,)), layout((6,)), (0,)),
        (layout((3,), (1,)), layout((6,)), (4,)),
        (layout((4, 2)), layout((6,)), (0,)),
        (layout((12,)), layout((4, 3), (4, 1)), (0, 0)),
    ],
)
def test_what_lies_elsewhere_is_refused(inner, outer, starts):
    with pytest.raises(UnsupportedGraph, match="v has other strides than what it sees, or more elements") as found:
        seen(inner, outer, part(starts), "v")
    assert found.value.todo
