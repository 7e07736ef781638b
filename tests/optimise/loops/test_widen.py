"""Rows of masks and bytes that loops on floating numbers read or write are copied to rows of wider integers."""

from dataclasses import replace

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import BOOL, Const, Lin, Op, Read
from sdfgad.ir.program import Access, Buffer, Compute, Loop, Program, walk
from sdfgad.ir.text import program_text
from sdfgad.optimise.loops.widen import BYTE, widen
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.build import compile_source
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import source_of_optimised
from tests.helpers_passes import check_function, check_passes, gradient_case

F64 = np.dtype(np.float64)
ROWS, COLUMNS = 3, 6
I, J = Lin.symbol("i"), Lin.symbol("j")
X, Y, M, C = Read("x", (I, J), F64), Access("y", (I, J)), Read("m", (I, J), BOOL), Read("c", (I, J), BYTE)


def select(condition, then, orelse):
    return Op("select", (condition, then, orelse), then.dtype)


def number(value, dtype=F64):
    return Const(value, dtype)


def is_positive(value):
    return Op("greater", (value, number(0.0)), BOOL)


def much(value):
    """A value on which a few operations were done."""
    for _ in range(4):
        value = Op("add", (Op("multiply", (value, X), F64), number(0.5)), F64)
    return value


def bit(place, k):
    masked = Op("bitwise_and", (place, number(k, BYTE)), BYTE)
    return Op("not_equal", (masked, number(0, BYTE)), BOOL)


def bits(*conditions):
    first, second = (select(c, number(k, BYTE), number(0, BYTE)) for c, k in zip(conditions, (1, 2), strict=True))
    return Op("bitwise_or", (first, second), BYTE)


def program(*statements, columns=COLUMNS, is_nested=True):
    body = tuple(Compute((), target, value, kind) for target, value, kind in statements)
    inner = Loop("j", Lin(columns), body, (J, Lin(columns - 1) - J), is_parallel=True)
    outer = Loop("i", Lin(ROWS), (inner,), (I, Lin(ROWS - 1) - I))
    dtypes = {"x": F64, "y": F64, "m": BOOL, "c": BYTE, "n": BOOL, "d": BYTE}
    buffers = {name: Buffer(name, (Lin(ROWS), Lin(2 * columns)), dtype) for name, dtype in dtypes.items()}
    outputs = {name: name for name in ("y", "n", "d")}
    body = (outer,) if is_nested else tuple(replace(inner, var="j") for _ in (0,))
    return Program("program", buffers, ("x", "m", "c"), () if is_nested else ("i",), outputs, body)


def arrays(columns=COLUMNS):
    rng = np.random.default_rng(5)
    shape = (ROWS, 2 * columns)
    return {"x": rng.normal(size=shape), "m": rng.random(shape) < 0.5, "c": rng.integers(0, 4, shape, np.uint8)}


def widened(*statements):
    """The names of the arrays of which rows are widened; the pass leaves the results as they are."""
    before = program(*statements)
    after = check_passes(before, arrays(), passes=[widen])
    for one in walk(after.body):
        if isinstance(one, Compute) and not one.params:
            assert not any(read.dtype in (BYTE, BOOL) for read in one.read if read.buffer in "mcnd")
    return sorted(after.buffers.keys() - before.buffers.keys())


N, D = Access("n", (I, J)), Access("d", (I, J))
WIDENED = {
    "a mask that is read": (["m_wide"], [(Y, much(select(M, X, number(2.0))), None)]),
    "bits that are read": (["c_wide"], [(Y, much(select(bit(C, 2), X, select(bit(C, 1), number(3.0), X))), None)]),
    "a mask that is written": (["n_wide"], [(Y, much(X), None), (N, is_positive(X), None)]),
    "written, then read": (
        ["n_wide"],
        [(N, is_positive(X), None), (Y, much(select(N.read(BOOL), X, number(1.0))), None)],
    ),
    "bits that are written": (
        ["d_wide", "m_wide"],
        [(Y, much(X), None), (D, bits(is_positive(X), Op("logical_not", (M,), BOOL)), None)],
    ),
    "converted to a number": (["c_wide"], [(Y, much(Op("cast", (C,), F64)), None)]),
    "from one array to another": (["c_wide", "d_wide"], [(Y, much(X), None), (D, C, None)]),
}


