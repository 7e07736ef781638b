"""Batched runs: a program runs for many values of some inputs; what is the same for all of them is computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdfgad.batch.dependents import dependents
from sdfgad.batch.program import batched
from sdfgad.ir.program import Buffer, Program
from sdfgad.parse.callbacks import raised
from sdfgad.runtime.differential import Runnable, load
from sdfgad.runtime.sizes import Sharing
from sdfgad.specialise.compiled import Outputs, shape_of
from sdfgad.specialise.trip_guess import made_within

Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]
# Entries run together as long as their storage fits in a cache: Jacobians were up to twice as fast by this.
CACHED_BYTES = 1 << 21
# A few do in any case, unless they need so many bytes: what is the same for all is computed once for them.
FEW, MOST_BYTES = 8, 1 << 28


@dataclass(frozen=True)
class Run:
    """A program, and what all entries of a batch pass to it.

    Attributes:
        arrays: its inputs; those that differ may be missing.
        outputs: the buffers that are wanted, by any names; None for one that is zero, whatever the entry.
        like: a buffer of the shape and dtype of each of them.
        trips: numbers of trips that are data and have been counted.
        empty: makes arrays for the outputs where the caller has his on a device; None: they are NumPy's.
    """

    program: Program
    arrays: Arrays
    integers: Mapping[str, int]
    outputs: Mapping[str, str | None]
    like: Mapping[str, Buffer]
    empty: Callable[[tuple[int, ...], np.dtype[Any]], Any] | None = None
    trips: Mapping[str, int] = field(default_factory=dict)


class Batches:
    """Compiled programs for batches of several sizes, and of one."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._loaded: dict[tuple[int, frozenset[str], int], tuple[Program, Runnable, Outputs]] = {}

    def one(self, run: Run, inputs: Arrays) -> dict[str, Array]:
        """The outputs for one entry; `inputs`, by buffer, go with those of the run."""
        arrays = self._outcome(run, inputs, frozenset(), 0)
        return {name: _filled(arrays, run, name, ()) for name in run.outputs}

    def all(self, run: Run, inputs: Arrays) -> dict[str, Array]:
        """The outputs for all entries, along a first axis, as which `inputs` have them."""
        count = len(next(iter(inputs.values())))
        if not count:
            return {name: np.zeros((0, *shape_of(like)), like.dtype) for name, like in run.like.items()}
        size = _entries_at_once(run.program, frozenset(inputs), count)
        starts = range(0, count, size)
        parts = [self._part(run, inputs, range(start, min(start + size, count)), size) for start in starts]
        if len(parts) == 1:
            return parts[0]
        return {name: np.concatenate([part[name] for part in parts]) for name in run.outputs}

    def _part(self, run: Run, inputs: Arrays, entries: range, size: int) -> dict[str, Array]:
        """The outputs for some entries, by a program for `size` of them; what is left of it is filled with the last."""
        chosen = {name: array[entries.start : entries.stop] for name, array in inputs.items()}
        if size == 1:
            found = self.one(run, {name: array[0, ...] for name, array in chosen.items()})
            return {name: array[None] for name, array in found.items()}
        left = size - len(entries)
        padded = {n: np.concatenate([a, np.repeat(a[-1:], left, axis=0)]) if left else a for n, a in chosen.items()}
        arrays = self._outcome(run, padded, frozenset(inputs), size)
        return {name: _filled(arrays, run, name, (size,))[: len(entries)] for name in run.outputs}

    def _outcome(self, run: Run, inputs: Arrays, varying: frozenset[str], size: int) -> dict[str, Array]:
        """All arrays after a run for a batch, or (0) for one entry.

        Raises:
            InvalidIndex and other errors of what the program has found at run time.
        """
        program, executable, outputs = self._compiled(run.program, varying, size)
        wanted = {buffer for buffer in run.outputs.values() if buffer is not None}
        results = outputs() if run.empty is None else outputs.partly(wanted, run.empty)
        arrays = {**run.arrays, **inputs, **results}
        executable(arrays, run.integers)
        made_within(run.trips, program, arrays)
        failed = program.failed(int(arrays["status"])) if program.checks else None
        if failed is not None:
            raise failed.failure() from raised()
        return arrays

    def _compiled(self, program: Program, varying: frozenset[str], size: int) -> tuple[Program, Runnable, Outputs]:
        key = id(program), varying, size
        if key not in self._loaded:
            made = batched(program, varying, size).program if size else program
            # The program is kept, so that no other one gets its id.
            self._loaded[key] = program, load(made, sharing=self._sharing), Outputs(made)
        return self._loaded[key]


def _filled(arrays: Arrays, run: Run, name: str, axes: tuple[int, ...]) -> Array:
    """An output with these leading axes, also where it does not depend on the entry."""
    buffer, like = run.outputs[name], run.like[name]
    shape = (*axes, *shape_of(like))
    if buffer is None:
        return np.zeros(shape, like.dtype)
    found = arrays[buffer]
    return found if found.shape == shape else np.broadcast_to(found, shape).copy()


def _entries_at_once(program: Program, inputs: frozenset[str], count: int) -> int:
    """How many entries run together: as few runs as the storage allows, of about the same size."""
    buffers = [program.buffers[name] for name in dependents(program, inputs)]
    extents = [(buffer.dtype.itemsize, [e.const for e in buffer.shape if e.is_const]) for buffer in buffers]
    each = sum(size * int(np.prod(shape, dtype=np.int64)) for size, shape in extents)
    most = max(1, CACHED_BYTES // max(each, 1), min(FEW, MOST_BYTES // max(each, 1)))
    runs = -(-count // most)
    return -(-count // runs)
