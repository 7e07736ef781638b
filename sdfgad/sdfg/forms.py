"""Integer forms of DaCe's symbolic expressions: the inverse of `descriptors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from dace import symbolic

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Int, Lin
from sdfgad.ir.ops import OPERATIONS
from sdfgad.sdfg.operations import linear, operation
from sdfgad.sdfg.tasklet import FUNCTION

Symbols = Mapping[str, Lin]
FUNCTIONS = {"int_floor": "floor_divide", "Min": "minimum", "Max": "maximum", "Mod": "remainder"}


def form_of(value: Any, symbols: Symbols) -> Lin:
    """The integer form of a symbolic expression.

    Args:
        symbols: the forms of symbols that do not stand for themselves.

    Raises:
        UnsupportedGraph: the expression is not one of integers.
    """
    if isinstance(value, (int, sympy.Integer)):
        return Lin(int(value))
    if isinstance(value, symbolic.SymExpr):
        # With an estimate, for DaCe's own use.
        return form_of(value.expr, symbols)
    if isinstance(value, str):
        return form_of(symbolic.pystr_to_symbolic(value), symbols)
    if isinstance(value, sympy.Symbol):
        return symbols.get(value.name, Lin.symbol(value.name))
    if isinstance(value, (sympy.Add, sympy.Mul)) and any(one.q != 1 for one in value.atoms(sympy.Rational)):
        return _number_of(value, symbols)
    args = [form_of(arg, symbols) for arg in value.args]
    if isinstance(value, sympy.Add):
        return sum(args[1:], args[0])
    if isinstance(value, sympy.Mul):
        return _folded("multiply", args)
    if isinstance(value, (sympy.Pow, symbolic.ipow)) and args[1].is_const and args[1].const > 0:
        return _folded("multiply", [args[0]] * args[1].const)
    if isinstance(value, symbolic.int_ceil):
        return -_folded("floor_divide", [-args[0], args[1]])
    function = type(value).__name__
    own = function.removeprefix(FUNCTION.format(""))
    name = own if own != function and own in OPERATIONS else FUNCTIONS.get(function)
    if name is None:
        raise UnsupportedGraph(f"the symbolic expression `{value}` is not one of integers")
    return _folded(name, args)


def _number_of(value: Any, symbols: Symbols) -> Lin:
    """The number that an expression with fractions is, where it is an integer one."""
    known = {
        one: symbols[str(one)].const for one in value.free_symbols if symbols.get(str(one), Lin.symbol("")).is_const
    }
    found = value.subs(known)
    if not found.is_Integer:
        raise UnsupportedGraph(f"the symbolic expression `{value}` is not one of integers")
    return Lin(int(found))


def _folded(name: str, args: list[Lin]) -> Lin:
    found = Int(args[0])
    for arg in args[1:]:
        found = operation(name, found, Int(arg))  # type: ignore[assignment]
    return linear(found)


def shape_of(descriptor: Any, symbols: Symbols) -> tuple[Lin, ...]:
    """The extents of an array; ``max(1, n)`` is read as n: the writer uses it as DaCe has no extent of 0."""
    return tuple(form_of(_extent(size), symbols) for size in descriptor.shape)


def _extent(size: Any) -> Any:
    if isinstance(size, sympy.Max) and sympy.Integer(1) in size.args:
        (rest,) = (arg for arg in size.args if arg != 1) if len(size.args) == 2 else (size,)
        return rest
    return size
