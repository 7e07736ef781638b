"""Strength reduction of index divisions: a parameter used only by quotients and remainders becomes nested counters.

What a reshape needs, ``for p < 12: y[p] = t[p // 4, p % 4]``, becomes ``for a < 3, b < 4: y[4*a + b] = t[a, b]``, and
so do the statements beside it over the same ``p < 12``, to share its loops. The order of the points stays.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import gcd
from typing import TypeGuard

from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import Atom, Expr, Int, Lin, postorder
from sdfgad.ir.folding import division, folded_expression
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Compute, Params, Program, Statement
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.names import names_of


def unravel(program: Program) -> Program:
    """The program with such parameters split."""
    names = names_of(program)

    def each(block: Block) -> Block:
        done = tuple(unravelled(one, names) if isinstance(one, Compute) else one for one in block)
        return _like_neighbours(block, done, names)

    return program.with_body(everywhere(program.body, each))


def _like_neighbours(before: Block, after: Block, names: Names) -> Block:
    """The block with the parameters split that have the extent of one that was split, and share a buffer with it."""
    result, users = list(after), defaultdict[tuple[int, ...], set[str]](set)
    for old, new in zip(before, after, strict=True):
        if isinstance(old, Compute) and isinstance(new, Compute) and len(old.params) == 1 < len(new.params):
            users[tuple(extent.const for _, extent in new.params)] |= new.mentioned
    for digits, mentioned in users.items():
        cuts = [math.prod(digits[k:]) for k in range(len(digits) - 1, 0, -1)]
        flat = [one for one in result if _is_flat(one, math.prod(digits))]
        while found := [one for one in flat if mentioned & one.mentioned]:
            mentioned.update(*(one.mentioned for one in found))
            flat = [one for one in flat if one not in found]
            split = {one: _split(one, one.params[0][0], cuts, names) for one in found}
            result = [split.get(one, one) if isinstance(one, Compute) else one for one in result]
    return tuple(result)


def _is_flat(statement: Statement, size: int) -> TypeGuard[Compute]:
    """Whether a statement computes the elements of a vector of this size."""
    if not isinstance(statement, Compute) or len(statement.params) != 1:
        return False
    ((name, extent),) = statement.params
    return extent == Lin(size) and Lin.symbol(name) in statement.target.index


def unravelled(statement: Compute, names: Names) -> Compute:
    """The statement with such parameters split, and with divisions folded that the ranges of its parameters decide."""
    statement = _without_single(statement)
    if not divisions(statement):
        return statement
    statement = rewritten(statement, {}, statement.params)
    while (changed := _better(statement, names)) is not None:
        statement = changed
    return statement


def _better(statement: Compute, names: Names) -> Compute | None:
    """The statement with one parameter split, if that leaves fewer quotients and remainders."""
    found = divisions(statement)
    for name, extent in statement.params:
        cuts = _chain({cut for atom in found for cut in _cuts(atom, name)}, extent)
        changed = _split(statement, name, cuts, names) if cuts else statement
        if len(divisions(changed)) < len(found):
            return changed
    return None


def _without_single(statement: Compute) -> Compute:
    """The statement without parameters of one value, but for those that are an axis of the target."""
    axes = {Lin.symbol(name) for name, _ in statement.params} & set(statement.target.index)
    single = {name for name, extent in statement.params if extent == Lin(1) and Lin.symbol(name) not in axes}
    if not single:
        return statement
    params = tuple(item for item in statement.params if item[0] not in single)
    statement = rewritten(statement, dict.fromkeys(single, Lin(0)), params)
    is_sum = len(own_params(statement)) < len(params)
    return statement if is_sum or not statement.fresh else replace(statement, accumulate=None, fresh=False)


def rewritten(statement: Compute, symbols: dict[str, Lin], params: Params) -> Compute:
    """A statement over other parameters, with divisions folded that their ranges decide."""
    ranges = {name: (0, extent.const - 1) for name, extent in params if extent.is_const}
    index = tuple(folded_expression(Int(lin), symbols, ranges) for lin in statement.target.index)
    target = Access(statement.target.buffer, tuple(as_form(node) for node in index))
    return replace(statement, params=params, target=target, value=folded_expression(statement.value, symbols, ranges))


def as_form(node: Expr) -> Lin:
    assert isinstance(node, Int)
    return node.value


def _split(statement: Compute, name: str, cuts: list[int], names: Names) -> Compute:
    """The statement with a parameter as digits, ``sum of cut * digit``, the highest one outermost."""
    params: list[tuple[str, Lin]] = []
    form = Lin(0)
    for other, extent in statement.params:
        if other != name:
            params.append((other, extent))
            continue
        for low, high in reversed(list(pairwise([1, *cuts, extent.const]))):
            digit = names.fresh(name)
            params.append((digit, Lin(high // low)))
            form = form + Lin.symbol(digit).scaled(low)
    return rewritten(statement, {name: form}, tuple(params))


def divisions(statement: Compute) -> list[Expr]:
    """The quotients and remainders of a statement's indices."""
    roots = (*(Int(lin) for lin in statement.target.index), statement.value)
    return [node for node in postorder(*roots) if division(node) is not None]


def _cuts(atom: Atom, name: str) -> Iterator[int]:
    """The divisors of a parameter at which a quotient steps or a remainder restarts."""
    parts = division(atom)
    if parts is None:
        return
    _, dividend, divisor = parts
    for inner, coefficient in dividend.terms:
        step = divisor // gcd(coefficient, divisor)
        if inner == name:
            yield step
        nested = division(inner)
        if nested is not None and nested[0] == "floor_divide" and nested[1].coefficient(name) == 1:
            yield nested[2] * step


def _chain(cuts: set[int], extent: Lin) -> list[int]:
    """The divisors in ascending order, if each divides the next one, and the last one the extent."""
    if not extent.is_const:
        return []
    chain = sorted(cut for cut in cuts if 1 < cut < extent.const)
    return chain if all(high % low == 0 for low, high in pairwise([*chain, extent.const])) else []
