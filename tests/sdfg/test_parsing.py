"""Python text as DaCe, its users and its transformations write it, read as expressions."""

import ast

import numpy as np
import pytest

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read
from sdfgad.sdfg.operations import linear
from sdfgad.sdfg.parsing import TaskletParser

F64, C128 = np.dtype(np.float64), np.dtype(np.complex128)
N, M = Lin.symbol("n"), Lin.symbol("m")
X, Y = Read("x", (), F64), Read("y", (), F64)
K = Read("k", (), INT)
SCALARS = {"x": X, "y": Y, "k": K, "b": Read("b", (), BOOL), "z": Read("z", (), C128)}


def lookup(name, index):
    if name in SCALARS:
        return SCALARS[name] if index is None else None
    return Read(name, index, INT if name == "order" else F64) if name in ("a", "order") and index is not None else None


PARSER = TaskletParser(lookup)


def op(name, *args, dtype=None):
    return Op(name, args, dtype or args[-1].dtype)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y * x", op("add", X, op("multiply", Y, X))),
        ("x / y - y", op("subtract", op("divide", X, Y), Y)),
        ("x ** y", op("power", X, Y)),
        ("-x", op("negative", X)),
        ("not b", op("logical_not", SCALARS["b"])),
        ("~k", op("invert", K)),
        ("k << 2", op("left_shift", K, Const(2, INT))),
        ("k >> 2", op("right_shift", K, Const(2, INT))),
        ("k & 6", op("bitwise_and", K, Const(6, INT))),
        ("x < y", op("less", X, Y, dtype=BOOL)),
        ("x if b else y", op("select", SCALARS["b"], X, Y)),
        ("min(x, y, x)", op("minimum", op("minimum", X, Y), X)),
        ("Max(x, y)", op("maximum", X, Y)),
        ("k // 3", op("floor_divide", K, Const(3, INT))),
        ("int_floor(k, 3)", op("floor_divide", K, Const(3, INT))),
        ("Mod(k, 3)", op("remainder", K, Const(3, INT))),
        ("k % 3", op("remainder", K, Const(3, INT))),
        ("sdfgad_hypot(x, y)", op("hypot", X, Y)),
        ("sdfgad_real(z)", op("real", SCALARS["z"], dtype=F64)),
        ("sdfgad_complex(x, y)", op("complex", X, Y, dtype=C128)),
        ("dace.float64(x)", X),
        ("dace.float64(k)", op("cast", K, dtype=F64)),
        ("dace.float32(0.1)", Const(np.float32(0.1), np.dtype(np.float32))),
        ("dace.complex128(1.0, (-0.0))", Const(complex(1.0, -0.0), C128)),
        ("1e999", Const(np.inf, F64)),
        ("sdfgad_inf()", Const(np.inf, F64)),
        ("-sdfgad_inf()", Const(-np.inf, F64)),
        ("dace.float32(-sdfgad_inf())", Const(-np.inf, np.dtype(np.float32))),
        ("dace.complex128(sdfgad_nan(), -sdfgad_inf())", Const(complex(np.nan, -np.inf), C128)),
        ("-0.0", Const(-0.0, F64)),
        ("sdfgad_nan()", Const(np.nan, F64)),
        ("True", Const(True, BOOL)),
        ("3", Const(3, INT)),
        ("-9223372036854775808", Const(-(2**63), INT)),
        ("18446744073709551615", Const(2**64 - 1, np.dtype(np.uint64))),
        ("n", Int(N)),
        ("2 * n - m + 1 - 2 * n", Int(1 - M)),
        ("(n + 1) * 2 - 2 * n", Const(2, INT)),
        ("a[n, 2 * m + 1]", Read("a", (N, M.scaled(2) + 1), F64)),
        ("a[order[n] + 1]", Read("a", (Lin.symbol(Read("order", (N,), INT)) + 1,), F64)),
        ("a[n // 2]", Read("a", (Lin.symbol(op("floor_divide", Int(N), Const(2, INT))),), F64)),
        ("a[k - n]", Read("a", (Lin.symbol(K) - N,), F64)),
    ],
)
def test_text(text, expected):
    assert PARSER.text(text) is expected


