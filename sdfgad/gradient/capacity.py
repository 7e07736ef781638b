"""Tapes of a constant number of slots, which may be too small, for gradients that programs call: trips may be data.

A call that needs more slots writes the last one again and again, reports how many it needs, and is repeated with more.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce

from sdfgad.errors import SdfgadError
from sdfgad.gradient.assemble import GradientProgram
from sdfgad.gradient.counting import TRIPS
from sdfgad.ir.capacities import Capacity, capacity_of
from sdfgad.ir.expr import BOOL, INT, Const, Expr, Op, Read, Rewriter, conjunction, reads
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    FIRST_CHECK,
    SLOTS,
    Access,
    Block,
    Branch,
    Buffer,
    Compute,
    Loop,
    Program,
    Statement,
    rewrite_statement,
    transform,
)
from sdfgad.ir.rename import renamed

STATUS = "status"


@dataclass(frozen=True)
class _Slots:
    """The tapes of a loop: its trips so far, the buffer of the present slot, and how many slots there are."""

    trips: str
    slot: str
    capacity: int
    check: int

    def update(self) -> Compute:
        """The slot of the present trip; that of another one where there are too few, or where the trips are wrong."""
        trips: Expr = Access(self.trips).read(INT)
        inside = Op("minimum", (Op("maximum", (trips, Const(0, INT)), INT), Const(self.capacity - 1, INT)), INT)
        return Compute((), Access(self.slot), inside)

    def report(self) -> Compute:
        """The status of a run that needs more slots."""
        trips = Access(self.trips).read(INT)
        count = Op("multiply", (trips, Const(SLOTS, INT)), INT)
        code = Op("add", (Const(FIRST_CHECK - 1 - self.check, INT), count), INT)
        return Compute((), Access(STATUS), Op("select", (self.is_enough(), Const(0, INT), code), INT), "maximum")

    def is_enough(self) -> Expr:
        """Whether no trip so far needed another slot than its own."""
        return Op("less_equal", (Access(self.trips).read(INT), Const(self.capacity, INT)), BOOL)


def with_capacity(gradient: GradientProgram, keys: Mapping[str, Hashable]) -> Program:
    """The gradient program with tapes of constant sizes.

    Args:
        keys: the integers that are numbers of slots -> what their values are remembered by.
    """
    program = gradient.program
    counters = {total: counter.buffer.name for total, counter in gradient.totals.items()}
    names, first = Names(program.identifiers), len(program.checks)
    slots = {
        trips: _Slots(trips, names.fresh(f"{trips}_slot"), capacity_of(keys[total]), first + k)
        for k, (total, trips) in enumerate(counters.items())
    }
    sizes = {total: slots[trips].capacity for total, trips in counters.items()}
    slot_names = {one.trips: one.slot for one in slots.values()}
    of_slots = partial(_of_slots, Rewriter({}, partial(_slot, slot_names)))
    made = {program.outputs[name]: name for name in program.outputs if name.startswith(TRIPS)}

    def each(statement: Statement) -> Block:
        if isinstance(statement, Compute) and statement.target.buffer in slots:
            return (statement, slots[statement.target.buffer].update())
        if isinstance(statement, Compute) and statement.target.buffer in made:
            (trips,) = (read.buffer for read in reads(statement.value))
            return (slots[trips].report(),)
        sized = rewrite_statement(statement, sizes, of_slots)
        return renamed((sized,), slot_names) if isinstance(statement, Compute) else (sized,)

    shapes = {
        name: replace(buffer, shape=tuple(extent.substitute(sizes) for extent in buffer.shape))
        for name, buffer in program.buffers.items()
        if name not in made
    }
    scalars = {one.slot: Buffer(one.slot, (), INT) for one in slots.values()}
    enough = Buffer(names.fresh("is_enough"), (), BOOL)
    body = _reversed_if_enough(transform(program.body, each), slots, enough)
    clear = () if program.checks else (Compute((), Access(STATUS), Const(0, INT)),)
    checks = tuple(Capacity(SdfgadError, "", None, "", keys[total]) for total in gradient.totals)
    return replace(
        program,
        buffers=shapes | scalars | {enough.name: enough, STATUS: Buffer(STATUS, (), INT)},
        integers=tuple(name for name in program.integers if name not in sizes),
        outputs={name: buffer for name, buffer in program.outputs.items() if buffer not in made},
        body=(*clear, *body),
        checks=(*program.checks, *checks),
        bounds=(),
    )


def _slot(slots: Mapping[str, str], node: Expr) -> Expr | None:
    """The slot of a trip in place of its number."""
    if isinstance(node, Read) and node.buffer in slots:
        return Read(slots[node.buffer], node.index, node.dtype)
    return None


def _of_slots(rewriter: Rewriter, node: Expr) -> Expr | None:
    """What a condition or a number of trips reads of tapes, at the present slot."""
    return Read(node.buffer, rewriter.index(node.index), node.dtype) if isinstance(node, Read) and node.index else None


def _reversed_if_enough(body: Block, slots: Mapping[str, _Slots], enough: Buffer) -> Block:
    """The body, whose reverse sweep leaves out the loops that read tapes where a tape has too few slots.

    What is in the last slot would be read for other trips: numbers of trips with which indices leave their arrays.
    """
    reports = [k for k, one in enumerate(body) if isinstance(one, Compute) and one.target.buffer == STATUS]
    tapes = {*slots, *(one.slot for one in slots.values())}
    first = reports[-1] + 1 if reports else len(body)
    late = [isinstance(one, (Loop, Branch)) and not one.mentioned.isdisjoint(tapes) for one in body[first:]]
    if not any(late):
        return body
    decided = Compute((), Access(enough.name), reduce(conjunction, (one.is_enough() for one in slots.values())))
    is_enough = Access(enough.name).read(BOOL)
    reverse = [
        Branch(is_enough, (one,), ()) if is_late else one for one, is_late in zip(body[first:], late, strict=True)
    ]
    return (*body[:first], decided, *reverse)
