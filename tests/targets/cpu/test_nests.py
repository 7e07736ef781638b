"""Loop nests as functions: which choices in vector loops compute both sides."""

import numpy as np
import pytest

from sdfgad.ir.expr import BOOL, Const, Lin, Op, Read
from sdfgad.ir.program import Access, Buffer, Compute, Loop
from sdfgad.targets.cpu.nests import nest_of
from tests.helpers_text import program_of

F64 = np.dtype(np.float64)
I, J, P = map(Lin.symbol, "ijp")
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
    return nest_of((loop,), "nest", BUFFERS, BUFFERS).code


@pytest.mark.parametrize("place", [I, 9 - I, Lin(4), Lin(0)])
def test_what_is_in_the_array_is_read_without_a_branch(place):
    assert "sdfgad::select<double>" in written(Lin.of(place))


@pytest.mark.parametrize("place", [I + 1, I - 1, 8 - I, I.scaled(2), Lin(10), Lin(-1), J])
def test_what_may_be_outside_is_read_where_it_is_asked_for(place):
    assert "sdfgad::select" not in written(Lin.of(place))


def in_a_triangle(place, trips):
    """The text of ``for j < 10: for i < trips: y[i] = x[place] if mask[i] else 0``."""
    value = Op("select", (Read("mask", (I,), BOOL), Read("x", (place,), F64), Const(0, F64)), F64)
    statement = Compute((), Access("y", (I,)), value)
    inner = Loop("i", trips, (statement,), (I, trips - I - 1), is_parallel=True)
    return nest_of((Loop("j", Lin(10), (inner,), (J, 9 - J)),), "nest", BUFFERS, BUFFERS).code


@pytest.mark.parametrize(("place", "trips"), [(I, 10 - J), (I + 1, 9 - J), (I + J, 10 - J), (9 - I - J, 10 - J)])
def test_the_range_of_a_counter_may_depend_on_others(place, trips):
    text = in_a_triangle(place, trips)
    assert "sdfgad::select<double>" in text
    assert "?" not in text


@pytest.mark.parametrize(("place", "trips"), [(I + 1, 10 - J), (I + J, 11 - J), (I - J, 10 - J), (I + P, 10 - J)])
def test_what_some_trip_may_read_outside_is_read_where_it_is_asked_for(place, trips):
    assert "sdfgad::select" not in in_a_triangle(place, trips)


@pytest.mark.parametrize(("place", "is_inside"), [(I - 2, True), (I, True), (I - 3, False), (I + 1, False)])
def test_a_loop_may_start_later(place, is_inside):
    assert ("sdfgad::select<double>" in written(place, trips=8, start=2)) is is_inside


def test_a_choice_of_what_a_vector_function_returns_is_no_branch():
    # As in the adjoint of exp and sin: zero for a cotangent of zero. The call is early, so that no branch is around it.
    x, c = Read("x", (I,), F64), Read("y", (I,), F64)
    product = Op("multiply", (c, Op("exp", (Op("sin", (x,), F64),), F64)), F64)
    value = Op("select", (Op("equal", (c, Const(0, F64)), BOOL), Const(0, F64), product), F64)
    loop = Loop("i", Lin(10), (Compute((), Access("y", (I,)), value),), (I, 9 - I), is_parallel=True)
    text = nest_of((loop,), "nest", BUFFERS, BUFFERS).code
    assert "sdfgad::select<double>" in text
    assert "?" not in text


def test_unknown_ranges_are_not_trusted():
    assert "sdfgad::select" not in written(I, trips=J)
    assert "sdfgad::select" not in written(I, trips=11)


def written_in_trips(index, shape, bounds=(), trips="n"):
    """The text of ``for t < trips: for i < 10: y[i] = z[index] if mask[i] else 0``."""
    value = Op("select", (Read("mask", (I,), BOOL), Read("z", index, F64), Const(0, F64)), F64)
    inner = Loop("i", Lin(10), (Compute((), Access("y", (I,)), value),), (I, 9 - I), is_parallel=True)
    count = Lin.symbol(trips)
    loop = Loop("t", count, (inner,), (T, count - T - 1))
    buffers = {**BUFFERS, "z": Buffer("z", shape, F64), "count": Buffer("count", (), np.dtype(np.int64))}
    return nest_of((loop,), "nest", buffers, buffers, bounds).code


