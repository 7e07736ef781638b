"""Formulation of the planning problem: what can be stored or recomputed, in the plain numbers of `sdfgad.plan`."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sdfgad.analysis.model import numbered
from sdfgad.errors import UnsupportedProgram
from sdfgad.gradient.assemble import GradientProgram
from sdfgad.gradient.checkpoints import can_checkpoint, carried
from sdfgad.gradient.counting import count_within, is_counted
from sdfgad.gradient.message_logs import log_shapes, messages_in
from sdfgad.gradient.tapes import box_shape, tape_shape
from sdfgad.gradient.trip_bounds import most_trips
from sdfgad.ir.program import Loop, Statement, buffers_of, walk, written
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.memory.checkpoint_modes import (
    CAUTION,
    CheckpointableLoop,
    Choice,
    TapeSize,
    choices_of,
    states_of,
    tape_bytes,
)
from sdfgad.memory.cost import Cost
from sdfgad.memory.lifetimes import always_held, arguments, buffer_bytes, workspaces
from sdfgad.memory.loop_choices import InnerChoices
from sdfgad.plan.machine import Machine
from sdfgad.plan.problem import NOBODY, Inner, Mode, Problem, Step, Tape, Value
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.reverse.residuals import Recompute, Residual
from sdfgad.reverse.save_points import Key, enclosing_loops

UNNAMED = "(unnamed)"


@dataclass(frozen=True)
class Accounts:
    """A planning problem, and what its positions stand for.

    Attributes:
        values: for each value, how it is recomputed, or None if it can only be stored.
        inner: for each inner value, how it is recomputed.
        modes: for each step and mode, how the loops in it are checkpointed, by statement number.
        tapes: the sizes of the first of the problem's tapes; the others are copies of inner values.
        loops: the loops that can be checkpointed, by statement number.
        cost: the cost model.
        lines: the user's line of each statement, by number.
        all_tape_bytes: the bytes of all tapes together, where everything is stored.
    """

    problem: Problem
    values: tuple[Recompute | None, ...]
    inner: tuple[Recompute, ...]
    modes: tuple[tuple[Choice, ...], ...]
    tapes: tuple[TapeSize, ...]
    loops: Mapping[int, CheckpointableLoop]
    cost: Cost
    lines: tuple[str, ...]
    all_tape_bytes: int

    def line(self, number: int) -> str:
        return self.lines[number]


@dataclass
class Accountant:
    """Formulates the planning problem of a gradient program that stores all its residuals.

    Args:
        gradient_program: that of `adjoint`, without recomputation.
        inner: the choices inside of loops.
        integers: the values of the primal's run-time integers, and the total trip counts that depend on data.
        counts: the numbers of trips that are data and have been counted, by name (`sdfgad.gradient.counting`).
    """

    adjoint: Adjoint
    gradient_program: GradientProgram
    inner: InnerChoices
    integers: Mapping[str, int]
    machine: Machine
    counts: Mapping[str, int] = field(default_factory=dict)
    tops: list[int] = field(init=False)

    def __post_init__(self) -> None:
        primal = self.adjoint.primal
        self.statements, self.loops = numbered(primal.body), enclosing_loops(primal.body)
        self.tops = [n for n, _ in _tops(primal.body)]
        self.cost = Cost(self.gradient_program.program.buffers, self.integers, self.machine)
        self._count_means()
        self.all = self.adjoint.recomputable
        self.outer = [a for a in self.all if a.block[0] == 0]
        self.residuals = {**self.adjoint.residuals, **self.inner.residuals}

    def _count_means(self) -> None:
        """Tells the cost model how many trips loops make in the mean, outer loops first."""
        for loop, around in zip(self.statements, self.loops, strict=True):
            if isinstance(loop, Loop) and loop.var in self.counts:
                runs = max(math.prod(self.cost.trips(outer) for _, outer in around), 1)
                self.cost.counted[loop.var] = round(self.counts[loop.var] / runs)

    def accounts(self) -> Accounts:
        loops_of_step = {position: self._loops_of(position) for position in range(len(self.tops))}
        tapes = [self._tape(key) for key in sorted(self.residuals) if self.loops[key[0]]]
        modes, steps_modes = [], []
        for position in range(len(self.tops)):
            own = [t for t in tapes if self._step(t.key[0]) == position]
            choices = (
                choices_of([one for one in loops_of_step[position] if one.trips > 1], own, self.cost) if own else [{}]
            )
            modes.append(tuple(choices))
            steps_modes.append([self._mode(choice, loops_of_step[position]) for choice in choices])
        values, owners = self._values(modes)
        base = self._base(
            modes, {self.gradient_program.tapes[t.key] for t in tapes if t.key in self.gradient_program.tapes}
        )
        steps = tuple(
            Step(base[p], base[2 * len(self.tops) - 1 - p], tuple(steps_modes[p])) for p in range(len(self.tops))
        )
        problem = Problem(
            steps,
            tuple(values),
            tuple(self._inner(a) for a in self.inner.recomputes),
            (*(self._problem_tape(t, modes) for t in tapes), *self._copies(modes)),
            self.inner.conflicts,
        )
        loops = {one.number: one for found in loops_of_step.values() for one in found}
        lines = tuple(str(s.where) if s.where is not None else "" for s in self.statements)
        return Accounts(
            problem,
            tuple(owners),
            self.inner.recomputes,
            tuple(modes),
            tuple(tapes),
            loops,
            self.cost,
            lines,
            self.all_tape_bytes,
        )

    # --- places

    def _step(self, number: int) -> int:
        """The position of the outermost statement around a numbered one."""
        return bisect_right(self.tops, number) - 1

    def _point(self, mark: int) -> int:
        step = self._step(mark if mark >= 0 else ~mark)
        return step if mark >= 0 else 2 * len(self.tops) - 1 - step

    def _mentions(self) -> dict[str, set[int]]:
        """Buffer -> the program points that mention it."""
        found: dict[str, set[int]] = {}
        for statement, mark in zip(self.gradient_program.program.body, self.gradient_program.points, strict=True):
            point = self._point(mark)
            for name in statement.mentioned:
                found.setdefault(name, set()).add(point)
        return found

    def _bytes(self, name: str) -> int:
        buffer = self.gradient_program.program.buffers[name]
        return buffer_bytes(buffer, self.integers) if buffer.shape else 0

    def _label(self, names: Iterable[str]) -> str:
        """Values as the user calls them; what has no name is a part of an expression."""
        sources = {self.adjoint.primal.buffers[name].source for name in names}
        return ", ".join(sorted(sources - {""})) or UNNAMED

    # --- values of the outermost block

    def _values(self, modes: list[tuple[Choice, ...]]) -> tuple[list[Value], list[Recompute | None]]:
        mentions, turn = self._mentions(), len(self.tops)
        owner = {name: recompute for recompute in self.outer for name in recompute.buffers}
        sources: dict[int, set[str]] = {}
        for k, recompute in enumerate(self.outer):
            read = {name for m in recompute.members for s in walk((self.statements[m],)) for name in buffers_of(s)}
            sources[k] = {n for n in read - recompute.buffers if self._is_array(n)}
        others = sorted({n for names in sources.values() for n in names if n not in owner and n in mentions})
        position = {name: k for k, recompute in enumerate(self.outer) for name in recompute.buffers}
        position |= {name: len(self.outer) + k for k, name in enumerate(others)}
        values: list[Value] = []
        for k, recompute in enumerate(self.outer):
            work = sum(self.cost.statement(self.statements[m]) for m in recompute.members) * CAUTION
            inputs = tuple(sorted({position[n] for n in sources[k] if n in position}))
            names, latest = recompute.buffers, self._step(recompute.latest)
            values.append(self._value(names, mentions, modes, math.ceil(work), inputs, latest))
        values += [self._value(frozenset({name}), mentions, modes, 0, (), -1) for name in others]
        assert all(v.computed < turn for v in values)
        return values, [*self.outer, *[None] * len(others)]

    def _is_array(self, name: str) -> bool:
        program = self.gradient_program.program
        return name not in arguments(program) and bool(program.buffers[name].shape)

    def _value(
        self,
        names: frozenset[str],
        mentions: Mapping[str, set[int]],
        modes: list[tuple[Choice, ...]],
        work: int,
        inputs: tuple[int, ...],
        latest: int,
    ) -> Value:
        turn = len(self.tops)
        points = {point for name in names for point in mentions.get(name, ())}
        forward = sorted(point for point in points if point < turn)
        needs = {2 * turn - 1 - point for point in points if point >= turn}
        # A loop that the reverse sweep reruns reads its inputs there, too.
        needs |= {point for point in forward if len(modes[point]) > 1}
        size = sum(self._bytes(name) for name in names)
        return Value(
            self._label(names), size, forward[0], forward[-1], tuple(sorted(needs, reverse=True)), work, inputs, latest
        )

    # --- values in loops

    def _inner(self, recompute: Recompute) -> Inner:
        runs = math.prod(self.cost.trips(loop) for _, loop in recompute.loops)
        work = sum(self.cost.within(self.statements[m]) for m in recompute.members) * runs * CAUTION
        return Inner(self._label(recompute.buffers), self._step(recompute.block[0]), math.ceil(work))

    # --- tapes and modes

    @cached_property
    def all_tape_bytes(self) -> int:
        """The bytes of all tapes together, where everything is stored."""
        names = set(self.gradient_program.tapes.values())
        return sum(buffer_bytes(self.gradient_program.program.buffers[name], self.integers) for name in names)

    def _tape(self, key: Key) -> TapeSize:
        residual = self.residuals[key]
        if key in self.gradient_program.tapes:
            buffer = self.gradient_program.program.buffers[self.gradient_program.tapes[key]]
        else:
            shape = tape_shape(residual, self.adjoint)
            assert shape is not None, "recomputation needs no residual of unknown size"
            buffer = replace(self.adjoint.primal.buffers[key[1]], shape=shape)
        loops = tuple((number, self.cost.trips(loop)) for number, loop in residual.loops)
        runs = max(math.prod(trips for _, trips in loops), 1)
        # The real size, triangular nests included, shared evenly among the trips.
        size = -(-buffer_bytes(buffer, self.integers) // runs)
        if self._is_shared(key):
            size = self._box_bytes(residual, size)
        most = most_trips(residual.loops)
        largest = tuple(
            max(self.cost.size(most[loop.var]), trips)
            for (_, loop), (_, trips) in zip(residual.loops, loops, strict=True)
        )
        return TapeSize(key, size, loops, self._box_bytes(residual, size), largest, self._counted(residual))

    def _counted(self, residual: Residual) -> dict[int, int]:
        inner = residual.loops[-1][1]
        names = {number: count_within(inner, outer) for number, outer in residual.loops[:-1]}
        return {number: self.counts[name] for number, name in names.items() if name in self.counts}

    def _is_shared(self, key: Key) -> bool:
        """Whether a tape also stores other parts of the array."""
        names = list(self.gradient_program.tapes.values())
        return key in self.gradient_program.tapes and names.count(self.gradient_program.tapes[key]) > 1

    def _box_bytes(self, residual: Residual, otherwise: int) -> int:
        """What one trip stores at most."""
        try:
            shape = box_shape(residual, self.adjoint)
        except (NeedsConstant, UnsupportedProgram):
            return otherwise
        return buffer_bytes(replace(self.adjoint.primal.buffers[residual.buffer], shape=shape), self.integers)

    @cached_property
    def recomputed(self) -> set[int]:
        """The numbers of the statements that some recomputation may run, with those nested in them."""
        return {n for a in self.all for m in a.members for n in range(m, m + self.statements[m].size + 1)}

    def _loops_of(self, position: int) -> list[CheckpointableLoop]:
        first = self.tops[position]
        last = first + self.statements[first].size
        keys = [key for key in self.residuals if first <= key[0] <= last]
        integers = self.adjoint.primal.integers
        result: list[CheckpointableLoop] = []
        for number in range(first, last + 1):
            loop = self.statements[number]
            if not isinstance(loop, Loop) or number in self.recomputed:
                continue
            if not can_checkpoint(loop, self.loops[number], integers):
                continue
            inside = [self.residuals[key] for key in keys if number < key[0] <= number + loop.size]
            are_known = self.counts or not any(is_counted(one) for residual in inside for _, one in residual.loops)
            if inside and are_known:
                result.append(self._loop(number, loop))
        return result

    def _loop(self, number: int, loop: Loop) -> CheckpointableLoop:
        names = carried(self.adjoint, number, loop, self.loops[number])
        state = sum(buffer_bytes(self.adjoint.primal.buffers[name], self.integers) for name in names)
        runs = math.prod(self.cost.trips(outer) for _, outer in self.loops[number])
        trips = self.cost.trips(loop)
        around = tuple(outer for outer, _ in self.loops[number])
        body = self.cost.statement(loop) / max(trips, 1)
        needs = frozenset(outer for outer, other in self.loops[number] if is_counted(other))
        return CheckpointableLoop(number, around, trips, runs, state, body, self._logged(number), needs)

    def _logged(self, number: int) -> int:
        """The bytes of the logs of the messages in a loop."""
        primal = self.adjoint.primal
        found = (one for call, loops in messages_in(primal, number).values() for one in log_shapes(call, loops))
        logs = (replace(primal.buffers[result.buffer], shape=shape) for result, shape in found)
        return sum(buffer_bytes(log, self.integers) for log in logs)

    def _mode(self, choice: Choice, loops: list[CheckpointableLoop]) -> Mode:
        kept, transient, work = states_of(choice, loops, self.cost)
        kept += self._copied_output(choice)
        label = "; ".join(f"{self.statements[number].where}: {segments}" for number, segments in choice.items())
        return Mode(label or "store", kept, transient, math.ceil(work))

    def _copied_output(self, choice: Choice) -> int:
        """The bytes of a copy of the output, where only the rerun of a loop overwrites it."""
        output = self.adjoint.output
        writes = any(output in written((self.statements[number],)) for number in choice)
        return self._bytes(output) if writes and self.gradient_program.value == output else 0

    def _problem_tape(self, tape: TapeSize, modes: list[tuple[Choice, ...]]) -> Tape:
        step = self._step(tape.key[0])
        sizes = [tape_bytes(tape, choice) for choice in modes[step]]
        total = tape.size * max(math.prod(trips for _, trips in tape.loops), 1)
        return Tape(
            self._label({tape.key[1]}),
            step,
            tuple(kept for kept, _ in sizes),
            tuple(transient for _, transient in sizes),
            # All tapes pass through the cache before any of them is read again.
            tuple(math.ceil(self.cost.tape(total, sum(size), max(sum(size), self.all_tape_bytes))) for size in sizes),
            self.inner.askers.get(tape.key, ((NOBODY, NOBODY),)),
        )

    def _copies(self, modes: list[tuple[Choice, ...]]) -> Iterator[Tape]:
        """Tapes for copies of recomputed inner values, where the reverse sweep also reruns the original statements."""
        for k, recompute in enumerate(self.inner.recomputes):
            step = self._step(recompute.block[0])
            size = sum(self._bytes(name) for name in recompute.buffers)
            sizes = tuple(size if choice else 0 for choice in modes[step])
            nothing = (0,) * len(sizes)
            yield Tape(self._inner(recompute).name, step, nothing, sizes, nothing, ((k, NOBODY),))

    # --- what is held whatever is decided

    def _base(self, modes: list[tuple[Choice, ...]], tapes: set[str]) -> list[int]:
        """Bytes at each program point of all that nothing is decided about."""
        count = len(self.tops)
        mentions = self._mentions()
        decided = {name for recompute in self.outer for name in recompute.buffers} | tapes
        names = set(self._only_stored(mentions)) | decided
        changes = [0] * (2 * count + 1)
        for name, points in mentions.items():
            if name in names or not self._is_array(name):
                continue
            rerun = [2 * count - 1 - p for p in points if p < count and len(modes[p]) > 1]
            first, last = min(points), max(*points, *rerun) if rerun else max(points)
            changes[first] += self._bytes(name)
            changes[last + 1] -= self._bytes(name)
        working, program = [0] * (2 * count), self.gradient_program.program
        always = always_held(program, self.integers)
        for statement, mark in zip(program.body, self.gradient_program.points, strict=True):
            working[self._point(mark)] = max(working[self._point(mark)], workspaces(statement, program.buffers))
        result, held = [], always
        for change, work in zip(changes[:-1], working, strict=True):
            held += change
            result.append(held + work)
        return result

    def _only_stored(self, mentions: Mapping[str, set[int]]) -> Iterable[str]:
        """Inputs of recomputations that cannot be recomputed themselves, and so are values that can only be stored."""
        owner = {name for recompute in self.outer for name in recompute.buffers}
        for recompute in self.outer:
            for m in recompute.members:
                for s in walk((self.statements[m],)):
                    yield from (n for n in buffers_of(s) - owner if self._is_array(n) and n in mentions)


def _tops(body: tuple[Statement, ...]) -> Iterator[tuple[int, Statement]]:
    number = 0
    for statement in body:
        yield number, statement
        number += statement.size + 1
