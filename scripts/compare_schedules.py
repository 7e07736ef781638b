"""Compares what store-all, recompute-all, Revolve and the ILP make of memory limits, program by program.

Each program runs in a process of its own. The exit status is 1 if one fails, holds more than its limit, or has other
gradients than with everything stored.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

# Read once, when the libraries that run threads are loaded.
os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import npbench_suite
import sdfgad
from sdfgad.plan.units import time_text

MEBI = 2**20
PLAIN_WIDTH = 160
BUDGETS = "1,0.5,0.1,0.05,least"
# Plans add sums in other orders. Where a random cotangent makes them cancel, single precision has few digits left.
DOUBLE, SINGLE = 1e-12, 2e-4
PRESETS = ("test", "S", "M", "L", "paper")


# --- programs that are not of NPBench


def nonlinear_stencil(T, u, a):
    for _ in range(T):
        u[1:-1] -= a * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def sine_chain(A, B, C, D):
    return np.sum(np.sin(D @ np.sin(C @ np.sin(B @ A))))


def stencil_arguments(T: int, N: int) -> tuple:
    return T, 1.0 + 0.5 * np.sin(np.linspace(0.0, 20.0, N)), 0.1


def chain_arguments(n: int) -> tuple:
    """Three matrices of different sizes, and what they are applied to."""
    rng = np.random.default_rng(0)
    shapes = ((2 * n, 8 * n), (6 * n, 2 * n), (3 * n, 6 * n), (5 * n, 3 * n))
    return tuple(rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in shapes)


@dataclass(frozen=True)
class Built:
    """A program of this script: the function, what makes its arguments, and the sizes of each preset."""

    program: Callable
    make: Callable[..., tuple]
    arrays: tuple[str, ...]
    presets: dict[str, tuple[int, ...]]
    output: str = "return"

    def arguments_for(self, preset: str) -> tuple:
        return self.make(*self.presets[preset])


STENCIL_SIZES = ((6, 30), (100, 10_000), (300, 50_000), (1000, 100_000), (1000, 200_000))
CHAIN_SIZES = ((3,), (50,), (150,), (250,), (500,))
BUILT = {
    "nonlinear_stencil": Built(
        nonlinear_stencil, stencil_arguments, ("u", "a"), dict(zip(PRESETS, STENCIL_SIZES, strict=True))
    ),
    "sine_chain": Built(
        sine_chain, chain_arguments, ("A", "B", "C", "D"), dict(zip(PRESETS, CHAIN_SIZES, strict=True))
    ),
}
# What runs by default, at sizes that have much to store and take a second or so.
DEFAULT = {
    "nonlinear_stencil": "L",
    "seidel_2d": "paper",
    "cavity_flow": "M",
    "vadv": "M",
    "nbody": "L",
    "mlp": "S",
    "lenet": "L",
    "resnet": "L",
    "conv2d_bias": "L",
    "sine_chain": "L",
}


def load(name: str) -> Any:
    """A program by name, with `program`, `arrays`, `output`, `presets` and `arguments_for`."""
    return BUILT[name] if name in BUILT else npbench_suite.load(name)


# --- one program


@dataclass(frozen=True)
class Result:
    """What came of one program: a comparison, or a problem.

    Attributes:
        tolerance: the largest difference of gradients that passes.
    """

    name: str
    preset: str
    tolerance: float = DOUBLE
    comparison: sdfgad.Comparison | None = None
    problem: str = ""

    @property
    def difference(self) -> float:
        """The largest difference of any gradient; NaN if one is."""
        found = [row.difference for row in self.rows if row.difference is not None]
        return float(np.max(found, initial=0.0))

    @property
    def rows(self) -> tuple[sdfgad.ComparisonRow, ...]:
        return () if self.comparison is None else self.comparison.rows

    @property
    def is_over(self) -> bool:
        return any(row.is_over_budget for row in self.rows)

    @property
    def is_right(self) -> bool:
        return not self.problem and not self.is_over and self.difference <= self.tolerance

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Result":
        values = json.loads(text)
        inner = values["comparison"]
        found = None if inner is None else sdfgad.Comparison.from_json(json.dumps(inner))
        return cls(**values | {"comparison": found})


def compare_here(chosen: argparse.Namespace) -> Result:
    """Compare one program in this process, with a bar where a person is watching."""
    name, preset, console = chosen.names[0], chosen.preset, Console(stderr=True)
    columns = (SpinnerColumn(), BarColumn(30), TextColumn("{task.description}"), TimeElapsedColumn())
    try:
        entry = load(name)
        arguments = entry.arguments_for(preset)
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(name, total=1.0)
            found = sdfgad.compare(
                entry.program,
                *arguments,
                budgets=chosen.budgets,
                wrt=entry.arrays,
                output=entry.output,
                repeats=chosen.repeats,
                allow_unused=True,
                solver=chosen.solver,
                patience=chosen.patience,
                progress=lambda text, done: bar.update(task, description=f"{name}: {text}", completed=done),
            )
    except Exception as failure:
        return Result(name, preset, problem=f"{type(failure).__name__}: {str(failure).strip().partition(chr(10))[0]}")
    is_single = any(getattr(value, "dtype", None) in (np.float32, np.complex64) for value in arguments)
    return Result(name, preset, SINGLE if is_single else DOUBLE, found)


def compare_apart(name: str, chosen: argparse.Namespace) -> Result:
    """Compare one program in a process of its own."""
    preset = chosen.preset or DEFAULT.get(name, "S")
    options = ["-p", preset, "-r", str(chosen.repeats), "--solver", chosen.solver, "--budgets", chosen.budgets_text]
    options += ["--patience", str(chosen.patience)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        command = [sys.executable, __file__, name, *options, "--child", str(file)]
        try:
            ended = subprocess.run(command, timeout=chosen.timeout, check=False)
        except subprocess.TimeoutExpired:
            return Result(name, preset, problem=f"not finished after {chosen.timeout:g} s")
        if not file.exists():
            return Result(name, preset, problem=f"the process ended with status {ended.returncode}")
        return Result.from_json(file.read_text())


# --- showing


def summary(results: Sequence[Result], style: box.Box = box.SIMPLE_HEAD) -> Table:
    """One row for each program; for each limit the ILP's measured share of the memory, and its time."""
    budgets = list(dict.fromkeys(row.budget for r in results for row in r.rows if row.budget not in ("", "100%")))
    table = Table(box=style, pad_edge=style is box.MARKDOWN)
    table.add_column("program", no_wrap=True)
    for heading in ("store-all [MiB]", "intermediate [MiB]", "least [MiB]", *budgets, "difference", "over budget?"):
        table.add_column(heading, justify="right")
    for result in results:
        name = f"{result.name} {result.preset}"
        if (found := result.comparison) is None:
            table.add_row(name, "failed", *["-"] * (len(budgets) + 4), style="bold red")
            continue
        sizes = (found.store_all_bytes, found.intermediate_bytes, found.least_bytes)
        cells = [*map(mebi, sizes), *(ilp_cell(result, budget) for budget in budgets)]
        verdict = (f"{result.difference:.1e}" if result.difference else "0", "YES" if result.is_over else "no")
        table.add_row(name, *cells, *verdict, style=None if result.is_right else "bold red")
    return table


