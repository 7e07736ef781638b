"""When buffers are held, and how many bytes: by hand, and never less than what is measured."""

import numpy as np
import pytest

from sdfgad.ir.expr import INT, Const, Int, Lin, Op, Read
from sdfgad.ir.program import Access, Branch, Buffer, Call, Check, Compute, Loop, Program, Whole
from sdfgad.memory.lifetimes import (
    buffer_bytes,
    footprint,
    lifetimes,
    local_variables,
    peak_bytes,
    workspace,
    workspaces,
)
from sdfgad.schedule.target import CPU
from tests.helpers import with_target

F8 = np.dtype(np.float64)
N = Lin.symbol("n")
SHAPES = {"x": (8,), "a": (8,), "b": (8,), "c": (100,), "s": (), "place": (3,), "y": (8,)}


def element(name, index=0):
    return Read(name, () if name == "s" else (Lin.of(index),), INT if name == "place" else F8)


def fill(name, *values, extent=8):
    value = Const(0.0, F8)
    for other in values:
        value = Op("add", (value, other), F8)
    params = () if name == "s" else (("p", Lin.of(extent)),)
    return Compute(params, Access(name, tuple(Lin.symbol(p) for p, _ in params)), value)


def program(*body, checks=(), integers=(), **shapes):
    shapes = SHAPES | shapes
    buffers = {
        name: Buffer(name, tuple(map(Lin.of, shape)), INT if name == "place" else F8) for name, shape in shapes.items()
    }
    if checks:
        buffers["status"] = Buffer("status", (), INT)
    return Program("made", buffers, ("x",), integers, {"y": "y"}, body, checks)


def test_from_first_to_last_mention():
    made = program(
        fill("a", element("x")),
        fill("s", element("a")),
        fill("b", element("s")),
        fill("c", element("b")),
        fill("y", element("b")),
    )
    # Not `x` and `y`, which the caller holds, nor the scalar `s`.
    assert lifetimes(made) == {"a": (0, 1), "b": (2, 4), "c": (3, 3)}


