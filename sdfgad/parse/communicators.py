"""Objects of mpi4py as values that are known while parsing: communicators, their methods, and requests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sdfgad.errors import Location
from sdfgad.messages.point_to_point import Peer, ReceiveStart, SendStart
from sdfgad.parse.values import Tensor


def mpi() -> Any:
    """The module `mpi4py.MPI`, or None where the program has not imported it."""
    return sys.modules.get("mpi4py.MPI")


def is_communicator(value: Any) -> bool:
    """Whether a value is one of mpi4py's communicators."""
    return mpi() is not None and isinstance(value, mpi().Comm)


class Communicator:
    """A communicator as a constant: mpi4py's have no hash. Each rank parses its own program, for its rank and size."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self._key = comm.handle, self.rank, self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Communicator) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(eq=False)
class Request:
    """A message that ``Isend`` or ``Irecv`` has started.

    Attributes:
        begun: the start, which the wait refers to.
        peer: the other rank, and the tag.
        block: the block of statements where it stands.
        target: what is received goes there.
    """

    begun: SendStart | ReceiveStart
    peer: Peer
    where: Location | None
    block: list[Any]
    target: Tensor | None = None

    @property
    def is_send(self) -> bool:
        return self.target is None


@dataclass(frozen=True, eq=False)
class Method:
    """A bound method of a communicator or request."""

    owner: Any
    handler: Callable[..., Any]


def conflicting(
    requests: Sequence[Request], comm: Any, peer: Peer, is_send: bool, before: Request | None = None
) -> Request | None:
    """Of requests that have not been waited for, one with the same other rank, direction and tag.

    Args:
        requests: in the order in which they were started.
        before: only those that were started before it matter.
    """
    for one in requests:
        if one is before:
            return None
        is_same_tag = one.peer.is_any_tag or peer.is_any_tag or one.peer.tag == peer.tag
        is_same = one.begun.comm == comm and one.peer.rank == peer.rank and not peer.is_nobody
        if one.is_send == is_send and is_same and is_same_tag:
            return one
    return None
