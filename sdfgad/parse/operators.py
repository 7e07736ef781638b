"""Python's operators on abstract values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import DivisionByZero, PythonRaises, UnboundVariable
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, as_linear
from sdfgad.parse import (
    chosen_texts,
    conditions,
    containers,
    dict_keys,
    hazards,
    object_equality,
    optional_values,
    outside,
    truth_values,
)
from sdfgad.parse.builder import Builder
from sdfgad.parse.clocks import READING, Reading, has_reading
from sdfgad.parse.deques import Deque
from sdfgad.parse.elementwise import elementwise, power
from sdfgad.parse.functions.contraction import matmul
from sdfgad.parse.identity import is_same
from sdfgad.parse.magnitudes import MOST
from sdfgad.parse.object_arrays import ObjectArray
from sdfgad.parse.python_numbers import (
    check_64_bits,
    is_long_beside_another,
    require_64_bits,
    require_like_python,
)
from sdfgad.parse.ranges import Range
from sdfgad.parse.stacking import stacked
from sdfgad.parse.texts import RunTimeText, require_known
from sdfgad.parse.values import (
    DICT_VIEWS,
    ChosenText,
    MaybeNone,
    Record,
    Selection,
    Tensor,
    Unbound,
    as_tensor,
    is_integer,
    is_static,
)

BINARY: dict[type[ast.operator], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Add: (operator.add, "add"),
    ast.Sub: (operator.sub, "subtract"),
    ast.Mult: (operator.mul, "multiply"),
    ast.Div: (operator.truediv, "divide"),
    ast.FloorDiv: (operator.floordiv, "floor_divide"),
    ast.Mod: (operator.mod, "remainder"),
    ast.Pow: (operator.pow, "power"),
    ast.MatMult: (operator.matmul, "matmul"),
    ast.BitAnd: (operator.and_, "bitwise_and"),
    ast.BitOr: (operator.or_, "bitwise_or"),
    ast.BitXor: (operator.xor, "bitwise_xor"),
    ast.LShift: (operator.lshift, "left_shift"),
    ast.RShift: (operator.rshift, "right_shift"),
}
COMPARE: dict[type[ast.cmpop], tuple[Callable[[Any, Any], Any], str]] = {
    ast.Eq: (operator.eq, "equal"),
    ast.NotEq: (operator.ne, "not_equal"),
    ast.Lt: (operator.lt, "less"),
    ast.LtE: (operator.le, "less_equal"),
    ast.Gt: (operator.gt, "greater"),
    ast.GtE: (operator.ge, "greater_equal"),
}
# An integer that is known only at run time is compared with at most so many keys of a set or dict.
MANY_KEYS = 64
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
TESTS_OF_NONE = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
IDENTITY: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}
UNARY: dict[type[ast.unaryop], tuple[Callable[[Any], Any], str]] = {
    ast.USub: (operator.neg, "negative"),
    ast.UAdd: (operator.pos, "positive"),
    ast.Invert: (operator.invert, "invert"),
}


def expression_of(function: Any, operands: list[ast.expr]) -> ast.expr | None:
    """The expression that a function of `operator` stands for, ``x * y`` for ``operator.mul(x, y)``."""
    for binary_op, (python, _) in BINARY.items():
        if function is python and len(operands) == 2:
            return ast.BinOp(operands[0], binary_op(), operands[1])
    for compare_op, (python, _) in COMPARE.items():
        if function is python and len(operands) == 2:
            return ast.Compare(operands[0], [compare_op()], operands[1:])
    for unary_op, (of_one, _) in UNARY.items():
        if function is of_one and len(operands) == 1:
            return ast.UnaryOp(unary_op(), operands[0])
    return None


def python_name(op: type[ast.operator]) -> str:
    """The name of an operator in the methods by which classes define it, such as ``add`` of ``__add__``."""
    return BINARY[op][0].__name__.strip("_")


def binary(b: Builder, op: type[ast.operator], left: Any, right: Any) -> Any:
    """``left op right``."""
    left, right = outside.with_arrays(b, left), outside.with_arrays(b, right)
    if op not in BINARY:
        raise b.unsupported(
            f"the operator {op.__name__} is not supported", "Use arithmetic, comparisons, or NumPy's function for it."
        )
    python, name = BINARY[op]
    _require_bound(b, left, right)
    _require_no_objects(b, left, right)
    parts = right if type(right) is tuple else (right,)
    is_text = any(isinstance(part, RunTimeText) for part in (left, *parts))
    if op is ast.Mod and isinstance(left, str) and (is_text or has_reading(right) or not is_static(right)):
        return RunTimeText.of(left, (left, *parts), lambda text, *known: text % known)
    if isinstance(left, Reading) or isinstance(right, Reading):
        return READING
    are_sequences = isinstance(left, (tuple, list)) and isinstance(right, (tuple, list))
    is_repeated = op is ast.Mult and any(isinstance(v, (tuple, list, str)) for v in (left, right))
    is_repeated = is_repeated and any(isinstance(v, (int, Lin)) for v in (left, right))
    if is_repeated:
        left, right = (b.constant(v) if isinstance(v, Lin) else v for v in (left, right))
    if isinstance(left, containers.Counts) or isinstance(right, containers.Counts):
        raise b.unsupported("operators of Counters are not supported", "Add the counts of each key: c[key] += d[key].")
    if op is ast.BitOr and isinstance(left, dict) and isinstance(right, dict):
        return containers.tracked(b, left | right)
    if are_sequences or is_repeated or (is_static(left) and is_static(right)):
        made = b.python(python, left, right)
        return containers.tracked(b, made) if isinstance(made, (list, set)) else made
    left, right = truth_values.counted(b, name, left, right)
    _note_hazards(b, name, left, right)
    require_like_python(b, name, left, right)
    check_64_bits(b, name, left, right)
    if name in ("divide", "floor_divide", "remainder"):
        _require_divisor(b, left, right)
    if is_integer(left) and is_integer(right):
        return _integer_binary(b, name, left, right)
    left, right = _with_arrays(b, left, right, by_numbers=name != "multiply")
    if name == "power":
        # NumPy's operator, not its function, takes these powers of booleans for squares.
        are_booleans = isinstance(left, Tensor) and left.dtype.kind == "b" and left.ndim > 0
        is_square = are_booleans and type(right) is int and right == 2
        if is_square:
            return elementwise(b, "square", left)
        return truth_values.operator(b, name, [left, right], partial(power, b))
    if name == "matmul":
        return matmul(b, left, right)
    return truth_values.operator(b, name, [left, right], partial(elementwise, b, name))


def _require_bound(b: Builder, *operands: Any) -> None:
    """Require that no operand is an attribute or item that has no value on the way to here."""
    for value in operands:
        if isinstance(value, Unbound):
            what = f"what is read here may have no value: {value.reason}"
            raise value.error or UnboundVariable(what, b.where, "Assign it on all paths, or before them.")


def _require_no_objects(b: Builder, *operands: Any) -> None:
    """Require that no operand is an array of objects, which has the operators of its items."""
    if any(isinstance(operand, ObjectArray) for operand in operands):
        what = "arithmetic and comparisons of arrays of objects are not supported"
        raise b.unsupported(what, "Make an array of numbers, np.stack(list(values)), or write a loop over the items.")


def _require_no_readings(b: Builder, *operands: Any) -> None:
    """Require that no operand is a time that a clock tells, which differs from run to run."""
    if has_reading(operands):
        raise b.unsupported(f"{Reading.noun} is compared: it differs from run to run", Reading.instead)


def _note_hazards(b: Builder, name: str, left: Any, right: Any) -> None:
    """Note where an operator of Python's numbers, unlike NumPy's, raises."""
    if not b.tries or not (_is_python_number(left) and _is_python_number(right)):
        return
    symbols = Lin.of(right).symbols if is_integer(right) else ()
    if name in ("divide", "floor_divide", "remainder") and _may_be_zero(b, right):
        is_fine = Op("not_equal", (as_tensor(right).at(), Const(0, as_tensor(right).dtype)), BOOL)
        what = "a division by zero of Python's numbers raises"
        b.may_raise(what, ZeroDivisionError, symbols=symbols, unless=is_fine)
    if name == "power" and not (is_integer(left) and is_integer(right)):
        what = "a power of Python's numbers may be too large, or that of zero"
        made = power(b, as_tensor(left), as_tensor(right)) if b.raises_instead else None
        unless = None if made is None else hazards.is_regular(made, (left, right))
        b.may_raise(what, ZeroDivisionError, OverflowError, unless=unless)


def _require_divisor(b: Builder, left: Any, right: Any) -> None:
    """Require that an integer of Python's is divided by none that is zero: by a check where that is data."""
    are_pythons = _is_python_number(left) and _is_python_number(right) and not b.has_numpy_integers
    are_integers = are_pythons and all(as_tensor(one).dtype.kind in "iu" for one in (left, right))
    if are_integers and _may_be_zero(b, right):
        is_fine = Op("not_equal", (as_tensor(right).at(), Const(0, INT)), BOOL)
        b.check(is_fine, (), "integer division by zero", DivisionByZero, "Python raises ZeroDivisionError here, too.")


