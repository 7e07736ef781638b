"""The sum over shards of a program's value and gradients: what one process computes, and the order in which it adds.

`sdfgad.distributed` has Dask run this in its workers.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.api.pickling import made_of_sent
from sdfgad.errors import ArgumentError
from sdfgad.parse.sent_source import Text
from sdfgad.parse.structure import build, container, flattened, names, places

T = TypeVar("T")
# How many gradients a process keeps, with what they have compiled.
MOST_KEPT = 32


def pairwise(parts: Iterable[T], add: Callable[[T, T], T]) -> T | None:
    """The sum ``(p0 + p1) + (p2 + p3) ...`` in a binary tree; of n parts it holds no more than log2(n) sums at once.

    None if there are no parts.
    """
    left: list[tuple[int, T]] = []
    for one in parts:
        level, total = 0, one
        while left and left[-1][0] == level:
            level, total = level + 1, add(left.pop()[1], total)
        left.append((level, total))
    totals = [total for _, total in reversed(left)]
    return functools.reduce(lambda later, earlier: add(earlier, later), totals) if totals else None


class Held:
    """A value that Dask passes on as it is, without a look for tasks in it."""

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass(frozen=True)
class Work:
    """What all shards of a call have in common.

    Attributes:
        program, options: what `differentiate` takes.
        texts: those that define the program, where a worker cannot import it.
        digest: equal for the same gradient.
        args, kwargs: the arguments, without those that are split.
        at: the positions or names of these.
        is_own: for each gradient, whether it is by one of these.
        has_elements: whether a part has several shards, the elements of a partition.
    """

    program: Callable[..., Any]
    options: Mapping[str, Any]
    texts: tuple[Text, ...]
    digest: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    at: tuple[int | str, ...]
    is_own: tuple[bool, ...]
    has_elements: bool

    def of_shard(self, shard: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """The value and the gradients of one shard."""
        given = dict(zip(self.at, shard, strict=True))
        args = [given.get(place, value) for place, value in enumerate(self.args)]
        kwargs = {name: given.get(name, value) for name, value in self.kwargs.items()}
        found: tuple[Any, tuple[Any, ...]] = kept(self.digest, self.gradient).value_and_grad(*args, **kwargs)
        return found

    def gradient(self) -> DifferentiatedProgram:
        """The gradient, not compiled; made here, since Dask hangs where something cannot be unpickled."""
        return made_of_sent(self.texts, lambda program: differentiate(program, **self.options), self.program)


_kept: dict[str, DifferentiatedProgram] = {}
_keeping = threading.Lock()


def kept(digest: str, make: Callable[[], DifferentiatedProgram]) -> DifferentiatedProgram:
    """The gradient that was made first of those with a digest, with what it has compiled; the latest few are kept."""
    with _keeping:
        found = _kept.pop(digest, None) or make()
        _kept[digest] = found
        for oldest in list(_kept)[:-MOST_KEPT]:
            del _kept[oldest]
    return found


def gradients_of_part(work: Work, number: int, *parts: Any) -> tuple[Any, list[tuple[Any, ...]]] | Any:
    """The sum over the shards of a part, and, if some are asked for, the shards' own gradients.

    Args:
        work: what is common to all parts.
        number: of the part.
        parts: for each split argument its shard, or the list of its shards.
    """
    own: list[tuple[Any, ...]] = []

    def totals() -> Iterator[Any]:
        for shard, where in _shards(work, number, parts):
            try:
                value, gradients = work.of_shard(shard)
            except Exception as error:
                error.add_note(f"in {where}")
                raise
            pairs = list(zip(work.is_own, gradients, strict=True))
            own.append(tuple(one for is_own, one in pairs if is_own))
            yield value, tuple(one for is_own, one in pairs if not is_own)

    total = pairwise(totals(), added)
    return (total, own) if any(work.is_own) else total


def _shards(work: Work, number: int, parts: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The shards of a part, and what they are called."""
    if not work.has_elements:
        yield tuple(one.value if isinstance(one, Held) else one for one in parts), f"shard {number}"
        return
    elements = [list(part) for part in parts]
    if len(set(map(len, elements))) > 1:
        what = f"the numbers of elements in partition {number} differ: {', '.join(map(str, map(len, elements)))}"
        raise ArgumentError(what, todo="Make bags with the same partitions, or one bag of tuples.")
    for k, shard in enumerate(zip(*elements, strict=True)):
        yield shard, f"element {k} of partition {number}"


def added(x: Any, y: Any) -> Any:
    """The sum of two containers of numbers and arrays; None, for no shards or no float, adds nothing."""
    if x is None or y is None:
        return y if x is None else x
    structure, terms = flattened(x, "")
    same = set(places(structure, ""))
    summed = [
        one if one is None or name in same else one + other
        for name, one, other in zip(names(structure, ""), terms, flattened(y, "")[1], strict=True)
    ]
    return build(structure, iter(summed), container)
