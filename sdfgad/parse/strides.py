"""Linearisation of indices in row-major order, and its inverse."""

from __future__ import annotations

import math

from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear
from sdfgad.parse.values import Index


def ravelled(index: Index, sizes: list[int]) -> Lin:
    flat = Lin(0)
    for i, extent in zip(index, sizes, strict=True):
        flat = flat.scaled(extent) + i
    return flat


def unravelled(flat: Lin, sizes: list[int]) -> Index:
    """The index of the element at position `flat`; terms that are multiples of a stride need no division."""
    if 0 in sizes:
        # An empty array: never evaluated.
        return (Lin(0),) * len(sizes)
    result: list[Lin] = []
    wide = [position for position, extent in enumerate(sizes) if extent != 1]
    for position in range(len(sizes)):
        if position not in wide:
            result.append(Lin(0))
            continue
        stride = math.prod(sizes[position + 1 :])
        index = _quotient(flat, stride)
        result.append(index if position == wide[0] else _remainder(index, sizes[position]))
    return tuple(result)


def _quotient(form: Lin, divisor: int) -> Lin:
    if divisor == 1:
        return form
    exact = Lin(form.const - form.const % divisor, tuple((a, c) for a, c in form.terms if c % divisor == 0))
    rest = form - exact
    whole = Lin(exact.const // divisor, tuple((a, c // divisor) for a, c in exact.terms))
    if rest.is_const and 0 <= rest.const < divisor:
        return whole
    return whole + as_linear(Op("floor_divide", (Int(rest), Const(divisor, INT)), INT))


def _remainder(form: Lin, divisor: int) -> Lin:
    rest = Lin(form.const % divisor, tuple((a, c) for a, c in form.terms if c % divisor))
    if rest.is_const:
        return rest
    return as_linear(Op("remainder", (Int(rest), Const(divisor, INT)), INT))
