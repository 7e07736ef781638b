"""Tables of times, ratios and memory, and the averages of ratios."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from scripts.gradients.results import Record

# What is divided by what.
RATIOS = {
    "jax-expert/sdfgad": ("jax-expert", "sdfgad"),
    "jax-expert/sdfgad-call": ("jax-expert", "sdfgad-call"),
    "jax-port/sdfgad": ("jax-port", "sdfgad"),
    "jax-library/sdfgad": ("jax-library", "sdfgad"),
    "dace-autodiff/sdfgad": ("dace-autodiff", "sdfgad"),
    "gradient/forward": ("sdfgad", "sdfgad-forward"),
    "numpy/forward": ("numpy", "sdfgad-forward"),
    "dace/forward": ("dace-forward", "sdfgad-forward"),
}
CAPTIONS = {
    "times": "Median of the rounds, and ± half the way from the smallest to the largest where that is over 5 %. "
    "A ? marks what could not be checked.",
    "ratios": "Over 1: sdfgad is faster (but for gradient/forward, which is what a gradient costs).",
    "costs": "Compiling and first call [s] / peak memory of the first call after compiling, without arguments [MiB].",
}
# What is said instead of these where GPUs are measured.
GPU_CAPTIONS = {
    "times": CAPTIONS["times"] + " Arguments and results are on the device. sdfgad's times are those of its compiled "
    "program until the device has finished, with the copies of what the program uses on the host, but without Python's "
    "part of a call, which sdfgad-call has, too; JAX's are those of its compiled function. Products of single "
    "precision do not use TF32.",
    "costs": "Compiling and first call [s], while other programs compile / memory of temporaries and results "
    "(of JAX: as planned) [MiB].",
}
SPREAD = 0.05
MEBI = 2**20


@dataclass(frozen=True)
class Average:
    """What a ratio is on average.

    Attributes:
        least_of: the program with the smallest.
        above: for how many programs it is over 1.
    """

    count: int
    geometric: float
    arithmetic: float
    least: float
    least_of: str
    above: int


class Outcome:
    """All records, by program and framework, in the order in which they came."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = list(records)
        self.by_name = {(record.benchmark, record.framework): record for record in records}
        self.benchmarks = list(dict.fromkeys(record.benchmark for record in records))
        self.frameworks = list(dict.fromkeys(record.framework for record in records))

    def get(self, benchmark: str, framework: str) -> Record | None:
        return self.by_name.get((benchmark, framework))

    def median(self, benchmark: str, framework: str) -> float | None:
        """Seconds, of what is not in doubt."""
        record = self.get(benchmark, framework)
        return None if record is None or record.is_unsure else record.median

    def ratio(self, benchmark: str, name: str) -> float | None:
        above, below = (self.median(benchmark, framework) for framework in RATIOS[name])
        return None if above is None or below is None else above / below

    @property
    def ratios(self) -> list[str]:
        """The names of ratios that some program has."""
        return [name for name in RATIOS if any(self.ratio(benchmark, name) for benchmark in self.benchmarks)]

    def average(self, name: str) -> Average:
        found = {b: ratio for b in self.benchmarks if (ratio := self.ratio(b, name)) is not None}
        values, least_of = list(found.values()), min(found, key=found.__getitem__)
        means = statistics.geometric_mean(values), statistics.fmean(values)
        return Average(len(values), *means, found[least_of], least_of, sum(value > 1.0 for value in values))


def captions(device: str) -> dict[str, str]:
    """By table."""
    return CAPTIONS | GPU_CAPTIONS if device == "gpu" else CAPTIONS


# --- tables


def empty_table(headings: Sequence[str], style: box.Box, title: str = "") -> Table:
    table = Table(box=style, pad_edge=style is box.MARKDOWN, title=title or None, title_justify="left")
    table.add_column("program", no_wrap=True)
    for heading in headings:
        table.add_column(heading if style is box.MARKDOWN else heading.replace("/", "\n/"), justify="right")
    return table


def times_table(outcome: Outcome, style: box.Box = box.SIMPLE_HEAD, title: str = "") -> Table:
    """A row for each program, a column for each framework."""
    table = empty_table(outcome.frameworks, style, title)
    for benchmark in outcome.benchmarks:
        table.add_row(benchmark, *(time_cell(outcome.get(benchmark, f)) for f in outcome.frameworks))
    return table


