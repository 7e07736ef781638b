"""Integer arithmetic of Fortran in that of Python: quotients toward zero, remainders with the dividend's sign."""

from __future__ import annotations

from typing import Any

from sdfgad.fortran.evaluator import Evaluator
from sdfgad.fortran.kinds import INTEGER
from sdfgad.fortran.values import Value, constant


def quotient(e: Evaluator, node: Any, x: Value, y: Value) -> Value:
    """``x / y``, rounded toward zero; Python rounds down."""
    if y.number == 0:
        e.refuse(node, f"`{node}` divides by zero", "Divide by another integer.")
    if x.number is not None and y.number is not None:
        size = abs(x.number) // abs(y.number)
        return constant(size if (x.number < 0) == (y.number < 0) else -size, INTEGER)
    if x.rank or y.rank:
        return Value(f"np.trunc({x.text} / {y.text}).astype(np.int64)", INTEGER, max(x.rank, y.rank))
    if _is_natural(x) and _is_natural(y):
        return Value(f"({x.text} // {y.text})", INTEGER, low=0)
    if y.number is not None and y.number < 0:
        return Value(f"(-{quotient(e, node, x, constant(-y.number, INTEGER)).text})", INTEGER)
    if _is_natural(y):
        return Value(f"({x.text} // {y.text} if {x.text} >= 0 else -(-{x.text} // {y.text}))", INTEGER)
    same = f"({x.text} >= 0) == ({y.text} > 0)"
    return Value(f"(abs({x.text}) // abs({y.text}) if {same} else -(abs({x.text}) // abs({y.text})))", INTEGER)


def remainder(x: Value, y: Value) -> Value:
    """``mod(x, y)``, which has the sign of x; Python's has that of y."""
    if x.number is not None and y.number is not None and y.number:
        size = abs(x.number) % abs(y.number)
        return constant(size if x.number >= 0 else -size, INTEGER)
    if x.rank or y.rank:
        return Value(f"np.fmod({x.text}, {y.text})", INTEGER, max(x.rank, y.rank))
    divisor = y.text if _is_natural(y) else f"abs({y.text})"
    if _is_natural(x):
        return Value(f"({x.text} % {divisor})", INTEGER, low=0)
    return Value(f"({x.text} % {divisor} if {x.text} >= 0 else -(-{x.text} % {divisor}))", INTEGER)


def power_of_integers(e: Evaluator, node: Any, x: Value, y: Value) -> Value:
    """``x ** y``; negative powers of integers are 0 but for those of 1 and -1.

    Raises:
        UnsupportedProgram: the exponent may be negative, and the base is not known.
    """
    if x.number is not None and y.number is not None and y.number < 0 and x.number:
        return constant(x.number ** (y.number % 2) if abs(x.number) == 1 else 0, INTEGER)
    if y.number is None and x.number == -1:
        return Value(f"(1 - 2 * ({y.text} % 2))", INTEGER, y.rank)
    if y.low is None or y.low < 0:
        if x.number is not None and abs(x.number) > 1 and not y.rank:
            size = f"{x.text} ** max({y.text}, 0) if {y.text} >= 0 else 0"
            return Value(f"({size})", INTEGER, low=0 if x.number > 0 else None)
        what = f"`{node}` is a power of an integer whose exponent may be negative"
        e.refuse(node, what, "Write a power of a real number, real(i)**k, or a literal exponent.")
    if x.number is not None and y.number is not None:
        return constant(x.number**y.number, INTEGER)
    is_even = y.number is not None and y.number % 2 == 0
    return Value(f"({x.text} ** {y.text})", INTEGER, max(x.rank, y.rank), low=0 if is_even or _is_natural(x) else None)


def _is_natural(x: Value) -> bool:
    return x.low is not None and x.low >= 0
