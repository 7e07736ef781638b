"""Times the gradients of NumPy programs, and checks each against NumPy: ``make demo``.

The programs are those of npbench_suite, or with ``--npbench PATH`` those of a checkout of NPBench itself, as they are.
A gradient is checked argument by argument, by central differences of the NumPy program along random directions, and
the value against NumPy's. What is wrong, or raises, has no times, is not part of the summary, and makes the exit
status 1. A program on integers has no gradient, and must be refused with a message that says so.
"""

import argparse
import copy
import inspect
import os
import platform
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Read once, when the libraries that run threads are loaded.
os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import npbench_suite
import sdfgad
from npbench_suite import checkout
from scripts import checking
from scripts.checking import DOUBLE, SINGLE, Program, run_numpy
from scripts.stopwatch import stopwatch

PLAIN_WIDTH = 110
LONG_ENOUGH = 5.0  # Seconds after which a program's calls are not repeated any more.

CAPTION = f"""\
lines        of source of the NumPy function
NumPy, ...   median times of up to {{repeats}} calls, the three in turn, each call right after an untimed one
forward      our compiled program
gradient     forward and reverse, with respect to all floating arguments
check error  the worst, over these arguments, of |gradient·d - central difference of the NumPy program by d|,
             relative to the size of gradient·d, along a random d; at most {DOUBLE.gradient:.0e}.
             The forward value must equal NumPy's, too, up to {DOUBLE.value:.0e}.
             In single precision, both limits are {SINGLE.gradient:.0e}."""

ILL_CONDITIONED = "ill-conditioned: differences tell no more"
CHAOTIC = "chaotic; the gradient is checked at smaller sizes"
SCALE = 1e-2
ASIDE = "checked beside a tie or kink"
ZERO = "all gradients are zero; so checked with a hundredth of the arguments"
SENSITIVE = "the value is as sensitive to roundings"
ROUNDINGS = 10
VALUE_ONLY = "value only: single precision cannot be differenced"
INTEGER = "integer program"


@dataclass(frozen=True)
class Row:
    """One program: seconds of NumPy, of our forward and of our gradient, the check's error, or what is wrong.

    Attributes:
        note: what to know of one that is right; of a program on integers, how its gradient is refused.
    """

    name: str
    lines: int
    times: tuple[float, float, float] | None = None
    error: float = float("nan")
    problem: str = ""
    note: str = ""

    @property
    def is_right(self) -> bool:
        return not self.problem

    @property
    def is_timed(self) -> bool:
        return self.is_right and self.times is not None


@dataclass(frozen=True)
class Verdict:
    """The worst error of a program's gradients, what is wrong, and what to know."""

    error: float
    problem: str = ""
    note: str = ""
    is_settled: bool | None = None  # Of a gradient that is off: whether differences are close to one another.

    @property
    def is_gradient(self) -> bool:
        """Whether the problem is a gradient."""
        return self.is_settled is not None


@dataclass(frozen=True)
class Results:
    """The weights of the output, NumPy's value, and ours with the gradients."""

    weights: np.ndarray
    expected: np.ndarray
    value: Any
    gradients: tuple


# --- checks


def check(
    entry: Program, program: sdfgad.DifferentiatedProgram, arguments: tuple, smaller: tuple, results: Results
) -> Verdict:
    """Whether the results are right.

    Differences say nothing at a tie or a kink, little where all gradients are zero, and nothing where a program is
    chaotic. There it is checked again, with other arguments: in the last case with `smaller` ones.
    """
    limits = SINGLE if any(map(checking.is_single, (*arguments, results.expected))) else DOUBLE
    if limits is SINGLE and not has_double(entry, arguments):
        verdict = check_value(results, limits)
        return verdict if verdict.problem else Verdict(verdict.error, note=VALUE_ONLY)
    verdict = check_results(entry, arguments, results, limits)

    def again(arguments: tuple, note: str) -> Verdict:
        found = check_results(entry, arguments, results_of(entry, program, arguments), limits)
        return found if found.problem else replace(found, note="; ".join(filter(None, (note, found.note))))

    if verdict.is_gradient:
        aside = again(checking.moved_aside(entry, arguments), ASIDE)
        if not aside.problem:
            return aside
        if not verdict.is_settled and not aside.is_settled:
            return again(smaller, CHAOTIC)
    if not verdict.problem and not any(map(np.any, results.gradients)):
        return again(checking.moved_aside(entry, arguments, SCALE), ZERO)
    return verdict


