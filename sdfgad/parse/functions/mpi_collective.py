"""Collective methods of mpi4py's communicators, read as library calls."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sdfgad.ir.expr import BOOL, INT, Const, Lin, Op
from sdfgad.messages.collective import Barrier, Broadcast, Gathered, RootTotal, Total, Winner
from sdfgad.messages.host import Message
from sdfgad.parse.builder import Builder
from sdfgad.parse.communicators import mpi
from sdfgad.parse.functions.creation import zeros_like
from sdfgad.parse.functions.message_arguments import held, require_alike, reshaped, root_of, sent, size_of, target_of
from sdfgad.parse.functions.messages import emit, like
from sdfgad.parse.returned import is_numeric
from sdfgad.parse.values import Index, Tensor


def _shared(b: Builder, message: Message, x: Tensor, like_y: Any) -> Tensor:
    if x.dtype.kind in "fc":
        b.ranks.add(message.comm.Get_size())
    return emit(b, "share", message, [x], [like_y])[0]


def _total(b: Builder, comm: Any, x: Tensor, op: Any) -> Tensor:
    """The sum, maximum or minimum over all ranks.

    An extremum is the sum over all ranks of what only the rank has that wins: its cotangent goes there.
    """
    size, constants = size_of(b, x), mpi()
    if op != constants.SUM:
        if op not in (constants.MAX, constants.MIN):
            raise b.unsupported("this reduction over ranks is not supported", "Use MPI.SUM, MPI.MAX or MPI.MIN.")
        if x.dtype.kind not in "iuf":
            raise b.unsupported(f"there is no maximum of {x.dtype}", "mpi4py raises here, too.")
        x = b.stored(x)
        message = Winner(comm, b.where, size, op, op == constants.MAX)
        x = _where_won(b, comm, x, _shared(b, message, x, (x.shape, INT)))
    return _shared(b, Total(comm, b.where, size), x, like(x))


def _where_won(b: Builder, comm: Any, x: Tensor, winner: Tensor) -> Tensor:
    number = np.array(comm.Get_rank(), INT)
    own = b.capture("rank", number, lambda: number)

    def element(p: Any) -> Any:
        is_own = Op("equal", (winner.element(p), own.element(())), BOOL)
        return Op("select", (is_own, x.element(p), Const(0, x.dtype)), x.dtype)

    return Tensor(x.shape, x.dtype, element)


def _allreduce_into(b: Builder, comm: Any, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:
    y = target_of(b, recvbuf)
    x = y if sendbuf is mpi().IN_PLACE else sent(b, sendbuf)
    require_alike(b, x, y)
    total = _total(b, comm, reshaped(b, x, y), mpi().SUM if op is None else op)
    b.assign(y, total)


def _allreduce(b: Builder, comm: Any, sendobj: Any, op: Any = None) -> Any:
    x = sent(b, sendobj)
    op = mpi().SUM if op is None else op
    if op in (mpi().MAX, mpi().MIN) and x.shape:
        what = "`allreduce` of an array by MPI.MAX or MPI.MIN compares whole arrays, which Python refuses"
        raise b.unsupported(what, "Use Allreduce, which takes arrays element by element.")
    return _total(b, comm, x, op).result


def _reduce_into(b: Builder, comm: Any, sendbuf: Any, recvbuf: Any, op: Any = None, root: Any = 0) -> None:
    root = root_of(b, comm, root)
    if op is not None and op != mpi().SUM:
        raise b.unsupported("only sums are reduced to one rank", "Use MPI.SUM, or Allreduce.")
    y = None if recvbuf is None else target_of(b, recvbuf)
    x = y if sendbuf is mpi().IN_PLACE and y is not None else sent(b, sendbuf)
    if y is None and comm.Get_rank() == root:
        raise b.unsupported("the root of a reduction has no buffer", "mpi4py raises here, too.")
    if y is None or comm.Get_rank() != root:
        _reduced(b, comm, x, None, root)  # MPI reads and writes the buffer of the root alone.
        return
    require_alike(b, x, y)
    b.assign(y, reshaped(b, _reduced(b, comm, x, y, root), y))


def _reduced(b: Builder, comm: Any, x: Tensor, y: Tensor | None, root: int) -> Tensor:
    old = zeros_like(b, x) if y is None else reshaped(b, held(b, y), x)
    message = RootTotal(comm, b.where, size_of(b, x), root)
    return emit(b, "exchange", message, [x, old], [like(x), ((), INT)], numbers=(0,))[0]


def _reduce(b: Builder, comm: Any, sendobj: Any, op: Any = None, root: Any = 0) -> Any:
    root = root_of(b, comm, root)
    if op is not None and op != mpi().SUM:
        raise b.unsupported("only sums are reduced to one rank", "Use MPI.SUM, or allreduce.")
    found = _reduced(b, comm, sent(b, sendobj), None, root)
    return found.result if comm.Get_rank() == root else None


def _broadcast_into(b: Builder, comm: Any, buf: Any, root: Any = 0) -> None:
    y = target_of(b, buf)
    message = Broadcast(comm, b.where, size_of(b, y), root_of(b, comm, root))
    b.assign(y, _shared(b, message, held(b, y), like(y)))


def _broadcast(b: Builder, comm: Any, obj: Any = None, root: Any = 0) -> Any:
    if not is_numeric(obj):
        what = "`bcast` of what is no array or number on this rank: its size is not known"
        raise b.unsupported(what, "Pass an array of the same shape and dtype on all ranks, np.zeros(3), say.")
    x = sent(b, obj)
    message = Broadcast(comm, b.where, size_of(b, x), root_of(b, comm, root))
    return _shared(b, message, x, like(x)).result


def _gather_into(b: Builder, comm: Any, sendbuf: Any, recvbuf: Any) -> None:
    x, y = sent(b, sendbuf), target_of(b, recvbuf)
    require_alike(b, x, y, comm.Get_size())
    b.assign(y, _shared(b, Gathered(comm, b.where, size_of(b, x)), x, like(y)))


def _gather(b: Builder, comm: Any, sendobj: Any) -> Any:
    x, count = sent(b, sendobj), comm.Get_size()
    found = _shared(b, Gathered(comm, b.where, size_of(b, x)), x, ((Lin(count), *x.shape), x.dtype))
    return [found.reindexed(x.shape, partial(_row, k)).result for k in range(count)]


def _row(k: int, p: Index) -> Index:
    return (Lin(k), *p)


def _barrier(b: Builder, comm: Any) -> None:
    emit(b, "signal", Barrier(comm, b.where), [], [])


METHODS = {
    "Allreduce": _allreduce_into,
    "allreduce": _allreduce,
    "Reduce": _reduce_into,
    "reduce": _reduce,
    "Bcast": _broadcast_into,
    "bcast": _broadcast,
    "Allgather": _gather_into,
    "allgather": _gather,
    "Barrier": _barrier,
    "barrier": _barrier,
}
