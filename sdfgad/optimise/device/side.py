"""Offloading decision: whether a loop runs on the device, launch by launch, or as a whole on the host.

A loop of many trips with little work in each takes as long as its launches, and a loop whose body needs the host in
each trip as long as its copies: on the host it takes one copy of its arrays, and the work of one core. The seconds are
rough, and the same for all machines, so that results do not depend on where a program is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sdfgad.ir.expr import Int, Read, reads
from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Statement, blocks_of, reads_of
from sdfgad.schedule.device_library import seconds_of
from sdfgad.schedule.kernels import Form, form_of
from sdfgad.schedule.work import UNKNOWN_TRIPS, work_of


@dataclass(frozen=True)
class Seconds:
    """The seconds that an estimate adds up; those of launches and copies were measured on an H100.

    Attributes:
        launch: of a launch in a row of them.
        copy, byte: of a copy that the host waits for, and of each byte of it.
        host, device, thread: of an elementary operation on the host, on the device, and in one of its threads.
    """

    launch: float = 3e-6
    copy: float = 1e-5
    byte: float = 2e-10
    host: float = 1e-9
    device: float = 1e-11
    thread: float = 1e-7


SECONDS = Seconds()
# For tests: the host is never worth it.
KERNELS_ONLY = Seconds(launch=0.0, copy=0.0, byte=0.0, host=1.0, device=0.0, thread=0.0)
# The elements of an array whose extents are not known.
UNKNOWN_SIZE = 1 << 16


class Side:
    """Estimates for the statements of a program whose buffers are placed.

    Args:
        private: numbers of which each point of a loop has its own.
    """

    def __init__(self, buffers: Mapping[str, Buffer], private: frozenset[str]) -> None:
        self.buffers, self.private = buffers, private
        self._known: dict[Statement, float] = {}

    def is_host(self, loop: Loop) -> bool:
        """Whether a loop that is no kernel had better run on the host as a whole."""
        return self.on_host(loop) < self.on_device(loop)

    def on_host(self, statement: Statement) -> float:
        return SECONDS.host * work_of((statement,)) + self._copies(statement)

    def on_device(self, statement: Statement) -> float:
        """The seconds where the parts of a statement that had better run on the host do so."""
        if statement not in self._known:
            self._known[statement] = self._on_device(statement)
        return self._known[statement]

    def _on_device(self, statement: Statement) -> float:
        form = form_of(statement, self.buffers, self.private)
        if isinstance(statement, Call):
            return seconds_of(statement, SECONDS.device) if form is Form.LIBRARY else self.on_host(statement)
        if isinstance(statement, Compute):
            return self._compute(statement, form)
        if form is Form.POINTS:
            return SECONDS.launch + SECONDS.device * work_of((statement,)) + self._waits(statement)
        if isinstance(statement, Branch):
            return max(map(self._block, blocks_of(statement))) + self._waits(statement)
        return _trips(statement) * (self._block(statement.body) + (self._waits(statement) if statement.is_open else 0))

    def _compute(self, statement: Compute, form: Form) -> float:
        work = work_of((statement,))
        if not self.buffers[statement.target.buffer].is_on_device:
            return SECONDS.host * work
        if form is Form.HOST:
            return self.on_host(statement)
        rate = SECONDS.thread if form is Form.SERIAL else SECONDS.device
        return SECONDS.launch + rate * work + self._waits(statement)

    def _block(self, block: Block) -> float:
        return sum(min(self.on_device(s), self.on_host(s)) if _is_loop(s) else self.on_device(s) for s in block)

    def _waits(self, statement: Statement) -> float:
        """The copies of elements that the host needs before it can go on."""
        found = reads_of(statement) if isinstance(statement, Loop | Branch) else _extents(statement)
        return SECONDS.copy * sum(self.buffers[read.buffer].is_on_device for read in found)

    def _copies(self, statement: Statement) -> float:
        """The copies of all arrays of the device that a statement touches, there and back."""
        placed = [name for name in statement.mentioned if self.buffers[name].is_on_device]
        return sum(
            (SECONDS.copy + SECONDS.byte * self._bytes(name)) * (1 + (name in statement.written)) for name in placed
        )

    def _bytes(self, name: str) -> int:
        buffer = self.buffers[name]
        return buffer.dtype.itemsize * math.prod(e.const if e.is_const else UNKNOWN_SIZE for e in buffer.shape)


def _is_loop(statement: Statement) -> bool:
    return isinstance(statement, Loop)


def _extents(statement: Statement) -> list[Read]:
    return reads(*(Int(extent) for _, extent in statement.params)) if isinstance(statement, Compute) else []


def _trips(loop: Loop) -> int:
    return max(loop.trips.const, 0) if loop.trips.is_const else UNKNOWN_TRIPS
