"""Times what happens before the first gradient of a program: the stages of a build, and a start from the cache.

Each program runs in processes of its own: one with an empty cache but for what is compiled once for all programs, which
builds, and then one that finds the library. Of the second, the times from ``import sdfgad`` on: until the import is
done, until the program is ready to run, and until the first gradient is there, less what a second call takes. With
``--cpu`` it is the processor's time that counts, the compiler's included, which depends less on other users.
"""

import argparse
import copy
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

import npbench_suite

PLAIN_WIDTH = 110
# What is timed of a build: module and function -> stage. Planning is the rest; importing DaCe is a stage, too.
STAGES = {
    ("sdfgad.specialise.specialise", "parse"): "parse",
    ("sdfgad.pipeline", "differentiate_program"): "reverse",
    ("sdfgad.optimise.passes", "optimise"): "optimise",
    ("sdfgad.sdfg.sealed", "write_sealed"): "write",
    ("sdfgad.runtime.compile", "generate"): "generate",
    ("sdfgad.runtime.build", "_compiled"): "compile",
}
BUILD = ("parse", "reverse", "plan", "optimise", "dace", "write", "generate", "compile", "build")
START = ("import", "ready", "first")
Clock = Callable[[], float]
# What a program without statements takes, in statements.
SMALL = 10
# What is there once and for all: what is compiled for all programs, and the constants of the machine.
ONCE = """
import numpy
from sdfgad.plan.machine import machine
from sdfgad.runtime.compiler import Level
from sdfgad.runtime.headers import Headers, precompiled
from sdfgad.runtime.separate import objects
from sdfgad.runtime.pool import empty
precompiled(list(Level), Headers.ALL), precompiled(list(Level), Headers.REAL)
objects(("fourier",), list(Level)), machine(), empty((1 << 20,), numpy.dtype(numpy.uint8))
"""


# --- in a process of its own


