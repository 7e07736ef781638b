"""Constant folding and strength reduction: removes integer divisions and remainders that ranges of symbols decide.

Reshaped views are full of them: ``A[(64*p + q) // 64, (64*p + q) % 64]`` is ``A[p, q]`` for q < 64, and the element's
offset in memory, ``64*((16*p + q) // 64) + (16*p + q) % 64``, is ``16*p + q`` for any p and q.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from sdfgad.ir.expr import INT, Atom, Const, Expr, Int, IntLike, Lin, Op, Read, Rewriter, as_linear

# Symbol -> its least and greatest value; other symbols are unbounded.
Ranges = Mapping[str, tuple[int, int]]


def folded(form: Lin, ranges: Ranges) -> Lin:
    """An equal form with fewer divisions and remainders."""
    result = Lin(form.const)
    for atom, coefficient in form.terms:
        result = result + folded_atom(atom, ranges).scaled(coefficient)
    return _recombined(result)


def folded_expression(root: Expr, symbols: Mapping[str, IntLike], ranges: Ranges) -> Expr:
    """An expression after substitution of symbols, with its integer forms folded."""

    def simpler(node: Expr) -> Expr | None:
        if isinstance(node, Read):
            return Read(node.buffer, tuple(folded(lin, ranges) for lin in node.index), node.dtype)
        if isinstance(node, Int):
            return Int(folded(node.value, ranges))
        return Int(folded_atom(node, ranges)) if division(node) is not None else None

    return Rewriter(symbols, simpler)(root)


def folded_atom(atom: Atom, ranges: Ranges) -> Lin:
    """The folded form of an atom."""
    parts = division(atom)
    if parts is None:
        return Lin.symbol(atom)
    name, dividend, divisor = parts
    return _reduced(name, folded(dividend, ranges), divisor, ranges)


def _reduced(name: str, form: Lin, divisor: int, ranges: Ranges) -> Lin:
    """``form // divisor`` or ``form % divisor``; ``c*s + r`` with 0 <= r < c is reduced to s and ``divisor // c``."""
    if divisor == 1:
        return form if name == "floor_divide" else Lin(0)
    if name == "remainder":
        form = _without_remainders(form, divisor)
    for common in sorted({divisor, *(math.gcd(c, divisor) for _, c in form.terms)} - {1}, reverse=True):
        whole, rest = _split(form, common)
        span = _range(rest, ranges)
        if span is not None and span[0] // common == span[1] // common:
            shift = Lin(span[0] // common)
            inner = _reduced(name, whole + shift, divisor // common, ranges)
            return inner if name == "floor_divide" else inner.scaled(common) + rest - shift.scaled(common)
    whole, rest = _split(form, divisor)
    return _divided(name, rest, divisor) if name == "remainder" else whole + _quotient(rest, divisor)


def _without_remainders(form: Lin, divisor: int) -> Lin:
    """An equal form modulo a divisor: ``x % n`` is x, if n is a multiple of it."""
    result = Lin(form.const)
    for atom, coefficient in form.terms:
        parts = division(atom)
        is_alike = parts is not None and parts[0] == "remainder" and coefficient * parts[2] % divisor == 0
        whole = parts[1] if parts is not None and is_alike else Lin.symbol(atom)
        result = result + whole.scaled(coefficient)
    return result


def division(atom: Atom) -> tuple[str, Lin, int] | None:
    """An atom as a quotient or remainder by a positive constant: its name, the dividend, and the divisor."""
    if not isinstance(atom, Op) or atom.name not in ("floor_divide", "remainder") or atom.dtype != INT:
        return None
    dividend, divisor = map(as_linear, atom.args)
    return (atom.name, dividend, divisor.const) if divisor.is_const and divisor.const > 0 else None


def _divided(name: str, form: Lin, divisor: int) -> Lin:
    return Lin.symbol(Op(name, (Int(form), Const(divisor, INT)), INT))


def _quotient(form: Lin, divisor: int) -> Lin:
    """``form // divisor``; nested divisions ``(s + y // e) // d`` become ``(e*s + y) // (e*d)``."""
    inner = [(atom, parts) for atom, c in form.terms for parts in [division(atom)] if parts and c == 1]
    quotients = [(atom, dividend, by) for atom, (name, dividend, by) in inner if name == "floor_divide"]
    if len(quotients) != 1:
        return _divided("floor_divide", form, divisor)
    ((atom, dividend, by),) = quotients
    return _quotient((form - Lin.symbol(atom)).scaled(by) + dividend, by * divisor)


def _split(form: Lin, divisor: int) -> tuple[Lin, Lin]:
    """``(whole, rest)`` with ``form = divisor * whole + rest``; terms divisible by `divisor` are in ``whole``."""
    whole, rest = Lin(form.const // divisor), Lin(form.const % divisor)
    for atom, coefficient in form.terms:
        if coefficient % divisor:
            rest = rest + Lin.symbol(atom).scaled(coefficient)
        else:
            whole = whole + Lin.symbol(atom).scaled(coefficient // divisor)
    return whole, rest


def _range(form: Lin, ranges: Ranges) -> tuple[int, int] | None:
    """Interval analysis: bounds of a form, not always tight; None if a symbol is unbounded."""
    low = high = form.const
    for atom, coefficient in form.terms:
        span = ranges.get(atom) if isinstance(atom, str) else _range_of_division(atom, ranges)
        if span is None:
            return None
        ends = (coefficient * span[0], coefficient * span[1])
        low, high = low + min(ends), high + max(ends)
    return low, high


def _range_of_division(atom: Expr, ranges: Ranges) -> tuple[int, int] | None:
    parts = division(atom)
    if parts is None:
        return None
    name, dividend, divisor = parts
    if name == "remainder":
        return 0, divisor - 1
    span = _range(dividend, ranges)
    return None if span is None else (span[0] // divisor, span[1] // divisor)


def _recombined(form: Lin) -> Lin:
    """The form with each ``c * (x % d) + c*d * (x // d)`` replaced by ``c * x``."""
    for atom, coefficient in form.terms:
        parts = division(atom)
        if parts is None or parts[0] != "remainder":
            continue
        _, dividend, divisor = parts
        quotient = _quotient(dividend, divisor)
        if quotient.terms and form.coefficient(quotient.terms[0][0]) == coefficient * divisor:
            rest = form - Lin.symbol(atom).scaled(coefficient) - quotient.scaled(coefficient * divisor)
            return _recombined(rest + dividend.scaled(coefficient))
    return form
