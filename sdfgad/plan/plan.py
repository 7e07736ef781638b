"""The memory plan that users see: what is stored or recomputed, why, and how many bytes are held when."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from sdfgad.plan.moments import Moment, without_folder
from sdfgad.plan.page import fragment, page
from sdfgad.plan.picture import draw
from sdfgad.plan.units import size_text, time_text

WIDTH = 160


@dataclass(frozen=True)
class Decision:
    """The choice made for one value, or for one loop.

    Attributes:
        name: the value, as the user named it, or "loop".
        source: the user's line that overwrites or computes it, as ``file.py:12: text``.
        bytes: the bytes to store it: for a value in a loop, in all trips of the loop.
        choice: "store" or "recompute"; for a loop "store" or which states are kept; "in pieces" for values of which a
            few rows, columns or images at a time are computed, used and overwritten by the next.
        seconds: predicted cost of the choice.
        reason: why.
    """

    name: str
    source: str
    bytes: int
    choice: str
    seconds: float
    reason: str


@dataclass(frozen=True)
class Plan:
    """What is stored and what is recomputed, for arguments of given sizes.

    Attributes:
        decisions: one row for each value and loop that something is decided about, in program order.
        strategy: "ilp", "store_all", "recompute_all" or "revolve".
        peak_bytes: the most that one call holds at once: arguments, outputs, gradients, stored values, temporaries.
        peak_point: where that is.
        budget_bytes: the limit, or None.
        status: "optimal"; "feasible": the best of the choices that were looked at; "time limit": the best found in
            time, which may be another one next time; "greedy": found without the solver, which fails, or for which
            there is too much to decide; "smallest peak": no other plan was found to keep the limit; "fixed": the
            strategy decides.
        gap: how far the predicted time may be from the best, as a fraction; 0 if optimal, None if unknown.
        solver: who solved it: "CBC", "HiGHS", or "none" where there was nothing to solve.
        solve_seconds: how long planning took.
        moments: what is held over the run of the program; `store_all` is the same if everything is stored.
        callbacks: the user's lines that call functions in Python (`pure_callback`): what these hold is not counted.
        on_host: of a program for a device, the user's lines that the host computes, between copies of their arrays:
            what has no form on a device, and loops for which that is estimated to be faster.
    """

    decisions: tuple[Decision, ...]
    strategy: str
    peak_bytes: int
    peak_point: str
    budget_bytes: int | None
    status: str
    gap: float | None
    solver: str
    solve_seconds: float
    moments: tuple[Moment, ...]
    store_all: tuple[Moment, ...]
    callbacks: tuple[str, ...] = ()
    on_host: tuple[str, ...] = ()

    @property
    def store_all_bytes(self) -> int:
        """The peak if everything is stored."""
        return max((moment.bytes for moment in self.store_all), default=0)

    def to_json(self) -> str:
        """The plan as JSON text: its attributes by name."""
        return json.dumps(asdict(self), indent=2)

    def __str__(self) -> str:
        return _text(self)

    def to_html(self, comparison: Any = None) -> str:
        """The plan as a page that needs nothing else: memory over the program, and what is decided about each value.

        The moments and values of a line belong together: pointing at one shows its text, and marks the others.

        Args:
            comparison: what `sdfgad.compare` returned for the program: its times over memory are drawn, too.

        Example:
            >>> pathlib.Path("plan.html").write_text(g.plan(*args).to_html(), "utf-8")  # doctest: +SKIP
        """
        return page(self, comparison)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return fragment(self)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the live bytes over the program, the budget, and what storing everything would take.

        Args:
            path: where to write the picture; None returns the matplotlib figure only.

        Returns:
            The matplotlib figure.

        Raises:
            ImportError: matplotlib is not installed.
        """
        figure = draw(self.moments, self.store_all, self.strategy, self.budget_bytes)
        if path is not None:
            figure.savefig(path, dpi=120, bbox_inches="tight")
        return figure


def _text(plan: Plan) -> str:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("value", "computed or overwritten at", "bytes", "choice", "cost", "why"):
        is_number = name in ("bytes", "cost")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold", no_wrap=is_number)
    for row in plan.decisions:
        where = without_folder(row.source)
        cells = (row.name, where, size_text(row.bytes), row.choice, time_text(row.seconds), row.reason)
        table.add_row(*map(escape, cells))
    out = StringIO()
    if plan.decisions:
        Console(file=out, width=WIDTH, color_system=None).print(table)
    rows = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    return "\n".join([*rows, *([""] if rows else []), *_summary(plan)])


def _summary(plan: Plan) -> Iterable[str]:
    if not plan.decisions:
        yield "Nothing is stored for the reverse sweep beyond the program's own arrays, so there is nothing to decide."
    limit = "no limit" if plan.budget_bytes is None else f"limit {size_text(plan.budget_bytes)}"
    yield f"peak {size_text(plan.peak_bytes)} ({limit}; all stored: {size_text(plan.store_all_bytes)})"
    yield f"      at {without_folder(plan.peak_point)}"
    for line in plan.callbacks:
        yield f"calls Python, where nothing is planned or counted, at {without_folder(line)}"
    for line in plan.on_host:
        yield f"on the host, between copies: {without_folder(line)}"
    gap = "" if not plan.gap else f", at most {plan.gap:.1%} from the best"
    yield f"{plan.strategy}: {plan.status}{gap}; solver {plan.solver}, {time_text(plan.solve_seconds)}"