def ilp_cell(result: Result, budget: str) -> str:
    """``9.6%, ×1.21``: what the ILP's plan holds and takes under a limit, relative to store-all."""
    row = next((row for row in result.rows if (row.strategy, row.budget) == ("ilp", budget)), None)
    if row is None:
        return ""
    return row.status if row.peak_bytes is None else f"{row.share:.1%}, ×{row.ratio:.2f}"


def details(result: Result) -> Table:
    """All rows of one program, in Markdown."""
    table = Table(box=box.MARKDOWN)
    table.add_column("strategy")
    headings = ("limit", "limit [MiB]", "measured [MiB]", "intermediate", "time", "× store-all", "plan", "planned in")
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in result.rows:
        limit = (row.budget or "none", "" if row.budget_bytes is None else mebi(row.budget_bytes))
        if row.peak_bytes is None:
            least = "" if row.minimum_bytes is None else f"at least {mebi(row.minimum_bytes)} MiB"
            table.add_row(row.strategy, *limit, *[""] * 4, least or row.error, "")
            continue
        measured = (mebi(row.peak_bytes), f"{row.share:.1%}", time_text(row.seconds), f"{row.ratio:.2f}")
        table.add_row(row.strategy, *limit, *measured, row.status, time_text(row.plan_seconds))
    return table


