"""Loop-invariant code motion (LICM) of arrays: factorisations, products, sums and slow functions leave loops.

``for t in range(T): u = np.linalg.solve(np.eye(n) + dt * K, u)`` factors one matrix, before the loop. What takes more
work than a load moves where it is the same in each trip, and with it what it is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain

from sdfgad.dependence.intervals import interval
from sdfgad.dependence.regions import overwrites
from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import BOOL, INT, Const, Int, Lin, Op, postorder, reads, symbols_of
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import (
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    reads_of,
    touch_counts,
    walk,
    with_blocks,
)
from sdfgad.optimise.blocks import flat_map


def move_invariants(program: Program) -> Program:
    """The program with such statements before the loops around them, as far out as possible."""
    counts = touch_counts(program.body)
    kept = program.interface.union(name for name, buffer in program.buffers.items() if buffer.is_pinned)

    def moved(statement: Statement) -> Block:
        statement = with_blocks(statement, partial(flat_map, each=moved))
        return (
            _Invariants(statement, program.buffers, kept, counts).split()
            if isinstance(statement, Loop)
            else (statement,)
        )

    return program.with_body(flat_map(program.body, moved))


class _Invariants:
    """The statements of a loop's body that do the same in each trip."""

    def __init__(
        self, loop: Loop, buffers: Mapping[str, Buffer], kept: frozenset[str], counts: Mapping[str, int]
    ) -> None:
        self.loop, self.buffers, self.kept, self.counts = loop, buffers, kept, counts
        self.within = touch_counts(loop.body)
        self.has_trips = loop.trips.is_const and loop.trips.const > 0 and not loop.is_open
        self.writers: dict[str, list[int]] = {}
        self.readers: dict[str, list[int]] = {}
        for place, statement in enumerate(loop.body):
            for name in statement.written:
                self.writers.setdefault(name, []).append(place)
            for name in _names_read(statement):
                self.readers.setdefault(name, []).append(place)

    def split(self) -> Block:
        """The statements that leave the loop, and the loop."""
        body = self.loop.body
        chosen = self.with_origins(place for place in self.places() if _is_worth_a_load(body[place]))
        if not chosen or len(chosen) == len(body) or self.loop.trips == Lin(1):
            return (self.loop,)
        rest = tuple(one for place, one in enumerate(body) if place not in chosen)
        moved = tuple(body[place] for place in sorted(chosen))
        return (*self.if_there_are_trips(moved), with_blocks(self.loop, lambda _: rest))

    def if_there_are_trips(self, moved: Block) -> Block:
        """Statements that run only if the loop does: else a matrix may be singular, or a derivative infinite."""
        if self.has_trips:
            return moved
        trips = self.loop.trips
        condition = Op("less", (Const(0, INT), Int(trips)), BOOL)
        guards = () if reads(Int(trips)) else (trips - 1,)
        return (Branch(condition, moved, (), guards=guards, where=self.loop.where),)

    def places(self) -> set[int]:
        """The places of invariant statements: the greatest fixed point of what their operands demand."""
        places = {place for place, statement in enumerate(self.loop.body) if self.may_move(statement)}
        movable = {name for name in self.writers if self.is_the_same_again(name)}
        while True:
            fixed = {name for name in movable if places.issuperset(self.writers[name])}
            varying = self.writers.keys() - fixed
            left = {place for place in places if self.loop.body[place].touched.isdisjoint(varying)}
            if left == places:
                return places
            places = left

    def with_origins(self, roots: Iterable[int]) -> set[int]:
        """Statements, with those that write what they touch."""
        chosen, waiting = set[int](), list(roots)
        while waiting:
            place = waiting.pop()
            if place not in chosen:
                chosen.add(place)
                waiting.extend(w for name in self.loop.body[place].touched for w in self.writers.get(name, ()))
        return chosen

    def may_move(self, statement: Statement) -> bool:
        """Whether a statement itself does not depend on the counter, and may run where the loop has no trips."""
        if isinstance(statement, Call):
            return _is_pure(statement)
        if not isinstance(statement, Compute) or self.loop.var in _symbols(statement):
            return False
        return self.has_trips or _is_within_bounds(statement, self.buffers)

    def is_the_same_again(self, name: str) -> bool:
        """Whether another run of the statements that write a buffer, if these are invariant, leaves it as it is."""
        if name in self.kept or any(read.buffer == name for read in reads_of(self.loop)):
            return False
        if not self.has_trips and self.counts[name] != self.within[name]:
            return False  # It may have another value where the loop has no trips.
        writers = self.writers[name]
        is_read_after = all(place > writers[-1] or place in writers for place in self.readers.get(name, ()))
        first, *_ = written = [self.loop.body[place] for place in writers]
        begins = overwrites(first, self.buffers[name]) and name not in _names_read(first)
        return is_read_after and (begins or all(_only_assigns(one, name) for one in written))


def _names_read(statement: Statement) -> set[str]:
    return {read.buffer for nested in walk((statement,)) for read in nested.read}


def _symbols(statement: Compute) -> set[str]:
    forms = chain(statement.target.index, (extent for _, extent in statement.params))
    return symbols_of(statement.value, *map(Int, forms))


def _only_assigns(statement: Statement, name: str) -> bool:
    """Whether the values that a statement gives a buffer do not depend on those that it has."""
    assigns = statement.assigns if isinstance(statement, Compute) else isinstance(statement, Call)
    return assigns and name not in _names_read(statement)


def _is_pure(call: Call) -> bool:
    function = LIBRARY[call.name]
    is_own = function.procedure is not None or function.pullback != ""
    return not (function.is_ordered or is_own or call.name == "pure_callback")


def _is_within_bounds(statement: Compute, buffers: Mapping[str, Buffer]) -> bool:
    """Whether all elements that a statement touches exist, wherever it runs."""
    places = ((statement.target.buffer, statement.target.index), *((r.buffer, r.index) for r in statement.read))
    bound = dict(statement.params)
    return all(
        _is_index(form, extent, bound)
        for name, index in places
        for form, extent in zip(index, buffers[name].shape, strict=True)
    )


def _is_index(form: Lin, extent: Lin, bound: dict[str, Lin]) -> bool:
    span = interval(form, bound)
    return span is not None and span[0] == Lin(0) and extent.is_const and span[1] >= 0 and span[2] < extent.const


def _is_worth_a_load(statement: Statement) -> bool:
    """Whether a statement takes more work than to load what it computes: a function, a sum, or a library call."""
    if not isinstance(statement, Compute):
        return True
    is_sum = len(own_params(statement)) < len(statement.params)
    return is_sum or any(isinstance(node, Op) and OPERATIONS[node.name].is_slow for node in postorder(statement.value))
