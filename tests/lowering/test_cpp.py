"""C++ text of constants and expressions."""

import numpy as np
import pytest

from sdfgad.ir.expr import INT, Const, Int, Op, Read
from sdfgad.ir.linear import Lin
from sdfgad.lowering.cpp import Writer, literal

F64, F32 = np.dtype(np.float64), np.dtype(np.float32)


@pytest.mark.parametrize("value", [0.1, -2.5, 1e300, 5e-324, 1 / 3, 123456789.0, 2.0**60, -0.0])
def test_a_double_reads_back_exactly(value):
    found = eval(literal(value, F64))
    assert found == value
    assert isinstance(found, float)
    assert np.signbit(found) == np.signbit(value)


@pytest.mark.parametrize("value", [0.1, -2.5, 1e30, 3e-45, 1 / 3, 16777216.0, 7.0, -0.0])
def test_a_float_reads_back_exactly(value):
    single = np.float32(value)
    text = literal(float(single), F32)
    assert text.strip("()").endswith("f")
    assert np.float32(text.strip("()").removesuffix("f")) == single
    assert any(mark in text for mark in ".e")


def test_special_values():
    assert "NAN" in literal(np.nan, F64)
    assert "-INFINITY" in literal(-np.inf, F32)
    assert literal(True, np.dtype(bool)) == "true"
    assert literal(-(2**63), INT) == f"int64_t((-{2**63 - 1}LL - 1))"
    assert literal(-5, np.dtype(np.int32)) == "int32_t(-5LL)"


def test_a_subexpression_is_computed_once():
    x = Read("x", (Lin.symbol("i"),), F64)
    shared = Op("sin", (x,), F64)
    writer = Writer(lambda read: f"{read.buffer}_")
    text = writer.value(Op("add", (Op("multiply", (shared, shared), F64), shared), F64))
    assert len(writer.lines) == 1
    assert sum(line.count("std::sin") for line in [*writer.lines, text]) == 1


def test_forms():
    writer = Writer(lambda read: read.buffer)
    assert writer.form(Lin.symbol("i").scaled(2) - Lin.symbol("j") - 3) == "2 * i - 1 * j - 3"
    assert writer.form(Lin(0)) == "0"
    assert writer.value(Op("multiply", (Int(Lin.symbol("i") + 1), Const(2, INT)), INT)).count("i + 1") == 1
