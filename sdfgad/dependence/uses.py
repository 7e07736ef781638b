"""Access analysis: which elements of which buffers statements read, write, or add to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Branch, Compute, Loop, Params, Statement, boxed_reads, writes_of

UNKNOWN = Lin(-1)


@dataclass(frozen=True)
class Use:
    """A statement's access to elements of a buffer.

    Attributes:
        bound: the counters and parameters bound within the statement, with their extents; they start at 0. The
            extent is `UNKNOWN` for a loop with another start or an open loop.
        kind: "read", "write", or "add" for an accumulation that commutes with others.
        is_once: whether the access is injective: no two points of the box access the same element.
    """

    buffer: str
    index: tuple[Lin, ...]
    bound: Params
    kind: str
    is_once: bool = False

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.bound)

    @property
    def as_write(self) -> Use:
        """A contribution as a write, for trips or threads that must not add to one element at the same time."""
        return replace(self, kind="write") if self.kind == "add" else self

    @property
    def is_affine(self) -> bool:
        """Whether indices and extents are affine in symbols: no quotients, and nothing that is read from an array."""
        return all(lin.is_affine for lin in (*self.index, *(extent for _, extent in self.bound)))

    def mentions(self, counter: str) -> bool:
        """Whether a counter is in the index."""
        return any(counter in lin.symbols for lin in self.index)


@lru_cache(maxsize=50_000)
def uses_of(statement: Statement) -> tuple[Use, ...]:
    """The accesses of a statement and of all statements nested in it."""
    return tuple(_uses(statement, (), None))


def uses_of_buffer(statement: Statement, name: str) -> list[Use]:
    """Those of one buffer, found without a look at statements that do not mention it."""
    return [use for use in _uses(statement, (), name) if use.buffer == name]


def _uses(statement: Statement, bound: Params, only: str | None) -> Iterator[Use]:
    if only is not None and only not in statement.mentioned:
        return
    for read, params in boxed_reads(statement):
        yield Use(read.buffer, read.index, (*bound, *params), "read")
    for access, params in writes_of(statement):
        is_sum = isinstance(statement, Compute) and statement.accumulate == "add" and not statement.fresh
        is_once = not bound and isinstance(statement, Compute) and statement.accumulate is None
        yield Use(access.buffer, access.index, (*bound, *params), "add" if is_sum else "write", is_once)
    if isinstance(statement, Loop):
        extent = statement.trips if statement.start == Lin(0) and not statement.is_open else UNKNOWN
        for nested in statement.body:
            yield from _uses(nested, (*bound, (statement.var, extent)), only)
    elif isinstance(statement, Branch):
        for nested in (*statement.then, *statement.orelse):
            yield from _uses(nested, bound, only)


def conflict(a: Use, b: Use) -> bool:
    """Whether two uses conflict where they access the same element: unless both read or both add."""
    return a.buffer == b.buffer and not (a.kind == b.kind and a.kind in ("read", "add"))


def own_params(statement: Compute) -> Params:
    """The parameters in the target's index, in the order of its axes; the others are summed over."""
    axes = {name: axis for axis, lin in enumerate(statement.target.index) for name in lin.symbols}
    named = [(name, extent) for name, extent in statement.params if name in axes]
    return tuple(sorted(named, key=lambda item: axes[item[0]]))
