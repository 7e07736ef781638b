"""Integer-programming model of the planning problem: variables, constraints and objective, independent of a solver.

A value is stored from the forward to the reverse sweep, or recomputed at the highest reverse point that needs it. The
points that may need it are its own needs and those at which a consumer may be recomputed. Hence one binary variable for
each of these points, from the value's own highest need up, says whether it is recomputed there; how long the value is
held follows, in continuous variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sdfgad.plan.problem import NOBODY, Problem, Solution, Step, Tape
from sdfgad.plan.simulate import consumers_first, recompute_points

# Each candidate costs a binary, and points far from a value's own needs are hardly ever worth one.
MOST_CANDIDATES = 40
# A sum of more terms than these that is live at many points is replaced by one variable.
LONG_SUM = 4
# With coefficients beyond this one the solvers' absolute tolerances would be worth whole units.
LARGEST = 10**6
# The key of the constant in a sum; the others are variables.
ONE = -1

Sum = dict[int, int]


@dataclass
class Model:
    """Variables between 0 and 1, constraint rows that must be at most 0, and the bytes that are live at each point.

    Attributes:
        counts_bytes: whether choices that differ in bytes alone are different; if not, what is live is not counted.
    """

    problem: Problem
    live: list[Sum]
    counts_bytes: bool = True
    # For each variable: None if it is continuous; else the step whose modes it is one of, or NOBODY.
    binaries: list[int | None] = field(default_factory=list)
    rows: list[Sum] = field(default_factory=list)
    work: Sum = field(default_factory=dict)
    recompute_variables: dict[int, dict[int, int]] = field(default_factory=dict)
    inner: list[Sum] = field(default_factory=list)
    modes: list[dict[int, Sum]] = field(default_factory=list)
    pruned: bool = False

    def continuous(self) -> Sum:
        self.binaries.append(None)
        return {len(self.binaries) - 1: 1}

    def binary(self, step: int = NOBODY) -> Sum:
        self.binaries.append(step)
        return {len(self.binaries) - 1: 1}

    def at_most(self, lower: Sum, *upper: Sum) -> None:
        """Adds the constraint that `lower` is at most the sum of `upper`."""
        row = _sum((lower, 1), *((part, -1) for part in upper))
        if any(key != ONE for key in row) or row.get(ONE, 0) > 0:
            self.rows.append(row)

    def forbid(self, solution: Solution) -> None:
        """Adds a constraint that excludes exactly this solution."""
        recomputed_at = recompute_points(self.problem, solution.values)
        chosen = [{self.recompute_variables[value][point]: 1} for value, point in recomputed_at.items()]
        chosen += [self.inner[position] for position in solution.inner]
        chosen += [modes[mode] for modes, mode in zip(self.modes, solution.modes, strict=True)]
        ones = {key for what in chosen for key in what if key != ONE}
        zeros = {key for key, kind in enumerate(self.binaries) if kind is not None} - ones
        others: Sum = {ONE: len(ones), **dict.fromkeys(ones, -1), **dict.fromkeys(zeros, 1)}
        self.at_most({ONE: 1}, others)

    def hold(self, what: Sum, size: int, first: int, last: int) -> None:
        for point in range(first, last + 1):
            _add(self.live[point], what, size)

    def reverse(self, point: int) -> int:
        return len(self.live) - 1 - point


def _add(total: Sum, part: Sum, factor: int) -> None:
    for key, coefficient in part.items():
        total[key] = total.get(key, 0) + factor * coefficient
        if not total[key]:
            del total[key]


def _sum(*parts: tuple[Sum, int]) -> Sum:
    total: Sum = {}
    for part, factor in parts:
        _add(total, part, factor)
    return total


def build(problem: Problem, counts_bytes: bool = True) -> Model:
    """The model of a problem; one that does not count bytes, for no budget, is several times smaller."""
    model = Model(problem, [{} for _ in range(2 * len(problem.steps))], counts_bytes)
    consumers: list[list[int]] = [[] for _ in problem.values]
    for index, value in enumerate(problem.values):
        for source in set(value.inputs):
            consumers[source].append(index)
    for index in consumers_first(problem, range(len(problem.values))):
        _place_value(model, index, [model.recompute_variables[consumer] for consumer in consumers[index]])
    fixed = dict(problem.fixed_inner)
    for position, inner in enumerate(problem.inner):
        model.inner.append(({ONE: 1} if fixed[position] else {}) if position in fixed else model.binary())
        _add(model.work, model.inner[-1], inner.work)
    for one, other in problem.conflicts:
        model.at_most(_sum((model.inner[one], 1), (model.inner[other], 1)), {ONE: 1})
    for index, step in enumerate(problem.steps):
        _place_step(model, index, step)
    return model


def _place_value(model: Model, index: int, consumers: Sequence[dict[int, int]]) -> None:
    """Adds variables for when value `index` is recomputed and held; `consumers`: point → variable, for each."""
    value = model.problem.values[index]
    points = sorted(set(value.needs).union(*consumers), reverse=True)
    binaries = {point: model.binary() for point in _candidates(model, index, points, consumers)}
    model.recompute_variables[index] = {point: variable for point, what in binaries.items() for variable in what}
    needed = range(min(value.needs), max(value.needs) + 1) if value.needs else range(0)
    held = {point: {ONE: 1} if point in needed else model.continuous() for point in points}
    before = {point: _sum((held[point], 1), (binaries.get(point, {}), -1)) for point in points}
    for point in points:
        asking: list[Sum] = [{consumer[point]: 1} for consumer in consumers if point in consumer]
        for what in asking:
            model.at_most(what, held[point])
        if point in binaries and point not in value.needs:
            # Recomputed earlier than needed, a value might let its inputs be released; plans do not do that.
            model.at_most(binaries[point], *asking)
            model.at_most(binaries[point], held[point])
    for higher, lower in pairwise(points):
        model.at_most(before[lower], held[higher])
    kept = before[points[0]] if points else {}
    model.at_most(_sum((kept, 1), *((what, 1) for what in binaries.values())), {ONE: 1})
    if dict(model.problem.fixed_values).get(index, False):
        model.at_most(kept, {})
    for what in binaries.values():
        _add(model.work, what, value.work)
    _hold_value(model, index, held, before)


def _candidates(model: Model, index: int, points: Iterable[int], consumers: Sequence[dict[int, int]]) -> Sequence[int]:
    """The points at which value `index` may be recomputed."""
    value = model.problem.values[index]
    if dict(model.problem.fixed_values).get(index) is False:
        return ()
    own = max(value.needs, default=0)
    found = [point for point in points if own <= point <= value.latest]
    if len(found) > MOST_CANDIDATES:
        model.pruned = True
        if not value.needs:
            found.sort(key=lambda point: sum(point in consumer for consumer in consumers))
        found = found[-MOST_CANDIDATES:]
    return found


def _hold_value(model: Model, index: int, held: dict[int, Sum], before: dict[int, Sum]) -> None:
    """Count the bytes of value `index`: `held` at the points that may need it, and `before` each of them."""
    value = model.problem.values[index]
    model.hold({ONE: 1}, value.bytes, value.computed, value.used)
    start = max(value.computed, value.used + 1)
    for point, what in held.items():
        end = model.reverse(point)
        model.hold(before[point], value.bytes, start, end - 1)
        model.hold(what, value.bytes, end, end)
        start = end + 1


def _place_step(model: Model, index: int, step: Step) -> None:
    """Choose one mode, and count its bytes, its work and those of the step's tapes."""
    states = [(tape, _tape_state(model, tape)) for tape in model.problem.tapes if tape.step == index]
    states = [(tape, state) for tape, state in states if state]
    useful = _useful_modes(step, [tape for tape, _ in states], model.counts_bytes)
    chosen = {mode: model.binary(index) if len(useful) > 1 else {ONE: 1} for mode in useful}
    model.modes.append(chosen)
    one = _sum(*((what, 1) for what in chosen.values()))
    model.at_most(one, {ONE: 1})
    model.at_most({ONE: 1}, one)
    kept = _sum(*((what, step.modes[mode].kept) for mode, what in chosen.items()))
    transient = _sum(*((what, step.modes[mode].transient) for mode, what in chosen.items()))
    for mode, what in chosen.items():
        _add(model.work, what, step.modes[mode].work)
    for tape, state in states:
        for (work, bytes_kept, bytes_transient), what in _tape_parts(model, tape, state, chosen):
            _add(model.work, what, work)
            _add(kept, what, bytes_kept)
            _add(transient, what, bytes_transient)
    if len(kept) > LONG_SUM:
        largest = max(step.modes[mode].kept for mode in useful) + sum(max(tape.kept) for tape, _ in states)
        total = model.continuous()
        model.at_most(kept, dict.fromkeys(total, largest))
        kept = dict.fromkeys(total, largest)
    model.hold({ONE: 1}, step.forward, index, index)
    model.hold({ONE: 1}, step.reverse, model.reverse(index), model.reverse(index))
    model.hold(transient, 1, model.reverse(index), model.reverse(index))
    model.hold(kept, 1, index, model.reverse(index))


