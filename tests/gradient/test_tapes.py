"""A tape has exactly one slot for each value that is kept, and no two values share one."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Loop, computes, walk
from sdfgad.ir.specialise import NeedsConstant
from tests.helpers import line_of
from tests.helpers_ir import Interpreter, gradient_of, inputs_of, parsed
from tests.helpers_passes import check_function

X = np.linspace(0.5, 1.0, 8)


class Slots(Interpreter):
    """Notes every slot of a tape that is filled, and checks that what is read was filled."""

    def __init__(self, *args):
        self.filled = []
        super().__init__(*args)

    def compute(self, statement):
        if "_tape" in statement.target.buffer:
            before = dict(self.env)
            for point in np.ndindex(*(self.form(extent) for _, extent in statement.params)):
                self.env |= zip((name for name, _ in statement.params), point, strict=True)
                self.filled.append((statement.target.buffer, self.place(statement.target)))
            self.env.clear()
            self.env |= before
        super().compute(statement)


def tapes(program, *args, wrt=("x",), output="return"):
    """The shapes of the tapes for a call, every slot of which is filled exactly once."""
    primal = parsed(program, *args)
    made = gradient_of(primal, wrt, output)
    arrays, integers = inputs_of(primal, *args)
    seed = made.program.buffers[made.cotangent]
    arrays[made.cotangent] = np.ones([extent.const for extent in seed.shape], seed.dtype)
    run = Slots(made.program, arrays, integers)
    shapes = {name: run.store[name].shape for name in made.program.buffers if "_tape" in name}
    assert len(set(run.filled)) == len(run.filled)
    for name, shape in shapes.items():
        assert sum(buffer == name for buffer, _ in run.filled) == np.prod(shape)
    return sorted(shapes.values())


def whole(x, T):
    for _ in range(T):
        x[:] = np.sin(x)
    return x


def inner(x, T):
    for _ in range(T):
        x[2:5] = np.sin(x[2:5]) * x[:3]
    return x


def triangle(x, n):
    for i in range(n):
        for j in range(i):
            x[0] = x[0] * x[0] + x[j + 1]
    return x


def rows_of_a_triangle(x, n):
    for i in range(n):
        x[:i] = x[:i] * x[:i]
    return x


def upper_triangle(x, n):
    for i in range(n):
        for j in range(i + 1, n):
            x[0] = x[0] * x[0] + x[j]
    return x


def tetrahedron(x, n):
    for i in range(n):
        for j in range(i):
            for k in range(j, i):
                x[0] = x[0] * x[0] + x[k]
    return x


def strided(x, n):
    for i in range(1, 8, 3):
        x[0] = x[0] * x[0] + x[i]
    return x


def backwards(x, n):
    for i in range(7, 0, -2):
        x[0] = x[0] * x[0] + x[i]
    return x


def in_a_branch(x, n):
    for i in range(n):
        if i % 2 == 0:
            x[0] = x[0] * x[0]
    return x


def once(x, n):
    x[:] = np.sin(x * 2.0) + x[0]
    x[1:3] = x[1:3] * x[1:3]
    return x * x


def matrix(m, T):
    for _ in range(T):
        m[1:, :-1] = m[1:, :-1] * m[1:, :-1]
    return m


SHAPES = [
    (whole, 4, [(4, 8)]),
    (whole, 0, [(0, 8)]),
    (inner, 4, [(4, 3)]),
    (triangle, 6, [(15,)]),
    (triangle, 1, [(0,)]),
    (upper_triangle, 6, [(15,)]),
    (tetrahedron, 5, [(20,)]),
    (strided, 0, [(3,)]),
    (backwards, 0, [(4,)]),
]


@pytest.mark.parametrize(("program", "n", "shapes"), SHAPES, ids=[f"{c[0].__name__}-{c[1]}" for c in SHAPES])
def test_shapes(program, n, shapes):
    assert tapes(program, X, n) == shapes


def test_matrix_of_which_a_part_is_updated():
    assert tapes(matrix, np.linspace(0.5, 1, 12).reshape(3, 4), 5, wrt=["m"]) == [(5, 2, 3)]


def test_box_that_grows_with_the_counter():
    # range(8): whether the bound is a number or not, 0 + 1 + … + 7 values.
    def program(x):
        for i in range(8):
            x[:i] = x[:i] * x[:i]
        return x

    assert tapes(program, X) == [(28,)]


def test_value_kept_in_a_branch_has_a_slot_for_each_trip():
    primal = parsed(in_a_branch, X, 5)
    made = gradient_of(primal, ["x"])
    (tape,) = [buffer for name, buffer in made.program.buffers.items() if "_tape" in name]
    run = Slots(made.program, inputs_of(primal, X, 5)[0] | {made.cotangent: np.ones(8)}, inputs_of(primal, X, 5)[1])
    assert run.store[tape.name].shape == (5,)
    assert [place for _, place in run.filled] == [(0,), (2,), (4,)]


def test_run_time_extents_are_symbols():
    made = gradient_of(parsed(whole, X, 4), ["x"])
    (tape,) = [buffer for name, buffer in made.program.buffers.items() if "_tape" in name]
    assert [str(extent) for extent in tape.shape] == ["T", "8"]
    assert str(tape.where) == line_of(whole, "np.sin")
    assert tape.source == "x"


def test_one_store_and_one_restore_each():
    made = gradient_of(parsed(triangle, X, 6), ["x"])
    stores = [s for s in computes(made.program.body) if "_tape" in s.target.buffer]
    restores = [s for s in computes(made.program.body) if "_tape" in getattr(s.value, "buffer", "")]
    assert len(stores) == len(restores) == 1
    assert stores[0].target.buffer == restores[0].value.buffer
    assert stores[0].value.buffer == restores[0].target.buffer


def test_backward_loops_mirror_forward_ones():
    made = gradient_of(parsed(triangle, X, 6), ["x"])
    loops = [s for s in walk(made.program.body) if isinstance(s, Loop)]
    assert [loop.backward for loop in loops] == [False, False, True, True]


def trips_from_data(x, idx):
    for i in range(3):
        for _ in range(idx[i]):
            x[i] = x[i] * x[i]
    return x


def test_trips_that_are_data_are_counted_first():
    made = gradient_of(parsed(trips_from_data, X, np.array([1, 2, 0])), ["x"])
    ((total, counter),) = made.totals.items()
    (tape,) = (b for b in made.program.buffers.values() if b.name.endswith("_tape"))
    assert tape.shape == (Lin.symbol(total),)
    assert total in made.program.integers
    assert f"trips of {counter.count}" in made.counting.outputs


def size_from_data(x, idx):
    for i in range(3):
        x[: idx[i]] = x[: idx[i]] * x[: idx[i]]
    return x


def test_boxes_whose_size_is_data_have_room_for_the_largest():
    made = gradient_of(parsed(size_from_data, X, np.array([1, 2, 0])), ["x"])
    (tape,) = (b for b in made.program.buffers.values() if b.name.endswith("_tape"))
    assert tape.shape == (Lin(3), Lin(X.size))


def maybe_negative(x, n, m):
    for i in range(n):
        for j in range(m - i):
            x[j] = x[j] * x[i]
    return x


@pytest.mark.parametrize("bounds", [(3, 5), (4, 2)])
def test_nests_of_which_some_do_not_run(bounds):
    """Counted exactly, bounded, or made for these integers only."""
    try:
        shapes = tapes(maybe_negative, X, *bounds)
    except NeedsConstant as need:
        assert_symbols(need.symbols)
    else:
        assert shapes == [(sum(max(bounds[1] - i, 0) for i in range(bounds[0])),)]


def assert_symbols(symbols):
    assert symbols <= {"n", "m"}


def added_in_pairs(x, y):
    k = np.arange(8) // 2
    for _ in range(3):
        np.add.at(x, k, y * x[0])
        x *= np.sin(x)
    return np.sum(x * x)


def added_where_told(x, y, k):
    for _ in range(3):
        np.add.at(x, k, y * x[0])
        x *= np.sin(x)
    return np.sum(x * x)


@pytest.mark.parametrize(
    ("function", "more"),
    [(added_in_pairs, ()), (added_where_told, (np.array([0, 3, 3, 3, 1, 4, 0, 1]),))],
    ids=["by arithmetic", "by data"],
)
def test_what_was_added_to_often_is_put_back(function, more):
    """Its old value is in several slots of the tape: elements are put back one after the other."""
    rng = np.random.default_rng(0)
    args = (rng.uniform(0.3, 1.0, 5), rng.uniform(0.3, 1.0, 8), *more)
    check_function(function, args, wrt=["x", "y"])
    sdfgad.check_grads(function, *args, wrt=("x", "y"))