@pytest.mark.parametrize("case", WIDENED)
def test_rows_are_widened(case):
    names, statements = WIDENED[case]
    assert widened(*statements) == names


SHIFTED = Read("m", (I, J + 1), BOOL)
KEPT = {
    "arithmetic, which wraps": [
        (Y, much(Op("cast", (Op("add", (C, number(255, BYTE)), BYTE),), F64)), None),
    ],
    "two elements": [(Y, much(select(M, X, select(SHIFTED, X, number(2.0)))), None)],
    "every other element": [(Y, much(select(Read("m", (I, J + J), BOOL), X, number(2.0))), None)],
    "an element for all trips": [(Y, much(select(Read("m", (I, I), BOOL), X, number(2.0))), None)],
    "a row beside two elements": [
        (Y, much(select(M, X, select(SHIFTED, X, number(2.0)))), None),
        (N, is_positive(X), None),
    ],
    "updated": [(Y, much(X), None), (N, is_positive(X), "maximum")],
    "few operations": [(Y, select(M, X, number(2.0)), None)],
    "no floating numbers": [(D, bits(M, Op("logical_xor", (M, M), BOOL)), None)],
}


@pytest.mark.parametrize("case", KEPT)
def test_other_uses_are_left_alone(case):
    before = program(*KEPT[case])
    assert program_text(widen(before)) == program_text(before)


@pytest.mark.parametrize("options", [{"columns": 600}, {"is_nested": False}], ids=["long", "once"])
def test_long_rows_and_loops_that_run_once_are_left_alone(options):
    before = program((Y, much(select(M, X, number(2.0))), None), **options)
    assert widen(before) == before


def test_a_loop_that_starts_later():
    before = program((Y, much(select(M, X, number(2.0))), None))
    (outer,) = before.body
    (inner,) = outer.body
    later = replace(outer, body=(replace(inner, start=Lin(2), guards=(J - 2, Lin(COLUMNS + 1) - J)),))
    after = check_passes(replace(before, body=(later,)), arrays(), passes=[widen])
    assert "m_wide" in after.buffers


def limited(T, q, v):
    for _ in range(T):
        up = np.maximum(q[:, :-2], 0.5 * q[:, 1:-1] + 0.4 * q[:, 2:])
        down = np.where(q[:, 1:-1] > 1.4, up, np.minimum(0.9 * up, q[:, 2:]))
        q[:, 1:-1] = 0.5 * (up + down) + 0.1 * v[:, 1:-1]
    return np.sum(q * q)


def field():
    rng = np.random.default_rng(3)
    return 3, 1.0 + rng.random((5, 40)), 1.5 + rng.random((5, 40))


def test_a_limiter():
    programs = check_function(limited, field())
    assert any("_wide" in name for name in programs[-1].buffers)


def leaving(T, z, c):
    going = np.ones(z.shape, dtype=bool)
    for _ in range(T):
        z[:] = np.where(going, 0.7 * z * z + 0.3 * z + c, z)
        going[:] = going & (np.abs(0.9 * z - 0.1) < 1.4)
    return np.sum(z * z)


def test_a_row_that_is_read_and_then_written(rng):
    programs = check_function(leaving, (3, rng.uniform(0.2, 0.9, (5, 40)), rng.uniform(0.3, 0.6, (5, 40))))
    assert "t_wide" in programs[-1].buffers


def test_compiled_results_have_the_same_bits():
    _, made, inputs, integers = gradient_case(limited, field())
    results = []
    for without in ((), ("widen",)):
        program = optimise(made.program, without=without)
        outputs = {
            name: np.zeros([extent.const for extent in program.buffers[name].shape], program.buffers[name].dtype)
            for name in program.outputs.values()
        }
        Executable(compile_source(source_of_optimised(program)))({**inputs, **outputs}, integers)
        results.append(outputs)
    for name, array in results[0].items():
        np.testing.assert_array_equal(array, results[1][name])


def test_the_gradient_of_a_limiter():
    result = sdfgad.check_grads(limited, *field())
    assert result.error < 1e-6
    assert result.rate > 1.9