def _is_python_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.weak and not value.ndim
    return isinstance(value, (Lin, int, float, complex)) and not isinstance(value, np.generic)


def _may_be_zero(b: Builder, value: Any) -> bool:
    if is_integer(value) and Lin.of(value).is_const:
        # Zero certainly raises.
        return False
    if is_integer(value):
        return not (b.holds(Lin.of(value) - 1) or b.holds(-Lin.of(value) - 1))
    return isinstance(value, Tensor) or value == 0


def unary(b: Builder, op: type[ast.unaryop], value: Any) -> Any:
    """``-value``, ``+value`` and ``~value``."""
    python, name = UNARY[op]
    if is_static(value):
        return b.python(python, value)
    (value,) = truth_values.counted(b, name, value)
    if isinstance(value, Lin):
        return {"negative": -value, "positive": value, "invert": -value - 1}[name]
    return truth_values.operator(b, name, [value], partial(elementwise, b, name))


def compare(b: Builder, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """One comparison; of integers, its value may be known while parsing."""
    if isinstance(left, ChosenText) or isinstance(right, ChosenText):
        return _compared_text(b, op, left, right)
    if (left is None or right is None) and op in TESTS_OF_NONE:
        return _compared_with_none(b, op, left if right is None else right)
    if op in TESTS_OF_NONE and any(isinstance(value, MaybeNone) for value in (left, right)):
        return _compared_optional(b, op, left, right)
    left, right = (optional_values.required(b, value, "what is compared") for value in (left, right))
    has_key = dict_keys.contains(b, right, left) if op in (ast.In, ast.NotIn) else None
    if has_key is not None:
        return conditions.decided(b, Op("equal", (Int(has_key), Const(int(op is ast.In), INT)), BOOL))
    require_known(left, b.where)
    require_known(right, b.where)
    if op not in IDENTITY:
        _require_no_objects(b, left, right)
        _require_no_readings(b, left, right)
    if isinstance(left, RunTimeText) or isinstance(right, RunTimeText):
        raise b.unsupported(
            "a string that depends on run-time values is compared", "Compare the values in it instead of the string."
        )
    if op in (ast.Eq, ast.NotEq) and object_equality.are_compared(left, right):
        found = object_equality.equal(b, left, right, partial(compare, b, ast.Eq))
        return found if op is ast.Eq else _negated(b, found)
    if op in (ast.In, ast.NotIn) and not _are_objects(right):
        containers.require_no_member(b, (left,))
    if op in (ast.In, ast.NotIn) and (isinstance(right, Range) or not (is_static(left) and is_static(right))):
        return _contained(b, op, left, right)
    if op in (ast.Eq, ast.NotEq) and all(isinstance(v, (tuple, list)) for v in (left, right)):
        return _sequences_equal(b, op, left, right)
    if op in ORDERS and all(isinstance(v, tuple) for v in (left, right)) and not is_static((left, right)):
        return _ordered(b, op, left, right)
    if op in (ast.Is, ast.IsNot):
        found = is_same(b, left, right)
        return found if op is ast.Is else _negated(b, found)
    if op in IDENTITY:
        return b.python(IDENTITY[op], left, right)
    python, name = COMPARE[op]
    if is_static(left) and is_static(right):
        found = b.python(python, left, right)
        return b.constant_array(found) if isinstance(found, np.ndarray) else found
    if is_long_beside_another(left, right):
        # Whatever has 64 bits is on the side of 0 of it.
        return b.python(python, *(value if type(value) is int and abs(value) > MOST else 0 for value in (left, right)))
    if is_integer(left) and is_integer(right):
        return conditions.decided(b, Op(name, (Int(left), Int(right)), BOOL))
    return truth_values.operator(b, name, _with_arrays(b, left, right), partial(elementwise, b, name))


def _compared_text(b: Builder, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """A comparison of a string that data decides."""
    if op in (ast.In, ast.NotIn):
        return _contained(b, op, left, [*right] if isinstance(right, (dict, set, frozenset)) else right)
    left, right = (optional_values.required(b, value, "what is compared") for value in (left, right))
    found = chosen_texts.compared(b, op, left, right)
    return found if isinstance(found, bool) else conditions.decided(b, found)


def _compared_with_none(b: Builder, op: type[ast.cmpop], value: Any) -> Any:
    """``value is None`` and ``value == None``, or their opposites."""
    known = value.value if isinstance(value, MaybeNone) else value
    is_array = isinstance(known, Selection) or (isinstance(known, Tensor) and known.ndim > 0)
    if op in (ast.Eq, ast.NotEq) and is_array:
        raise b.unsupported(
            "`==` and `!=` compare each element of an array with None", "Write `x is None` or `x is not None`."
        )
    is_none = optional_values.is_none(b, value) if isinstance(value, MaybeNone) else value is None
    return is_none if op in (ast.Is, ast.Eq) else _negated(b, is_none)


def _compared_optional(b: Builder, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """``left == right`` or ``left is right`` of values that may be None: they are equal, or both None."""
    operands = [value.value if isinstance(value, MaybeNone) else value for value in (left, right)]
    if any(isinstance(value, Selection) or (isinstance(value, Tensor) and value.ndim) for value in operands):
        operands = [optional_values.required(b, value, "what is compared") for value in (left, right)]
        return compare(b, op, *operands)
    are_none = [optional_values.is_none(b, value) if isinstance(value, MaybeNone) else False for value in (left, right)]
    found = compare(b, ast.Is if op in (ast.Is, ast.IsNot) else ast.Eq, *operands)
    for is_none in are_none:
        found = conditions.logical(b, "logical_and", _negated(b, is_none), found)
    found = conditions.logical(b, "logical_or", conditions.logical(b, "logical_and", *are_none), found)
    return found if op in (ast.Is, ast.Eq) else _negated(b, found)


def _with_arrays(b: Builder, *operands: Any, by_numbers: bool = True) -> list[Any]:
    """Operands with lists and tuples as arrays, where another is one, as in ``x + [1, 2]``.

    `by_numbers`: also where another is a number of NumPy's; Python refuses its product with a list.
    """
    arrays = [operand for operand in operands if isinstance(operand, Tensor) and operand.ndim]
    if not arrays and not (by_numbers and any(map(_makes_arrays, operands))):
        return list(operands)
    return [stacked(b, operand) if isinstance(operand, (tuple, list)) else operand for operand in operands]


def _makes_arrays(number: Any) -> bool:
    """Whether a number is one of NumPy's, known at run time, whose operators make arrays of lists."""
    return isinstance(number, Tensor) and not number.weak and number.dtype.kind in "fc"


def _contained(b: Builder, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """``left in right`` where some of the values are known only at run time."""
    if isinstance(right, (dict, set, frozenset)):
        if not (is_integer(left) and 0 < len(right) <= MANY_KEYS and all(map(_is_number, right))):
            return (containers.key_of(b, left) in right) == (op is ast.In)
        right = sorted(right)
    if isinstance(right, (range, Range)) and is_integer(left):
        return _in_range(b, op, left, right if isinstance(right, Range) else Range.like(right))
    if isinstance(right, DICT_VIEWS):
        right = list(right)
    if not isinstance(right, (tuple, list)):
        raise b.unsupported("`in` is only supported for tuples, lists and dicts", "Write np.any(array == value).")
    found: Any = False
    for value in right:
        is_equal = compare(b, ast.Eq, left, value)
        known = conditions.known_truth(is_equal)
        same = conditions.truth(b, is_equal) if known is None else known
        found = conditions.logical(b, "logical_or", found, same)
    return found if op is ast.In else _negated(b, found)


def _are_objects(values: Any) -> bool:
    """Whether values are objects of which each is compared, as they are equal only if they are one."""
    return isinstance(values, (tuple, list)) and all(isinstance(value, Record) for value in values)


def _is_number(key: Any) -> bool:
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


def _in_range(b: Builder, op: type[ast.cmpop], number: Any, span: Range) -> Any:
    """``number in range(...)`` of integers."""
    low, high = (span.start, span.stop) if span.step > 0 else (span.stop + 1, span.start + 1)
    tests: list[tuple[type[ast.cmpop], Any, Any]] = [(ast.GtE, number, low), (ast.Lt, number, high)]
    if abs(span.step) > 1:
        tests.append((ast.Eq, binary(b, ast.Mod, Lin.of(number) - span.start, abs(span.step)), 0))
    found: Any = True
    for one in tests:
        found = conditions.logical(b, "logical_and", found, compare(b, *one))
    return found if op is ast.In else _negated(b, found)


def _sequences_equal(b: Builder, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """Whether two tuples or lists are equal, item by item."""
    are_alike = all(isinstance(left, cls) == isinstance(right, cls) for cls in (tuple, Deque))
    found: Any = are_alike and len(left) == len(right)
    for x, y in zip(left, right, strict=False) if found else ():
        if x is not y:
            found = conditions.logical(b, "logical_and", found, compare(b, ast.Eq, x, y))
    return found if op is ast.Eq else _negated(b, found)


def _ordered(b: Builder, op: type[ast.cmpop], left: Any, right: Any) -> Any:
    """Lexicographic order: the first items that differ decide, else the lengths."""
    found: Any = b.python(COMPARE[op][0], len(left), len(right))
    for x, y in reversed(list(zip(left, right, strict=False))):
        if x is y:
            continue
        is_equal = compare(b, ast.Eq, x, y)
        decides = conditions.logical(b, "logical_and", _negated(b, is_equal), compare(b, op, x, y))
        found = conditions.logical(b, "logical_or", conditions.logical(b, "logical_and", is_equal, found), decides)
    return found


def _negated(b: Builder, found: Any) -> Any:
    return (not found) if isinstance(found, bool) else elementwise(b, "logical_not", found)


def _integer_binary(b: Builder, name: str, left: Any, right: Any) -> Any:
    left, right = Lin.of(left), Lin.of(right)
    if name in ("divide", "floor_divide", "remainder") and right == Lin(0):
        what = "integer division by zero"
        raise PythonRaises(
            what, b.where, "Divide by a number that is not 0; Python raises here, too.", ZeroDivisionError(what)
        )
    if name == "divide":
        return elementwise(b, name, left, right)
    if name == "power" and not b.holds(right):
        raise b.unsupported("an integer to a power that may be negative is not supported", "Use a float: `2.0**k`.")
    result = _integer_result(name, left, right)
    require_64_bits(b, name, left, right, result)
    return result


def _integer_result(name: str, left: Lin, right: Lin) -> Lin:
    if name == "add":
        return left + right
    if name == "subtract":
        return left - right
    if name == "multiply" and (left.is_const or right.is_const):
        return left.scaled(right.const) if right.is_const else right.scaled(left.const)
    if name == "left_shift" and right.is_const and 0 <= right.const < 63:
        return left.scaled(2**right.const)
    return as_linear(Op(name, (Int(left), Int(right)), INT))
