"""Lowering of sorting to a bitonic network (Batcher, "Sorting networks and their applications", 1968).

Each step compares all elements with those whose numbers differ in one bit. Equal values are compared by their places,
so that the order is that of a stable sort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sdfgad.ir.expr import BOOL, INT, Const, Expr, Int, Lin, Op, as_linear
from sdfgad.ir.program import Block, Loop, Statement, Whole
from sdfgad.optimise.device.call_steps import CallSteps, Index, at, choose
from sdfgad.optimise.device.lower_search import is_less

Entry = tuple[Expr, Expr]


def lower_sort(steps: CallSteps) -> Iterator[Statement]:
    """``np.argsort`` along the last axis, which is filled up to a power of two."""
    (values,), (found,) = steps.call.inputs, steps.call.outputs
    count = values.shape[-1].const
    rounds = (count - 1).bit_length()
    shape = (*values.shape[:-1], Lin(1 << rounds))
    one, other = ([steps.new("key", shape, values.dtype), steps.new("place", shape, INT)] for _ in range(2))
    yield steps.fill(one[0], lambda i: at(values, (*i[:-1], _below(i[-1], count))))
    yield steps.fill(one[1], lambda i: Int(i[-1]))
    size, span = steps.counter("size"), steps.counter("span")
    merge = _Merge(one, count, Lin.symbol(size), Lin.symbol(size) - Lin.symbol(span))
    body: Block = (
        *(steps.fill(new, partial(merge.kept, k)) for k, new in enumerate(other)),
        *(steps.fill(old, partial(at, new)) for old, new in zip(one, other, strict=True)),
    )
    inner = Loop.over(span, Lin.symbol(size) + 1, body, steps.call.where)
    yield Loop.over(size, Lin(rounds), (inner,), steps.call.where)
    yield steps.fill(found, lambda i: at(one[1], i))


class _Merge:
    """One step: elements whose numbers differ in bit `span`, in runs of length ``2 ** (size + 1)`` that go up and down.

    Args:
        entries: the keys and the places that they had.
        count: how many entries there are; further ones come last.
    """

    def __init__(self, entries: Sequence[Whole], count: int, size: Lin, span: Lin) -> None:
        self.entries, self.count = entries, count
        self.bit, self.run = (Op("left_shift", (Const(1, INT), Int(form)), INT) for form in (span, size + 1))

    def kept(self, part: int, index: Index) -> Expr:
        """The key (0) or the place (1) that an element has after the step."""
        number = Int(index[-1])
        partner = as_linear(Op("bitwise_xor", (number, self.bit), INT))
        mine, its = self.entry(index), self.entry((*index[:-1], partner))
        is_first, is_up = (_is_zero(Op("bitwise_and", (number, bit), INT)) for bit in (self.bit, self.run))
        has_least = Op("equal", (is_first, is_up), BOOL)
        is_taken = choose(has_least, self.is_less(its, mine), self.is_less(mine, its))
        return choose(is_taken, its[part], mine[part])

    def entry(self, index: Index) -> Entry:
        key, place = self.entries
        return at(key, index), at(place, index)

    def is_less(self, a: Entry, b: Entry) -> Expr:
        """The order of keys, then of places; entries that only fill up come last."""
        (key, place), (other, its_place) = a, b
        is_earlier = Op("less", (place, its_place), BOOL)
        are_equal = Op("logical_not", (Op("logical_or", (is_less(key, other), is_less(other, key)), BOOL),), BOOL)
        is_there = (Op("less", (one, Const(self.count, INT)), BOOL) for one in (place, its_place))
        by_key = choose(are_equal, is_earlier, is_less(key, other))
        return choose(Op("logical_and", tuple(is_there), BOOL), by_key, is_earlier)


def _is_zero(value: Expr) -> Expr:
    return Op("equal", (value, Const(0, INT)), BOOL)


def _below(place: Lin, count: int) -> Lin:
    return as_linear(Op("minimum", (Int(place), Int(Lin(count - 1))), INT))
