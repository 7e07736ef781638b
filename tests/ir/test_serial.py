"""Programs as text: equal for equal programs only, whatever process writes it."""

from dataclasses import replace

import numpy as np
import pytest

from sdfgad.errors import InvalidIndex, Location
from sdfgad.ir.expr import BOOL, INT, Const, Lin, Op, Read, as_linear
from sdfgad.ir.program import Access, Branch, Buffer, Call, Check, Compute, Loop, Program, Whole
from sdfgad.ir.serial import serialised

F64, F32 = np.dtype(np.float64), np.dtype(np.float32)
P, N = Lin.symbol("p"), Lin.symbol("n")
HERE = Location("file.py", 3, "y = x")
X = Read("x", (P,), F64)


def loop(**changes):
    compute = Compute((("p", Lin(8)),), Access("y", (P,)), Op("add", (X, Const(0.0, F64)), F64), None, HERE)
    return replace(Loop("i", N, (compute,), (N,), where=HERE), **changes)


def program(*body, **changes):
    buffers = {name: Buffer(name, (Lin(8),), F64, name, HERE) for name in "xyz"}
    made = Program("made", buffers, ("x", "z"), ("n",), {"return": "y"}, body or (loop(),))
    return replace(made, **changes)


def with_value(value):
    compute = Compute((("p", Lin(8)),), Access("y", (P,)), value)
    return program(compute)


BASE = program()
COMPUTE = BASE.body[0].body[0]
CONDITION = Op("less", (X, Const(0.0, F64)), BOOL)
CHECK = Check(InvalidIndex, "out of range", HERE, "")
OTHERS = {
    "name": program(name="other"),
    "shape": program(buffers=BASE.buffers | {"x": Buffer("x", (Lin(9),), F64)}),
    "dtype": program(buffers=BASE.buffers | {"x": Buffer("x", (Lin(8),), F32)}),
    "order of buffers": program(buffers=dict(reversed(BASE.buffers.items()))),
    "order of inputs": program(inputs=("z", "x")),
    "integers": program(integers=("n", "m")),
    "outputs": program(outputs={"return": "z"}),
    "checks": program(checks=(CHECK,)),
    "twice": program(loop(), loop()),
    "backward": program(loop(backward=True)),
    "open": program(loop(is_open=True)),
    "start": program(loop(start=Lin(1))),
    "trips": program(loop(trips=N + 1)),
    "data for trips": program(loop(trips=as_linear(Read("z", (Lin(0),), INT)))),
    "guards": program(loop(guards=())),
    "accumulate": program(loop(body=(replace(COMPUTE, accumulate="add"),))),
    "box": program(loop(body=(replace(COMPUTE, params=(("p", Lin(7)),)),))),
    "target": program(loop(body=(replace(COMPUTE, target=Access("z", (P,))),))),
    "branch": program(Branch(CONDITION, (COMPUTE,), ())),
    "other branch": program(Branch(CONDITION, (), (COMPUTE,))),
    "call": program(Call("solve", (Whole("x", (Lin(8),), F64),), (Whole("y", (Lin(8),), F64),), (8,))),
    "size of a call": program(Call("solve", (Whole("x", (Lin(8),), F64),), (Whole("y", (Lin(8),), F64),), (9,))),
    **{
        f"value {text}": with_value(value)
        for text, value in {
            "zero": Const(0.0, F64),
            "minus zero": Const(-0.0, F64),
            "single": Const(0.0, F32),
            "integer": Const(0, INT),
            "false": Const(False, BOOL),
            "nan": Const(np.nan, F64),
            "complex": Const(0j, np.dtype(np.complex128)),
            "shifted": Read("x", (P + 1,), F64),
            "scaled": Read("x", (P + P,), F64),
            "sum": Op("add", (X, Const(1.0, F64)), F64),
            "swapped": Op("add", (Const(1.0, F64), X), F64),
        }.items()
    },
}


def test_no_two_have_the_same_text():
    texts = {serialised(made): name for name, made in {"base": BASE, **OTHERS}.items()}
    assert len(texts) == len(OTHERS) + 1, sorted({*OTHERS, "base"} - {*texts.values()})


def test_where_it_comes_from_matters_only_on_demand():
    moved = program(loop(where=replace(HERE, line=4)))
    named = program(buffers=BASE.buffers | {"x": replace(BASE.buffers["x"], source="renamed")})
    for other in (moved, named):
        assert serialised(other) == serialised(BASE)
        assert serialised(other, with_origin=True) != serialised(BASE, with_origin=True)
    checked, other = (program(checks=(replace(CHECK, message=text),)) for text in ("out of range", "another"))
    assert serialised(checked) == serialised(other)
    assert serialised(checked, with_origin=True) != serialised(other, with_origin=True)


def test_what_is_shared_is_written_once():
    value = X
    for _ in range(3000):
        value = Op("multiply", (value, value), F64)
    assert len(serialised(with_value(value))) < 3000 * 60


def test_what_cannot_be_written_is_not_left_out():
    with pytest.raises(TypeError, match="has no text"):
        serialised(program(integers=({"n"},)))