def markdown(results: Sequence[Result], command: str) -> str:
    """The tables as a page, with the machine, the date and the command line."""
    machine = next((result.comparison.machine for result in results if result.comparison is not None), {})
    parts = [
        f"Measured with `{command}` on {', '.join(f'{name} {value}' for name, value in machine.items())}.",
        as_text(summary(results, box.MARKDOWN)),
        "For each limit: what the ILP's plan holds besides arguments and results, and its time, both relative to "
        "storing everything.",
    ]
    for result in results:
        parts.append(f"### {result.name}, preset {result.preset}")
        parts.append(result.problem or as_text(details(result)))
    return "\n\n".join(parts) + "\n"


def mebi(size: int) -> str:
    """Bytes in MiB, to three digits at least."""
    value = size / MEBI
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def as_text(table: Table) -> str:
    out = StringIO()
    Console(file=out, width=400, color_system=None).print(table)
    return "\n".join(line.strip() for line in out.getvalue().splitlines() if line.strip())


# --- command line


def parse_budget(text: str) -> int | float | str:
    """A share, a number of bytes, or text that `sdfgad.compare` understands."""
    try:
        number = float(text)
    except ValueError:
        return text.strip()
    return number if number <= 1.0 else int(number)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare memory plans, program by program.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"programs (default: {' '.join(DEFAULT)})")
    parser.add_argument("-p", "--preset", choices=PRESETS, help="sizes (default: large ones, chosen for each program)")
    parser.add_argument(
        "--budgets",
        default=BUDGETS,
        help="limits: shares of store-all's intermediate memory, bytes, sizes such as 64MiB, or least, with commas "
        f"between them (default: {BUDGETS})",
    )
    parser.add_argument("-r", "--repeats", type=int, default=3, help="timed runs of each (default: 3)")
    parser.add_argument("--solver", choices=("CBC", "HiGHS"), default="CBC", help="of the ILP (default: CBC)")
    parser.add_argument(
        "--patience", type=float, default=30.0, help="plans that run so many seconds again are not run (default: 30)"
    )
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each program (default: 600)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="draw time over memory, a picture for each program"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables in Markdown")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)  # Compare one program here, and write its result.
    chosen = parser.parse_args(argv)
    chosen.names = list(dict.fromkeys(chosen.names)) or list(DEFAULT)
    known = [*BUILT, *npbench_suite.names()]
    if unknown := [name for name in chosen.names if name not in known]:
        parser.error(f"unknown programs: {', '.join(unknown)}; known are: {', '.join(known)}")
    if chosen.repeats < 1:
        parser.error("repeats must be at least 1")
    chosen.budgets_text, chosen.budgets = chosen.budgets, [parse_budget(text) for text in chosen.budgets.split(",")]
    return chosen


def write(results: Sequence[Result], chosen: argparse.Namespace, argv: Sequence[str]) -> None:
    """The files that are asked for."""
    if chosen.json:
        chosen.json.write_text("[" + ",\n".join(result.to_json() for result in results) + "]\n")
    if chosen.markdown:
        command = shlex.join(["python", "scripts/compare_schedules.py", *argv])
        chosen.markdown.write_text(markdown(results, command))
    if chosen.plots:
        chosen.plots.mkdir(parents=True, exist_ok=True)
        for result in results:
            if result.comparison is not None:
                result.comparison.plot(chosen.plots / f"{result.name}.png")


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the comparison; the exit status is 1 unless every program is right."""
    argv = sys.argv[1:] if argv is None else argv
    chosen = parse_arguments(argv)
    if chosen.child:
        chosen.child.write_text(compare_here(chosen).to_json())
        return 0
    console = console or (Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH))
    results: list[Result] = []
    for k, name in enumerate(chosen.names, 1):
        console.rule(f"{k} of {len(chosen.names)}: {name}", align="left")
        results.append(compare_apart(name, chosen))
        text = results[-1].problem or str(results[-1].comparison)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.rule("the ILP: measured share of store-all's intermediate memory, and time relative to it", align="left")
    console.print(summary(results))
    write(results, chosen, argv)
    return 0 if all(result.is_right for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