def results_of(entry: Program, program: sdfgad.DifferentiatedProgram, arguments: tuple) -> Results:
    value = program.value(*arguments)
    weights = weights_for(value)
    return Results(weights, run_numpy(entry, arguments)[1], value, program.vjp(*arguments, cotangent=weights))


def check_results(entry: Program, arguments: tuple, results: Results, limits: checking.Limits) -> Verdict:
    verdict = check_value(results, limits)
    if verdict.problem and np.isfinite(verdict.error):
        # Where rounding the arguments changes NumPy's value as much, the difference says nothing.
        rounding = checking.error_of_rounding(entry, arguments, results.expected)
        verdict = verdict if verdict.error > ROUNDINGS * rounding else Verdict(verdict.error, note=SENSITIVE)
    return verdict if verdict.problem else check_gradients(entry, arguments, results, limits)


def check_value(results: Results, limits: checking.Limits) -> Verdict:
    error = checking.value_error(results.value, results.expected)
    return Verdict(error, "" if error <= limits.value else f"WRONG: the value is off by {error:.1e}")


def check_gradients(entry: Program, arguments: tuple, results: Results, limits: checking.Limits) -> Verdict:
    found = {
        name: checking.compare_gradient(entry, arguments, name, gradient, results.weights, limits.gradient)
        for name, gradient in zip(entry.arrays, results.gradients, strict=True)
    }
    wrong = {name for name, difference in found.items() if not difference.is_within(limits.gradient)}
    worst = max(wrong or found, key=lambda name: found[name].error)
    error, is_settled = found[worst].error, all(found[name].is_settled for name in wrong)
    if wrong:
        return Verdict(error, f"WRONG: the gradient by {worst} is off by {error:.1e}", is_settled=is_settled)
    return Verdict(error, note="" if error <= limits.gradient else ILL_CONDITIONED)


def weights_for(value: Any) -> np.ndarray:
    return checking.random_like(value, np.random.default_rng(1))


def smaller_arguments(entry: Program, preset: str) -> tuple:
    """Arguments of the sizes that tests use."""
    if isinstance(entry, checkout.Benchmark):
        return replace(entry, is_small=True).arguments_for(preset)
    return entry.arguments_for("test")


def has_double(entry: Program, arguments: tuple) -> bool:
    """Whether the program can be run in double precision, though it asks for single."""
    with checking.double_precision(entry.program):
        return not checking.is_single(run_numpy(entry, tuple(map(checking.widened, arguments)))[1])


# --- measuring


def measure(load: Callable[[str], Program], name: str, preset: str, repeats: int, report: Callable[[str], None]) -> Row:
    """Compile, time and check one program; what is wrong is told by the row."""
    lines = 0
    try:
        entry = load(name)
        lines = source_lines(entry.program)
        if not entry.arrays or not entry.output:
            return Row(name, lines, note=refusal_of_integers(entry, preset))
        times, verdict = time_and_check(entry, preset, repeats, report)
    except Exception as failure:
        return Row(name, lines, problem=describe(failure))
    return Row(name, lines, None if verdict.problem else times, verdict.error, verdict.problem, verdict.note)


def describe(failure: Exception) -> str:
    """An exception in one line: its type, what is wrong, and the line of the program if it is known."""
    if isinstance(failure, sdfgad.errors.SdfgadError):
        text = failure.what.strip().replace("\n", ";")
        where = failure.where
        text += f" (at {Path(where.file).name}:{where.line}: {where.text})" if where else ""
    else:
        place = traceback.extract_tb(failure.__traceback__)[-1]
        text = str(failure).partition("\n")[0] or f"at {Path(place.filename).name}:{place.lineno}"
    return f"{type(failure).__name__}: {text}"


