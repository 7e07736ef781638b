"""Pictures of the results: a heat map of speeds, and bars of JAX's times relative to sdfgad's."""

from pathlib import Path
from typing import Any

import numpy as np

from scripts.gradients.table import Outcome, duration

BASE = "sdfgad"
BASES = {False: BASE, True: "sdfgad-forward"}  # By whether a program is run alone.
FORMS = {"jax-expert": "#1f5fa8", "jax-port": "#f0963c"}
MOST = 100.0  # Colours end at so many times faster or slower.
INK, FAINT = "#222222", "#9a9a9a"


def draw(outcome: Outcome, folder: Path, subtitle: str) -> list[Path]:
    """Draw all pictures that there are numbers for, and return their files."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    files = [draw_heat_map(outcome, folder / "heat_map.png", subtitle)]
    if any(outcome.ratio(b, f"{form}/{BASE}") for form in FORMS for b in outcome.benchmarks):
        files.append(draw_bars(outcome, folder / "jax_vs_sdfgad.png", subtitle))
    return files


def draw_heat_map(outcome: Outcome, file: Path, subtitle: str) -> Path:
    """Programs by frameworks: seconds as text, and as colour how much faster or slower than ours they are."""
    from matplotlib import pyplot
    from matplotlib.colors import LogNorm

    rows, columns = outcome.benchmarks, outcome.frameworks
    speeds = np.array([[relative_speed(outcome, b, f) for f in columns] for b in rows])
    figure, axes = pyplot.subplots(
        figsize=(3.0 + 1.05 * len(columns), max(4.0, 2.4 + 0.27 * len(rows))), layout="constrained"
    )
    image = axes.imshow(
        np.ma.masked_invalid(speeds), norm=LogNorm(1 / MOST, MOST), cmap="RdYlBu", aspect="auto", interpolation="none"
    )
    axes.set_facecolor("#eeeeee")
    for (i, benchmark), (j, framework) in cells(rows, columns):
        label_cell(axes, i, j, speeds[i, j], cell_text(outcome, benchmark, framework))
    frame_heat_map(axes, rows, columns)
    first = next((j for j, f in enumerate(columns) if is_forward(outcome, f)), 0)
    if first and all(is_forward(outcome, f) for f in columns[first:]):  # Between gradients and programs alone.
        axes.axvline(first - 0.5, color=INK, linewidth=1.2)
    bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 12 / max(len(rows), 12)), aspect=30, pad=0.02)
    bar.set_label("times faster than sdfgad (log)", fontsize=8.5, color=INK)
    bar.ax.tick_params(labelsize=8.5)
    bar.set_ticks([0.01, 0.1, 1.0, 10.0, 100.0], labels=["≤ 1/100", "1/10", "1", "10", "≥ 100"])
    axes.set_title(
        f"Times of gradients, and of programs alone, beside sdfgad-forward\n{subtitle}", fontsize=10, color=INK, pad=12
    )
    figure.savefig(file, dpi=130)
    pyplot.close(figure)
    return file


def cells(rows: list[str], columns: list[str]) -> list[tuple[tuple[int, str], tuple[int, str]]]:
    return [(row, column) for row in enumerate(rows) for column in enumerate(columns)]


def is_forward(outcome: Outcome, framework: str) -> bool:
    return any(record.mode == "forward" for record in outcome.records if record.framework == framework)


def relative_speed(outcome: Outcome, benchmark: str, framework: str) -> float:
    """How many times faster it is than ours of its mode, or than the fastest where there is none; NaN without times."""
    seconds = outcome.median(benchmark, framework)
    if seconds is None:
        return float("nan")
    is_alone = is_forward(outcome, framework)
    base = outcome.median(benchmark, BASES[is_alone])
    alike = [f for f in outcome.frameworks if is_forward(outcome, f) == is_alone]
    return (base or min(t for f in alike if (t := outcome.median(benchmark, f)) is not None)) / seconds


def cell_text(outcome: Outcome, benchmark: str, framework: str) -> str:
    record = outcome.get(benchmark, framework)
    if record is None:
        return ""
    if record.median is None:
        return record.status.lower() if record.status == "n/a" else record.status
    return duration(record.median) + ("?" if record.is_unsure else "")


def label_cell(axes: Any, i: int, j: int, speed: float, text: str) -> None:
    is_dark = np.isfinite(speed) and not 1 / 30 < speed < 30
    is_problem = not np.isfinite(speed)
    colour = "white" if is_dark else "#b00020" if is_problem and text != "n/a" else FAINT if is_problem else INK
    axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=colour)


def frame_heat_map(axes: Any, rows: list[str], columns: list[str]) -> None:
    """Names at the edges, and thin white lines between the cells."""
    axes.set_xticks(range(len(columns)), columns, rotation=35, ha="left", rotation_mode="anchor", fontsize=8.5)
    axes.set_yticks(range(len(rows)), rows, fontsize=8.5)
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="both", length=0, colors=INK)
    axes.spines[:].set_visible(False)


def draw_bars(outcome: Outcome, file: Path, subtitle: str) -> Path:
    """For each program the time of JAX's forms relative to ours, the largest first."""
    from matplotlib import pyplot

    ratios = {form: f"{form}/{BASE}" for form in FORMS}
    have = [b for b in outcome.benchmarks if any(outcome.ratio(b, name) for name in ratios.values())]

    def key(benchmark: str) -> float:
        return next(r for name in ratios.values() if (r := outcome.ratio(benchmark, name)) is not None)

    have.sort(key=key)
    figure, axes = pyplot.subplots(figsize=(8.5, max(3.2, 1.9 + 0.3 * len(have))), layout="constrained")
    for k, (form, name) in enumerate(ratios.items()):
        add_bars(axes, outcome, have, form, name, 0.2 - 0.4 * k)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.5) / 1.3, max(high, 2.0) * 1.6)
    axes.axvline(1.0, color=INK, linewidth=1.0)
    axes.set_yticks(range(len(have)), have, fontsize=8.5)
    axes.set_ylim(-0.6, len(have) - 0.4)
    frame_bars(axes)
    axes.set_title(f"Gradients: JAX's time relative to sdfgad's\n{subtitle}", fontsize=10, color=INK)
    figure.savefig(file, dpi=130)
    pyplot.close(figure)
    return file


def add_bars(axes: Any, outcome: Outcome, have: list[str], form: str, name: str, shift: float) -> None:
    found = [(y, r) for y, b in enumerate(have) if (r := outcome.ratio(b, name)) is not None]
    if not found:
        return
    average = outcome.average(name)
    label = f"{form}: geometric mean {average.geometric:.3g}, sdfgad faster in {average.above} of {average.count}"
    for y, ratio in found:
        axes.barh(y + shift, ratio - 1.0, left=1.0, height=0.36, color=FORMS[form], label=label)
        label = None
        left = ratio < 1.0
        axes.annotate(
            f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:.0f}",
            (ratio, y + shift),
            (-3 if left else 3, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=6.5,
            color=INK,
        )


def frame_bars(axes: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 100.0 else (1.0,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=INK, labelsize=8.5)
    axes.tick_params(which="minor", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("← JAX is faster        times (log)        sdfgad is faster →", fontsize=8.5, color=INK)
    axes.figure.legend(loc="outside lower center", fontsize=8, frameon=False)
