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

from sdfgad.analysis.model import Params, Touch, depth_of, flow, placed, sink_of, source_of, touch
from sdfgad.ir.program import Access, Block, Compute

BEFORE, WRITE, AFTER = 0, 1, 2


@dataclass(frozen=True)
class Request:
    """A value that the adjoint of a statement reads: `phase` is BEFORE or AFTER that statement runs."""

    access: Access
    params: Params
    phase: int


def _rewritten(body: Block) -> frozenset[str]:
    """Buffers that are written more than once; the one write of another destroys nothing."""
    writers: Counter[str] = Counter()
    for _, statement, place in placed(body):
        if isinstance(statement, Compute):
            writers[statement.target.buffer] += 2 if place.counters else 1
    return frozenset(name for name, count in writers.items() if count > 1)


def destroying_writes(
    body: Block, context: isl.Set, requests: Mapping[int, Iterable[Request]], only: frozenset[str]
) -> frozenset[int]:
    """Numbers of the statements whose overwritten values are requested.

    Statements are numbered in the order of `analysis.model.numbered`. Only buffers in `only` are looked at.
    """
    only = only & _rewritten(body)
    depth = depth_of(body)
    wanted: list[Touch] = []
    writes: list[Touch] = []
    numbers: list[int] = []
    for number, statement, place in placed(body):
        for request in requests.get(number, ()):
            if request.access.buffer in only:
                label = f"Q{len(wanted)}"
                wanted.append(touch(label, place, request.access, request.params, request.phase, depth, context))
        if isinstance(statement, Compute) and statement.target.buffer in only:
            numbers.append(number)
            writes.append(touch(f"W{number}", place, statement.target, statement.params, WRITE, depth, context))
    if not wanted or not writes:
        return frozenset()
    found = flow(writes, wanted, [w for w in writes if w.is_exact])
    if found is None:
        # Saving what is not needed costs memory; not saving what is would cost the gradient.
        return frozenset(numbers)
    return frozenset(int(sink_of(d)[1:]) for d in found if source_of(d).startswith("Q"))
