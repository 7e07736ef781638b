"""Interpreter of programs in plain Python over NumPy: what stages and passes are compared by.

It is strict where generated code would quietly be wrong: storage starts as NaN, no index may be out of range, a
loop's and a branch's `guards` must tell the truth, the points of a box and the trips of a parallel loop run in a random
order, and what such a loop promises of its trips must hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sdfgad.errors import InvalidProgram, Location
from sdfgad.gradient.assemble import GradientProgram
from sdfgad.gradient.counting import counts_in
from sdfgad.interpret.evaluator import Array, Evaluator, Place, text_of
from sdfgad.interpret.library import LIBRARY, operation
from sdfgad.ir.expr import Const, Expr, Int, Op, reads, symbols_in
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Block, Call, Compute, Loop, Program
from sdfgad.ir.text import statement_text
from sdfgad.parse.procedures import expanded
from sdfgad.schedule.stores import is_sometimes, keeps, nothing

# How an accumulation touches its target. Only sums may meet others at an element in any order.
TOUCHES = {None: ("write",), "add": ("add",), "maximum": ("read", "write"), "minimum": ("read", "write")}


def unset(dtype: np.dtype[Any]) -> Any:
    """What storage holds before anything is written to it."""
    return np.nan if dtype.kind in "fc" else 99


def require(holds: Any, what: str, where: Location | None = None) -> None:
    """Raises: InvalidProgram, where a promise of the program is broken."""
    if not holds:
        raise InvalidProgram(what, where)


class Touches:
    """What the trips of one run of a parallel loop touch."""

    def __init__(self) -> None:
        self.trip: int | None = None
        self.kinds: dict[tuple[str, Place], dict[int | None, list[str]]] = {}

    def add(self, place: tuple[str, Place], kinds: Iterable[str]) -> None:
        self.kinds.setdefault(place, {}).setdefault(self.trip, []).extend(kinds)

    def shared(self, loop: Loop) -> Iterator[tuple[str, Place]]:
        """The elements that are storage of each trip's own: several trips write them, before they read them.

        All else that one trip writes no other one may touch, unless all of them add to it.
        """
        for place, trips in self.kinds.items():
            if len(trips) > 1 and {kind for kinds in trips.values() for kind in kinds} not in ({"read"}, {"add"}):
                is_own = all(kinds[0] == "write" for kinds in trips.values())
                require(is_own, f"trips of the parallel loop over `{loop.var}` meet at {text_of(place)}", loop.where)
                yield place


class Interpreter(Evaluator):
    """Runs a program; afterwards `store` has what each of its buffers holds.

    Args:
        inputs: an array for each input buffer of the program, by name.
        integers: the value of each of its integers.
        seed: of the orders in which points and trips run.

    Raises:
        InvalidProgram: the program does what it must not, or breaks a promise.
    """

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Any],
        integers: Mapping[str, int] | Iterable[Any] = (),
        seed: int = 0,
    ) -> None:
        super().__init__()
        program = expanded(program)
        self.program, self.rng = program, np.random.default_rng(seed)
        self.env |= {name: int(value) for name, value in dict(integers).items()}
        self.watched: list[Touches] = []
        self.store |= {name: np.array(value) for name, value in inputs.items()}
        require(set(self.store) == set(program.inputs), f"inputs are {list(self.store)}, not {program.inputs}")
        require(set(self.env) == set(program.integers), f"integers are {list(self.env)}, not {program.integers}")
        with np.errstate(all="ignore"):
            for name, buffer in program.buffers.items():
                shape = tuple(max(self.form(extent), 0) for extent in buffer.shape)
                if name in self.store:
                    found, expected = self.store[name], (shape, buffer.dtype)
                    require((found.shape, found.dtype) == expected, f"the input `{name}` is no array of {expected}")
                else:
                    self.store[name] = np.full(shape, unset(buffer.dtype), buffer.dtype)
            self.block(program.body)
        self.drop_closures()

    @property
    def outputs(self) -> dict[str, Array]:
        return {name: self.store[buffer] for name, buffer in self.program.outputs.items()}

    # --- statements

    def block(self, block: Block) -> None:
        for statement in block:
            if isinstance(statement, Compute):
                self.compute(statement)
            elif isinstance(statement, Call):
                self.call(statement)
            elif isinstance(statement, Loop):
                self.loop(statement)
            else:
                holds = bool(self.value(statement.condition))
                is_told = not statement.guards or holds == self.all_hold(statement.guards)
                require(is_told, "the guards of a branch are not its condition", statement.where)
                self.block(statement.then if holds else statement.orelse)

    def loop(self, loop: Loop) -> None:
        if loop.is_open:
            self.loop_while(loop)
            return
        start = self.form(loop.start)
        trips: Iterable[int] = range(start, start + self.form(loop.trips))
        self.check_outside(loop, start - 1, start + max(self.form(loop.trips), 0))
        if loop.is_parallel:
            self.watched.append(Touches())
            self.is_watched = True
            trips = self.rng.permutation(list(trips)).tolist()
        for trip in reversed(list(trips)) if loop.backward else trips:
            if loop.is_parallel:
                self.watched[-1].trip = trip
            self.trip(loop, trip)
        self.env.pop(loop.var, None)
        if loop.is_parallel:
            touches = self.watched.pop()
            self.is_watched = bool(self.watched)
            self.forget(touches.shared(loop))

    def check_outside(self, loop: Loop, before: int, after: int) -> None:
        """The guards of a loop hold in no trip that it does not make."""
        # The guards of an open loop, and of its mirror image, cannot tell where it ends.
        may_be_open = loop.backward and reads(Int(loop.trips))
        for trip in (before,) if may_be_open else (before, after):
            self.env[loop.var] = trip
            holds = loop.guards and self.all_hold(loop.guards)
            require(not holds, f"the guards of `{loop.var}` hold outside of the loop", loop.where)

    def trip(self, loop: Loop, trip: int) -> None:
        self.env[loop.var] = trip
        require(self.all_hold(loop.guards), f"the guards of `{loop.var}` do not hold in the loop", loop.where)
        self.block(loop.body)

    def loop_while(self, loop: Loop) -> None:
        require(not loop.is_parallel, f"the loop over `{loop.var}` is open and parallel", loop.where)
        start, trip = self.form(loop.start), 0
        while trip < self.form(loop.trips):
            self.trip(loop, start + trip)
            trip += 1
        require(self.form(loop.trips) == trip, f"`{loop.var}` makes other trips than are counted", loop.where)
        self.env.pop(loop.var, None)

    def call(self, call: Call) -> None:
        """A library function, by NumPy; the extra output of one that may fail says whether it did."""
        status = 0
        try:
            found = LIBRARY[call.name](*(self.store[whole.buffer] for whole in call.inputs), *call.sizes)
        except np.linalg.LinAlgError:
            found, status = tuple(unset(whole.dtype) for whole in call.outputs[:-1]), 1
        found = found if isinstance(found, tuple) else (found,)
        for kind, wholes in (("read", call.inputs), ("write", call.outputs)):
            for whole in wholes:
                for place in np.ndindex(self.store[whole.buffer].shape) if self.is_watched else ():
                    self.touch(whole.buffer, place, kind)
        for whole, value in zip(call.outputs, (*found, status)[: len(call.outputs)], strict=True):
            self.store[whole.buffer][...] = value

    def compute(self, statement: Compute) -> None:
        points = list(itertools.product(*(range(self.form(extent)) for _, extent in statement.params)))
        self.rng.shuffle(points)
        written: set[Place] = set()
        names = [name for name, _ in statement.params]
        kind, target = statement.accumulate, self.store[statement.target.buffer]
        if statement.fresh:
            self.clear(statement)
        place_of, value_of = self.place_of(statement.target), self.value_of(statement.value)
        own = nothing(statement, target.dtype) if is_sometimes(statement, target.dtype) else None
        for point in points:
            self.env.update(zip(names, point, strict=True))
            if own is not None and self.is_kept(statement.value, own):
                continue
            place = place_of()
            is_first = place not in written
            written.add(place)
            value = value_of()
            if value.dtype != target.dtype or not (kind or is_first):
                what = "a value of another type is assigned" if is_first else "an element is assigned twice"
                raise InvalidProgram(f"{what}: {statement_text(statement)}", statement.where)
            if self.is_watched:
                self.touch(statement.target.buffer, place, *TOUCHES[kind])
            target[place] = operation(kind)(target[place], value) if kind else value

    def is_kept(self, value: Expr, own: Expr) -> bool:
        """Whether a choice leaves the target as it is: then the element need not be there."""
        while isinstance(value, Op) and value != own and keeps(value, own):
            condition, then, orelse = value.args
            value = then if self.value(condition) else orelse
        return value == own

    def clear(self, statement: Compute) -> None:
        """Clears all targets of an accumulation, also those to which no point contributes."""
        used = symbols_in(statement.target.index)
        own = tuple((name, extent) for name, extent in statement.params if name in used)
        assert statement.accumulate is not None
        identity = Const(OPERATIONS[statement.accumulate].identity, statement.value.dtype)
        self.compute(replace(statement, params=own, value=identity, accumulate=None, fresh=False))

    # --- what parallel loops touch

    def touch(self, buffer: str, place: Place, *kinds: str) -> None:
        for touches in self.watched:
            touches.add((buffer, place), kinds)

    def forget(self, places: Iterable[tuple[str, Place]]) -> None:
        for buffer, place in places:
            self.store[buffer][place] = unset(self.store[buffer].dtype)


def with_totals(
    gradient_program: GradientProgram, arrays: Mapping[str, Any], integers: Mapping[str, int]
) -> dict[str, int]:
    """The integers that a gradient program takes: those given, and the numbers of trips that are data, counted."""
    return {**integers, **gradient_program.slots(integers, counts_of(gradient_program, arrays, integers))}


def counts_of(
    gradient_program: GradientProgram, arrays: Mapping[str, Any], integers: Mapping[str, int]
) -> dict[str, int]:
    """The counts of trips that are data, by name."""
    counting = gradient_program.counting
    if counting is None:
        return {}
    own = {name: integers[name] for name in counting.integers}
    return counts_in(counting.outputs, Interpreter(counting, arrays, own).store)
