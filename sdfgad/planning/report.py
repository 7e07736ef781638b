"""Reports: describes a layout in the user's terms (the `Plan`), and explains why no plan fits a memory limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sdfgad.errors import InfeasibleBudget, Location
from sdfgad.gradient.assemble import GradientProgram
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.program import Block, Call, Program, Statement, walk, writes_of
from sdfgad.memory.accounting import UNNAMED, Accounts
from sdfgad.memory.checkpoint_modes import tape_bytes
from sdfgad.memory.lifetimes import buffer_bytes, footprint
from sdfgad.options import Options
from sdfgad.parse.procedures import expanded
from sdfgad.plan.moments import Moment, peak_of
from sdfgad.plan.plan import Decision, Plan
from sdfgad.plan.problem import NOBODY
from sdfgad.plan.units import size_text
from sdfgad.planning.layout import Layout, Sizes
from sdfgad.schedule.host_parts import host_parts

NANO = 1e-9


def plan_of(layout: Layout, store_all: Layout, accounts: Accounts, sizes: Sizes, options: Options) -> Plan:
    """The description of a layout for a call of given sizes."""
    mine, stored = moments(layout, sizes), moments(store_all, sizes)
    peak = peak_of(mine)
    return Plan(
        (*decisions(layout, accounts), *_piece_rows(layout, sizes)),
        options.strategy,
        peak.bytes,
        peak.label,
        options.limit,
        layout.status,
        layout.gap,
        layout.solver,
        layout.seconds,
        mine,
        stored,
        tuple(dict.fromkeys(_callbacks(layout))),
        tuple(dict.fromkeys(_on_host(layout))),
    )


def _callbacks(layout: Layout) -> Iterator[str]:
    """The user's lines that call functions in Python, also within pullbacks."""
    for statement in walk(expanded(layout.gradient_program.program).body):
        if isinstance(statement, Call) and (statement.name == "pure_callback" or LIBRARY[statement.name].is_ordered):
            yield str(statement.where)


def _on_host(layout: Layout) -> Iterator[str]:
    """The user's lines that the host computes, in the program of a device."""
    if layout.code.source.device == "gpu":
        program = layout.code.complete
        for statement in host_parts(program.body, program.buffers):
            yield str(statement.where)


def infeasible(limit: int, layout: Layout, sizes: Sizes, accounts: Accounts, strategy: str) -> InfeasibleBudget:
    """The error for a memory limit that no plan fits, listing the largest values; `layout` has the smallest peak."""
    minimum, is_least = layout.peak_bytes(sizes), layout.gap is not None
    rows = [row for row in sorted(decisions(None, accounts), key=lambda row: -row.bytes)[:3] if row.bytes]
    listed = "".join(f"\n    {row.name}: {size_text(row.bytes)}, from {row.source}" for row in rows)
    largest = f"\n  The largest values stored for the reverse sweep are:{listed}" if listed else ""
    is_fixed = strategy != "ilp"
    who = f"the strategy {strategy!r} does not keep" if is_fixed else "no plan keeps"
    more = 'strategy="ilp", ' if is_fixed else ""
    known = "every plan needs at least" if is_least else "the smallest plan that was found needs"
    known = "it needs at least" if is_fixed else known
    return InfeasibleBudget(
        f"{who} memory_limit={limit} bytes ({size_text(limit)}): {known} {minimum} bytes "
        f"({size_text(minimum)}) for arguments, outputs, gradients, stored values and temporaries{largest}",
        minimum,
        f"Pass memory_limit={minimum} or more, smaller arguments, {more}or fewer arguments in `wrt`.",
        [(row.name, row.bytes, row.source) for row in rows],
    )


# --- decisions


def decisions(layout: Layout | None, accounts: Accounts) -> Iterator[Decision]:
    """A row for each value and loop with a choice; without a layout, as if all were stored."""
    rows = [*_value_rows(layout, accounts), *_tape_rows(layout, accounts), *_loop_rows(layout, accounts)]
    for _, row in sorted(rows, key=lambda pair: pair[0]):
        yield row


def _value_rows(layout: Layout | None, accounts: Accounts) -> Iterator[tuple[int, Decision]]:
    chosen = layout.solution.values if layout is not None and layout.solution is not None else frozenset()
    for k, (value, recompute) in enumerate(zip(accounts.problem.values, accounts.values, strict=True)):
        if recompute is None or not (value.needs or k in chosen):
            continue
        where = accounts.line(recompute.members[-1])
        if k in chosen:
            row = Decision(value.name, where, value.bytes, "recompute", value.work * NANO, "recomputed when needed")
        else:
            row = Decision(value.name, where, value.bytes, "store", 0.0, "stored in its own array until it is needed")
        yield recompute.members[0], row


