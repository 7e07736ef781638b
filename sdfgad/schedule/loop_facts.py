"""Loop analysis: reductions, vectorisable loops, and the free symbols of blocks."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sdfgad.dependence.order import are_independent
from sdfgad.dependence.uses import UNKNOWN, Use
from sdfgad.ir.expr import Lin, symbols_in, symbols_of
from sdfgad.ir.program import Access, Block, Branch, Compute, Loop, reads_of


def scalar_reductions(body: Block, var: str) -> dict[Access, str]:
    """The scalar reductions of a loop: elements that trips only add to -> names of variables for the sums."""
    found: dict[Access, str] = {}
    read = {node.buffer for statement in body for node in reads_of(statement)}
    for statement in body:
        assert isinstance(statement, Compute)
        name, index = statement.target.buffer, statement.target.index
        alike = [s for s in body if isinstance(s, Compute) and s.target.buffer == name]
        is_sum = all(s.accumulate == "add" and not s.fresh and _aliasing_is_known(s.target.index, index) for s in alike)
        if is_sum and name not in read and var not in symbols_in(index):
            found.setdefault(statement.target, f"sum{len(found)}_")
    return found


def _aliasing_is_known(a: tuple[Lin, ...], b: tuple[Lin, ...]) -> bool:
    """Alias analysis: whether two elements of a buffer are known to be the same, or known to differ."""
    differences = [x - y for x, y in zip(a, b, strict=True)]
    return a == b or any(d.is_const and d.const for d in differences)


def is_vector(loop: Loop, scalars: Collection[str], sums: Mapping[Access, str]) -> bool:
    """Whether a loop can be vectorised: trips write different elements, except for `scalars` and reductions `sums`."""
    added: list[Use] = []
    extent = loop.trips if loop.start == Lin(0) else UNKNOWN
    for statement in loop.body:
        assert isinstance(statement, Compute)
        target = statement.target
        if target.buffer in scalars or target in sums:
            continue
        if loop.var not in symbols_in(target.index):
            return False
        if not statement.assigns:
            # As a write, for what one trip adds no other one may add to at the same time.
            added.append(Use(target.buffer, target.index, ((loop.var, extent),), "write"))
    return are_independent(added, loop.var)


def header_reads(statement: Loop | Branch) -> set[str]:
    """The buffers that a loop's bounds, or a branch's condition, read."""
    return {read.buffer for read in reads_of(statement)}


def free_symbols(block: Block) -> set[str]:
    """The free symbols of a block: all but the counters and parameters that are bound in it."""
    found: set[str] = set()
    for statement in block:
        if isinstance(statement, Loop):
            own = {statement.var}
            found |= symbols_in((statement.start, statement.trips)) | (free_symbols(statement.body) - own)
        elif isinstance(statement, Branch):
            found |= symbols_of(statement.condition) | free_symbols(statement.then) | free_symbols(statement.orelse)
        elif isinstance(statement, Compute):
            lins = (*statement.target.index, *(extent for _, extent in statement.params))
            mentioned = symbols_in(lins) | symbols_of(statement.value)
            found |= mentioned - {name for name, _ in statement.params}
    return found
