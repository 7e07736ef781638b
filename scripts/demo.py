"""Times the gradients of the programs of npbench_suite, and checks each against NumPy: ``make demo``.

A gradient is checked argument by argument, by central differences of the NumPy program along random directions, and
the value against NumPy's. What is wrong, or raises, has no times, is not part of the summary, and makes the exit
status 1.
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
from dataclasses import dataclass
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

VALUE_LIMIT, GRADIENT_LIMIT = 1e-9, 1e-6
STEPS = (1e-3, 1e-4, 1e-5)  # Relative to an argument's typical size.
PLAIN_WIDTH = 110

CAPTION = f"""\
lines        of source of the NumPy function
NumPy, ...   median times of {{repeats}} calls, the three in turn, each call right after an untimed one
forward      our compiled program
gradient     forward and reverse, with respect to all floating arguments
check error  the worst, over these arguments, of |gradient·d - central difference of the NumPy program by d|,
             relative to the size of gradient·d, along a random d; at most {GRADIENT_LIMIT:.0e}.
             The forward value must equal NumPy's, too, up to {VALUE_LIMIT:.0e}."""


@dataclass(frozen=True)
class Row:
    """One program: seconds of NumPy, of our forward and of our gradient, the check's error, or what is wrong."""

    name: str
    lines: int
    times: tuple[float, float, float] | None = None
    error: float = float("nan")
    problem: str = ""

    @property
    def is_right(self) -> bool:
        return not self.problem and self.times is not None


# --- checks


def run_numpy(entry: npbench_suite.Entry, arguments: tuple) -> tuple[float, np.ndarray]:
    """The seconds and the main output of one call of the NumPy program, which works on copies."""
    copies = copy.deepcopy(arguments)
    start = time.perf_counter()
    returned = entry.program(*copies)
    seconds = time.perf_counter() - start
    return seconds, np.asarray(entry.outputs_from(copies, returned)[entry.output])


def value_error(found: Any, expected: np.ndarray) -> float:
    """The largest difference from NumPy's value, relative where that is large; infinity where it is no number."""
    found = np.asarray(found)
    if found.shape != expected.shape or not (np.isfinite(found).all() and np.isfinite(expected).all()):
        return float("inf")
    difference = np.abs(found - expected) / np.maximum(1.0, np.abs(found) + np.abs(expected))
    return float(np.max(difference, initial=0.0))


def gradient_error(
    entry: npbench_suite.Entry, arguments: tuple, name: str, gradient: Any, weights: np.ndarray, seed: int = 0
) -> float:
    """How far the gradient of sum(weights * output) by the argument `name` is from differences of the NumPy program.

    The error is relative to what gradient·d is, d being random: neither the other arguments nor chance hide it.
    """
    position = entry.arguments.index(name)
    value = arguments[position]
    gradient = np.asarray(gradient)
    if gradient.shape != np.shape(value):
        return float("inf")
    direction, slope, size = choose_direction(gradient, np.random.default_rng([seed, position]))

    def difference(step: float) -> float:
        up, down = (moved(arguments, position, value + h * direction) for h in (step, -step))
        return float(np.sum(weights * (run_numpy(entry, up)[1] - run_numpy(entry, down)[1])))

    best = float("inf")
    typical = float(np.sqrt(np.mean(np.square(value)))) or 1.0
    for step in (typical * relative for relative in STEPS):
        measured = (8.0 * difference(step) - difference(2.0 * step)) / (12.0 * step)
        best = min(best, relative_error(slope, measured, size))
        if best <= GRADIENT_LIMIT:
            break
    return best