def processor_seconds() -> float:
    """Of this process and of those that it waited for."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def run_one(name: str, preset: str, is_build: bool, clock: Clock) -> dict[str, float]:
    """The seconds of the stages of a build, or of a start."""
    entry = npbench_suite.load(name)
    program, arguments = entry.program, entry.arguments_for(preset)
    weights = np.ones_like(entry.outputs_from(*numpy_run(program, arguments))[entry.output])
    start = clock()
    import sdfgad

    imported = clock() - start
    gradient = sdfgad.differentiate(program, wrt=entry.arrays, output=entry.output, allow_unused=True)
    if is_build:
        seconds = _stages(lambda: gradient.compile(*arguments), clock)
        return seconds | {"statements": _statements(gradient, arguments)}
    gradient.compile(*arguments)
    ready = clock() - start
    gradient.vjp(*arguments, cotangent=weights)
    first = clock() - start
    start = clock()
    gradient.vjp(*arguments, cotangent=weights)
    return {"import": imported, "ready": ready, "first": first - (clock() - start)}


def _statements(gradient: Any, arguments: tuple) -> int:
    """How many statements the parsed program has."""
    from sdfgad.ir.program import walk

    _, specialisation = gradient._bind_and_specialise(arguments, {})
    return sum(1 for _ in walk(specialisation.pipeline.parsed.program.body))


def numpy_run(program: Callable, arguments: tuple) -> tuple[tuple, Any]:
    copies = copy.deepcopy(arguments)
    return copies, program(*copies)


def _stages(build: Callable[[], None], clock: Clock) -> dict[str, float]:
    seconds = dict.fromkeys(BUILD, 0.0)
    imported = _timed(import_module, "dace", seconds, clock)
    for (module, function), stage in STAGES.items():
        owner = imported(module)
        setattr(owner, function, _timed(getattr(owner, function), stage, seconds, clock))
    _timed(build, "build", seconds, clock)()
    seconds["build"] += seconds["dace"]
    seconds["plan"] = 2 * seconds["build"] - sum(seconds.values())
    return seconds


def _timed(function: Callable, stage: str, seconds: dict[str, float], clock: Clock) -> Callable:
    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        start = clock()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[stage] += clock() - start

    return run


# --- the processes


def measure(name: str, chosen: argparse.Namespace, cache: str) -> dict[str, float]:
    """The seconds of one program; those of the start are medians."""
    options = ["-p", chosen.preset, "-b", name, *(["--cpu"] if chosen.cpu else [])]
    build = _process(["--child", "build", *options], cache)
    begun = [_process(["--child", "start", *options], cache) for _ in range(chosen.starts)]
    return build | {key: statistics.median(one[key] for one in begun) for key in START}


def _process(options: Sequence[str], cache: str) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).resolve()), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=_environment(cache))
    if done.returncode:
        raise SystemExit(f"{' '.join(options)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _environment(cache: str) -> dict[str, str]:
    # Users have bytecode.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "SDFGAD_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}


def measure_all(chosen: argparse.Namespace, console: Any) -> Iterator[dict[str, float]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), MofNCompleteColumn(), BarColumn(20), TextColumn("{task.description}"))
    watched = console.is_terminal
    with (
        tempfile.TemporaryDirectory() as cache,
        Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=not watched) as progress,
    ):
        task = progress.add_task("headers", total=len(chosen.benchmarks))
        subprocess.run([sys.executable, "-c", ONCE], check=True, env=_environment(cache))
        for name in chosen.benchmarks:
            progress.update(task, description=name)
            yield measure(name, chosen, cache)
            progress.advance(task)


# --- showing


def make_table(chosen: argparse.Namespace, rows: Sequence[dict[str, float]]) -> Any:
    from rich import box
    from rich.table import Table

    names, kind = chosen.benchmarks, "Processor's seconds" if chosen.cpu else "Seconds"
    title = f"{kind} before the first gradient, preset {chosen.preset}"
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    columns = (*BUILD, *START)
    table.add_column("program", no_wrap=True)
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in zip(names, rows, strict=True):
        table.add_row(name, *(f"{row[c]:.2f}" for c in columns), end_section=name == names[-1])
    for name, of in (("median", statistics.median), ("worst", max), ("total", sum)):
        table.add_row(name, *(f"{of([row[c] for row in rows]):.2f}" for c in columns), style="bold")
    return table


def draw(names: Sequence[str], rows: Sequence[dict[str, float]], path: Path) -> None:
    """Plots the seconds of a build, without importing DaCe, over the statements of the program, and a line through all.

    The line is that of least relative squares among those of constant time a statement: what is linear lies along it.
    """
    from matplotlib.figure import Figure

    counts, seconds = [row["statements"] for row in rows], [row["build"] - row["dace"] for row in rows]
    each = statistics.geometric_mean(s / (n + SMALL) for n, s in zip(counts, seconds, strict=True))
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log")
    ends = sorted(counts)
    axes.plot(ends, [each * (n + SMALL) for n in ends], color="0.7", label=f"{1000 * each:.0f} ms for each statement")
    axes.scatter(counts, seconds, s=18)
    largest = sorted(zip(counts, seconds, names, strict=True))[-6:]
    for count, second, name in largest:
        axes.annotate(name, (count, second), xytext=(-5, 3), textcoords="offset points", ha="right", fontsize=8)
    axes.set(xlabel="statements of the program", ylabel="seconds before the first gradient")
    axes.set_title("First calls with an empty cache, DaCe imported", loc="left", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time builds of gradients, and starts that find them in the cache.")
    parser.add_argument("-p", "--preset", default="S", help="sizes: S, M, L, paper, test, test2 (default: S)")
    parser.add_argument("-b", "--benchmarks", nargs="+", metavar="NAME", help="programs (default: all of them)")
    parser.add_argument(
        "--suite", choices=(*npbench_suite.SUITES, "both"), default="npbench", help="where none are named"
    )
    parser.add_argument("-s", "--starts", type=int, default=3, help="starts from the cache (default: 3)")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, not of the clock")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draws builds over the number of statements")
    parser.add_argument("--child", choices=("build", "start"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    known = [name for suite in npbench_suite.SUITES for name in npbench_suite.names(suite)]
    suites = [chosen.suite] if chosen.suite != "both" else list(npbench_suite.SUITES)
    chosen.benchmarks = chosen.benchmarks or [name for suite in suites for name in npbench_suite.names(suite)]
    if unknown := [name for name in chosen.benchmarks if name not in known]:
        parser.error(f"unknown programs: {', '.join(unknown)}; known are: {', '.join(known)}")
    if chosen.starts < 1:
        parser.error("starts must be at least 1")
    return chosen


def main(argv: Sequence[str] | None = None, console: Any = None) -> int:
    chosen = parse_arguments(argv)
    if chosen.child:
        clock = processor_seconds if chosen.cpu else time.perf_counter
        print(json.dumps(run_one(chosen.benchmarks[0], chosen.preset, chosen.child == "build", clock)))
        return 0
    from rich.console import Console

    console = console or (Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH))
    rows = list(measure_all(chosen, console))
    console.print(make_table(chosen, rows))
    if chosen.plot:
        draw(chosen.benchmarks, rows, chosen.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