def refusal_of_integers(entry: Program, preset: str) -> str:
    """How the gradient of a program without floating arguments or without a floating output is refused."""
    try:
        sdfgad.differentiate(entry.program, wrt=entry.arrays or None, reduce="sum")(*entry.arguments_for(preset))
    except (sdfgad.errors.WrtError, sdfgad.errors.OutputError) as refusal:
        return f"{INTEGER}: {refusal.what}"
    raise AssertionError("the gradient of a program on integers is not refused")


def time_and_check(
    entry: Program, preset: str, repeats: int, report: Callable[[str], None]
) -> tuple[tuple[float, float, float], Verdict]:
    """The three times, and whether the results of the last timed calls are right."""
    report(f"{entry.name}: parse and compile")
    arguments = entry.arguments_for(preset)
    before = copy.deepcopy(arguments)
    program = sdfgad.differentiate(entry.program, wrt=entry.arrays, output=entry.output, allow_unused=True)
    program.compile(*arguments)
    weights = weights_for(program.value(*arguments))
    report(f"{entry.name}: time")
    times, results = time_calls(entry, program, arguments, weights, repeats)
    report(f"{entry.name}: check")
    if not all(np.array_equal(old, new, equal_nan=True) for old, new in zip(before, arguments, strict=True)):
        return times, Verdict(float("nan"), "WRONG: the arguments were changed")
    return times, check(entry, program, arguments, smaller_arguments(entry, preset), results)


def time_calls(
    entry: Program, program: Any, arguments: tuple, weights: np.ndarray, repeats: int
) -> tuple[tuple[float, float, float], Results]:
    """Median seconds of NumPy, forward and gradient, called in turn, and what they returned."""
    calls = (
        lambda: run_numpy(entry, arguments),
        lambda: stopwatch(lambda: program.value(*arguments)),
        lambda: stopwatch(lambda: program.vjp(*arguments, cotangent=weights)),
    )
    seconds: tuple[list[float], ...] = ([], [], [])
    results: list[Any] = [None, None, None]
    start = time.perf_counter()
    while len(seconds[0]) < repeats and (not seconds[0] or time.perf_counter() - start < LONG_ENOUGH):
        for k, call in enumerate(calls):
            call()  # So that what is timed finds warm caches and threads, whoever ran before it.
            took, results[k] = call()
            seconds[k].append(took)
    numpy, forward, gradient = map(statistics.median, seconds)
    return (numpy, forward, gradient), Results(weights, *results)


def source_lines(function: Callable) -> int:
    """The lines of a function that are neither empty nor a comment."""
    lines = (line.strip() for line in inspect.getsource(function).splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def measure_all(
    load: Callable[[str], Program], names: Sequence[str], preset: str, repeats: int, console: Console
) -> Iterator[Row]:
    """A row of each program, with a progress display where a person is watching, else a line for each program."""
    columns = (SpinnerColumn(), MofNCompleteColumn(), BarColumn(20), TextColumn("{task.description}"))
    watched = console.is_terminal
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=not watched) as progress:
        task = progress.add_task("", total=len(names))
        for number, name in enumerate(names, 1):
            if not watched:
                print(f"{number}/{len(names)} {name}", file=sys.stderr, flush=True)
            yield measure(load, name, preset, repeats, lambda text: progress.update(task, description=text))
            progress.advance(task)


# --- showing


def make_table(rows: Sequence[Row], title: str) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("program", no_wrap=True)
    for heading in ("lines", "NumPy", "forward", "gradient", "gradient\n/forward"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("check error", overflow="fold")
    for row in rows:
        table.add_row(*cells(row), style=None if row.is_right else "bold red")
    return table


def cells(row: Row) -> list[str]:
    start = [row.name, str(row.lines)]
    if not row.is_timed:
        return [*start, "-", "-", "-", "-", escape(row.problem or row.note)]
    _, forward, gradient = row.times
    note = f" ({row.note})" if row.note else ""
    return [*start, *map(duration, row.times), f"{gradient / forward:.2f}", f"{row.error:.1e}{note}"]


def duration(seconds: float) -> str:
    unit, factor = next((u, f) for u, f in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if seconds * f >= 1.0 or u == "µs")
    number = seconds * factor
    return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f} {unit:>2}"