def _tape_rows(layout: Layout | None, accounts: Accounts) -> Iterator[tuple[int, Decision]]:
    chosen = layout.solution.inner if layout is not None and layout.solution is not None else frozenset()
    segments = layout.segments if layout is not None else {}
    for k, inner in enumerate(accounts.problem.inner):
        if k in chosen:
            recompute = accounts.inner[k]
            size = sum(sum(tape_bytes(t, {})) for t in accounts.tapes if t.key[1] in recompute.buffers)
            reason = "recomputed in each trip of the reversed loop"
            where = accounts.line(recompute.members[-1])
            yield recompute.members[0], Decision(inner.name, where, size, "recompute", inner.work * NANO, reason)
    for tape, facts in zip(accounts.problem.tapes, accounts.tapes, strict=False):
        if any(_asks(pair, chosen) for pair in tape.asked):
            kept, transient = tape_bytes(facts, segments)
            reason = (
                "stored for one segment of its loop at a time"
                if transient
                else "needed by the reverse sweep, but overwritten"
            )
            total = facts.size * math.prod(trips for _, trips in facts.loops)
            seconds = accounts.cost.tape(total, kept + transient, max(kept + transient, accounts.all_tape_bytes)) * NANO
            where = accounts.line(facts.key[0])
            yield facts.key[0], Decision(tape.name, where, kept + transient, "store", seconds, reason)


def _asks(pair: tuple[int, int], chosen: frozenset[int]) -> bool:
    reader, read = pair
    return (reader == NOBODY or reader in chosen) and (read == NOBODY or read not in chosen)


def _loop_rows(layout: Layout | None, accounts: Accounts) -> Iterator[tuple[int, Decision]]:
    for number, segments in layout.segments.items() if layout is not None else ():
        loop = accounts.loops[number]
        rerun = segments.replays * segments.length + segments.trips
        seconds = loop.runs * rerun * loop.body * NANO
        reason = f"{segments.trips} trips; {rerun} are recomputed"
        size = loop.runs * segments.slots * loop.state
        yield number, Decision("loop", accounts.line(number), size, str(segments), seconds, reason)


def _piece_rows(layout: Layout, sizes: Sizes) -> Iterator[Decision]:
    program, integers = layout.code.source, layout.integers(sizes)
    for cut in layout.code.cuts:
        held = [program.buffers[name] for name in cut.held]
        # Adjoints have the names of what they are adjoints of.
        names = ", ".join(sorted({buffer.source for buffer in held} - {""})) or UNNAMED
        where = str(cut.where) if cut.where is not None else "an argument"
        size = sum(buffer_bytes(buffer, integers) for buffer in held) // cut.width * cut.length
        yield Decision(names, where, size, "in pieces", 0.0, f"{cut.width} of {cut.length} at a time")


# --- what is held when


def moments(layout: Layout, sizes: Sizes) -> tuple[Moment, ...]:
    """The bytes held at each of the user's statements, in the forward and the reverse sweep."""
    held = footprint(layout.program, layout.integers(sizes))
    most: dict[int, int] = {}
    for point, live in zip(_points(layout.gradient_program, layout.program), held, strict=True):
        most[point] = max(most.get(point, 0), live + sizes.copies)
    lines = _lines(layout.body)
    tops = sorted(lines)
    order = [*tops, *(~n for n in reversed(tops))]
    result: list[Moment] = []
    for point in order:
        sweep = "forward" if point >= 0 else "reverse"
        # Where no statement is left, only what both neighbours hold is certainly held.
        if point not in most:
            most[point] = min(most.get(p, 0) for p in _neighbours(order, point, most))
        result.append(Moment(f"{sweep} sweep of {lines[point if point >= 0 else ~point]}", most[point]))
    return tuple(result) or (Moment("the call", max(held, default=0) + sizes.copies),)


def _neighbours(order: list[int], point: int, most: Mapping[int, int]) -> list[int]:
    """The nearest points before and after that have statements, or `point` itself."""
    place = order.index(point)
    before = [p for p in order[:place] if p in most][-1:]
    return [*before, *[p for p in order[place:] if p in most][:1]] or [point]


def _points(gradient_program: GradientProgram, program: Program) -> list[int]:
    """To which statement of the primal each statement of the optimised program belongs, the first of several.

    Passes join, split and rename; what stays is the user's line, mostly the buffer that is written, and mostly the
    order, which tells a loop from its reverse.
    """
    origins: dict[Any, list[int]] = {}
    for position, statement in enumerate(gradient_program.program.body):
        for where, name in _marks(statement):
            origins.setdefault((where, name), []).append(position)
            origins.setdefault(where, []).append(position)
    result: list[int] = []
    last = 0
    for statement in program.body:
        marks = _marks(statement)
        found = [k for mark in marks for k in origins.get(mark, ())]
        found = found or [k for where, _ in marks for k in origins.get(where, ())] or [last]
        position = min((k for k in found if k >= last), default=max(found))
        # A single element may be cleared long before its time.
        last = position if statement.mentioned - {name for _, name in marks} else last
        result.append(gradient_program.points[position])
    return result


def _marks(statement: Statement) -> list[tuple[Location | None, str]]:
    nested = walk((statement,))
    return [(s.where, access.buffer) for s in nested for access, _ in writes_of(s)]


def _lines(body: Block) -> Mapping[int, str]:
    """The user's line of each statement of the outermost block, by number."""
    result: dict[int, str] = {}
    number = 0
    for statement in body:
        inner = list(walk((statement,)))
        where = next((s.where for s in inner if s.where is not None), None)
        result[number] = str(where) if where is not None else "an argument"
        number += len(inner)
    return result
