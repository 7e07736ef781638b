"""Functions of Python's numbers compute what NumPy does at a point."""

import numpy as np
import pytest

from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, Read, as_linear
from sdfgad.ir.program import Access
from sdfgad.ir.scalar_code import function_of, place_of

F = np.dtype(float)
ARRAYS = {"k": np.array([3, -7, 5]), "y": np.array([[0.5, -1.25], [2.0, -0.0]])}
I, J = Int(Lin.symbol("i")), Int(Lin.symbol("j").scaled(3) + 1)


def op(name, *args, dtype=None):
    return Op(name, args, dtype or args[-1].dtype)


def read(name, dtype, *index):
    return Read(name, tuple(Lin.symbol(i) if isinstance(i, str) else Lin(i) for i in index), dtype)


Y = read("y", F, "i", 1)
EXPRESSIONS = {
    "form": op("add", I, op("multiply", J, Const(-4, INT))),
    "floor": op("floor_divide", op("negative", J), Const(3, INT)),
    "remainder": op("remainder", op("subtract", I, J), Const(5, INT)),
    "least": op("minimum", I, op("maximum", J, Const(2, INT))),
    "absolute": op("absolute", op("subtract", I, J)),
    "element": read("k", INT, "i"),
    "of floats": op("divide", op("sqrt", op("absolute", Y)), Const(3.0, F)),
    "of an integer": op("multiply", op("cast", J, dtype=F), Y),
    "to an integer": op("cast", op("trunc", op("multiply", Y, Const(7.5, F))), dtype=INT),
    "larger": op("maximum", Y, Const(0.0, F)),
    "chosen": op("select", op("less", I, J, dtype=BOOL), Y, Const(2.0, F), dtype=F),
    "both": op("logical_and", op("less", I, J, dtype=BOOL), op("not_equal", I, Const(1, INT), dtype=BOOL), dtype=BOOL),
    "not": op("logical_not", op("greater", I, J, dtype=BOOL), dtype=BOOL),
    "of numbers": op("logical_and", J, Const(2, INT), dtype=BOOL),
    "no quotient": op("select", op("equal", I, Const(0, INT), dtype=BOOL), J, op("floor_divide", J, I), dtype=INT),
    "shifted": op("left_shift", op("square", J), op("power", Const(2, INT), I)),
    "wrap": op("wrap", op("subtract", I, J), Const(4, INT)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_as_numpy(name):
    function = function_of(EXPRESSIONS[name])
    for i in range(2):
        for j in range(-2, 3):
            symbols = {"i": i, "j": j}
            expected = evaluated(EXPRESSIONS[name], symbols, ARRAYS, "ibf")
            found = function(symbols, ARRAYS)
            assert found == expected
            assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_indices_out_of_range_and_divisors_of_zero():
    with pytest.raises(IndexError):
        function_of(read("k", INT, "i"))({"i": -1}, ARRAYS)
    with pytest.raises(ArithmeticError):
        function_of(op("floor_divide", I, Const(0, INT)))({"i": 3}, ARRAYS)


LARGE = {"k": np.array([2**62 + 5, 3]), "y": np.array([[np.nan, 1e300]])}


@pytest.mark.parametrize(
    "value",
    [
        op("remainder", op("multiply", read("k", INT, 0), Const(6, INT)), Const(6, INT)),
        Int(as_linear(read("k", INT, 0)).scaled(3) + 7),
        op("power", read("k", INT, 1), read("k", INT, 0)),
        op("left_shift", read("k", INT, 1), Const(63, INT)),
        op("cast", read("y", F, 0, 1), dtype=INT),
    ],
)
def test_what_does_not_fit_is_no_number_of_python(value):
    with pytest.raises(ArithmeticError):
        function_of(value)({}, LARGE)


def test_nan_is_no_integer():
    with pytest.raises(ValueError, match="NaN"):
        function_of(op("cast", read("y", F, 0, 0), dtype=INT))({}, LARGE)


@pytest.mark.parametrize("value", [Const(1.5, np.dtype(np.float32)), Const(1j, np.dtype(complex))])
def test_other_numbers_have_no_function(value):
    assert function_of(value) is None


def test_places():
    place = place_of(Access("y", (Lin.symbol("i"), Lin(1))))
    assert place({"i": 1}, ARRAYS) == (1, 1)
    assert place_of(Access("s"))({}, ARRAYS) == ()
