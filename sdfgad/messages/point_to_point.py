"""Messages between two ranks, and their transposes: a message from the receiver back to the sender.

Going back, each rank passes its statements in reverse order, so that two messages with the same tag meet in reverse
order on both sides: a program that does not deadlock has a reverse sweep that does not. Cotangents travel in double
precision, as bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from sdfgad.errors import Location
from sdfgad.messages.host import Array, Message, wide


class Peer:
    """The other rank and the tag of a message.

    Attributes:
        rank: as mpi4py has it.
        is_nobody: whether it is MPI.PROC_NULL: nothing is sent or received.
        tag: as mpi4py has it; where it `is_any_tag`, MPI.ANY_TAG.
    """

    def __init__(self, rank: int, is_nobody: bool, tag: int, is_any_tag: bool = False) -> None:
        self.rank, self.is_nobody, self.tag, self.is_any_tag = rank, is_nobody, tag, is_any_tag

    def tag_of(self, received: Array) -> int:
        """The tag of a message from this rank, where that of the one that has been received is known."""
        return int(received[0]) if self.is_any_tag else self.tag


class Exchange(Message):
    """A send to one rank and a receive from one; either may be missing. Without a sender the buffer stays as it is."""

    def __init__(self, comm: Any, where: Location | None, sizes: tuple[int, int], to: Peer, source: Peer) -> None:
        sent, got = sizes
        super().__init__(comm, where, (sent, got, got, 1), (got, 1, sent, got))
        self.to, self.source = to, source

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (x, old), (y, tag) = inputs, results
        y[:] = old
        status = _status()
        self.comm.Sendrecv(x, self.to.rank, self.to.tag, y, self.source.rank, self.source.tag, status)
        tag[:] = _received(status, self.source, y)

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (bar, tag), (sent, old) = inputs, results
        sent[:] = 0
        old[:] = bar if self.source.is_nobody else 0
        back = self.source.rank, self.source.tag_of(tag)
        self.comm.Sendrecv(_bytes(wide(bar)), *back, _bytes(sent), self.to.rank, self.to.tag)


class Send(Message):
    """A blocking send."""

    def __init__(self, comm: Any, where: Location | None, size: int, to: Peer) -> None:
        super().__init__(comm, where, (size,), (size,))
        self.to = to

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.comm.Send(inputs[0], self.to.rank, self.to.tag)

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        results[0][:] = 0
        self.comm.Recv(_bytes(results[0]), self.to.rank, self.to.tag)


class Receive(Message):
    """A blocking receive."""

    def __init__(self, comm: Any, where: Location | None, size: int, source: Peer) -> None:
        super().__init__(comm, where, (size, size, 1), (size, 1, size))
        self.source = source

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (y, tag), status = results, _status()
        y[:] = inputs[0]
        self.comm.Recv(y, self.source.rank, self.source.tag, status)
        tag[:] = _received(status, self.source, y)

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (bar, tag), is_nobody = inputs, self.source.is_nobody
        results[0][:] = bar if is_nobody else 0
        self.comm.Send(_bytes(wide(bar)), self.source.rank, self.source.tag_of(tag))


# --- requests


class Request:
    """Messages under way, of a value and then of its tangent: the buffer of each, and mpi4py's request."""

    def __init__(self) -> None:
        self.pending: deque[tuple[Array, Any]] = deque()

    def start(self, buffer: Array, handle: Any) -> None:
        self.pending.append((buffer, handle))

    def finish(self, status: Any = None) -> Array:
        """Waits for the first one; its buffer."""
        buffer, handle = self.pending.popleft()
        handle.Wait(status)
        return buffer


class SendStart(Message):
    """``Isend``; going back, the end of the receive of the cotangent that `SendEnd` has started."""

    def __init__(self, comm: Any, where: Location | None, size: int, dtype: np.dtype[Any], to: Peer) -> None:
        super().__init__(comm, where, (size,), (size,))
        self.dtype, self.to, self.request = dtype, to, Request()

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        buffer = inputs[0].copy()
        self.request.start(buffer, self.comm.Isend(buffer, self.to.rank, self.to.tag))

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        _bytes(results[0])[:] = self.request.finish()


class SendEnd(Message):
    """The wait for a send; going back, the start of the receive of its cotangent."""

    def __init__(self, start: SendStart, where: Location | None) -> None:
        super().__init__(start.comm, where, (), ())
        self.begun = start

    @property
    def has_transpose(self) -> bool:
        return self.begun.dtype.kind in "fc"

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.begun.request.finish()

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        buffer, to = _bytes(wide(np.zeros(self.begun.sizes, self.begun.dtype))), self.begun.to
        self.begun.request.start(buffer, self.comm.Irecv(buffer, to.rank, to.tag))


class ReceiveStart(Message):
    """``Irecv``; going back, the end of the send of the cotangent that `ReceiveEnd` has started."""

    def __init__(self, comm: Any, where: Location | None, size: int, dtype: np.dtype[Any], source: Peer) -> None:
        super().__init__(comm, where, (), ())
        self.size, self.dtype, self.source, self.request = size, dtype, source, Request()

    @property
    def has_transpose(self) -> bool:
        return self.dtype.kind in "fc"

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        buffer = np.zeros(self.size, self.dtype)
        self.request.start(buffer, self.comm.Irecv(buffer, self.source.rank, self.source.tag))

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        self.request.finish()


class ReceiveEnd(Message):
    """The wait for a receive, which is when values arrive; going back, the start of the send of their cotangents."""

    def __init__(self, start: ReceiveStart, where: Location | None) -> None:
        size = start.size
        super().__init__(start.comm, where, (size, size, 1), (size, 1, size))
        self.begun = start

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (y, tag), status, source = results, _status(), self.begun.source
        found = self.begun.request.finish(status)
        y[:] = inputs[0] if source.is_nobody else found
        tag[:] = _received(status, source, y)

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        (bar, tag), source = inputs, self.begun.source
        results[0][:] = bar if source.is_nobody else 0
        buffer = _bytes(wide(bar)).copy()
        self.begun.request.start(buffer, self.comm.Isend(buffer, source.rank, source.tag_of(tag)))


def _bytes(array: Array) -> Array:
    return array.view(np.uint8)


def _status() -> Any:
    from mpi4py import MPI  # What the program has imported.

    return MPI.Status()


def _received(status: Any, source: Peer, buffer: Array) -> int:
    """The tag of a message that has filled a buffer.

    Raises: ValueError: it was shorter.
    """
    if source.is_nobody:
        return max(source.tag, 0)
    count = status.Get_count(_byte())
    if count != buffer.nbytes:
        raise ValueError(f"a message of {count} bytes came for a buffer of {buffer.nbytes}: its size must be the same")
    return int(status.Get_tag())


def _byte() -> Any:
    from mpi4py import MPI  # What the program has imported.

    return MPI.BYTE
