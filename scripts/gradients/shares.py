"""Which share of the machine's speed gradients reach: of copying memory, or of multiplying matrices."""

import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich import box
from rich.table import Table

import npbench_suite
from scripts.gradients.table import Outcome, duration, empty_table
from scripts.gradients.work import BYTES, work_of
from sdfgad.runtime.compiler import compiler

SOURCE = Path(__file__).with_name("copy_rate.cpp")
ELEMENTS = 2**26  # 512 MiB an array.
ORDER = 2000
BASE = "sdfgad"
CAPTION = (
    "The least bytes or operations of the gradient (scripts/gradients/work.py) by its time, and the share of what "
    "copying {copied:.3g} GB/s (read and written) or multiplying matrices {multiplied:.3g} Gflop/s reach here. "
    "What fits into a cache can be over 100 %."
)


@dataclass(frozen=True)
class Rates:
    """Bytes a second of copying memory, and operations a second of multiplying matrices."""

    copied: float
    multiplied: float

    def __or__(self, other: "Rates") -> "Rates":
        """The better of each."""
        return Rates(max(self.copied, other.copied), max(self.multiplied, other.multiplied))

    @property
    def caption(self) -> str:
        return CAPTION.format(copied=self.copied / 1e9, multiplied=self.multiplied / 1e9)


def measure(elements: int = ELEMENTS, order: int = ORDER) -> Rates:
    return Rates(copy_rate(elements), product_rate(order))


def copy_rate(elements: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "copy_rate"
        options = ("-O3", "-march=native", "-fopenmp", "-o")
        subprocess.run([*compiler(), *options, str(program), str(SOURCE)], check=True)
        return float(subprocess.run([program, str(elements)], check=True, capture_output=True, text=True).stdout)


def product_rate(order: int, repeats: int = 5) -> float:
    a = np.random.default_rng(0).standard_normal((order, order))
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - start)
    return 2.0 * order**3 / best


def shares_table(outcome: Outcome, preset: str, rates: Rates, style: box.Box = box.SIMPLE_HEAD) -> Table:
    """A row for each program whose work is known."""
    table = empty_table(("work", "time", "rate", "of", "share"), style)
    for benchmark in outcome.benchmarks:
        if cells := share_cells(outcome, benchmark, preset, rates):
            table.add_row(benchmark, *cells)
    return table


def share_cells(outcome: Outcome, benchmark: str, preset: str, rates: Rates) -> Sequence[str]:
    work, seconds = work_of(npbench_suite.load(benchmark), preset), outcome.median(benchmark, BASE)
    if work is None or seconds is None:
        return ()
    amount, is_bytes = work[1], work[0] == BYTES
    rate, name, most = amount / seconds, "GB" if is_bytes else "Gflop", rates.copied if is_bytes else rates.multiplied
    what = "copying" if is_bytes else "products"
    return f"{amount / 1e9:.3g} {name}", duration(seconds), f"{rate / 1e9:.3g} {name}/s", what, f"{rate / most:.0%}"