def time_cell(record: Record | None) -> str:
    if record is None:
        return ""
    if record.median is None:
        return escape(record.status) if record.status == "n/a" else f"[red]{escape(record.status)}[/]"
    spread = (max(record.seconds) - min(record.seconds)) / (2.0 * record.median)
    text = duration(record.median) + (f" ±{spread:.0%}" if spread > SPREAD else "")
    return f"{text}?" if record.is_unsure else text


def ratios_table(outcome: Outcome, style: box.Box = box.SIMPLE_HEAD, title: str = "") -> Table:
    """A row for each program, then the averages."""
    table = empty_table(outcome.ratios, style, title)
    for benchmark in outcome.benchmarks:
        found = [outcome.ratio(benchmark, name) for name in outcome.ratios]
        table.add_row(benchmark, *("-" if ratio is None else ratio_text(ratio) for ratio in found))
    if style is not box.MARKDOWN:
        table.add_section()
    for heading, cells in averages(outcome).items():
        table.add_row(heading, *cells, style="bold")
    return table


def averages(outcome: Outcome) -> dict[str, list[str]]:
    """By what kind of average, its text for each ratio."""
    found = [outcome.average(name) for name in outcome.ratios]
    return {
        "geometric mean": [ratio_text(average.geometric) for average in found],
        "arithmetic mean": [ratio_text(average.arithmetic) for average in found],
        "minimum": [f"{ratio_text(average.least)} ({average.least_of})" for average in found],
        "over 1": [f"{average.above} of {average.count}" for average in found],
    }


def costs_table(outcome: Outcome, style: box.Box = box.SIMPLE_HEAD, title: str = "") -> Table:
    """First calls and memory."""
    table = empty_table(outcome.frameworks, style, title)
    for benchmark in outcome.benchmarks:
        table.add_row(benchmark, *(cost_cell(outcome.get(benchmark, f)) for f in outcome.frameworks))
    return table


def cost_cell(record: Record | None) -> str:
    if record is None or record.first_call is None or record.peak_bytes is None:
        return "" if record is None else "-"
    return f"{record.first_call:.3g} / {record.peak_bytes / MEBI:.3g}"


def problems(outcome: Outcome) -> list[str]:
    """A line for each framework that has something to say of a program."""
    return [f"{r.benchmark}, {r.framework}: {r.status}: {r.message}" for r in outcome.records if r.message]


def line(record: Record) -> str:
    """A record as a line of a log."""
    first = "" if record.first_call is None else f", first call {record.first_call:.3g} s"
    found = record.status if record.median is None else duration(record.median)
    return f"{record.benchmark}, {record.framework}: {found}{first}" + (f": {record.message}" if record.message else "")


def duration(seconds: float) -> str:
    unit, factor = next((u, f) for u, f in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if seconds * f >= 1.0 or u == "µs")
    return f"{seconds * factor:.3g} {unit}" if seconds * factor < 999.5 else f"{seconds * factor:.0f} {unit}"


def ratio_text(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 999.5 else f"{ratio:.0f}"


# --- a page


def markdown(outcome: Outcome, command: str, where: Mapping[str, object], extra: Sequence[str] = ()) -> str:
    """The tables as a page, with the command line and the machine."""
    known = ", ".join(f"{name} {value}" for name, value in where.items() if value not in ("", None))
    parts, said = [f"Measured with `{command}` on {known}."], captions(str(where.get("device")))
    tables = {"times": times_table, "ratios": ratios_table, "costs": costs_table}
    for name, make in tables.items():
        if name != "ratios" or outcome.ratios:
            parts += [said[name], as_text(make(outcome, box.MARKDOWN))]
    parts += [*extra, "\n".join(f"- {line}" for line in problems(outcome))]
    return "\n\n".join(filter(None, parts)) + "\n"


def as_text(table: Table) -> str:
    out = StringIO()
    Console(file=out, width=1000, color_system=None).print(table)
    return "\n".join(line.strip() for line in out.getvalue().splitlines() if line.strip())