def summary(rows: Sequence[Row]) -> str:
    """How many are right, what their times are on average, and on what that was measured."""
    right = [row.times for row in rows if row.is_timed]
    integers = sum(row.is_right and not row.is_timed for row in rows)
    parts = [f"{len(right)} of {len(rows) - integers} right" + (f", {integers} on integers" if integers else "")]
    if right:
        slower = statistics.geometric_mean(gradient / forward for _, forward, gradient in right)
        faster = statistics.geometric_mean(numpy / forward for numpy, forward, _ in right)
        parts.append(f"geometric means: gradient/forward {slower:.2f}, NumPy/forward {faster:.2f}")
    versions = f"sdfgad {sdfgad.__version__}, dace {version('dace')}, NumPy {np.__version__}"
    where = f"Python {platform.python_version()}, {os.cpu_count()} cores, {os.environ['OMP_NUM_THREADS']} threads"
    return f"{'; '.join(parts)}\n{versions}, {where}"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is asked for, with the function `load` from the name of a program to the program."""
    parser = argparse.ArgumentParser(description="Time and check the gradients of NumPy programs.")
    parser.add_argument("-p", "--preset", default="S", help="sizes: S, M, L, paper; of ours test, test2 (default: S)")
    parser.add_argument("-b", "--benchmarks", nargs="+", metavar="NAME", help="programs (default: all of them)")
    parser.add_argument("-r", "--repeats", type=int, default=5, help="timed calls, fewer of slow ones (default: 5)")
    parser.add_argument("--npbench", metavar="PATH", type=Path, help="run the programs of this checkout of NPBench")
    parser.add_argument("--small", action="store_true", help="with --npbench: divide the sizes, for a quick check")
    chosen = parser.parse_args(argv)
    if chosen.small and not chosen.npbench:
        parser.error("--small needs --npbench; the small sizes of our own programs are the presets test and test2")
    if chosen.npbench:
        known, chosen.load = (
            checkout.names(chosen.npbench),
            partial(checkout.load, chosen.npbench, is_small=chosen.small),
        )
    else:
        known, chosen.load = npbench_suite.names(), npbench_suite.load
    if not known:
        parser.error(f"no checkout of NPBench in {chosen.npbench}: there is no bench_info/*.json")
    chosen.benchmarks = chosen.benchmarks or known
    if unknown := [name for name in chosen.benchmarks if name not in known]:
        parser.error(f"unknown programs: {', '.join(unknown)}; known are: {', '.join(known)}")
    if lacking := [name for name in chosen.benchmarks if chosen.preset not in chosen.load(name).presets]:
        parser.error(f"no preset {chosen.preset!r} in: {', '.join(lacking)}")
    if chosen.repeats < 1:
        parser.error("repeats must be at least 1")
    return chosen


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the demonstration; the exit status is 1 unless every program is right."""
    chosen = parse_arguments(argv)
    console = console or (Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH))
    whose = "programs of NPBench" if chosen.npbench else "NumPy programs"
    sizes = "small sizes" if chosen.small else f"preset {chosen.preset}"
    if not console.is_terminal:
        console.print("Compiling, timing and checking; this takes a few minutes.\n")
    rows = list(measure_all(chosen.load, chosen.benchmarks, chosen.preset, chosen.repeats, console))
    console.print(make_table(rows, f"Gradients of {len(chosen.benchmarks)} {whose}, {sizes}"))
    console.print(CAPTION.format(repeats=chosen.repeats), style="dim", highlight=False, soft_wrap=True)
    is_right = all(row.is_right for row in rows)
    console.print(f"\n{summary(rows)}", style="bold green" if is_right else "bold red", highlight=False)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
