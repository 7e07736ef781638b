"""Priority queues of Python's module heapq: lists in which each item is at most as great as the two below it.

Items end where CPython's functions leave them, also those that compare as equal. Which places are looked at is known of
the length alone, so that data may decide the order.
"""

from __future__ import annotations

import itertools
from typing import Any

from sdfgad.parse.registry import definitions

_heapq = definitions("heapq")


@_heapq("heappush")
def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _rise(heap, len(heap) - 1)


@_heapq("heappop")
def heappop(heap: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return first


@_heapq("heapify")
def heapify(x: Any) -> None:
    for place in reversed(range(len(x) // 2)):
        _sink(x, place)


@_heapq("heapreplace")
def heapreplace(heap: Any, item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return first


@_heapq("heappushpop")
def heappushpop(heap: Any, item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


@_heapq("nlargest")
def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@_heapq("nsmallest")
def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[: max(n, 0)]


@_heapq("merge")
def merge(*iterables: Any, key: Any = None, reverse: Any = False) -> Any:
    """Of sequences that are sorted: a stable sort puts them in the same order."""
    return iter(sorted(itertools.chain.from_iterable(iterables), key=key, reverse=reverse))


def _rise(heap: Any, place: Any) -> None:
    """Exchange an item with the one above it as long as that is greater."""
    above = (place - 1) // 2
    if place > 0 and heap[place] < heap[above]:
        heap[place], heap[above] = heap[above], heap[place]
        _rise(heap, above)


def _sink(heap: Any, place: Any) -> None:
    """Exchange an item with the lesser of the two below it as long as it is not less than that."""
    left, right = 2 * place + 1, 2 * place + 2
    if right < len(heap) and not heap[left] < heap[right]:
        _sink_to(heap, place, right)
    elif left < len(heap):
        _sink_to(heap, place, left)


def _sink_to(heap: Any, place: Any, below: Any) -> None:
    if not heap[place] < heap[below]:
        heap[place], heap[below] = heap[below], heap[place]
        _sink(heap, below)
