"""Plots of plans, and of comparisons of plans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sdfgad.plan.moments import Moment, without_folder

MEBI = 2**20
# Strategy -> colour and marker.
STYLES = {
    "store_all": ("0.25", "s"),
    "recompute_all": ("C1", "D"),
    "revolve": ("C2", "^"),
    "ilp": ("C0", "o"),
}
# Points that differ by less than this fraction share their text.
CLOSE = 0.02
LONGEST = 70
MOST_TICKS = 40

Point = tuple[str, str, float, float]


def draw(moments: tuple[Moment, ...], store_all: tuple[Moment, ...], strategy: str, budget_bytes: int | None) -> Any:
    """Plots the live bytes over the program, under a plan and if everything is stored; the matplotlib figure.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.subplots()
    _line(axes, store_all, "all stored", color="0.5", linestyle="--")
    _line(axes, moments, f"this plan ({strategy})", color="C0")
    axes.fill_between(*_corners(moments), step="post", alpha=0.2, color="C0")
    if budget_bytes is not None:
        axes.axhline(budget_bytes / MEBI, color="C3", label="limit")
    _sweeps(axes, len(moments))
    _peak(axes, moments)
    axes.set_xlim(0, len(moments))
    axes.set_ylim(0, 1.12 * max(axes.get_ylim()[1], _top((*moments, *store_all))))
    _lines(axes, moments)
    axes.set_ylabel("held by the call [MiB]")
    axes.grid(axis="y", color="0.92", zorder=0)
    figure.legend(loc="outside upper right", ncols=3, frameon=False)
    return figure


def _top(moments: tuple[Moment, ...]) -> float:
    return max(moment.bytes for moment in moments) / MEBI


def _sweeps(axes: Any, count: int) -> None:
    turn = count / 2
    axes.axvline(turn, color="0.75", linewidth=1, zorder=0)
    for place, text in ((0.25, "forward sweep"), (0.75, "reverse sweep")):
        axes.text(place * count, 1.01, text, ha="center", color="0.4", transform=axes.get_xaxis_transform())


def _lines(axes: Any, moments: tuple[Moment, ...]) -> None:
    """Where there is room, the number of each statement's line."""
    numbers = [re.search(r":(\d+): ", moment.label) for moment in moments]
    if len(moments) <= MOST_TICKS:
        axes.set_xticks([k + 0.5 for k in range(len(moments))], [n[1] if n else "arg" for n in numbers], fontsize=8)
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("line of the program, in the order in which its statements run")
    else:
        axes.set_xlabel("statements of the program, in the order in which they run")


def _peak(axes: Any, moments: tuple[Moment, ...]) -> None:
    """Name the line at which most is held."""
    peak = max(range(len(moments)), key=lambda k: moments[k].bytes)
    place = (peak + 0.5, moments[peak].bytes / MEBI)
    is_left = place[0] < len(moments) / 2
    text = without_folder(moments[peak].label)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    axes.plot(*place, marker="v", color="C0", markersize=6, clip_on=False)
    axes.annotate(
        f"peak {place[1]:.4g} MiB\n{text}",
        place,
        xytext=(8 if is_left else -8, 6),
        textcoords="offset points",
        ha="left" if is_left else "right",
        va="bottom",
        fontsize=8,
        bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1},
    )


def _line(axes: Any, moments: tuple[Moment, ...], label: str, **style: Any) -> None:
    axes.step(*_corners(moments), where="post", label=label, **style)


def _corners(moments: tuple[Moment, ...]) -> tuple[list[int], list[float]]:
    sizes = [moment.bytes / MEBI for moment in moments]
    return list(range(len(sizes) + 1)), [*sizes, *sizes[-1:]]


# --- comparisons


def draw_comparison(title: str, points: Sequence[Point], least: float, floor: float) -> Any:
    """Plots time over memory for several plans of one program; the matplotlib figure.

    Args:
        title: of the plot.
        points: for each plan its strategy, its limit as text (empty without one), its measured peak in MiB, and its
            time relative to store-all's.
        least: the smallest feasible limit, in MiB.
        floor: the size of arguments, outputs and gradients, in MiB.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.axhline(1.0, color="0.85", linewidth=1, zorder=0)
    axes.axvline(least, color="C3", linestyle=":", label=f"least feasible: {least:.4g} MiB", zorder=1)
    if floor > 0.5 * least:
        axes.axvline(floor, color="0.6", linestyle=":", label=f"arguments and results: {floor:.4g} MiB", zorder=1)
    for strategy, (colour, marker) in STYLES.items():
        mine = [point for point in points if point[0] == strategy]
        if mine:
            _scatter(axes, strategy, mine, color=colour, marker=marker)
    _scales(axes, [point[2] for point in points] + [least])
    axes.set_title(title, loc="left")
    axes.set_xlabel("measured peak of everything that one call holds [MiB]")
    axes.set_ylabel("time relative to storing everything")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _scatter(axes: Any, strategy: str, points: Sequence[Point], **style: Any) -> None:
    ordered = sorted(((x, y, label or "no limit") for _, label, x, y in points), key=lambda point: point[0])
    axes.plot(
        [x for x, _, _ in ordered],
        [y for _, y, _ in ordered],
        label=strategy,
        linestyle="-" if len(ordered) > 1 else "",
        linewidth=0.8,
        markersize=7,
        zorder=3,
        **style,
    )
    if strategy not in ("revolve", "ilp"):
        return
    side = 1 if strategy == "ilp" else -1
    for x, y, label in _merged(ordered):
        axes.annotate(
            label,
            (x, y),
            xytext=(side * 3, side * 8),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="bottom" if side > 0 else "top",
            fontsize=8,
            color=style["color"],
        )


def _merged(points: Sequence[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Points by rising x; those with nearly the same x become one all the names."""
    merged: list[tuple[float, float, str]] = []
    for x, y, label in points:
        if merged and x <= merged[-1][0] * (1 + CLOSE):
            previous = merged.pop()
            merged.append((previous[0], previous[1], f"{previous[2]}, {label}"))
        else:
            merged.append((x, y, label))
    return merged


def _scales(axes: Any, sizes: Sequence[float]) -> None:
    """Plain numbers along a logarithmic axis of few or many decades; room around the points."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = min(sizes), max(sizes)
    room = (high / low) ** 0.08 * 1.03
    axes.set_xlim(low / room, high * room)
    is_wide = high / low > 8
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if is_wide else MaxNLocator(6))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    bottom, top = axes.get_ylim()
    space = 0.18 * max(top - bottom, 0.2)
    axes.set_ylim(max(0.0, bottom - space), top + space)
    axes.grid(color="0.93", zorder=0)
