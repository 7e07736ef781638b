"""Partial evaluation: the elements of arrays that loops fill with known numbers, by running these loops while parsing.

Programs fill the index arrays of a mesh element by element, ``iK[c] = 2 * e + k; c = c + 1``, and make a sparse matrix
of them. Constant propagation (`constants`) forgets what a loop writes. Where the numbers must be known, the statements
that they come from, a backward slice of the program so far, are run once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from sdfgad.ir.evaluate import contains, evaluated
from sdfgad.ir.expr import INT, Expr, Int, Lin, reads, symbols_of
from sdfgad.ir.known_calls import OF_INTEGERS
from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Statement, blocks_of, reads_of, walk, written
from sdfgad.ir.scalar_code import function_of, place_of
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.parse.builder import Builder
from sdfgad.parse.emitter import STATUS
from sdfgad.parse.followed import MOST_ELEMENTS, points
from sdfgad.parse.values import Tensor

Array = np.ndarray[Any, Any]
KINDS = "iubf"
# More statements are not run: one takes a few microseconds, or some fifty where it is over a box.
MOST_RUNS = 4_000_000


def found_by_running(b: Builder, tensor: Tensor) -> Array | None:
    """The elements of a tensor, by running what they come from; None if that is not possible.

    Raises:
        NeedsConstant: run-time integers decide what they are.
        Decides: inputs that may become constants do.
    """
    box = points(tuple((f"k{axis}_", extent) for axis, extent in enumerate(tensor.shape)))
    element = tensor.element(tuple(Lin.symbol(f"k{axis}_") for axis in range(tensor.ndim)))
    wanted = {read.buffer for read in reads(element)}
    # Without loops around, the blocks so far are the statements that run before this one.
    is_straight = not b.loops
    program = _Slice(tuple(chain.from_iterable(b.blocks)) if is_straight else tuple(b.blocks[0]), wanted)
    inner = b.blocks[1:]
    # What is written inside of the present loops may be another array in each trip.
    is_written_inside = any(not program.buffers.isdisjoint(written(tuple(block))) for block in inner)
    if box is None or not wanted or (is_written_inside and not is_straight):
        return None
    if symbols := program.symbols & set(b.integers):
        raise NeedsConstant(symbols, b.where)
    arrays = _result(b, program)
    if arrays is None:
        return None
    if not is_written_inside:
        for name in wanted:
            b.constants.learn(b.buffers[name], arrays[name], b.start)
        return b.constants.array(tensor, b.here)
    # What a branch leaves in arrays is not known after it.
    found = evaluated(element, box, arrays, KINDS)
    return None if found is None else np.broadcast_to(found, tuple(extent.const for extent in tensor.shape))


def _result(b: Builder, program: _Slice) -> Mapping[str, Array] | None:
    """What a slice leaves in its buffers."""
    # Arrays start empty here, but for those that no statement writes, and arguments.
    updated = {name for name in program.written & program.buffers if b.buffers[name].where is None}
    known = b.constants.of_inputs(program.buffers - program.written, updated)
    if known is None:
        return None
    run = _Run(b.buffers, program.buffers, known | {STATUS: np.zeros((), INT)})
    try:
        with np.errstate(all="ignore"):
            run.block(program.body, {})
        return {name: run.array(name) for name in program.buffers}
    except _Unknown:
        return None


class _Slice:
    """A backward slice: the statements of a block on which buffers may depend, by data or by control."""

    def __init__(self, body: Block, wanted: Collection[str]) -> None:
        self.buffers, size = set(wanted), -1
        while len(self.buffers) != size:
            size = len(self.buffers)
            for statement in body:
                self._add(statement, frozenset())
        self.body = tuple(one for one in body if not self.buffers.isdisjoint(written((one,))))
        self.written = {name for one in self.body for name in written((one,))}
        self.symbols = set[str]().union(*(self._symbols(one) for one in walk(self.body)))

    def _add(self, statement: Statement, deciding: frozenset[str]) -> None:
        """Adds what a statement reads that writes one of the buffers, and what decides whether it runs."""
        if self.buffers.isdisjoint(written((statement,))):
            return
        read = frozenset(one.buffer for one in reads_of(statement))
        if isinstance(statement, (Loop, Branch)):
            for block in blocks_of(statement):
                for inner in block:
                    self._add(inner, deciding | read)
        else:
            # Where a check fails, the program raises, and whatever is known counts for nothing.
            self.buffers |= (read | deciding) - {STATUS}

    def _symbols(self, statement: Statement) -> set[str]:
        if isinstance(statement, Loop):
            return symbols_of(Int(statement.trips), Int(statement.start))
        if isinstance(statement, Branch):
            return symbols_of(statement.condition)
        if isinstance(statement, Call) or statement.target.buffer not in self.buffers:
            return set()
        return symbols_of(statement.value, *map(Int, (*statement.target.index, *(e for _, e in statement.params))))


class _Unknown(Exception):
    """Raised where a number is not known, or where there are too many statements to run."""


class _Run:
    """One run of a slice; `arrays` has what buffers hold."""

    def __init__(self, buffers: Mapping[str, Buffer], of: set[str], known: Mapping[str, Array]) -> None:
        self.buffers, self.of, self.arrays, self.left = buffers, of, dict(known), MOST_RUNS
        # Functions of what has no box, by the identity of expressions and statements, which the slice keeps.
        self.functions: dict[int, Any] = {}

    def block(self, block: Iterable[Statement], counters: Mapping[str, int]) -> None:
        for statement in block:
            if isinstance(statement, Loop):
                self.loop(statement, counters)
            elif isinstance(statement, Branch):
                self.block(statement.then if self.holds(statement.condition, counters) else statement.orelse, counters)
            elif isinstance(statement, Compute):
                if statement.target.buffer in self.of:
                    self.compute(statement, counters)
            elif not self.of.isdisjoint(written((statement,))):
                self.call(statement)

    def loop(self, loop: Loop, counters: Mapping[str, int]) -> None:
        if self.of.isdisjoint(written((loop,))):
            return
        start, trip, trips = self.bound(loop.start, counters), 0, self.bound(loop.trips, counters)
        while trip < trips:
            self.spend()
            self.block(loop.body, {**counters, loop.var: start + trip})
            trip += 1
            trips = self.bound(loop.trips, counters) if loop.is_open else trips

    def call(self, call: Call) -> None:
        if call.name not in OF_INTEGERS:
            raise _Unknown
        inputs = [self.array(whole.buffer) for whole in call.inputs]
        for whole, found in zip(call.outputs, OF_INTEGERS[call.name](*inputs, *call.sizes), strict=True):
            self.array(whole.buffer)[...] = found

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Unknown

    def compute(self, statement: Compute, counters: Mapping[str, int]) -> None:
        self.spend()
        if statement.params or statement.fresh or not self.assigned(statement, counters):
            self.in_box(statement, counters)

    def assigned(self, statement: Compute, counters: Mapping[str, int]) -> bool:
        """Writes one element; returns whether there are functions for that."""
        place = self.function(statement, lambda: place_of(statement.target))
        value = self.function(statement.value, lambda: function_of(statement.value))
        accumulate = None if statement.accumulate is None else getattr(np, statement.accumulate)
        if place is None or value is None:
            return False
        array, index = self.array(statement.target.buffer), self.called(place, counters)
        if not all(0 <= i < extent for i, extent in zip(index, array.shape, strict=True)):
            raise _Unknown
        found = self.called(value, counters)
        array[index] = found if accumulate is None else accumulate(array[index], found)
        return True

    def function(self, key: object, make: Callable[[], Any]) -> Any:
        if id(key) not in self.functions:
            self.functions[id(key)] = make()
        return self.functions[id(key)]

    def in_box(self, statement: Compute, counters: Mapping[str, int]) -> None:
        box = points(tuple((n, Lin(self.number(Int(e), counters))) for n, e in statement.params))
        if box is None or statement.fresh:
            raise _Unknown
        symbols = {**counters, **box}
        value = self.value(statement.value, symbols)
        index = tuple(self.value(Int(form), symbols) for form in statement.target.index)
        array = self.array(statement.target.buffer)
        if not all(map(contains, array.shape, index)):
            raise _Unknown
        if statement.accumulate is None:
            array[index] = value
        else:
            # Each point of the box counts, also those that share an element.
            shape = np.broadcast_shapes(*(grid.shape for grid in box.values()))
            place = np.ravel_multi_index(index, array.shape) if index else 0
            places, values = (np.broadcast_to(one, shape) for one in (place, value))
            getattr(np, statement.accumulate).at(array.reshape(-1), places, values)

    def array(self, name: str) -> Array:
        """What a buffer holds, which is nothing yet where it is first written."""
        if name not in self.arrays:
            shape = tuple(extent.const for extent in self.buffers[name].shape if extent.is_const)
            if len(shape) < len(self.buffers[name].shape) or np.prod(shape, dtype=np.int64) > MOST_ELEMENTS:
                raise _Unknown
            self.arrays[name] = np.zeros(shape, self.buffers[name].dtype)
        return self.arrays[name]

    def holds(self, condition: Expr, counters: Mapping[str, int]) -> bool:
        function = self.function(condition, lambda: function_of(condition))
        return bool(self.number(condition, counters) if function is None else self.called(function, counters))

    def number(self, value: Expr, counters: Mapping[str, int]) -> int:
        return int(self.value(value, counters))

    def bound(self, form: Lin, counters: Mapping[str, int]) -> int:
        """A number of trips, or the first of them."""
        if form.is_const:
            return form.const
        function = self.function(form, lambda: function_of(Int(form)))
        return self.number(Int(form), counters) if function is None else self.called(function, counters)

    def called(self, function: Any, counters: Mapping[str, int]) -> Any:
        try:
            return function(counters, self.arrays)
        except (ArithmeticError, LookupError, ValueError):
            raise _Unknown from None

    def value(self, value: Expr, symbols: Mapping[str, Any]) -> Any:
        try:
            found = evaluated(value, symbols, self.arrays, KINDS)
        except ValueError:  # What NumPy raises at run time: an integer to a negative power.
            raise _Unknown from None
        if found is None:
            raise _Unknown
        return found
