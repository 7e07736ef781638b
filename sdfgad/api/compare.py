"""`compare`: benchmark of a gradient's memory and time under each strategy and memory limit."""

from __future__ import annotations

import datetime
import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sdfgad.api.chosen import Wrt
from sdfgad.api.differentiate import DifferentiatedProgram, differentiate
from sdfgad.environment import machine, versions
from sdfgad.errors import ArgumentError, InfeasibleBudget
from sdfgad.options import STRATEGIES, Strategy, parse_bytes
from sdfgad.plan.plan import Plan
from sdfgad.plan.units import size_text, time_text

Array = np.ndarray[Any, Any]
Budget = int | float | str
Progress = Callable[[str, float], None]

LEAST = "least"
SHORT, LONG = 0.2, 20.0  # Seconds.
DEFAULT_BUDGETS: tuple[Budget, ...] = (1.0, 0.5, 0.25, 0.1, 0.05, LEAST)
WIDTH = 160


@dataclass(frozen=True)
class ComparisonRow:
    """A gradient under one strategy and memory limit. What is not known because nothing was run is None.

    Attributes:
        strategy: "store_all", "recompute_all", "revolve" or "ilp".
        budget: the limit as it was asked for, such as "10%" or "least"; empty without one.
        budget_bytes: the limit, or None.
        predicted_bytes, peak_bytes: the most that one call holds, as planned and as measured.
        share: what is held besides arguments, output, cotangent and gradients, relative to store-all's.
        seconds: median time of the compiled program.
        ratio: that time relative to store-all's.
        difference: the largest of ``max(abs(a - b)) / max(abs(b))`` over the gradients a and store-all's b.
        status, gap, plan_seconds: of the `Plan`; the status of others is "infeasible" or "not run".
        error: why nothing was run, or empty.
        minimum_bytes: where no plan keeps the limit, the smallest one that this strategy keeps.
    """

    strategy: str
    budget: str
    budget_bytes: int | None
    predicted_bytes: int | None = None
    peak_bytes: int | None = None
    share: float | None = None
    seconds: float | None = None
    ratio: float | None = None
    difference: float | None = None
    status: str = "infeasible"
    gap: float | None = None
    plan_seconds: float | None = None
    error: str = ""
    minimum_bytes: int | None = None

    @property
    def is_over_budget(self) -> bool:
        """Whether more was held than the limit allows; that would be an error of sdfgad."""
        return None not in (self.peak_bytes, self.budget_bytes) and (self.peak_bytes or 0) > (self.budget_bytes or 0)


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`.

    Attributes:
        program: the name of the function.
        rows: one for each strategy and limit; the first is store-all, to which the others are compared.
        floor_bytes: arguments, output, cotangent and gradients, which every plan holds.
        store_all_bytes: the measured peak of store-all.
        least_bytes: the smallest limit that the ILP keeps.
        machine: the environment by name: processor, cores, threads, versions and date.
    """

    program: str
    rows: tuple[ComparisonRow, ...]
    floor_bytes: int
    store_all_bytes: int
    least_bytes: int
    machine: Mapping[str, str]

    @property
    def intermediate_bytes(self) -> int:
        """What store-all holds besides arguments, output, cotangent and gradients."""
        return max(self.store_all_bytes - self.floor_bytes, 0)

    def to_json(self) -> str:
        """The comparison as JSON text: its attributes by name."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """The inverse of `to_json`."""
        values = json.loads(text)
        return cls(**values | {"rows": tuple(ComparisonRow(**row) for row in values["rows"])})

    def __str__(self) -> str:
        return _text(self)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw time over memory: a marker for each row, named by its limit, and the least feasible limit.

        Returns:
            The matplotlib figure, also written to `path` unless that is None: measured peaks in MiB, on a logarithmic
            axis, and times relative to store-all's.

        Raises:
            ImportError: matplotlib is not installed.
        """
        from sdfgad.plan.picture import MEBI, draw_comparison

        points = [(r.strategy, r.budget, r.peak_bytes / MEBI, r.ratio) for r in self.rows if r.peak_bytes and r.ratio]
        figure = draw_comparison(self.program, points, self.least_bytes / MEBI, self.floor_bytes / MEBI)
        if path is not None:
            figure.savefig(path, dpi=120, bbox_inches="tight")
        return figure


def compare(
    program: Callable[..., Any],
    *args: Any,
    budgets: Sequence[Budget] | None = None,
    strategies: Sequence[Strategy] = ("store_all", "recompute_all", "revolve", "ilp"),
    wrt: Wrt = None,
    output: str | None = None,
    reduce: Literal["sum"] | None = None,
    repeats: int = 5,
    allow_unused: bool = False,
    solver: str = "CBC",
    solver_seconds: float = 10.0,
    patience: float = 60.0,
    progress: Progress | None = None,
    **kwargs: Any,
) -> Comparison:
    """Run a program's gradient under each strategy and memory limit, and compare memory, time and results.

    All of them are run in turn, round after round, so that a slow spell of the machine is not one strategy's alone; the
    first run of each does not count, nor do those that warm the caches for short ones. A non-scalar output is weighted
    by random numbers, always the same, or summed if `reduce` says so.

    Args:
        program, wrt, output, reduce, allow_unused, solver, solver_seconds: as in `differentiate`.
        args, kwargs: the program's arguments.
        budgets: limits: bytes, text such as "64 MiB", floats in (0, 1] for that share of store-all's intermediate
            memory (its peak without arguments, output, cotangent and gradients, which every limit has to hold), or
            "least" for the smallest limit that the ILP can keep. None: 1, 1/2, 1/4, 1/10, 1/20 and the least, without
            those that no plan keeps.
        strategies: what to compare with store-all, which is always run. "store_all" and "recompute_all" know no limit;
            "revolve" is run under each, and "ilp" under each and without one.
        repeats: timed runs, fewer of slow ones; the median counts.
        patience: seconds; plans that are predicted to run more than that again are not run, and their rows say so.
        progress: is called with what is done next and the fraction of the work that is done.

    Returns:
        A `Comparison`: `str` of it is a table, ``plot()`` a picture.

    Raises:
        ArgumentError: a budget or strategy is not understood.
        SdfgadError: whatever ``differentiate(program)(*args)`` raises. Limits that no plan keeps raise nothing: their
            rows say so.

    Example:
        >>> def burgers(T, u):
        ...     for t in range(T):
        ...         u[1:-1] -= 0.1 * u[1:-1] * (u[2:] - u[:-2])
        ...     return np.sum(u * u)
        >>> print(compare(burgers, 1000, np.linspace(0.0, 1.0, 100_000), budgets=(0.5, 0.1)))  # doctest: +SKIP
    """
    if unknown := [name for name in strategies if name not in STRATEGIES]:
        raise ArgumentError(f"strategies={unknown!r} are not known", todo=f"They are: {', '.join(STRATEGIES)}.")

    of = partial(differentiate, program, wrt=wrt, output=output, reduce=reduce)
    # What plans have in common must not make some of them slower.
    make = partial(of, allow_unused=allow_unused, solver=solver, solver_seconds=solver_seconds, shapes="exact")
    is_summed, is_default, show = reduce is not None, budgets is None, progress or (lambda *_: None)
    comparing = _Comparing(make, args, kwargs, is_summed, is_default, patience, show)
    wished = {_label(budget): budget for budget in (DEFAULT_BUDGETS if budgets is None else budgets)}
    rows = comparing.run(wished, strategies, max(repeats, 1))
    sizes = comparing.floor, rows[0].peak_bytes or 0, comparing.least
    return Comparison(getattr(program, "__name__", str(program)), tuple(rows), *sizes, machine_of(solver))


def _label(budget: Budget) -> str:
    """A budget as rows name it; raises ArgumentError where it is not understood."""
    if not isinstance(budget, float):
        return LEAST if budget == LEAST else size_text(parse_bytes(budget) or 0)
    if 0.0 < budget <= 1.0:
        return f"{100 * budget:.4g}%"
    todo = 'Pass a float in (0, 1], a number of bytes as an integer, or text such as "64 MiB".'
    raise ArgumentError(f"the budget {budget!r} is no share of store-all's memory", todo=todo)


@dataclass
class _Candidate:
    """One strategy and limit, with its measurements."""

    strategy: Strategy
    budget: str
    limit: int | None
    program: DifferentiatedProgram
    plan: Plan | None = None
    error: str = ""
    minimum: int | None = None
    difference: float = 0.0
    peak: int = 0
    seconds: list[float] = field(default_factory=list)


@dataclass
class _Comparing:
    """One comparison: `make` is `differentiate` except for strategy and limit, `reference` store-all's gradients."""

    make: Callable[..., DifferentiatedProgram]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_summed: bool
    skips_infeasible: bool
    patience: float
    progress: Progress
    reference: tuple[Array, ...] = ()

    def run(self, wished: Mapping[str, Budget], strategies: Sequence[Strategy], repeats: int) -> list[ComparisonRow]:
        self.progress("store_all: parse, plan and compile", 0.0)
        self._prepare(self.first)
        candidates = [self.first, *self._candidates(wished, strategies)]
        for k, candidate in enumerate(candidates[1:], 1):
            name = " ".join((candidate.strategy, candidate.budget)).strip()
            self.progress(f"{name}: parse, plan and compile", 0.5 * k / len(candidates))
            self._prepare(candidate)
        feasible = [candidate for candidate in candidates if not candidate.error]
        for k in range(repeats):
            self.progress(f"round {k + 1} of {repeats}", 0.5 + 0.5 * k / repeats)
            for candidate in feasible if k % 2 else reversed(feasible):
                if sum(candidate.seconds) < LONG:
                    self._time(candidate)
        return [self._row(candidate) for candidate in candidates]

    @cached_property
    def first(self) -> _Candidate:
        return self._candidate("store_all")

    def _candidate(self, strategy: Strategy, budget: str = "", limit: int | None = None) -> _Candidate:
        return _Candidate(strategy, budget, limit, self.make(strategy=strategy, memory_limit=limit))

    def _candidates(self, wished: Mapping[str, Budget], strategies: Sequence[Strategy]) -> Iterator[_Candidate]:
        limits = {label: self._limit(budget) for label, budget in wished.items()}
        if self.skips_infeasible:
            limits = {label: limit for label, limit in limits.items() if limit >= self.least}
        for strategy in dict.fromkeys(strategies):
            if strategy in ("recompute_all", "ilp"):
                yield self._candidate(strategy)
            if strategy in ("revolve", "ilp"):
                yield from (self._candidate(strategy, label, limit) for label, limit in limits.items())

    def _limit(self, budget: Budget) -> int:
        if isinstance(budget, float):
            most = self.first.plan.peak_bytes if self.first.plan is not None else 0
            return self.floor + math.ceil(budget * max(most - self.floor, 0))
        return self.least if budget == LEAST else parse_bytes(budget) or 0

    @cached_property
    def least(self) -> int:
        self.progress("least feasible limit", 0.0)
        try:
            return self.make(strategy="ilp", memory_limit=1).plan(*self.args, **self.kwargs).peak_bytes
        except InfeasibleBudget as failure:
            return failure.minimum_bytes

    @cached_property
    def cotangent(self) -> Array:
        _, specialisation = self.first.program._bind_and_specialise(self.args, self.kwargs)
        if self.is_summed or specialisation.output_shape == ():
            return np.ones(specialisation.output_shape, specialisation.output_dtype)
        rng = np.random.default_rng(0)
        parts = rng.standard_normal((2, *specialisation.output_shape))
        return (parts[0] + 1j * parts[1] if specialisation.output_dtype.kind == "c" else parts[0]).astype(
            specialisation.output_dtype
        )

    @cached_property
    def floor(self) -> int:
        """Bytes of arguments, output, cotangent and gradients."""
        values = [*self.args, *self.kwargs.values(), *self.reference]
        return sum(v.nbytes for v in values if isinstance(v, np.ndarray)) + 2 * self.cotangent.nbytes

    def _prepare(self, candidate: _Candidate) -> None:
        """Plan, compile, run once, and compare the gradients."""
        try:
            candidate.plan = candidate.program.plan(*self.args, **self.kwargs)
        except InfeasibleBudget as failure:
            candidate.error, candidate.minimum = failure.what.splitlines()[0], failure.minimum_bytes
            return
        predicted = sum(decision.seconds for decision in candidate.plan.decisions)
        if candidate is not self.first and predicted > self.patience:
            candidate.error = f"not run: recomputation takes {time_text(predicted)}"
            return
        found = _as_tuple(candidate.program.vjp(*self.args, cotangent=self.cotangent, **self.kwargs))
        self.reference = self.reference or found
        pairs = zip(found, self.reference, strict=True)
        candidate.difference = float(np.max([_difference(a, b) for a, b in pairs], initial=0.0))

    def _time(self, candidate: _Candidate) -> None:
        call, specialisation = candidate.program._bind_and_specialise(self.args, self.kwargs)
        # A first run warms the processor caches, which matters for short runs.
        runs = [specialisation.measure(call, self.cotangent)]
        if runs[0][1] < SHORT:
            runs.append(specialisation.measure(call, self.cotangent))
        candidate.peak = max(candidate.peak, *(peak for peak, _ in runs))
        candidate.seconds.append(runs[-1][1])

    def _row(self, candidate: _Candidate) -> ComparisonRow:
        label = (candidate.strategy, candidate.budget, candidate.limit)
        if (plan := candidate.plan) is None:
            return ComparisonRow(*label, error=candidate.error, minimum_bytes=candidate.minimum)
        if candidate.error:
            return ComparisonRow(*label, plan.peak_bytes, status="not run", error=candidate.error)
        seconds, all_stored = statistics.median(candidate.seconds), self.first.peak - self.floor
        share = max(candidate.peak - self.floor, 0) / all_stored if all_stored > 0 else 1.0
        ratio = seconds / statistics.median(self.first.seconds)
        row = ComparisonRow(*label, plan.peak_bytes, candidate.peak, share, seconds, ratio, candidate.difference)
        return replace(row, status=plan.status, gap=plan.gap, plan_seconds=plan.solve_seconds)


def _as_tuple(gradients: Any) -> tuple[Array, ...]:
    if isinstance(gradients, dict):
        gradients = tuple(gradients.values())
    return tuple(np.asarray(g) for g in (gradients if isinstance(gradients, tuple) else (gradients,)))


def _difference(found: Array, expected: Array) -> float:
    if np.array_equal(found, expected, equal_nan=True):
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def machine_of(solver: str = "CBC") -> dict[str, str]:
    """The environment by name: processor, cores, threads, versions and today's date."""
    packages = ("numpy", "dace", "pulp", *(("highspy",) if solver.lower() == "highs" else ()))
    return {**machine(), **versions(packages), "solver": solver, "date": datetime.date.today().isoformat()}


def _text(comparison: Comparison) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("strategy", no_wrap=True)
    for name in ("limit", "", "predicted", "measured", "intermediate", "time", "× store-all", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("plan")
    for row in comparison.rows:
        table.add_row(*_cells(row))
    Console(file=(out := StringIO()), width=WIDTH, color_system=None).print(table, markup=False)
    sizes = (comparison.store_all_bytes, comparison.intermediate_bytes, comparison.least_bytes)
    head = "{}: store-all holds {}, {} of them intermediate; least limit {}"
    foot = ", ".join(f"{name} {value}" for name, value in comparison.machine.items())
    lines = (line.rstrip() for line in out.getvalue().splitlines())
    return "\n".join((head.format(comparison.program, *map(size_text, sizes)), *lines, foot))


def _cells(row: ComparisonRow) -> list[str]:
    start = [row.strategy, "no limit" if row.budget_bytes is None else size_text(row.budget_bytes), row.budget]
    if row.peak_bytes is None:
        least = f"infeasible below {size_text(row.minimum_bytes or 0)}"
        return [*start, *["-"] * 6, row.error if row.minimum_bytes is None else least]
    measured = size_text(row.peak_bytes) + (" OVER THE LIMIT" if row.is_over_budget else "")
    difference = f"{row.difference:.1e}" if row.difference else "0"
    status = row.status + (f", gap {row.gap:.1%}" if row.gap else "")
    numbers = [f"{row.share:.1%}", time_text(row.seconds or 0.0), f"{row.ratio:.2f}", difference]
    plan = f"{status}, {time_text(row.plan_seconds or 0.0)}"
    return [*start, size_text(row.predicted_bytes or 0), measured, *numbers, plan]
