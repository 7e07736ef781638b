"""Expressions as Python text and back: the same value and dtype, for every elementary operation."""

import ast
import itertools

import numpy as np
import pytest

from sdfgad.explain.interpreter import Interpreter
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read, postorder
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Buffer, Program
from sdfgad.sdfg.parsing import TaskletParser
from sdfgad.sdfg.tasklet import RESULT, TaskletWriter, literal

# The interpreter converts complex numbers as NumPy does.
pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")

F64, F32, C128, C64 = (np.dtype(name) for name in ("float64", "float32", "complex128", "complex64"))
REAL = [0.0, -0.0, 1.0, -2.5, 0.3, np.inf, -np.inf, np.nan]
VALUES = {
    F64: REAL,
    F32: REAL,
    C128: [complex(a, b) for a in (0.0, -0.0, 1.5, np.inf, np.nan) for b in (0.0, -0.0, -0.7, -np.inf)],
    C64: [0.0, 1.5 - 0.7j, complex(np.nan, 1.0), complex(-np.inf, -0.0)],
    BOOL: [False, True],
    **{np.dtype(f"int{bits}"): [0, 1, 7, -3, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))] for bits in (8, 16, 32, 64)},
    **{np.dtype(f"uint{bits}"): [0, 1, 7, 2**bits - 1] for bits in (8, 16, 32, 64)},
}
NAMES = {f"{letter}_{dtype.name}": dtype for dtype in VALUES for letter in "xyz"}
# Operations that no function of NumPy has the types of, and those of an integer operand: for a dtype, the operands'
# dtypes and the result's.
OWN = {
    "select": lambda t: ((BOOL, t, t), t),
    "complex": lambda t: ((t, t), np.result_type(t, C64)) if t.kind == "f" else None,
    "real": lambda t: ((t,), np.empty(0, t).real.dtype),
    "imag": lambda t: ((t,), np.empty(0, t).real.dtype) if t.kind == "c" else None,
    "round_decimals": lambda t: ((t, INT), t) if t.kind == "f" else None,
    "ldexp": lambda t: ((t, INT), t) if t.kind == "f" else None,
    "wrap": lambda t: ((INT, INT), INT) if t == INT else None,
    "trigamma": lambda t: ((t,), t) if t.kind == "f" else None,
    **{
        name: lambda t: ((t, INT), t) if t.kind == "f" else None
        for name in (
            *("bessel_j", "bessel_j_quotient", "bessel_i_quotient", "bessel_ie_quotient", "sinc_derivative"),
            *("polygamma_of", "expn_of", *(f"spherical_{kind}" for kind in "jyik")),
        )
    },
    **{
        name: lambda t: ((t, t, t), t) if t.kind == "f" else None
        for name in ("betainc", "betaincc", "betaincinv", "betainccinv", "betainc_by_shape", "beta_density", "hyp1f1")
    },
}


def signature(name, dtype):
    """The dtypes of an operation on numbers of a dtype, as NumPy has them; None where there is no such operation."""
    if name in OWN:
        return OWN[name](dtype)
    operation = OPERATIONS[name]
    ufunc, arity = getattr(np, operation.like or name), operation.arity
    try:
        *inputs, output = ufunc.resolve_dtypes((*(dtype,) * arity, *(None,) * ufunc.nout))[: arity + 1]
    except TypeError:
        return None
    known = {*VALUES}
    if not {*inputs, output} <= known or (inputs[0].kind == "c" and not operation.takes_complex):
        return None
    return tuple(inputs), output


# A conversion has a test of its own.
NAMES_OF_OPERATIONS = [name for name in OPERATIONS if name != "cast"]
SIGNATURES = {
    (name, inputs): output
    for name in NAMES_OF_OPERATIONS
    for dtype in VALUES
    for found in [signature(name, dtype)]
    if found is not None
    for inputs, output in [found]
}


@pytest.fixture(scope="module")
def interpreter():
    """Three arrays with all values for each dtype, of which the later ones begin elsewhere."""
    arrays = {}
    for name, dtype in NAMES.items():
        values = np.array(VALUES[dtype], dtype)
        arrays[name] = np.roll(values, -"xyz".index(name[0]))
    buffers = {name: Buffer(name, (Lin(array.size),), array.dtype) for name, array in arrays.items()}
    return Interpreter(Program("nothing", buffers, tuple(arrays), ("n", "m"), {}, ()), arrays, {"n": 5, "m": -3})