def _tape_state(model: Model, tape: Tape) -> Sum:
    """1 if the tape is needed, 0 (empty) if it is not."""
    asks: list[Sum] = []
    for reader, read in dict.fromkeys(tape.asked):
        one: Sum = {ONE: 1} if reader == NOBODY else model.inner[reader]
        ask = _sum((one, 1), ({} if read == NOBODY else model.inner[read], -1))
        if ask == {ONE: 1}:
            return ask
        if sum(coefficient for coefficient in ask.values() if coefficient > 0) + min(0, ask.get(ONE, 0)) > 0:
            asks.append(ask)
    if not asks or (len(asks) == 1 and len(asks[0].keys() - {ONE}) == 1):
        return asks[0] if asks else {}
    state = model.continuous()
    for ask in asks:
        model.at_most(ask, state)
    return state


def _tape_parts(
    model: Model, tape: Tape, state: Sum, chosen: dict[int, Sum]
) -> Iterable[tuple[tuple[int, int, int], Sum]]:
    """The work and bytes (kept, transient) that a tape may have, and whether it has them: its state times the modes."""
    sizes: dict[tuple[int, int, int], Sum] = {}
    for mode, what in chosen.items():
        held = (tape.kept[mode], tape.transient[mode]) if model.counts_bytes else (0, 0)
        _add(sizes.setdefault((tape.work[mode], *held), {}), what, 1)
    if len(sizes) == 1 or state == {ONE: 1}:
        return [(size, state if len(sizes) == 1 else modes) for size, modes in sizes.items()]
    parts = {size: model.continuous() for size in sizes}
    for size, modes in sizes.items():
        model.at_most(parts[size], modes)
    model.at_most(state, *parts.values())
    return parts.items()


