"""Collective communication, and its transposes.

The transpose is with respect to all ranks at once: it maps the cotangents that each rank has of what it has received to
those of what each rank has sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdfgad.errors import Location
from sdfgad.messages.host import Array, Message, wide


class Total(Message):
    """The sum over all ranks, on all of them; its own transpose."""

    def __init__(self, comm: Any, where: Location | None, size: int) -> None:
        super().__init__(comm, where, (size, size), (size, size))

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.comm.Allreduce(inputs[0], results[0])

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.run([wide(inputs[0])], results)


class Winner(Message):
    """For each element the lowest rank that has the largest, or smallest, one: an integer, which has no derivative."""

    def __init__(self, comm: Any, where: Location | None, size: int, op: Any, is_largest: bool) -> None:
        super().__init__(comm, where, (size, size), ())
        self.op, self.is_largest = op, is_largest

    @property
    def has_transpose(self) -> bool:
        return False

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        from mpi4py import MPI  # What the program has imported.

        (x,), best = inputs, np.empty_like(inputs[0])
        self.comm.Allreduce(x, best, self.op)
        # NaN is no better or worse than anything.
        is_worse = x < best if self.is_largest else x > best
        own = np.where(is_worse, self.comm.size, self.comm.rank).astype(np.int64)
        self.comm.Allreduce(own, results[0], MPI.MIN)


class RootTotal(Message):
    """The sum over all ranks, on one of them; what the others have in their buffers stays there."""

    def __init__(self, comm: Any, where: Location | None, size: int, root: int) -> None:
        super().__init__(comm, where, (size, size, size, 1), (size, 1, size, size))
        self.root = root

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (x, old), is_root = inputs, self.comm.rank == self.root
        results[0][:] = old
        results[1][:] = 0
        self.comm.Reduce(x, results[0] if is_root else None, root=self.root)

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (bar, _), (sent, old), is_root = inputs, results, self.comm.rank == self.root
        sent[:] = bar
        old[:] = 0 if is_root else bar
        self.comm.Bcast(sent, root=self.root)


class Broadcast(Message):
    """One rank's values, on all of them; the transpose is a sum on that rank."""

    def __init__(self, comm: Any, where: Location | None, size: int, root: int) -> None:
        super().__init__(comm, where, (size, size), (size, size))
        self.root = root

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        results[0][:] = inputs[0]
        self.comm.Bcast(results[0], root=self.root)

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        is_root = self.comm.rank == self.root
        results[0][:] = 0
        self.comm.Reduce(wide(inputs[0]), results[0] if is_root else None, root=self.root)


class Gathered(Message):
    """All ranks' values one after another, on all of them; of the transpose each rank keeps the sum of its own part."""

    def __init__(self, comm: Any, where: Location | None, size: int) -> None:
        whole = size * comm.size
        super().__init__(comm, where, (size, whole), (whole, size))

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.comm.Allgather(inputs[0], results[0])

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.comm.Reduce_scatter_block(wide(inputs[0]), results[0])


class Barrier(Message):
    """All ranks wait for each other, also in the reverse sweep."""

    def __init__(self, comm: Any, where: Location | None) -> None:
        super().__init__(comm, where, (), ())

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.comm.Barrier()

    back = run
