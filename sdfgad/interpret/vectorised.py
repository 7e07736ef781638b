"""Vectorised interpretation: a program is run by NumPy, all points of a statement's box at once.

It costs no compilation, and serves to predict what compiled code will compute. It is not strict, as the interpreter of
`sdfgad.explain` is, and sums in another order than compiled code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdfgad.interpret.evaluator import Evaluator, Place, Thunk
from sdfgad.interpret.library import LIBRARY, operation
from sdfgad.ir.expr import Expr, Lin, Op, Read, postorder, symbols_in
from sdfgad.ir.ops import identity
from sdfgad.ir.program import Block, Branch, Call, Compute, Loop, Program, Statement
from sdfgad.parse.procedures import expanded

Array = np.ndarray[Any, Any]
# Nanoseconds, roughly: of an operation on a number or an array, on one element, and of a library function on one.
PER_OPERATION, PER_ELEMENT, PER_ELEMENT_OF_CALL = 5000, 5, 1000
MOST_POINTS = 1 << 22


class TooMuchWork(Exception):
    """A program takes longer than interpretation is worth."""


class Vectorised(Evaluator):
    """Runs programs, each of which goes on where the one before has ended if it begins with its statements.

    Args:
        work: the time that all runs may take, roughly, in seconds.
    """

    def __init__(self, work: float) -> None:
        super().__init__()
        self._left = work * 1e9
        self._done: Block = ()
        self._sizes: dict[int, tuple[Statement, int]] = {}

    def run(self, program: Program, inputs: Mapping[str, Any], integers: Mapping[str, int]) -> Mapping[str, Array]:
        """What the buffers of a program hold behind it.

        Args:
            inputs: an array for each input buffer of the program, by name, which is not changed.
            integers: the value of each of its integers.

        Raises:
            TooMuchWork: it takes too long.
            KeyError: it calls functions that NumPy has not, such as Python's own.
        """
        program = expanded(program)
        done, self._done = self._done, ()
        if not done or program.body[: len(done)] != done:
            done = ()
            self.store.clear()
            self.env.clear()
            self.env |= integers
        self.store |= inputs
        with np.errstate(all="ignore"):
            for name, buffer in program.buffers.items():
                if name not in self.store:
                    self.store[name] = np.zeros([max(self.form(extent), 0) for extent in buffer.shape], buffer.dtype)
            self.block(program.body[len(done) :])
        self._done = program.body
        return self.store

    # --- statements

    def block(self, block: Block) -> None:
        for statement in block:
            if isinstance(statement, Compute):
                self.compute(statement)
            elif isinstance(statement, Loop):
                self.loop(statement)
            elif isinstance(statement, Branch):
                self._spend(statement, statement.condition, 1)
                self.block(statement.then if self.value(statement.condition) else statement.orelse)
            else:
                self.call(statement)

    def loop(self, loop: Loop) -> None:
        start, trips, trip = self.form(loop.start), self.form(loop.trips), 0
        while trip < trips:
            self.env[loop.var] = start + (trips - 1 - trip if loop.backward else trip)
            self.block(loop.body)
            trip += 1
            # The trips of an open loop grow while it runs.
            trips = self.form(loop.trips) if loop.is_open else trips

    def call(self, call: Call) -> None:
        inputs = [self.store[whole.buffer] for whole in call.inputs]
        self._left -= PER_ELEMENT_OF_CALL * sum(array.size for array in inputs)
        self._require_time()
        found = LIBRARY[call.name](*inputs, *call.sizes)
        found = found if isinstance(found, tuple) else (found,)
        # The extra output of one that may fail says that it did not.
        for whole, value in zip(call.outputs, (*found, 0)[: len(call.outputs)], strict=True):
            self.store[whole.buffer][...] = value

    def compute(self, statement: Compute) -> None:
        box = tuple([self.form(extent) for _, extent in statement.params])
        points = math.prod(box)
        self._spend(statement, statement.value, points)
        for axis, ((name, _), extent) in enumerate(zip(statement.params, box, strict=True)):
            self.env[name] = np.arange(extent).reshape((-1, *(1 for _ in box[axis + 1 :])))
        target, place = self.store[statement.target.buffer], self.place_of(statement.target)
        if statement.fresh:
            assert statement.accumulate is not None
            _assign(target, place(), identity(statement.accumulate, target.dtype))
        if points < 1:
            return
        value = self.value(statement.value)
        if statement.accumulate is None:
            _assign(target, place(), value)
            return
        combine: Any = operation(statement.accumulate)
        used = symbols_in(statement.target.index)
        summed = tuple(axis for axis, (name, _) in enumerate(statement.params) if name not in used)
        if summed:
            value = combine.reduce(np.broadcast_to(value, box), axis=summed, keepdims=True)
        _accumulate(target, place(), value, combine)

    def _spend(self, statement: Statement, value: Expr, points: int) -> None:
        """Raises: TooMuchWork."""
        found = self._sizes.get(id(statement))
        if found is None:
            found = self._sizes[id(statement)] = statement, 1 + sum(1 for _ in postorder(value))
        self._left -= found[1] * (PER_OPERATION + PER_ELEMENT * points)
        if points > MOST_POINTS:
            raise TooMuchWork
        self._require_time()

    def _require_time(self) -> None:
        if self._left < 0:
            raise TooMuchWork

    # --- closures

    def _atom(self, atom: str | Expr) -> Callable[[], Any]:
        return super()._atom(atom) if isinstance(atom, str) else self.value_of(atom)

    def _place(self, buffer: str, index: tuple[Lin, ...]) -> Callable[[], Place]:
        if all(lin.is_const for lin in index):
            place = tuple(lin.const for lin in index)
            return lambda: place
        forms = [self.form_of(lin) for lin in index]
        return lambda: tuple([form() for form in forms])

    def _read(self, node: Read) -> Thunk:
        buffer, place, store = node.buffer, self._place(node.buffer, node.index), self.store

        def read() -> Any:
            array, found = store[buffer], place()
            try:
                return array[found]
            except IndexError:
                # The other side of a choice may ask for elements that there are not.
                return array[tuple(np.clip(i, 0, n - 1) for i, n in zip(found, array.shape, strict=True))]

        return read

    @staticmethod
    def _op(node: Op, args: list[Thunk]) -> Thunk:
        dtype = node.dtype
        function = NOT_BY_NAME.get(node.name)
        if node.name == "select":
            return lambda: _select(*args)
        if function is None:
            named = operation(node.name)
            function = named if isinstance(named, np.ufunc) else np.vectorize(named, otypes=[dtype])

        def value() -> Any:
            found = function(*[arg() for arg in args])
            return found if found.dtype == dtype else found.astype(dtype)

        return value


def _select(condition: Thunk, then: Thunk, orelse: Thunk) -> Any:
    holds = condition()
    if not np.ndim(holds):
        return then() if holds else orelse()
    return np.where(holds, then(), orelse())


def _wrapped(index: Any, extent: Any) -> Any:
    return np.clip(np.where(index < 0, index + extent, index), 0, extent - 1)[()]


NOT_BY_NAME: Mapping[str, Callable[..., Any]] = {
    "cast": lambda value: value,
    "complex": lambda real, imaginary: real + 1j * imaginary,
    "wrap": _wrapped,
}


def _assign(target: Array, place: Place, value: Any) -> None:
    """Assign to the elements that there are: what a choice leaves as it is need not be there."""
    if _is_one(place):
        if _is_there(target, place):
            target[place] = np.ravel(value)[-1] if np.ndim(value) else value
        return
    *indices, value = _inside(target, place, value)
    target[tuple(indices)] = value


def _accumulate(target: Array, place: Place, value: Any, combine: Any) -> None:
    if _is_one(place):
        if _is_there(target, place):
            target[place] = combine(target[place], np.ravel(value)[-1] if np.ndim(value) else value)
        return
    *indices, value = _inside(target, place, value)
    combine.at(target, tuple(indices), value.astype(target.dtype))


def _is_one(place: Place) -> bool:
    """Whether indices are those of one element."""
    return not any(isinstance(i, np.ndarray) and i.ndim for i in place)


def _is_there(target: Array, place: Place) -> bool:
    return all(0 <= i < n for i, n in zip(place, target.shape, strict=True))


def _inside(target: Array, place: Place, value: Any) -> list[Array]:
    """The indices and values of the points whose element is there."""
    parts = np.broadcast_arrays(*place, value)
    inside = np.logical_and.reduce([(i >= 0) & (i < n) for i, n in zip(parts[:-1], target.shape, strict=True)])
    return list(parts) if np.all(inside) else [part[inside] for part in parts]