def _useful_modes(step: Step, tapes: Sequence[Tape], counts_bytes: bool) -> list[int]:
    """The modes that no other is at least as good as in every respect; of equals the one with the fewest bytes."""
    work = [(mode.work, *(tape.work[i] for tape in tapes)) for i, mode in enumerate(step.modes)]
    held = [
        (mode.kept, mode.transient, *(n for t in tapes for n in (t.kept[i], t.transient[i])))
        for i, mode in enumerate(step.modes)
    ]
    costs = [(*a, *b) for a, b in zip(work, held, strict=True)] if counts_bytes else work
    useful: list[int] = []
    for mode in sorted(range(len(costs)), key=lambda mode: (costs[mode], held[mode], mode)):
        if not any(all(a <= b for a, b in zip(costs[other], costs[mode], strict=True)) for other in useful):
            useful.append(mode)
    return sorted(useful)


def binding(model: Model, budget: int | None) -> list[Sum]:
    """The memory constraints: the bytes of each point that may exceed `budget` and that no neighbour dominates."""
    found: list[Sum] = []
    for live in model.live:
        if budget is not None and _upper_bound(model, live) <= budget:
            continue
        if found and _covers(found[-1], live):
            continue
        if found and _covers(live, found[-1]):
            found.pop()
        found.append(live)
    return found


def _covers(larger: Sum, smaller: Sum) -> bool:
    keys = larger.keys() | smaller.keys()
    return all(larger.get(key, 0) >= smaller.get(key, 0) for key in keys)


def _upper_bound(model: Model, live: Sum) -> int:
    bound = live.get(ONE, 0)
    steps: dict[int, int] = {}
    for key, coefficient in live.items():
        step = model.binaries[key] if key != ONE else None
        if step is not None and step != NOBODY:
            steps[step] = max(steps.get(step, 0), coefficient)
        elif key != ONE:
            bound += max(0, coefficient)
    return bound + sum(steps.values())


def unit(sums: Iterable[Sum]) -> int | float:
    """A divisor of coefficients: the greatest common one if that makes them small enough, else one that is inexact."""
    coefficients = [abs(value) for terms in sums for key, value in terms.items() if key != ONE]
    divisor = math.gcd(*coefficients) or 1
    largest = max(coefficients, default=1)
    return divisor if largest <= divisor * LARGEST else largest / LARGEST
