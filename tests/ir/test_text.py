"""Programs as people read them."""

import numpy as np
import pytest

from sdfgad.interpret.library import operation
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read, as_linear
from sdfgad.ir.program import Access, Branch, Buffer, Compute, Loop, Program
from sdfgad.ir.text import INFIX, access_text, expression_text, form_text, program_text, statement_text

F64, F32 = np.dtype(np.float64), np.dtype(np.float32)
I, N, P, Q = (Lin.symbol(name) for name in "inpq")
X, Y = Read("x", (), F64), Read("y", (P, Q - 1), F64)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Lin(0), "0"),
        (Lin(-3), "-3"),
        (I, "i"),
        (-I, "-i"),
        (I.scaled(2) - 1, "2*i - 1"),
        (3 - I.scaled(2), "-2*i + 3"),
        (N - I - P, "-i + n - p"),
        (I - N.scaled(4) + 2, "i - 4*n + 2"),
        (as_linear(Read("idx", (I,), INT)).scaled(-2) + I, "i - 2*idx[i]"),
    ],
)
def test_forms(form, text):
    assert form_text(form) == text


def op(name, *args, dtype=F64):
    return Op(name, args, dtype)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Const(-2.5, F64), "-2.5"),
        (Const(np.nan, F64), "nan"),
        (Const(True, BOOL), "True"),
        (Int(I + 1), "i + 1"),
        (X, "x"),
        (Y, "y[p, q - 1]"),
        (op("add", X, op("multiply", X, Y)), "(x + (x * y[p, q - 1]))"),
        (op("negative", X), "-x"),
        (op("square", X), "x**2"),
        (op("square", op("add", X, X)), "(x + x)**2"),
        (op("cast", X, dtype=F32), "float32(x)"),
        (op("select", op("less", X, Y, dtype=BOOL), X, Y), "select((x < y[p, q - 1]), x, y[p, q - 1])"),
        (op("logical_not", X, dtype=BOOL), "logical_not(x)"),
        (op("wrap", Int(I), Int(4), dtype=INT), "wrap(i, 4)"),
    ],
)
def test_expressions(value, text):
    assert expression_text(value) == text


def test_forms_of_several_terms_are_one_operand():
    form = Int(I + 2)
    assert expression_text(op("multiply", form, Int(P), dtype=INT)) == "((i + 2) * p)"
    assert expression_text(op("square", form, dtype=INT)) == "(i + 2)**2"
    assert expression_text(op("negative", form, dtype=INT)) == "-(i + 2)"
    assert expression_text(op("maximum", form, Int(P), dtype=INT)) == "maximum(i + 2, p)"


def test_signs_are_pythons():
    for name, sign in INFIX.items():
        text = expression_text(op(name, Const(5, INT), Const(3, INT)))
        assert text == f"(5 {sign} 3)"
        assert bool(eval(text)) == bool(operation(name)(5, 3))


def test_a_square_of_a_negative_is_not_a_negative_square():
    text = expression_text(op("square", op("negative", X)))
    assert eval(text, {"x": 3.0}) == 9.0


def test_a_square_of_a_negative_number_is_positive():
    assert eval(expression_text(op("square", Const(-3.0, F64)))) == 9.0


def test_accesses():
    assert access_text(Access("x")) == "x"
    assert access_text(Access("x", (I - 1, Lin(0)))) == "x[i - 1, 0]"


BOX = (("p", N), ("q", Lin(4)))


@pytest.mark.parametrize(("kind", "sign"), [(None, "="), ("add", "+="), ("maximum", "max="), ("minimum", "min=")])
def test_statements(kind, sign):
    assert statement_text(Compute(BOX, Access("a", (Q, P)), X, kind)) == f"for p < n, q < 4: a[q, p] {sign} x"
    assert statement_text(Compute((), Access("a"), X, kind)) == f"a {sign} x"


def test_blocks_are_indented():
    one = Compute((), Access("a"), X)
    condition = op("less", Int(I), Int(2), dtype=BOOL)
    both = Branch(condition, (one,), (one, one))
    body = (one, Loop("i", N - 1, (both, Loop("j", I, (one,), (), backward=True)), ()), Branch(condition, (one,), ()))
    program = Program("program", {"a": Buffer("a", (), F64)}, (), (), {}, body)
    assert program_text(program).splitlines() == [
        "a = x",
        "loop i < n - 1:",
        "    if (i < 2):",
        "        a = x",
        "    else:",
        "        a = x",
        "        a = x",
        "    loop backwards j < i:",
        "        a = x",
        "if (i < 2):",
        "    a = x",
    ]
    assert program_text(program.with_body(())) == ""


def test_what_a_large_expression_has_several_times_gets_a_name():
    x = Access("x", (Lin(0),)).read(np.dtype(np.float64))
    value = x
    for _ in range(60):
        value = Op("add", (value, Op("multiply", (value, x), x.dtype)), x.dtype)
    text = expression_text(value)
    assert len(text) < 4000
    assert text.startswith("(e58 + (e58 * x[0])) with e1 = ")
    assert expression_text(Op("add", (Op("sin", (x,), x.dtype),) * 2, x.dtype)) == "(sin(x[0]) + sin(x[0]))"
