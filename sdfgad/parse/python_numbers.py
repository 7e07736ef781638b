"""Python's numbers in compiled code: integers of any length, complex powers, and errors where one divides by 0.

Where an operation on run-time integers certainly, or by what is known of a list's numbers possibly, takes more than 64
bits, or numbers of a list may do otherwise than NumPy's, the numbers become constants, of which Python computes. Where
nothing bounds an exponent, the compiled program checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError, DivisionByZero
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, Read, cast, reads
from sdfgad.ir.program import Compute, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.known_tables import known_tables
from sdfgad.parse.magnitudes import MANY_TRIPS, MOST, UNKNOWN, Bounds, Outgrown, Sizes, size_of
from sdfgad.parse.values import Tensor, as_tensor, is_integer

SMALL = 2**15
DOUBLE = np.dtype(np.float64)
# A magnitude in double precision that certainly fits, in spite of rounding.
FITS = float(2**63 - 2**13)
GROWING = ("add", "subtract", "multiply", "power", "left_shift")
TOO_LONG = "an integer needs more than 64 bits"
TODO = "Write a float, which may be as large: 2.0**k."


def require_64_bits(b: Builder, name: str, left: Lin, right: Lin, result: Lin) -> None:
    """Require that the result of an operation on run-time integers fits into 64 bits.

    Raises:
        NeedsConstant: it does not, or may not where it comes from a list of known numbers.
    """
    from_table = bool(b.tables) and any(_reads_table(b, form) for form in (left, right))
    is_power = name in ("power", "left_shift")
    is_large = name == "multiply" and not b.has_numpy_integers and not _fits(b, name, left, right)
    if not (from_table or is_power or is_large):
        return
    bounds = [_bound(b, form) for form in (left, right)]
    if from_table and not is_power:
        bounds = [
            UNKNOWN if one is None and _is_of_data(b, form) else one
            for one, form in zip(bounds, (left, right), strict=True)
        ]
    size = _size(name, *bounds)
    if size is not None and size <= MOST:
        if from_table:
            b.learn(result + size, Lin(size) - result)
        return
    if size is None and not from_table:
        if is_large or (is_power and right.is_const and not b.has_numpy_integers):
            _check_result(b, name, left, right)
        elif not right.is_const:
            _check_exponent(b, name, left, right)
        return
    raise NeedsConstant(set(left.symbols | right.symbols), b.where, TOO_LONG, TODO)


def check_64_bits(b: Builder, name: str, left: Any, right: Any) -> None:
    """Check at run time that the result of an operation on Python's integers does not outgrow 64 bits, where it may.

    So are powers and shifts by numbers that data decides, which must not be negative: such a power is a fraction.

    Raises:
        NeedsConstant: an operand has more.
        Outgrown: the result has more, and is known where loops are written out.
    """
    if is_long_beside_another(left, right):
        raise NeedsConstant(b.symbols_here(), b.where, TOO_LONG, TODO)
    if name not in GROWING or not (_is_whole(left) and _is_whole(right)):
        return
    is_power = name in ("power", "left_shift") and isinstance(right, Tensor)
    are_forms = is_integer(left) and is_integer(right)
    if not (b.checks_integers or is_power) and (are_forms or _fits(b, name, left, right)):
        return
    if is_power:
        is_no_fraction = Op("less_equal", (Const(0.0, DOUBLE), _as_double(right)), BOOL)
        b.check(is_no_fraction, (), "an integer to a negative power, or a negative shift", ArgumentError, TODO)
    _check_result(b, name, left, right)


def _check_result(b: Builder, name: str, left: Any, right: Any) -> None:
    lines = b.magnitudes.loops_behind(*(as_tensor(value).at() for value in (left, right)))
    if not lines <= b.magnitudes.written_out:
        raise Outgrown(lines)
    x, y = map(_as_double, (left, right))
    if name == "left_shift":
        name, y = "multiply", Op("power", (Const(2.0, DOUBLE), y), DOUBLE)
    result = Op("absolute", (Op(name, (x, y), DOUBLE),), DOUBLE)
    fits = Op("less_equal", (result, Const(FITS, DOUBLE)), BOOL)
    b.check(fits, (), TOO_LONG, ArgumentError, TODO)


def _as_double(value: Any) -> Expr:
    return cast(as_tensor(value).at(), DOUBLE)


def _fits(b: Builder, name: str, left: Any, right: Any) -> bool:
    """Whether a result has at most 64 bits. Of integers that a loop around hands on, `integer_growth` decides that."""
    operands = [as_tensor(value).at() for value in (left, right)]
    if any(read.buffer in b.carried for value in operands for read in reads(value)):
        return True
    return size_of(name, [magnitude(b, value) for value in (left, right)]) <= MOST


def magnitude(b: Builder, value: Any) -> int:
    """A bound on the magnitude of an integer."""
    if isinstance(value, int):
        return abs(value)
    if not _is_whole(value):
        return UNKNOWN
    sizes, symbols = b.magnitudes.sizes, symbol_sizes(b)
    known = {name: size for name, size in sizes.items() if name not in b.carried} if b.carried else sizes
    return Sizes(known, lambda symbol: symbols.get(symbol, UNKNOWN)).of(as_tensor(value).at())


def symbol_sizes(b: Builder) -> Bounds:
    """Bounds on integer arguments, also those of other calls, and on the counters of the loops around."""
    arguments = {name: max(abs(value), SMALL) for name, value in b.integers.items()}
    return arguments | {var: count_of(trips) for _, var, trips in b.loops}


def count_of(trips: Lin) -> int:
    """A bound on a number of trips."""
    return max(trips.const, 0) if trips.is_const else MANY_TRIPS


def is_long_beside_another(left: Any, right: Any) -> bool:
    """Whether one of two integers is known and has more than 64 bits, and the other one is that of a run."""
    is_long = any(type(value) is int and abs(value) > MOST for value in (left, right))
    return is_long and _is_whole(left) and _is_whole(right)


def _is_whole(value: Any) -> bool:
    return is_integer(value) or (isinstance(value, Tensor) and value.weak and not value.ndim and value.dtype == INT)


def require_like_python(b: Builder, name: str, left: Any, right: Any) -> None:
    """Require that numbers of Python which may come from a list do as NumPy's: powers are real, divisors are not 0.

    Raises:
        NeedsConstant: they may not.
    """
    counters = {var for _, var, _ in b.loops} & b.table_symbols
    if not counters or not (_is_number(left) and _is_number(right)):
        return
    is_integral = is_integer(right) or (isinstance(right, float) and right.is_integer())
    if name == "power" and not is_integral and not _are_known(b, left, lambda numbers: numbers >= 0):
        what = "a power of a number may be complex in Python"
        raise NeedsConstant(counters, b.where, what, "Take powers of arrays, or of numbers that are not negative.")
    if name in ("divide", "floor_divide", "remainder") and _may_be_zero(b, right):
        what = "a divisor may be 0, which is an error in Python"
        todo = "Divide by an array, or by a number that is not 0."
        if not isinstance(right, Tensor) or _table_of(b, right) is not None:
            raise NeedsConstant(counters, b.where, what, todo)
        is_fine = Op("not_equal", (right.at(), Const(0, right.dtype)), BOOL)
        b.check(is_fine, (), "a number of Python is divided by zero", DivisionByZero, todo)


def _are_known(b: Builder, value: Any, test: Callable[[np.ndarray[Any, Any]], Any]) -> bool:
    """Whether a number is one of a table of known numbers for which a test holds."""
    table = _table_of(b, value)
    return table is not None and bool(np.all(test(table)))


def _table_of(b: Builder, value: Any) -> np.ndarray[Any, Any] | None:
    """The known numbers of which a number is one."""
    element = value.at() if isinstance(value, Tensor) else None
    while isinstance(element, Read) and element.buffer not in b.captured:
        element = _only_value(b, element.buffer)
    return known_tables(b).get(element.buffer) if isinstance(element, Read) else None


def _only_value(b: Builder, buffer: str) -> Expr | None:
    """What the only statement that writes a number lets it be."""
    found = [one for block in b.blocks for one in walk(tuple(block)) if buffer in one.written]
    only = found[0] if len(found) == 1 else None
    return only.value if isinstance(only, Compute) and not only.accumulate else None


def _is_number(value: Any) -> bool:
    """Whether a value is a number of Python, known or not."""
    return isinstance(value, (int, float, Lin)) or (isinstance(value, Tensor) and value.weak and not value.ndim)


def _may_be_zero(b: Builder, value: Any) -> bool:
    if isinstance(value, Lin):
        return not (b.domain.implies(value - 1) or b.domain.implies(-value - 1))
    if isinstance(value, Tensor):
        return not _are_known(b, value, lambda numbers: numbers != 0)
    return bool(value == 0)


def _reads_table(b: Builder, form: Lin) -> bool:
    tables = known_tables(b)
    return any(read.buffer in tables for read in _reads_of(form))


def _reads_of(form: Lin) -> list[Read]:
    return [read for atom, _ in form.terms if isinstance(atom, Expr) for read in atom.reads]


def are_bounded(b: Builder, values: Sequence[Any]) -> bool:
    """Whether products of four of some integers fit into 64 bits; of those that nothing bounds it is assumed."""
    forms = [Lin.of(value) for value in values if is_integer(value)]
    tables = known_tables(b)
    known = [form for form in forms if all(read.buffer in tables for read in _reads_of(form))]
    return all(bound is None or bound <= SMALL for bound in (_bound(b, form) for form in known))


def _is_of_data(b: Builder, form: Lin) -> bool:
    """Whether data decides an integer, which is taken to be smaller than `UNKNOWN`."""
    are_read = all(isinstance(atom, Expr) and atom.reads for atom, _ in form.terms)
    return len(form.terms) > 0 and are_read and not _reads_table(b, form)


def _bound(b: Builder, form: Lin) -> int | None:
    """The largest magnitude of a form, if it is bounded."""
    if form.is_const:
        return abs(form.const)
    ends = [b.domain.maximum(one, b.context) for one in (form, -form)]
    known = [end for end in ends if end is not None]
    return max(map(abs, known)) if len(known) == 2 else None


def _size(name: str, left: int | None, right: int | None) -> int | None:
    """The largest magnitude of a result, from those of the operands; None where that is not bounded."""
    return None if left is None or right is None else size_of(name, [left, right])


def _check_exponent(b: Builder, name: str, left: Lin, right: Lin) -> None:
    """A run-time check of the exponent of a number that is known."""
    if not left.is_const:
        return
    base = 2 if name == "left_shift" else abs(left.const)
    most = 0
    while base > 1 and _size(name, abs(left.const), most + 1) <= MOST:  # type: ignore[operator]
        most += 1
    if base > 1:
        fits = Op("less_equal", (Int(right), Int(Lin(most))), BOOL)
        b.check(fits, (), TOO_LONG, ArgumentError, TODO)