def lookup(name, index):
    return Read(name, index, NAMES[name]) if name in NAMES else None


def text_of(value):
    writer = TaskletWriter(lambda read, index: f"{read.buffer}[{', '.join(index)}]")
    result = writer.value(value)
    return "\n".join([*writer.lines, f"{RESULT} = {result}"])


def read_back(value):
    return TaskletParser(lookup).tasklet(ast.parse(text_of(value)).body)[RESULT]


def operands(dtypes, place=0):
    """Reads of different arrays; those of one dtype meet in as many ways as there are places."""
    return tuple(Read(f"{'xyz'[k]}_{t.name}", (Lin(place % len(VALUES[t])),), t) for k, t in enumerate(dtypes))


def value_of(interpreter, expr):
    """The value, or None where NumPy has none."""
    try:
        with np.errstate(all="ignore"):
            return interpreter.value(expr)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def assert_same_bits(found, expected, what):
    """The same numbers, the signs of zeros included."""
    assert (found is None) == (expected is None), what
    if expected is None:
        return
    assert np.asarray(found).dtype == np.asarray(expected).dtype, what
    parts = [(found, expected)]
    if np.iscomplexobj(expected):
        parts = [(np.real(found), np.real(expected)), (np.imag(found), np.imag(expected))]
    for mine, other in parts:
        np.testing.assert_array_equal(mine, other, err_msg=what)
        if np.asarray(other).dtype.kind == "f" and not np.isnan(other):
            assert np.signbit(mine) == np.signbit(other), what


def assert_same(interpreter, expr):
    found = read_back(expr)
    assert found.dtype == expr.dtype, text_of(expr)
    assert_same_bits(value_of(interpreter, found), value_of(interpreter, expr), text_of(expr))
    return found


def test_every_operation_is_tested():
    assert {name for name, _ in SIGNATURES} == set(NAMES_OF_OPERATIONS)
    of_complex = {name for name, operation in OPERATIONS.items() if operation.takes_complex}
    assert {name for name, inputs in SIGNATURES if inputs[0].kind == "c"} == of_complex - {"cast", "complex", "select"}


@pytest.mark.parametrize("name", NAMES_OF_OPERATIONS)
def test_an_operation_is_read_as_itself(interpreter, name):
    cases = [(inputs, output) for (other, inputs), output in SIGNATURES.items() if other == name]
    assert cases
    for inputs, output in cases:
        for place in range(max(len(VALUES[t]) for t in inputs)):
            expr = Op(name, operands(inputs, place), output)
            found = assert_same(interpreter, expr)
            if name == "vanishes":  # In a text it is a comparison.
                expr = Op("equal", expr.args, output)
            assert found is expr, f"{text_of(expr)} is read as {found}"


@pytest.mark.parametrize("old", VALUES, ids=str)
def test_conversions(interpreter, old):
    for new, place in itertools.product(VALUES, range(len(VALUES[old]))):
        (read,) = operands((old,), place)
        if read.dtype != new:
            assert_same(interpreter, Op("cast", (read,), new))


@pytest.mark.parametrize("dtype", VALUES, ids=str)
def test_numbers(interpreter, dtype):
    """Nothing of a number is lost; nan is nan whatever its bits."""
    more = [5e-324, -1e300, 1 / 3, 123456789.0, 1e22] if dtype == F64 else []
    for value in [*VALUES[dtype], *more]:
        const = Const(value, dtype)
        assert assert_same(interpreter, const) is const, text_of(const)
        (read,) = operands((dtype,))
        if ("equal", (dtype, dtype)) in SIGNATURES:
            assert read_back(Op("equal", (read, const), BOOL)) is Op("equal", (read, const), BOOL)


@pytest.mark.parametrize("old", VALUES, ids=str)
def test_conversions_of_numbers(interpreter, old):
    for new, value in itertools.product(VALUES, VALUES[old]):
        # A conversion of what is no integer to an integer is anything.
        is_defined = old.kind not in "fc" or new.kind in "fcb" or np.isfinite(value)
        if old != new and is_defined:
            assert_same(interpreter, Op("cast", (Const(value, old),), new))


