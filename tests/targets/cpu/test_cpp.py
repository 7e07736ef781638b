"""C++ text of constants and expressions."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read
from sdfgad.targets.cpu.cpp import Writer, literal

F64, F32, C128 = np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.complex128)


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
    assert sum(line.count("math::sin") for line in [*writer.lines, text]) == 1


def test_forms():
    writer = Writer(lambda read: read.buffer)
    assert writer.form(Lin.symbol("i").scaled(2) - Lin.symbol("j") - 3) == "2 * i - 1 * j - 3"
    assert writer.form(Lin(0)) == "0"
    assert writer.value(Op("multiply", (Int(Lin.symbol("i") + 1), Const(2, INT)), INT)).count("i + 1") == 1


def test_a_conversion_is_one_operand_wherever_it_stands():
    x, z = Read("x[0]", (), F64), Read("z", (), np.dtype(np.complex64))
    writer = Writer(lambda read: read.buffer)
    wide = Op("cast", (z,), C128)
    assert writer.value(Op("cast", (x,), C128)) == "static_cast<sdfgad::complex<double>>(static_cast<double>(x[0]))"
    # (sdfgad::complex<double>)(z).re would convert the part.
    assert writer.value(Op("real", (wide,), F64)) == "static_cast<sdfgad::complex<double>>(z).re"
    assert writer.value(Op("cast", (wide,), F64)) == "static_cast<double>((static_cast<sdfgad::complex<double>>(z)).re)"


@pytest.mark.parametrize(
    ("exponent", "text"),
    [
        (Const(3, C128), "sdfgad::power<3>(z)"),
        (Op("subtract", (Const(2, C128), Const(3, C128)), C128), "sdfgad::power<-1>(z)"),
        (Const(0.5, C128), "sdfgad::power(z, "),
        (Const(2 + 1j, C128), "sdfgad::power(z, "),
        (Const(100, C128), "sdfgad::power(z, "),
        (Const(np.inf, C128), "sdfgad::power(z, "),
        (Const(complex(np.nan, 0), C128), "sdfgad::power(z, "),
    ],
)
def test_complex_powers(exponent, text):
    power = Op("power", (Read("z", (), C128), exponent), C128)
    assert Writer(lambda read: read.buffer).value(power).startswith(text)


def test_a_quotient_by_a_real_number_makes_no_choices():
    z, r = Read("z", (), C128), Read("r", (), F64)
    writer = Writer(lambda read: read.buffer)
    assert writer.value(Op("divide", (z, Op("cast", (r,), C128)), C128)).startswith("sdfgad::over_real(z, ")
    assert writer.value(Op("divide", (z, z), C128)) == "(z / z)"


def divided(re, im, r):
    z = re + 1j * im
    return np.real(z / r) + 2.0 * np.imag(z / r)


def test_quotients_by_real_numbers_are_numpys():
    ends = np.array([1.5, -2.0, 0.0, 3e-320, 1e300, np.inf, np.nan])
    re, im, r = (x.ravel() for x in np.meshgrid(ends, ends, ends))
    with np.errstate(all="ignore"):
        expected = divided(re, im, r)
    found = sdfgad.differentiate(divided, reduce="sum").value(re, im, r)
    np.testing.assert_array_equal(found, expected)


def choice(side):
    return Op("select", (Read("mask", (), BOOL), side, Const(0, side.dtype)), side.dtype)


def test_cheap_sides_of_a_choice_are_computed_where_their_reads_are_safe():
    x, y = Read("x", (), F64), Read("y", (), F64)
    twice, logarithm = Op("add", (x, x), F64), Op("log", (x,), F64)

    def text(node):
        return Writer(lambda read: read.buffer, lambda read: read.buffer != "y").value(node)

    assert text(choice(twice)) == "sdfgad::select<double>(mask, (x + x), 0.0)"
    assert text(choice(Op("add", (x, y), F64))) == "(mask ? (x + y) : 0.0)"
    # A function that comes for vectors is called before the choice, which then has two values that are there.
    assert text(choice(logarithm)) == "sdfgad::select<double>(mask, v0_, 0.0)"
    assert "?" in Writer(lambda read: read.buffer).value(choice(twice))
    less, more = Op("less", (x, x), BOOL), Op("less", (y, x), BOOL)
    assert text(Op("logical_and", (less, less), BOOL)).startswith("sdfgad::both")
    assert text(Op("logical_and", (less, more), BOOL)) == "((x < x) && (y < x))"


@pytest.mark.parametrize(("name", "is_early"), [("exp", True), ("sin", False)])
def test_of_complex_functions_exp_comes_for_vectors(name, is_early):
    function = Op(name, (Read("z", (), C128),), C128)
    text = Writer(lambda read: read.buffer, lambda read: True).value(choice(function))
    assert ("?" not in text) == is_early


def test_choices_by_bits_are_computed_where_their_reads_are_safe():
    byte = np.dtype(np.uint8)
    bit = Op("bitwise_and", (Read("bits", (), byte), Const(2, byte)), byte)
    is_set = Op("not_equal", (bit, Const(0, byte)), BOOL)
    writer = Writer(lambda read: read.buffer, may_read=lambda read: True)
    text = writer.value(Op("select", (is_set, Read("x", (), F64), Const(0.0, F64)), F64))
    assert text == "sdfgad::select<double>((static_cast<uint8_t>((bits & uint8_t(2LL))) != uint8_t(0LL)), x, 0.0)"
    both = Op("select", (is_set, Const(1, byte), Const(2, byte)), byte)
    assert "sdfgad::select<uint8_t>(" in writer.value(both)
