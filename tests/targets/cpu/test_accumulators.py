"""Totals in registers."""

import numpy as np

from sdfgad.ir.expr import Lin, Read
from sdfgad.ir.program import Access, Buffer, Compute, Loop
from sdfgad.targets.cpu.accumulators import Accumulator
from sdfgad.targets.cpu.cpp import simd
from sdfgad.targets.cpu.nests import nest_of

F64, C64 = np.dtype(np.float64), np.dtype(np.complex64)


def test_a_real_sum_is_one_variable():
    total = Accumulator(F64, "s")
    assert total.begin("x") == ["SDFGAD_SUM(double, s, x);"]
    assert total.add("x * y") == ["SDFGAD_ADD(s, x * y);"]
    assert total.value == "SDFGAD_TOTAL(s)"
    assert total.pragma() == simd(["s"])


def test_a_complex_sum_is_two():
    total = Accumulator(C64, "s")
    assert total.begin("x") == ["SDFGAD_SUM(float, sre_, x.re);", "SDFGAD_SUM(float, sim_, x.im);"]
    assert total.value == "sdfgad::complex<float>(SDFGAD_TOTAL(sre_), SDFGAD_TOTAL(sim_))"
    assert total.pragma() == simd(["sre_", "sim_"])


def test_extrema_are_not_added_up():
    assert Accumulator(F64, "s", "maximum").pragma() == []
    assert Accumulator(F64, "s", "maximum").begin("x") == ["double s = x;"]
    assert Accumulator(F64, "s", "maximum").value == "s"
    assert Accumulator(F64, "s", "maximum").add("x") == ["s = sdfgad::maximum(s, x);"]
    i = Lin.symbol("i")
    largest = Compute((), Access("s"), Read("x", (i,), F64), "maximum")
    loop = Loop("i", Lin(9), (largest,), (i,), is_parallel=True)
    code = nest_of((loop,), "nest", {"s": Buffer("s", (), F64), "x": Buffer("x", (Lin(9),), F64)}, {"s", "x"}).code
    assert "b_s_ = sdfgad::maximum(b_s_, b_x_[(i)]);" in code
    assert "reduction" not in code
