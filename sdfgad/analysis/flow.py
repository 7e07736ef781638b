"""Which writes destroy a value that the reverse sweep needs.

A request is a value that the adjoint of a statement reads, as it stands just before or just after that statement; a
write needs its old values saved exactly if some request may be followed by it with no other write to the same
element in between. Affine accesses are exact; others are taken to touch whatever they may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import islpy as isl

from sdfgad.analysis.model import Params, Place, Touch, after, depth_of, flow, placed, sink_of, source_of, touch
from sdfgad.ir.program import Access, Block, Statement, writes_of

BEFORE, WRITE, AFTER = 0, 1, 2


@dataclass(frozen=True)
class Request:
    """A value that the adjoint of a statement reads: `phase` is BEFORE or AFTER that statement runs."""

    access: Access
    params: Params
    phase: int


class Destruction:
    """Answers, for one program, which writes destroy requested values; what was asked before is remembered."""

    def __init__(self, body: Block, context: isl.Set) -> None:
        self.context, self.placed, self.depth = context, placed(body), depth_of(body)
        self.rewritten = _rewritten(self.placed)
        self._writers: dict[str, list[int]] = {}
        for number, statement, _ in self.placed:
            for buffer in dict.fromkeys(access.buffer for access, _ in writes_of(statement)):
                self._writers.setdefault(buffer, []).append(number)
        self._writes: dict[str, tuple[list[Touch], list[int]]] = {}
        self._hits: dict[str, dict[tuple[int, Request], frozenset[int]]] = {}

    def of(self, requests: Mapping[int, Iterable[Request]], only: frozenset[str]) -> frozenset[tuple[int, str]]:
        """The statements, by number, and the buffers of theirs whose overwritten values are requested.

        Statements are numbered in the order of `analysis.model.numbered`. Only buffers in `only` are looked at.
        """
        wanted: dict[str, set[tuple[int, Request]]] = {}
        for number, asked in requests.items():
            for request in asked:
                if request.access.buffer in only and request.access.buffer in self.rewritten:
                    wanted.setdefault(request.access.buffer, set()).add((number, request))
        return frozenset(
            (n, buffer)
            for buffer, asked in wanted.items()
            for numbers in self.hits(asked, buffer).values()
            for n in numbers
        )

    def hits(self, requests: Iterable[tuple[int, Request]], buffer: str) -> dict[tuple[int, Request], frozenset[int]]:
        """For each request for a buffer, by the number of its statement: the writes that destroy what it asks for."""
        wanted = set(requests)
        if buffer not in self.rewritten:
            return dict.fromkeys(wanted, frozenset())
        known = self._hits.setdefault(buffer, {})
        # All that are new in one question: isl takes about as long for many as for one.
        new = sorted(wanted - known.keys(), key=lambda item: (item[0], str(item[1].access), item[1].phase))
        if new:
            known.update(zip(new, self._found(buffer, new), strict=True))
        return {request: known[request] for request in wanted}

    def _found(self, buffer: str, wanted: list[tuple[int, Request]]) -> list[frozenset[int]]:
        """The destroying writes of each request; their order is of no consequence but for isl's time."""
        writes, numbers = self._writes_to(buffer)
        sources: list[Touch] = []
        for number, request in wanted:
            _, statement, place = self.placed[number]
            there = after(statement, place)
            label = f"Q{len(sources)}"
            sources.append(touch(label, there, request.access, request.params, request.phase, self.depth, self.context))
        found = flow(writes, sources, [w for w in writes if w.is_exact])
        if found is None:
            # Saving what is not needed costs memory; not saving what is would cost the gradient.
            return [frozenset(numbers)] * len(wanted)
        hits: list[set[int]] = [set() for _ in wanted]
        for dependence in found:
            if source_of(dependence).startswith("Q"):
                hits[int(source_of(dependence)[1:])].add(numbers[int(sink_of(dependence)[1:])])
        return [frozenset(one) for one in hits]

    def _writes_to(self, buffer: str) -> tuple[list[Touch], list[int]]:
        if buffer not in self._writes:
            touches: list[Touch] = []
            numbers: list[int] = []
            for number in self._writers[buffer]:
                _, statement, place = self.placed[number]
                for access, params in writes_of(statement):
                    if access.buffer == buffer:
                        label = f"W{len(numbers)}"
                        touches.append(touch(label, place, access, params, WRITE, self.depth, self.context))
                        numbers.append(number)
            self._writes[buffer] = (touches, numbers)
        return self._writes[buffer]


def _rewritten(places: list[tuple[int, Statement, Place]]) -> frozenset[str]:
    """Buffers that are written more than once; the one write of another destroys nothing."""
    writers: Counter[str] = Counter()
    for _, statement, place in places:
        for access, _ in writes_of(statement):
            writers[access.buffer] += 2 if place.counters else 1
    return frozenset(name for name, count in writers.items() if count > 1)
