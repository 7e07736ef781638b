"""To-be-recorded (TBR) analysis: which writes overwrite a value that the reverse sweep needs.

A request is a value that the adjoint of a statement reads, as it is just before or just after that statement. A write
must save the values that it overwrites exactly if it may follow a request with no other write to the same element in
between. Affine accesses are exact; any other is assumed to access each element that it may access.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import islpy as isl

from sdfgad.analysis.dataflow import flow
from sdfgad.analysis.model import (
    AccessRelation,
    Params,
    Place,
    access_relation,
    after,
    depth_of,
    placed,
)
from sdfgad.dependence.regions import overwrites
from sdfgad.ir.program import Access, Block, Buffer, Loop, Statement, blocks_of, writes_of

BEFORE, WRITE, AFTER = 0, 1, 2


@dataclass(frozen=True)
class Request:
    """A value that the adjoint of a statement reads, as it is BEFORE or AFTER (`phase`) that statement runs."""

    access: Access
    params: Params
    phase: int


class OverwriteAnalysis:
    """TBR analysis of one program: which writes overwrite requested values. Its answers are cached."""

    def __init__(self, body: Block, buffers: Mapping[str, Buffer], context: isl.Set) -> None:
        self.buffers, self.context, self.placed, self.depth = buffers, context, placed(body), depth_of(body)
        self._around = _repeating_loops(body)
        self.rewritten = _rewritten(self.placed)
        self._writers: dict[str, list[int]] = {}
        for number, statement, _ in self.placed:
            for buffer in dict.fromkeys(access.buffer for access, _ in writes_of(statement)):
                self._writers.setdefault(buffer, []).append(number)
        self._writes: dict[str, tuple[list[AccessRelation], list[int]]] = {}
        self._hits: dict[str, dict[tuple[int, Request], frozenset[int]]] = {}

    def of(self, requests: Mapping[int, Iterable[Request]], only: frozenset[str]) -> frozenset[tuple[int, str]]:
        """Pairs (statement number, buffer): the statement overwrites requested values of the buffer.

        Statements are numbered as by `analysis.model.numbered`. Only the buffers in `only` are considered.
        """
        wanted: dict[str, set[tuple[int, Request]]] = {}
        for number, asked in requests.items():
            for request in asked:
                if request.access.buffer in only and request.access.buffer in self.rewritten:
                    wanted.setdefault(request.access.buffer, set()).add((number, request))
        return frozenset(
            (n, buffer)
            for buffer, asked in wanted.items()
            for numbers in self.destroying_writes(asked, buffer).values()
            for n in numbers
        )

    def destroying_writes(
        self, requests: Iterable[tuple[int, Request]], buffer: str
    ) -> dict[tuple[int, Request], frozenset[int]]:
        """Pair (statement number, request) for a buffer -> numbers of the writes that overwrite the requested value."""
        wanted = set(requests)
        if buffer not in self.rewritten:
            return dict.fromkeys(wanted, frozenset())
        known = self._hits.setdefault(buffer, {})
        known.update(self._by_next_trip(buffer, wanted - known.keys()))
        # One call of isl for all: it takes about as long for many requests as for one.
        unknown = sorted(wanted - known.keys(), key=lambda item: (item[0], str(item[1].access), item[1].phase))
        if unknown:
            known.update(zip(unknown, self._found(buffer, unknown), strict=True))
        return {request: known[request] for request in wanted}

    def _by_next_trip(
        self, buffer: str, wanted: set[tuple[int, Request]]
    ) -> Iterator[tuple[tuple[int, Request], frozenset[int]]]:
        """The answers for an array that one statement overwrites, wholly, in each trip of a loop around the request.

        That is most temporaries of a time loop; isl would find the same.
        """
        (writer, *others) = self._writers[buffer]
        if others or not overwrites(self.placed[writer][1], self.buffers[buffer]):
            return
        loops = self._around[writer]
        for number, request in wanted:
            if any(one is other for one in loops for other in self._around[number]):
                yield (number, request), frozenset((writer,))

    def _found(self, buffer: str, wanted: list[tuple[int, Request]]) -> list[frozenset[int]]:
        """The writes that overwrite each requested value. The order of `wanted` only affects isl's run time."""
        writes, numbers = self._writes_to(buffer)
        sources: list[AccessRelation] = []
        for number, request in wanted:
            _, statement, place = self.placed[number]
            there = after(statement, place)
            label = f"Q{len(sources)}"
            sources.append(
                access_relation(label, there, request.access, request.params, request.phase, self.depth, self.context)
            )
        found = flow(writes, sources, [w for w in writes if w.is_exact])
        if found is None:
            # Conservative: a value that is saved in vain costs memory, a missing one makes the gradient wrong.
            return [frozenset(numbers)] * len(wanted)
        hits: list[set[int]] = [set() for _ in wanted]
        for source, sink in found:
            if source.startswith("Q"):
                hits[int(source[1:])].add(numbers[int(sink[1:])])
        return [frozenset(one) for one in hits]

    def _writes_to(self, buffer: str) -> tuple[list[AccessRelation], list[int]]:
        if buffer not in self._writes:
            relations: list[AccessRelation] = []
            numbers: list[int] = []
            for number in self._writers[buffer]:
                _, statement, place = self.placed[number]
                for access, params in writes_of(statement):
                    if access.buffer == buffer:
                        label = f"W{len(numbers)}"
                        relations.append(access_relation(label, place, access, params, WRITE, self.depth, self.context))
                        numbers.append(number)
            self._writes[buffer] = (relations, numbers)
        return self._writes[buffer]


def _repeating_loops(body: Block) -> list[tuple[Loop, ...]]:
    """For each statement, by number, the loops of several trips around it; none within a branch."""
    found: list[tuple[Loop, ...]] = []

    def visit(block: Block, loops: tuple[Loop, ...], in_branch: bool) -> None:
        for statement in block:
            found.append(() if in_branch else loops)
            if isinstance(statement, Loop):
                is_one = statement.trips.is_const and statement.trips.const <= 1
                visit(statement.body, loops if is_one else (*loops, statement), in_branch)
            else:
                for inner in blocks_of(statement):
                    visit(inner, loops, True)

    visit(body, (), False)
    return found


def _rewritten(places: list[tuple[int, Statement, Place]]) -> frozenset[str]:
    """Buffers that are written more than once; a single write overwrites no computed value."""
    writers: Counter[str] = Counter()
    for _, statement, place in places:
        for access, _ in writes_of(statement):
            writers[access.buffer] += 2 if place.counters else 1
    return frozenset(name for name, count in writers.items() if count > 1)
