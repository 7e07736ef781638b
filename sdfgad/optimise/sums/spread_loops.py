"""Loop distribution with scalar expansion: loops that compute products step by step become products over all trips.

``for j: t[j] = 0; for p: t[j] += a[i, p] * b[p, j]`` becomes ``for j: t[j] = 0`` and
``for j, p: t[j] += a[i, p] * b[p, j]``, if no trip touches what another one changes: a product that BLAS does, and so
are its adjoints, as this runs before differentiation. A scalar that each trip assigns becomes an array with an element
for each trip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Expr, Lin, Read, reads, symbols_in
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Loop,
    Params,
    Program,
    Statement,
    buffers_of,
    rewrite_statement,
    transform,
    walk,
    written,
)
from sdfgad.optimise.sums.terms import is_counted
from sdfgad.schedule.products import product_of


def spread_loops(program: Program) -> Program:
    """The program with such loops distributed."""
    spreading = _Spreading(program)
    body = transform(program.body, spreading.statement)
    mentioned = {name for statement in walk(body) for name in buffers_of(statement)}
    gone = spreading.expanded - mentioned
    kept = {name: buffer for name, buffer in spreading.buffers.items() if name not in gone}
    return replace(program, body=body, buffers=kept)


class _Spreading:
    def __init__(self, program: Program) -> None:
        self.buffers = dict(program.buffers)
        self.uses = Counter(name for statement in walk(program.body) for name in buffers_of(statement))
        self.outside = program.interface
        self.expanded: set[str] = set()

    def statement(self, statement: Statement) -> Block:
        """The statements of a loop's body, each over all trips, or the loop itself."""
        if not isinstance(statement, Loop) or not is_counted(statement):
            return (statement,)
        computes = [part for part in statement.body if isinstance(part, Compute)]
        if len(computes) < len(statement.body) or not all(_is_box(statement, part) for part in computes):
            return (statement,)
        numbers = [name for name in sorted(written(statement.body)) if self.is_own(name, computes)]
        arrays = {name: replace(self.buffers[name], name=f"{name}_all", shape=(statement.trips,)) for name in numbers}
        computes = [_with_axis(part, arrays, statement.var) for part in computes]
        loop = replace(statement, body=tuple(computes))
        spread = tuple(_spread(loop, part) for part in computes)
        known = {**self.buffers, **{array.name: array for array in arrays.values()}}
        is_product = any(product_of(part, known) is not None for part in spread)
        # A number that says how often something is done is another one in each trip now.
        if (
            not is_product
            or not all(_is_box(loop, part) for part in computes)
            or not are_independent(uses_of(loop), loop.var)
        ):
            return (statement,)
        self.buffers = known
        self.expanded |= arrays.keys()
        return spread

    def is_own(self, name: str, body: list[Compute]) -> bool:
        """Whether a scalar is private to a trip: assigned before it is read there, and used nowhere else."""
        inside = [part for part in body if name in buffers_of(part)]
        is_made = inside[0].assigns and all(read.buffer != name for read in reads(inside[0].value))
        is_free = name not in self.outside and f"{name}_all" not in self.buffers
        return not self.buffers[name].shape and is_free and is_made and self.uses[name] == len(inside)


def _with_axis(statement: Compute, arrays: Mapping[str, Buffer], var: str) -> Compute:
    """A statement with scalars expanded to elements of arrays, one for each trip."""
    place = (Lin.symbol(var),)

    def element(node: Expr) -> Expr | None:
        is_number = isinstance(node, Read) and node.buffer in arrays
        return Read(arrays[node.buffer].name, place, node.dtype) if is_number and isinstance(node, Read) else None

    changed = rewrite_statement(statement, replace_node=element)
    array = arrays.get(changed.target.buffer)
    return changed if array is None else replace(changed, target=Access(array.name, place))


def _is_box(loop: Loop, statement: Compute) -> bool:
    return loop.var not in symbols_in(extent for _, extent in statement.params)


def _spread(loop: Loop, statement: Compute) -> Compute:
    """A statement for all trips, with parameters in the order of the axes of what it writes."""
    params: Params = ((loop.var, loop.trips), *statement.params)
    axes = {name: axis for axis, lin in enumerate(statement.target.index) for name in lin.symbols}
    ordered = sorted(params, key=lambda param: axes.get(param[0], len(axes)))
    return replace(statement, params=tuple(ordered))
