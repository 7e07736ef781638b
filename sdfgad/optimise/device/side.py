"""Offloading decision: whether a loop runs on the device, launch by launch, or as a whole on the host.

A loop of many trips with little work in each takes as long as its launches, and a loop whose body needs the host in
each trip as long as its copies: on the host it takes one copy of its arrays, and the work of one core. The seconds are
rough, and the same for all machines, so that results do not depend on where a program is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sdfgad.ir.expr import Int, Read, reads
from sdfgad.ir.program import Block, Branch, Buffer, Call, Compute, Loop, Statement, blocks_of, reads_of
from sdfgad.schedule.device_library import seconds_of
from sdfgad.schedule.device_sums import MOST, Sum
from sdfgad.schedule.kernels import Form, form_of, point_loop
from sdfgad.schedule.launches import launches
from sdfgad.schedule.mean_work import Means, mean_of, mean_size, mean_work, means_in
from sdfgad.schedule.sequences import filled_by, has_sequences, is_possible, rows_of


@dataclass(frozen=True)
class Seconds:
    """The seconds that an estimate adds up; those of launches and copies were measured on an H100.

    Attributes:
        launch: of a launch in a row of them.
        copy, byte: of a copy that the host waits for, and of each byte of it.
        host, device: of an elementary operation on the host, and on the device.
        thread: of one in a thread on which others wait.
        shared: of one in each of the threads of a block.
        step: of a step of a block of threads, with a barrier.
    """

    launch: float = 3e-6
    copy: float = 1e-5
    byte: float = 2e-10
    host: float = 1e-9
    device: float = 1e-11
    thread: float = 1e-7
    shared: float = 5e-8
    step: float = 5e-7


SECONDS = Seconds()
# For tests: the host is never worth it.
KERNELS_ONLY = Seconds(launch=0.0, copy=0.0, byte=0.0, host=1.0, device=0.0, thread=0.0, shared=1.0, step=1.0)
# For tests: all loops that can be are sequences of one block.
BLOCKS_ONLY = Seconds(launch=1.0, copy=1.0, byte=0.0, host=1.0, device=1.0, thread=0.0, shared=0.0, step=0.0)
# For tests: a block of threads for each trip wherever trips are independent.
GRIDS_ONLY = Seconds(launch=10.0, copy=10.0, byte=0.0, host=10.0, device=0.0, thread=0.0, shared=0.0, step=1.0)
# The elements of an array whose extents are not known.
UNKNOWN_SIZE = 1 << 16


class Side:
    """Estimates for the statements of a program whose buffers are placed, with the means of the counters around them.

    Args:
        private: numbers of which each point of a loop has its own.
        bounds: the integers that may be too small for what tapes hold, as of a `Program`.
    """

    def __init__(self, buffers: Mapping[str, Buffer], private: frozenset[str], bounds: Iterable[str]) -> None:
        self.buffers, self.private, self.bounds = buffers, private, frozenset(bounds)
        self._known: dict[tuple[Statement, tuple[tuple[str, float], ...]], float] = {}

    def is_host(self, loop: Loop, means: Means) -> bool:
        """Whether a loop that is no kernel had better run on the host as a whole."""
        return self.on_host(loop, means) < self.on_device(loop, means)

    def can_be_in_block(self, loop: Loop) -> bool:
        return is_possible(loop, self.buffers, self.bounds)

    def is_in_block(self, loop: Loop, means: Means) -> bool:
        """Whether one block of threads can, and had better, run a loop."""
        return self.can_be_in_block(loop) and self.in_block(loop, means) < min(
            self.on_host(loop, means), self.on_device(loop, means)
        )

    def on_host(self, statement: Statement, means: Means) -> float:
        return SECONDS.host * mean_work(statement, means) + self._copies(statement)

    # --- in blocks of threads

    def in_grid(self, loop: Loop, means: Means) -> float:
        """The seconds of trips that run at the same time, each in a block of threads of its own."""
        rows, block = rows_of(loop)
        means = {**means, **{name: (mean_of(extent, means) - 1) / 2 for name, extent in rows}}
        work, filled = mean_work(loop, means), filled_by(loop)
        return max(SECONDS.device * work / min(filled, 1.0), math.ceil(filled) * self._steps(block, means))

    def in_block(self, statement: Loop | Branch, means: Means) -> float:
        """The seconds of a loop or branch, without calls, in one block of threads."""
        if isinstance(statement, Loop):
            return mean_of(statement.trips, means) * self._steps(statement.body, means_in(statement, means))
        return max(self._steps(block, means) for block in blocks_of(statement))

    def _steps(self, block: Block, means: Means) -> float:
        total = 0.0
        for launch in launches(block, self.buffers):
            (first, *_) = launch.statements
            if launch.form is Form.HOST and isinstance(first, Loop | Branch):
                total += self.in_block(first, means)
            else:
                total += SECONDS.step + sum(self._shared(s, means) for s in launch.statements)
        return total

    def _shared(self, statement: Statement, means: Means) -> float:
        """The work of a statement, by as many threads as have some."""
        width = min(MOST, self._width(statement, means))
        return mean_work(statement, means) * (SECONDS.shared / width if width > 1 else SECONDS.thread)

    def _width(self, statement: Statement, means: Means) -> float:
        """How many threads can share a statement: one for each point, or term of a sum; one where there is an order."""
        if isinstance(statement, Loop):
            loop = point_loop(statement, self.private)
            return mean_size([extent for _, extent in loop.own], means) if loop else 1.0
        assert isinstance(statement, Compute)
        if form_of(statement, self.buffers) in (Form.SERIAL, Form.ORDERED, Form.HOST):
            return 1.0
        box = Sum(statement)
        return max(mean_size([box.extents[n] for n in names], means) for names in (box.own, box.summed))

    # --- on the device

    def on_device(self, statement: Statement, means: Means) -> float:
        """The seconds where the parts of a statement that had better run on the host do so."""
        key = (statement, tuple(means.items()))
        if key not in self._known:
            self._known[key] = self._on_device(statement, means)
        return self._known[key]

    def _on_device(self, statement: Statement, means: Means) -> float:
        if isinstance(statement, Call):
            is_there = form_of(statement, self.buffers) is Form.LIBRARY
            return seconds_of(statement, SECONDS.device) if is_there else self.on_host(statement, means)
        if isinstance(statement, Compute):
            return self._compute(statement, means)
        if isinstance(statement, Loop) and statement.is_in_block and statement.is_parallel:
            is_grid = has_sequences(statement)
            return self.in_grid(statement, means) if is_grid else SECONDS.device * mean_work(statement, means)
        if isinstance(statement, Loop) and statement.is_in_block:
            return self.in_block(statement, means)
        if form_of(statement, self.buffers, self.private) is Form.POINTS:
            return SECONDS.device * mean_work(statement, means) + self._waits(statement)
        if isinstance(statement, Branch):
            return max(self._block(block, means) for block in blocks_of(statement)) + self._waits(statement)
        trip = self._block(statement.body, means_in(statement, means))
        return mean_of(statement.trips, means) * (trip + (self._waits(statement) if statement.is_open else 0))

    def _compute(self, statement: Compute, means: Means) -> float:
        """The seconds after the launch, which other statements may share."""
        form, work = form_of(statement, self.buffers), mean_work(statement, means)
        if not self.buffers[statement.target.buffer].is_on_device:
            return SECONDS.host * work
        if form is Form.HOST:
            return self.on_host(statement, means)
        rate = SECONDS.thread if form is Form.SERIAL else SECONDS.device
        # Each contribution is compared with the others.
        work *= work if form is Form.ORDERED else 1.0
        launch = SECONDS.launch if form is Form.PRODUCT else 0.0
        return launch + rate * work + self._waits(statement)

    def _block(self, block: Block, means: Means) -> float:
        total = 0.0
        for launch in launches(block, self.buffers):
            total += SECONDS.launch if launch.form is not Form.HOST else 0.0
            total += sum(self.best(s, means) for s in launch.statements)
        return total

    def best(self, statement: Statement, means: Means) -> float:
        """The seconds of a statement where it had better run, without a launch that it may share."""
        on_device = self.on_device(statement, means)
        if not isinstance(statement, Loop) or form_of(statement, self.buffers, self.private) is not Form.HOST:
            return on_device
        in_block = SECONDS.launch + self.in_block(statement, means) if self.can_be_in_block(statement) else math.inf
        return min(on_device, self.on_host(statement, means), in_block)

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


def _extents(statement: Statement) -> list[Read]:
    return reads(*(Int(extent) for _, extent in statement.params)) if isinstance(statement, Compute) else []
