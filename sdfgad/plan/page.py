"""Plans as HTML: a self-contained page, and a fragment for notebooks, without libraries or network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from sdfgad.plan.moments import Moment, without_folder
from sdfgad.plan.units import size_text, time_text

# The drawings, in pixels: the whole, and the margins around what is drawn.
WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 24, 26
TICKS = 4
# A colour for each strategy.
COLOURS = {"store_all": "#777", "recompute_all": "#d97706", "revolve": "#15803d", "ilp": "#2563eb"}

STYLE = """
.sdfgad-plan { font: 14px/1.5 system-ui, sans-serif; max-width: 1000px; color: #1f2937; }
.sdfgad-plan svg { width: 100%; height: auto; }
.sdfgad-plan text { font-size: 12px; fill: currentColor; }
.sdfgad-plan table { border-collapse: collapse; width: 100%; }
.sdfgad-plan th, .sdfgad-plan td { text-align: left; padding: 3px 10px; border-bottom: 1px solid #8884; }
.sdfgad-plan td.number { text-align: right; white-space: nowrap; }
.sdfgad-plan code { font-size: 13px; }
.sdfgad-plan rect.moment { fill: #2563eb; fill-opacity: 0.3; }
.sdfgad-plan rect.moment:hover, .sdfgad-plan rect.marked { fill-opacity: 0.8; }
.sdfgad-plan tr:hover td { background: #2563eb22; }
.sdfgad-plan path { fill: none; stroke-width: 1.5; }
.sdfgad-plan .axis { stroke: #8886; stroke-width: 1; }
@media (prefers-color-scheme: dark) {
  .sdfgad-page { background: #111827; }
  .sdfgad-plan { color: #e5e7eb; }
}
"""
# Marks the moments of a value's line while the pointer is on its row.
SCRIPT = """
for (const row of document.querySelectorAll("tr[data-line]")) {
  const moments = [...document.querySelectorAll("rect.moment")].filter(one => one.dataset.line === row.dataset.line);
  row.onmouseenter = () => moments.forEach(one => one.classList.add("marked"));
  row.onmouseleave = () => moments.forEach(one => one.classList.remove("marked"));
}
"""


def page(plan: Any, comparison: Any) -> str:
    """A whole page: timeline of memory, decisions, and the times of a `Comparison`, if there is one, over memory."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Plan of sdfgad</title>\n'
        f'<style>{STYLE}</style>\n</head>\n<body class="sdfgad-page">\n{_body(plan, comparison)}\n'
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def fragment(plan: Any) -> str:
    """The same without a page around it, as notebooks show it."""
    return f"<style>{STYLE}</style>\n{_body(plan, None)}"


def _body(plan: Any, comparison: Any) -> str:
    limit = "no limit" if plan.budget_bytes is None else f"limit {size_text(plan.budget_bytes)}"
    gap = f", at most {plan.gap:.1%} from the best" if plan.gap else ""
    parts = [
        '<div class="sdfgad-plan">',
        f"<p><b>Peak {size_text(plan.peak_bytes)}</b> ({limit}; all stored: {size_text(plan.store_all_bytes)}) at "
        f"<code>{escape(without_folder(plan.peak_point))}</code><br>"
        f"{escape(plan.strategy)}: {escape(plan.status)}{gap}; solver {escape(plan.solver)}, "
        f"{time_text(plan.solve_seconds)}</p>",
        timeline(plan.moments, plan.store_all, plan.budget_bytes),
        _table(plan.decisions),
        *([] if comparison is None else [scatter(comparison)]),
        "</div>",
    ]
    return "\n".join(parts)


@dataclass(frozen=True)
class _Axes:
    """Where numbers lie in a drawing; both axes begin at zero.

    Attributes:
        right, top: the numbers at the ends of the axes.
    """

    right: float
    top: float

    def x(self, value: float) -> float:
        return round(LEFT + value / self.right * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM), 1)

    def frame(self, labels: Sequence[tuple[float, str]]) -> Iterator[str]:
        """Horizontal lines at numbers, with their texts."""
        for value, label in labels:
            y = self.y(value)
            yield f'<path class="axis" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
            yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{label}</text>'


def timeline(moments: Sequence[Moment], store_all: Sequence[Moment], budget: int | None) -> str:
    """The bytes held over the statements, under a plan and if all is stored; a moment's text is shown on hover."""
    most = max([budget or 0, *(one.bytes for one in (*moments, *store_all))], default=0)
    axes = _Axes(max(len(moments), 1), 1.05 * max(most, 1))
    parts = [*axes.frame([(k * most / TICKS, size_text(k * most // TICKS)) for k in range(TICKS + 1)])]
    for k, moment in enumerate(moments):
        x, y = axes.x(k), axes.y(moment.bytes)
        text = escape(without_folder(moment.label))
        sweep = "forward" if k < len(moments) / 2 else "reverse"
        parts.append(
            f'<rect class="moment" data-line="{text}" x="{x}" y="{y}" width="{axes.x(k + 1) - x:.1f}" '
            f'height="{axes.y(0) - y:.1f}"><title>{sweep}: {text}\n{size_text(moment.bytes)}</title></rect>'
        )
    parts.append(f'<path stroke="#2563eb" d="{_steps(axes, moments)}"/>')
    parts.append(f'<path stroke="#777" stroke-dasharray="5 4" d="{_steps(axes, store_all)}"/>')
    if budget is not None:
        parts.append(f'<path stroke="#dc2626" d="M{LEFT} {axes.y(budget)}H{WIDTH - RIGHT}"/>')
    legend = "blue: this plan; dashed: all stored" + ("" if budget is None else "; red: the limit")
    for share, text in ((0.25, "forward sweep"), (0.75, "reverse sweep")):
        parts.append(f'<text x="{axes.x(share * axes.right)}" y="14" text-anchor="middle">{text}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">statements in the order in which they run; {legend}</text>')
    return _drawing(parts)


def _steps(axes: _Axes, moments: Sequence[Moment]) -> str:
    """A line that is constant during each moment."""
    if not moments:
        return ""
    scale = axes.right / len(moments)
    corners = (f"V{axes.y(one.bytes)}H{axes.x((k + 1) * scale)}" for k, one in enumerate(moments))
    return f"M{axes.x(0)} {axes.y(moments[0].bytes)}" + "".join(corners)


def scatter(comparison: Any) -> str:
    """Time over memory for the rows of a `Comparison` that have run: the Pareto curve of limits."""
    rows = [row for row in comparison.rows if row.peak_bytes and row.ratio]
    if not rows:
        return "<p>Nothing has run.</p>"
    most, slowest = max(row.peak_bytes for row in rows), max(row.ratio for row in rows)
    axes = _Axes(1.05 * most, 1.1 * slowest)
    parts = [*axes.frame([(k * slowest / TICKS, f"{k * slowest / TICKS:.2f} ×") for k in range(TICKS + 1)])]
    line = sorted((axes.x(row.peak_bytes), axes.y(row.ratio)) for row in rows if row.strategy == "ilp")
    if line:
        parts.append(f'<path stroke="{COLOURS["ilp"]}" d="M{"L".join(f"{x} {y}" for x, y in line)}"/>')
    for row in rows:
        text = f"{row.strategy}, {row.budget or 'no limit'}: {size_text(row.peak_bytes)}, {row.ratio:.2f} × store-all"
        parts.append(
            f'<circle cx="{axes.x(row.peak_bytes)}" cy="{axes.y(row.ratio)}" r="6" '
            f'fill="{COLOURS[row.strategy]}"><title>{escape(text)}</title></circle>'
        )
    for k in range(TICKS + 1):
        at = k * most // TICKS
        parts.append(f'<text x="{axes.x(at)}" y="{HEIGHT - 6}" text-anchor="middle">{size_text(at)}</text>')
    names = (f'<tspan fill="{colour}">● {name} </tspan>' for name, colour in COLOURS.items())
    parts.append(f'<text x="{LEFT}" y="14">time relative to store-all, over the measured peak: {"".join(names)}</text>')
    return _drawing(parts)


def _drawing(parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n' + "\n".join(parts) + "\n</svg>"


def _table(decisions: Sequence[Any]) -> str:
    if not decisions:
        return "<p>Nothing is stored for the reverse sweep beyond the program's own arrays.</p>"
    heads = "".join(f"<th>{one}</th>" for one in ("value", "line", "bytes", "choice", "cost", "why"))
    return f"<table><tr>{heads}</tr>\n" + "\n".join(map(_row, decisions)) + "\n</table>"


def _row(decision: Any) -> str:
    line = without_folder(decision.source)
    place = re.match(r"(\S+:\d+): ", line)
    title = f"{decision.name}: {size_text(decision.bytes)}, {decision.choice}; {decision.reason}"
    return (
        f'<tr data-line="{escape(line)}" title="{escape(title)}"><td><code>{escape(decision.name)}</code></td>'
        f"<td>{escape(place[1]) if place else ''} <code>{escape(line[place.end() :] if place else line)}</code></td>"
        f'<td class="number">{size_text(decision.bytes)}</td><td>{escape(decision.choice)}</td>'
        f'<td class="number">{time_text(decision.seconds)}</td><td>{escape(decision.reason)}</td></tr>'
    )