T, N, SLOT = Lin.symbol("t"), Lin.symbol("n"), Lin.symbol(Read("count", (), np.dtype(np.int64)))


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ((T, I), (N, Lin(10))),
        ((T, Lin(0), I), (N, Lin(2), Lin(5))),  # Along the memory of two axes.
        ((T, Lin(3), I), (N, Lin(4), Lin(10))),
        ((Lin(0), I), (Lin(2), Lin(5))),
        ((Lin(1), 9 - I), (Lin(2), Lin(10))),
    ],
)
def test_what_is_on_a_tape_is_read_without_a_branch(index, shape):
    assert "sdfgad::select<double>" in written_in_trips(index, shape)


def test_what_is_in_a_counted_slot_is_read_without_a_branch():
    assert "sdfgad::select<double>" in written_in_trips((SLOT, I), (Lin.symbol("total"), Lin(10)), ("total",))


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ((T + 1, I), (N, Lin(10))),
        ((T, I), (N - 1, Lin(10))),
        ((T, I), (Lin.symbol("m"), Lin(10))),
        ((T, I), (N, Lin(9))),
        ((I, T), (N, Lin(10))),
        ((Lin(1), I), (Lin(2), Lin(9))),
        ((Lin(0), I), (Lin(2), Lin(4))),
        ((SLOT, I), (Lin.symbol("total"), Lin(10))),  # No counted number of slots.
        ((SLOT + 1, I), (Lin.symbol("bound"), Lin(10))),
    ],
)
def test_what_may_be_outside_a_tape_is_not(index, shape):
    assert "sdfgad::select" not in written_in_trips(index, shape, ("bound",))


@pytest.mark.parametrize(("size", "is_alone"), [(16, True), (512, False)])
def test_small_products_of_a_loop_tell_blas_once_to_take_one_thread(size, is_alone):
    shape = (Lin(size), Lin(size))
    buffers = {name: Buffer(name, (Lin(8), *shape), F64) for name in "abc"}
    p, q, r, k = map(Lin.symbol, "pqrk")
    value = Op("multiply", (Read("a", (k, p, r), F64), Read("b", (k, r, q), F64)), F64)
    product = Compute((("p", shape[0]), ("q", shape[0]), ("r", shape[0])), Access("c", (k, p, q)), value, "add")
    loop = Loop("k", Lin(8), (product,), (k, 7 - k), is_parallel=True)
    nests = [nest_of((one,), "nest", buffers, buffers) for one in (loop, product)]
    assert [nest.code.count("OneThread alone_") for nest in nests] == [is_alone, 0]


@pytest.mark.parametrize(("name", "is_wide"), [("exp", True), ("tanh", True), ("sqrt", False), ("negative", False)])
def test_elementary_functions_are_computed_in_wide_vectors(name, is_wide):
    statement = Compute((("p", Lin(10)),), Access("y", (P,)), Op(name, (Read("x", (P,), F64),), F64))
    assert ("SDFGAD_WIDE static void nest(" in nest_of((statement,), "nest", BUFFERS, BUFFERS).code) == is_wide


@pytest.mark.parametrize(("trips", "is_shared"), [(8, False), (16, True)])
def test_threads_share_products_that_take_long_enough(trips, is_shared):
    buffers = {name: Buffer(name, (Lin(trips), Lin(64), Lin(64)), F64) for name in "abc"}
    p, q, r, k = map(Lin.symbol, "pqrk")
    value = Op("multiply", (Read("a", (k, p, r), F64), Read("b", (k, r, q), F64)), F64)
    product = Compute(tuple((name, Lin(64)) for name in "pqr"), Access("c", (k, p, q)), value, "add")
    loop = Loop("k", Lin(trips), (product,), (k, trips - 1 - k), is_parallel=True)
    assert ("omp parallel for" in nest_of((loop,), "nest", buffers, buffers).code) == is_shared


def test_threads_share_a_loop_in_a_branch_with_a_scalar_of_each_trip():
    text = """
loop i < 4:
    if x[i] > 0.0:
        loop parallel f < 400000:
            t = X[i, f] * 2.0
            Z[i, f] = t * t
"""
    shapes = {"x": (4,), "t": (), "X": (4, 400000), "Z": (4, 400000)}
    program = program_of(text, shapes, ["x", "X"], ["Z"])
    code = nest_of((program.body[0],), "nest", program.buffers, ["x", "X", "Z"]).code
    assert "omp parallel for" in code
    assert "omp simd" in code
