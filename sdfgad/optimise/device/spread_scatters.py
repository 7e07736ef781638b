"""Loop interchange for a device: contributions that meet in an element are sums, or run in different launches.

In ``x[i + k] += …`` points with different i and k meet, but for one k none do. If an element and k determine i, all is
a sum over k for each element (`gather_windows`); else the host runs k in order, and each trip is a launch over i. So
sums have one order, and no atomics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations

from sdfgad.dependence.hazards import is_injective
from sdfgad.ir.expr import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import Block, Buffer, Compute, Loop, Program, Statement, substituted, transform
from sdfgad.optimise.device.gather_windows import gathered
from sdfgad.optimise.loops.nest import in_two
from sdfgad.optimise.names import names_of
from sdfgad.schedule.kernels import Form, form_of

# More launches than that are worse than a copy to the host.
MOST_TRIPS = 1 << 10


def spread_scatters(program: Program) -> Program:
    """The program with such statements in sequential loops."""
    each = partial(_spread, buffers=program.buffers, names=names_of(program))
    return program.with_body(transform(program.body, each))


def _spread(statement: Statement, buffers: Mapping[str, Buffer], names: Names) -> Block:
    if not isinstance(statement, Compute) or not statement.accumulate or form_of(statement, buffers) is not Form.HOST:
        return (statement,)
    chosen = next((outer for outer in _candidates(statement) if _is_split_by(statement, outer)), None)
    if chosen is None:
        return (statement,)
    if statement.fresh:
        clear, rest = in_two(statement)
        return (clear, *_spread(rest, buffers, names))
    found = gathered(statement, chosen, names)
    if found is not None and form_of(found, buffers) in (Form.POINTS, Form.BLOCK):
        return (found,)
    return (_around(statement, chosen, names),)


def _candidates(statement: Compute) -> Iterator[tuple[str, ...]]:
    """Parameters that may become loops: those with the fewest trips in all come first."""
    own = [name for name, _ in statement.params if any(name in form.symbols for form in statement.target.index)]
    extents = dict(statement.params)
    sets = [c for count in (1, 2, 3) for c in combinations([n for n in own if extents[n].is_const], count)]
    trips = {c: math.prod(extents[name].const for name in c) for c in sets}
    yield from sorted((c for c in sets if trips[c] <= MOST_TRIPS), key=lambda c: trips[c])


def _is_split_by(statement: Compute, outer: tuple[str, ...]) -> bool:
    """Whether points with the same values of some parameters, and different ones of the others, never meet."""
    own = [n for n, _ in statement.params if n not in outer and any(n in f.symbols for f in statement.target.index)]
    return bool(own) and is_injective(statement.target.index, own)


def _around(statement: Compute, outer: tuple[str, ...], names: Names) -> Loop:
    extents = dict(statement.params)
    params = tuple((name, extent) for name, extent in statement.params if name not in outer)
    inner = Compute(params, statement.target, statement.value, statement.accumulate, statement.where)
    body: Block = (inner,)
    for name in reversed(outer):
        counter = names.fresh(name)
        block = substituted(body, {name: Lin.symbol(counter)})
        body = (Loop.over(counter, extents[name], block, statement.where),)
    (loop,) = body
    assert isinstance(loop, Loop)
    return loop