@pytest.mark.parametrize(("word", "name"), [("and", "logical_and"), ("or", "logical_or")])
def test_logic_of_several_values(word, name):
    parts = ["x < y", "b", "y < x"]
    first, second, third = map(PARSER.text, parts)
    expected = op(name, op(name, first, second, dtype=BOOL), third, dtype=BOOL)
    assert PARSER.text(f" {word} ".join(parts)) is expected


def test_a_tasklet_assigns_names():
    code = ast.parse("v = x * y\n_out = v + v\n_other = v").body
    product = op("multiply", X, Y)
    assert PARSER.tasklet(code) == {"v": product, "_out": op("add", product, product), "_other": product}


def test_the_last_assignment_counts():
    assert PARSER.tasklet(ast.parse("v = x\nv = v * y\n_out = v").body)["_out"] is op("multiply", X, Y)


def test_an_assigned_name_hides_what_it_read_before():
    assert PARSER.tasklet(ast.parse("x = x * y\n_out = x").body)["_out"] is op("multiply", X, Y)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x += y", r"the statement `x \+= y`"),
        ("a = b = x", "the statement `a = b = x`"),
        ("if b:\n    v = x", "the statement `if b:"),
        ("for i in range(3):\n    v = x", "the statement `for i in range"),
        ("v[0] = x", r"the assignment to `v\[0\]`"),
        ("v, w = x, y", r"the assignment to `\(?v, w\)?`"),
        ("v = print(x)", "the function `print`"),
        ("v = math.sin(x)", "the function `math.sin`"),
        ("v = hypot(x, y)", "the function `hypot`"),
        ("v = x < y < x", "the expression `x < y < x`"),
        ("v = x @ y", "the expression `x @ y`"),
        ("v = x is y", "the expression `x is y`"),
        ("v = [x, y]", r"the expression `\[x, y\]`"),
        ("v = x.real", r"the expression `x\.real`"),
        ("v = 'text'", "the constant `'text'`"),
        ("v = 2j", "the constant `2j`"),
        ("v = None", "the constant `None`"),
        ("v = unknown[n]", r"the element `unknown\[n\]`"),
        ("v = x[n]", r"the element `x\[n\]`"),
        ("v = a[1:2]", r"the expression `1:2`"),
        ("v = sdfgad_no_such_thing(x)", "the function `sdfgad_no_such_thing`"),
        ("v = dace.no_such_type(x)", "the function `dace.no_such_type`"),
        ("v = dace.float64(x, y)", "the function `dace.float64` of 2 values"),
        ("v = sdfgad_hypot(x)", "the function `sdfgad_hypot` of 1 values"),
        ("v = sdfgad_hypot(x, y=y)", r"the expression `sdfgad_hypot\(x, y=y\)`"),
        ("v = sdfgad_inf(x)", "the function `sdfgad_inf` of 1 values"),
        ("v = min()", "the function `min` of 0 values"),
    ],
)
def test_what_is_refused(code, message):
    with pytest.raises(UnsupportedGraph, match=message):
        PARSER.tasklet(ast.parse(code).body)


def test_products_of_integers_are_atoms():
    form = linear(PARSER.text("n * m + 2 * n"))
    assert form == Lin.symbol(op("multiply", Int(N), Int(M))) + N.scaled(2)
    assert linear(PARSER.text("k + 1")) == Lin.symbol(K) + 1


def test_numbers_that_another_dtype_does_not_hold_are_of_64_bits():
    unsigned = Read("u", (), np.dtype(np.uint32))
    parser = TaskletParser(lambda name, index: unsigned if name == "u" else None)
    wide = Op("cast", (unsigned,), INT)
    assert parser.text("u >= -8") == Op("greater_equal", (wide, Const(-8, INT)), BOOL)
    assert parser.text("u < 8") == Op("less", (unsigned, Const(8, unsigned.dtype)), BOOL)
    assert parser.text("u < n") == Op("less", (wide, Int(Lin.symbol("n"))), BOOL)