def test_numbers_are_python():
    for dtype, values in VALUES.items():
        for value in values:
            ast.parse(literal(Const(value, dtype).value, dtype), mode="eval")
    assert literal(-2.5, F64) == "(-2.5)"
    assert literal(True, BOOL) == "True"
    assert literal(2.0, F32) == "dace.float32(2.0)"


NARROW = [dtype for dtype in VALUES if dtype.kind in "iu" and dtype.itemsize < 4]


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_narrow_integers_wrap_around(interpreter, dtype, name):
    """C++ computes with them as int: the text says where they become narrow again."""
    x, y, z = operands((dtype,) * 3, place=-1)
    for first in itertools.product((x, y, z), repeat=2):
        inner = Op(name, first, dtype)
        assert_same(interpreter, Op("floor_divide", (inner, Const(2, dtype)), dtype))
        assert f"dace.{dtype.name}(" in text_of(inner)


def test_true_and_true_is_true(interpreter):
    x = Read("x_bool", (Lin(1),), BOOL)
    total = Op("add", (x, x), BOOL)
    assert text_of(total).startswith(f"{RESULT} = dace.bool_(")
    assert value_of(interpreter, assert_same(interpreter, Op("cast", (total,), INT))) == 1


def test_integers_are_forms(interpreter):
    n, m = Lin.symbol("n"), Lin.symbol("m")
    read = Read("x_int64", (Lin(2),), INT)
    quotient = Lin.symbol(Op("floor_divide", (Int(n), Const(2, INT)), INT))
    for form in (n, n - m, n.scaled(-3) + m.scaled(2) - 7, Lin(-4), quotient.scaled(2) + n, Lin.symbol(read) - n + 1):
        expr = Int(form)
        found = assert_same(interpreter, expr)
        # What is no form by itself is an operation.
        assert value_of(interpreter, found) == interpreter.form(form)
        doubled = Op("multiply", (Op("cast", (expr,), F64), Const(2.0, F64)), F64)
        assert_same(interpreter, doubled)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "minimum", "maximum", "multiply"])
def test_integers_that_are_no_forms(interpreter, name):
    for left, right in itertools.product((Int(Lin.symbol("n") + 1), Int(Lin.symbol("m")), Const(-3, INT)), repeat=2):
        assert_same(interpreter, Op(name, (left, right), INT))


def test_elements_of_index_arrays(interpreter):
    place = Lin.symbol(Read("x_int64", (Lin(1),), INT))
    expr = Read("x_float64", (place + 2,), F64)
    assert assert_same(interpreter, Op("negative", (expr,), F64)) is Op("negative", (expr,), F64)


# --- sharing


def test_what_is_used_twice_is_computed_once():
    (x,) = operands((F64,))
    shared = Op("sin", (x,), F64)
    expr = Op("add", (Op("multiply", (shared, shared), F64), shared), F64)
    text = text_of(expr)
    assert text.count("sdfgad_sin") == 1
    assert read_back(expr) is expr


@pytest.mark.parametrize("name", ["multiply", "select", "maximum", "logical_and"])
def test_text_does_not_grow_exponentially(interpreter, name):
    dtype = BOOL if name == "logical_and" else F64
    first, second = operands((dtype, dtype), place=1)
    expr = first
    for _ in range(60):
        args = (expr, Op("logical_or", (expr, second), BOOL)) if dtype == BOOL else (expr, expr)
        expr = Op(name, (Op("less", args, BOOL), *args) if name == "select" else args, dtype)
    text = text_of(expr)
    assert len(text) < 60 * 200
    assert read_back(expr) is expr
    assert len(list(postorder(expr))) < 300


@pytest.mark.parametrize("depth", [150, 3000])
def test_deep_expressions(depth):
    """Python takes no more than 200 parentheses in one another."""
    x, y = operands((F64, F64))
    expr = x
    for k in range(depth):
        expr = Op("add" if k % 2 else "multiply", (expr, y), F64)
    assert read_back(expr) is expr
    deep_right = x
    for _ in range(depth):
        deep_right = Op("sin", (Op("negative", (deep_right,), F64),), F64)
    assert read_back(deep_right) is deep_right


def test_integers_of_several_dtypes_are_converted():
    unsigned = Read("u", (), np.dtype(np.uint32))
    writer = TaskletWriter(lambda node, index: node.buffer)
    assert writer.value(Op("greater_equal", (unsigned, Const(-8, INT)), np.dtype(bool))) == "(dace.int64(u) >= (-8))"
