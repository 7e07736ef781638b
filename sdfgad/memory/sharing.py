"""Thread-level parallelism: which loops threads share, and how far apart trips must be to run at the same time."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from sdfgad.dependence.distance import dependence_distance
from sdfgad.dependence.uses import Use
from sdfgad.ir.expr import Int, Lin, reads
from sdfgad.ir.program import Buffer, Loop, written
from sdfgad.memory.lifetimes import has_small_calls
from sdfgad.schedule.loop_facts import free_symbols
from sdfgad.schedule.products import has_small_products
from sdfgad.schedule.target import cpu
from sdfgad.schedule.thread_independence import has_calls, is_independent, maximum_reductions, uses_by_buffer
from sdfgad.schedule.work import is_worth_threads, work_of


def distance_of(loop: Loop, private: Collection[str], buffers: Mapping[str, Buffer]) -> int | None:
    """The number of trips between which threads do not conflict; None if threads should not share the loop.

    It is 1 if all trips may run at once; a larger number if trips nearer than that may add to the same elements.

    Args:
        private: the temporaries of one trip.
    """
    calls, free = has_calls(loop), set(private)
    is_one = loop.is_parallel and not loop.backward and loop.start == Lin(0)
    speed = cpu().product_speed if has_small_products(loop, buffers) else 1
    if not is_worth_threads((loop,), speed) or not (calls or is_one):
        return None
    if calls:
        if not has_small_calls(loop) or not is_independent(loop, free):
            return None
        free |= maximum_reductions(loop)
    found = [(buffers[name], uses) for name, uses in uses_by_buffer(loop).items() if name not in free]
    distances = [_distance_for(buffer, uses, loop) for buffer, uses in found]
    known = [distance for distance in distances if distance is not None]
    distance = max(known, default=1)
    return distance if len(known) == len(distances) and not (calls and distance > 1) else None


def _distance_for(buffer: Buffer, uses: list[Use], loop: Loop) -> int | None:
    """The same for one buffer, which trips may read, or write at different elements, or add to."""
    if buffer.is_single:
        return 1 if len({use.kind for use in uses}) == 1 and uses[0].kind != "write" else None
    # What is assigned no other trip touches, but other places in the loop may add to the same element.
    if any(dependence_distance([use], loop.var) != 1 for use in uses if use.kind == "write"):
        return None
    apart = dependence_distance([use for use in uses if use.kind == "add"], loop.var)
    return 1 if apart is None and is_array_sum(buffer, uses, loop) else apart


def is_array_sum(buffer: Buffer, uses: list[Use], loop: Loop) -> bool:
    """Reduction privatisation: whether all of a loop only adds to a small slice, so that each part can have a copy."""
    extents = buffer.shape[len(fixed_index(uses, loop)) :]
    size = math.prod(extent.const if extent.is_const else cpu().private_elements + 1 for extent in extents)
    # Elements of a vector of booleans have no addresses.
    is_small = 0 < size <= cpu().private_elements and buffer.dtype.kind != "b"
    is_sum = all(use.kind == "add" for use in uses) and dependence_distance(uses, loop.var) is None
    return is_small and is_sum and size * cpu().few_parts * cpu().few_parts <= work_of((loop,))


def fixed_index(uses: list[Use], loop: Loop) -> tuple[Lin, ...]:
    """The first axes along which all accesses are at one place in all trips: a slice of the array is touched."""
    outside, changed, found = free_symbols((loop,)), written(loop.body), list[Lin]()
    for forms in zip(*(use.index for use in uses), strict=True):
        is_one = len(set(forms)) == 1 and forms[0].symbols <= outside
        if not is_one or not changed.isdisjoint(read.buffer for read in reads(Int(forms[0]))):
            break
        found.append(forms[0])
    return tuple(found)