def test_local_variables_fit_into_a_stack():
    count = CPU.stack_bytes // CPU.local_bytes + 3
    names = [f"t{k:03}" for k in range(count)]
    shapes = dict.fromkeys(names, (CPU.local_bytes // 8,)) | {"large": (CPU.local_bytes // 8 + 1,), "few": (4,)}
    body = tuple(fill(name, extent=4) for name in (*names, "large", "few", "y"))
    made = program(Loop("i", Lin(2), body, ()), **shapes)
    # The smallest ones first.
    assert local_variables(made) == {"few", *names[: count - 4]}
    alone = program(*(Loop("i", Lin(2), (statement,), ()) for statement in body), **shapes)
    assert local_variables(alone) == {"few", *names}


def test_nested_statements_count_as_their_outermost():
    inner = Loop("j", Lin(2), (fill("b", element("a")),), ())
    loop = Loop("i", Lin(2), (fill("c"), inner), ())
    made = program(fill("a"), loop, fill("y", element("b")))
    assert lifetimes(made) == {"a": (0, 1), "b": (1, 2), "c": (1, 1)}


@pytest.mark.parametrize(
    "statement",
    [
        Loop("i", Lin.symbol(element("place")), (fill("y"),), ()),
        Branch(Op("less", (element("place"), Const(1, INT)), np.dtype(bool)), (), (fill("y"),)),
        fill("y", extent=Lin.symbol(element("place"))),
        fill("y", Read("x", (Lin.symbol(element("place")),), F8)),
        Compute((), Access("y", (Lin.symbol(element("place")),)), Const(0.0, F8)),
    ],
    ids=["trips", "condition", "extent", "index of a read", "index of the target"],
)
def test_mentions_besides_values(statement):
    set_place = Compute((), Access("place", (Lin(0),)), Const(1, INT))
    assert lifetimes(program(set_place, fill("y"), statement)) == {"place": (0, 2)}


def test_footprint_by_hand():
    made = program(fill("a", element("x")), fill("c", element("a")), fill("y", element("c")))
    outside = 64 + 64
    assert footprint(made, {}) == (outside + 64, outside + 64 + 832, outside + 832)
    assert peak_bytes(made, {}) == outside + 64 + 832
    assert peak_bytes(program(), {}) == outside
    check = (Check(ValueError, "", None, ""),)
    assert peak_bytes(program(checks=check), {}) == outside + 64


@pytest.mark.parametrize(("n", "elements"), [(10, 45), (1, 1), (0, 1), (-3, 6)])
def test_extents_at_run_time(n, elements):
    triangle = Op("floor_divide", (Int(Lin.symbol(Op("multiply", (Int(N), Int(N)), INT)) - N), Const(2, INT)), INT)
    tape = Buffer("t", (Lin.symbol(triangle),), F8)
    assert buffer_bytes(tape, {"n": n}) == -(-elements * 8 // 64) * 64
    two = Buffer("t", (N - 1, Lin(16)), F8)
    assert buffer_bytes(two, {"n": n}) == max(n - 1, 1) * 128
    larger = Buffer("t", (Lin.symbol(Op("maximum", (Int(N), Const(8, INT)), INT)),), F8)
    assert buffer_bytes(larger, {"n": n}) == (128 if n == 10 else 64)


def test_extents_that_are_no_forms_of_integers():
    with pytest.raises(KeyError):
        buffer_bytes(Buffer("t", (N,), F8), {})
    with pytest.raises(ValueError, match="no form"):
        buffer_bytes(Buffer("t", (Lin.symbol(element("place")),), F8), {})


def whole(name, *shape, dtype=F8):
    return Whole(name, tuple(map(Lin, shape)), dtype)


def test_workspace_of_calls_is_counted_where_they_are():
    call = Call("solve", (whole("a", 32, 32), whole("x", 32, 1)), (whole("y", 32, 1),), (1, 32, 1))
    # LU, pivots, and an empty result.
    assert workspace(call) == 8192 + 128 + 64
    shapes = {"a": (32, 32), "x": (32,), "y": (32,)}
    found = footprint(program(fill("b"), Loop("i", Lin(3), (call,), ()), fill("y"), **shapes), {})
    # `a` and `b` are local variables of the statements that use them.
    assert found == (256 * 2, 256 * 2 + 8192 + 192, 256 * 2)
    assert footprint(program(call, **shapes), {}) == (256 * 2 + 8192 + 192,)
    assert workspace(Call("searchsorted", (whole("a", 9), whole("x", 8)), (whole("y", 8),), (9, 8, 0))) == 0


SOLVED = {"a": (32, 32), "x": (32,), "y": (32,), "b": (32,), "s": ()}


@pytest.mark.parametrize("around", ["nothing", "branch", "loop"])
def test_workspaces_of_a_loop_that_threads_may_share_are_there_at_once(monkeypatch, around):
    call = Call("solve", (whole("a", 32, 32), whole("x", 32, 1)), (whole("y", 32, 1),), (1, 32, 1))
    loop = Loop("i", Lin(3), (call,), ())
    statement = {
        "nothing": loop,
        "branch": Branch(Op("greater", (element("s"), Const(0.0, F8)), np.dtype(bool)), (loop,), ()),
        "loop": Loop("t", Lin(2), (fill("b"), loop), ()),
    }[around]
    buffers = program(statement, **SOLVED).buffers
    assert workspaces(statement, buffers) == workspace(call)
    with_target(monkeypatch, parallel_work=1, parallel_trips=1)
    assert workspaces(statement, buffers) == CPU.few_parts * workspace(call)


def test_workspaces_of_a_loop_whose_trips_need_each_other_are_there_once(monkeypatch):
    call = Call("solve", (whole("a", 32, 32), whole("y", 32, 1)), (whole("y", 32, 1),), (1, 32, 1))
    loop = Loop("i", Lin(3), (call,), ())
    with_target(monkeypatch, parallel_work=1, parallel_trips=1)
    assert workspaces(loop, program(loop, **SOLVED).buffers) == workspace(call)


def test_plans_of_transforms_are_always_counted():
    def kept(*lengths):
        c16 = np.dtype(complex)
        calls = [
            Call("fourier", (whole("a", n, dtype=c16),), (whole("b", n, dtype=c16),), (1, n, 1, -1)) for n in lengths
        ]
        return footprint(program(fill("y"), *calls), {})[0] - footprint(program(fill("y")), {})[0]

    # Each length once.
    assert kept(8) == kept(8, 8) > 0
    assert kept(8, 16) == kept(8) + kept(16)