def choose_direction(gradient: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """A random direction d with gradient·d, and its typical size for a random d; it is not small by cancellation."""
    for _ in range(20):
        direction = np.asarray(rng.standard_normal(gradient.shape))
        terms = gradient * direction
        slope, size = float(np.sum(terms)), float(np.sqrt(np.sum(np.square(terms))))
        if not abs(slope) < size / 2:
            break
    return direction, slope, size


def relative_error(slope: float, measured: float, size: float) -> float:
    """Infinity where a number is none; zero only where both derivatives are exactly zero."""
    scale = max(size, abs(measured))
    error = abs(slope - measured) / scale if scale else 0.0
    return error if np.isfinite([slope, measured, error]).all() else float("inf")


def moved(arguments: tuple, position: int, value: Any) -> tuple:
    """The arguments with another value at one position: an array, or a Python float."""
    value = value if isinstance(arguments[position], np.ndarray) else float(value)
    return (*arguments[:position], value, *arguments[position + 1 :])


# --- measuring


def measure(name: str, preset: str, repeats: int, report: Callable[[str], None]) -> Row:
    """Compile, time and check one program; what is wrong is told by the row."""
    entry = npbench_suite.load(name)
    lines = source_lines(entry.program)
    try:
        times, error, problem = time_and_check(entry, preset, repeats, report)
    except Exception as failure:
        place = traceback.extract_tb(failure.__traceback__)[-1]
        first = str(failure).partition("\n")[0] or f"at {Path(place.filename).name}:{place.lineno}"
        return Row(name, lines, problem=f"{type(failure).__name__}: {first}")
    return Row(name, lines, None if problem else times, error, problem)


def time_and_check(
    entry: npbench_suite.Entry, preset: str, repeats: int, report: Callable[[str], None]
) -> tuple[tuple[float, float, float], float, str]:
    """The three times, the gradient's error, and what is wrong. Checked are the results of the last timed calls."""
    report(f"{entry.name}: parse and compile")
    arguments = entry.arguments_for(preset)
    program = sdfgad.differentiate(entry.program, wrt=entry.arrays, output=entry.output, allow_unused=True)
    program.compile(*arguments)
    weights = np.random.default_rng(1).standard_normal(np.shape(program.value(*arguments)))
    report(f"{entry.name}: time")
    times, expected, value, gradients = time_calls(entry, program, arguments, weights, repeats)
    report(f"{entry.name}: check")
    if not all(map(np.array_equal, arguments, entry.arguments_for(preset))):
        return times, float("nan"), "WRONG: the arguments were changed"
    error = value_error(value, expected)
    if not error <= VALUE_LIMIT:
        return times, error, f"WRONG: the value is off by {error:.1e}"
    errors = {
        name: gradient_error(entry, arguments, name, gradient, weights)
        for name, gradient in zip(entry.arrays, gradients, strict=True)
    }
    worst = max(errors, key=errors.__getitem__)
    problem = f"WRONG: the gradient by {worst} is off by {errors[worst]:.1e}"
    return times, errors[worst], "" if errors[worst] <= GRADIENT_LIMIT else problem


def time_calls(
    entry: npbench_suite.Entry, program: Any, arguments: tuple, weights: np.ndarray, repeats: int
) -> tuple[tuple[float, float, float], np.ndarray, Any, tuple]:
    """Median seconds of NumPy, forward and gradient, called in turn, and what they returned."""
    calls = (
        lambda: run_numpy(entry, arguments),
        lambda: stopwatch(lambda: program.value(*arguments)),
        lambda: stopwatch(lambda: program.vjp(*arguments, cotangent=weights)),
    )
    seconds: tuple[list[float], ...] = ([], [], [])
    results: list[Any] = [None, None, None]
    for _ in range(repeats):
        for k, call in enumerate(calls):
            call()  # So that what is timed finds warm caches and threads, whoever ran before it.
            took, results[k] = call()
            seconds[k].append(took)
    numpy, forward, gradient = map(statistics.median, seconds)
    return (numpy, forward, gradient), *results


def stopwatch(call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds and the result of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def source_lines(function: Callable) -> int:
    """The lines of a function that are neither empty nor a comment."""
    lines = (line.strip() for line in inspect.getsource(function).splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def measure_all(names: Sequence[str], preset: str, repeats: int, console: Console) -> Iterator[Row]:
    """A row of each program, with a progress display where a person is watching."""
    columns = (SpinnerColumn(), MofNCompleteColumn(), BarColumn(20), TextColumn("{task.description}"))
    watched = console.is_terminal
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=not watched) as progress:
        task = progress.add_task("", total=len(names))
        for name in names:
            yield measure(name, preset, repeats, lambda text: progress.update(task, description=text))
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
    if not row.is_right:
        return [*start, "-", "-", "-", "-", escape(row.problem)]
    _, forward, gradient = row.times
    return [*start, *map(duration, row.times), f"{gradient / forward:.2f}", f"{row.error:.1e}"]


def duration(seconds: float) -> str:
    unit, factor = next((u, f) for u, f in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if seconds * f >= 1.0 or u == "µs")
    number = seconds * factor
    return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f} {unit:>2}"


def summary(rows: Sequence[Row]) -> str:
    """How many are right, what their times are on average, and on what that was measured."""
    right = [row.times for row in rows if row.is_right]
    parts = [f"{len(right)} of {len(rows)} right"]
    if right:
        slower = statistics.geometric_mean(gradient / forward for _, forward, gradient in right)
        faster = statistics.geometric_mean(numpy / forward for numpy, forward, _ in right)
        parts.append(f"geometric means: gradient/forward {slower:.2f}, NumPy/forward {faster:.2f}")
    versions = f"sdfgad {sdfgad.__version__}, dace {version('dace')}, NumPy {np.__version__}"
    where = f"Python {platform.python_version()}, {os.cpu_count()} cores, {os.environ['OMP_NUM_THREADS']} threads"
    return f"{'; '.join(parts)}\n{versions}, {where}"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time and check the gradients of the programs of npbench_suite.")
    parser.add_argument("-p", "--preset", default="S", help="sizes: S, M, L, paper, test or test2 (default: S)")
    parser.add_argument("-b", "--benchmarks", nargs="+", metavar="NAME", help="programs (default: all of them)")
    parser.add_argument("-r", "--repeats", type=int, default=5, help="timed calls of each (default: 5)")
    chosen = parser.parse_args(argv)
    known = npbench_suite.names()
    chosen.benchmarks = chosen.benchmarks or known
    if unknown := [name for name in chosen.benchmarks if name not in known]:
        parser.error(f"unknown programs: {', '.join(unknown)}; known are: {', '.join(known)}")
    if lacking := [n for n in chosen.benchmarks if chosen.preset not in npbench_suite.load(n).presets]:
        parser.error(f"no preset {chosen.preset!r} in: {', '.join(lacking)}")
    if chosen.repeats < 1:
        parser.error("repeats must be at least 1")
    return chosen


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the demonstration; the exit status is 1 unless every program is right."""
    chosen = parse_arguments(argv)
    console = console or (Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH))
    title = f"Gradients of {len(chosen.benchmarks)} NumPy programs, preset {chosen.preset}"
    if not console.is_terminal:
        console.print("Compiling, timing and checking; this takes a few minutes.\n")
    rows = list(measure_all(chosen.benchmarks, chosen.preset, chosen.repeats, console))
    console.print(make_table(rows, title))
    console.print(CAPTION.format(repeats=chosen.repeats), style="dim", highlight=False, soft_wrap=True)
    is_right = all(row.is_right for row in rows)
    console.print(f"\n{summary(rows)}", style="bold green" if is_right else "bold red", highlight=False)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
