"""Sends, receives and requests of mpi4py, read as library calls.

In the reverse sweep the messages between two ranks that have the same tag meet in reverse order of the statements. So
requests with the same rank and tag are waited for in the order in which they were started.
"""

from __future__ import annotations

from typing import Any

from sdfgad.messages.host import Message
from sdfgad.messages.point_to_point import Exchange, Peer, Receive, ReceiveEnd, ReceiveStart, Send, SendEnd, SendStart
from sdfgad.parse.builder import Builder
from sdfgad.parse.communicators import Request, conflicting, mpi
from sdfgad.parse.functions.message_arguments import held, is_unset, peer_of, refuse_status, sent, size_of, target_of
from sdfgad.parse.functions.messages import INT, emit, like
from sdfgad.parse.registry import optional
from sdfgad.parse.values import Tensor


def _require_order(b: Builder, comm: Any, peer: Peer, is_send: bool, before: Request | None = None) -> None:
    earlier = conflicting(b.requests, comm, peer, is_send, before)
    if earlier is not None:
        line = "" if earlier.where is None else f" (line {earlier.where.line})"
        what = f"an earlier message{line} to or from the same rank with the same tag has not been waited for"
        raise b.unsupported(what, "Wait for it first, in the order of the starts, or give them other tags.")


def _send(b: Builder, comm: Any, buf: Any, dest: Any, tag: Any = 0) -> None:
    x, to = sent(b, buf), peer_of(b, comm, dest, tag, is_source=False)
    _require_order(b, comm, to, is_send=True)
    emit(b, "send", Send(comm, b.where, size_of(b, x), to), [x], [])


def _receive(b: Builder, comm: Any, buf: Any, source: Any = None, tag: Any = None, status: Any = None) -> None:
    refuse_status(b, status)
    y, peer = target_of(b, buf), _source(b, comm, source, tag)
    _require_order(b, comm, peer, is_send=False)
    _received(b, y, peer, Receive(comm, b.where, size_of(b, y), peer), "receive")


def _received(b: Builder, y: Tensor, source: Peer, message: Message, kind: str, x: tuple[Tensor, ...] = ()) -> None:
    """Receives into an array, which stays as it is, without values if need be, where nobody sends."""
    is_unset_still = is_unset(b, y) and source.is_nobody
    results = [like(y), ((), INT)]
    found, _ = emit(b, kind, message, [*x, held(b, y)], results, numbers=(int(source.is_any_tag),))
    if not is_unset_still:
        b.assign(y, found)


def _source(b: Builder, comm: Any, source: Any, tag: Any) -> Peer:
    source = mpi().ANY_SOURCE if source is None else source
    return peer_of(b, comm, source, mpi().ANY_TAG if tag is None else tag, is_source=True)


def _exchange(
    b: Builder,
    comm: Any,
    sendbuf: Any,
    dest: Any,
    sendtag: Any = 0,
    recvbuf: Any = None,
    source: Any = None,
    recvtag: Any = None,
    status: Any = None,
) -> None:
    refuse_status(b, status)
    x, y = sent(b, sendbuf), target_of(b, recvbuf)
    _exchanged(b, comm, x, y, peer_of(b, comm, dest, sendtag, is_source=False), _source(b, comm, source, recvtag))


def _replace(
    b: Builder,
    comm: Any,
    buf: Any,
    dest: Any,
    sendtag: Any = 0,
    source: Any = None,
    recvtag: Any = None,
    status: Any = None,
) -> None:
    refuse_status(b, status)
    y = target_of(b, buf)
    _exchanged(b, comm, y, y, peer_of(b, comm, dest, sendtag, is_source=False), _source(b, comm, source, recvtag))


def _exchanged(b: Builder, comm: Any, x: Tensor, y: Tensor, to: Peer, source: Peer) -> None:
    _require_order(b, comm, to, is_send=True)
    _require_order(b, comm, source, is_send=False)
    if (x.dtype.kind in "fc") != (y.dtype.kind in "fc"):
        raise b.unsupported("of what is sent and what is received, one is floating and one is not", "Use two messages.")
    message = Exchange(comm, b.where, (size_of(b, x), size_of(b, y)), to, source)
    _received(b, y, source, message, "exchange", (x,))


# --- requests


def _start_send(b: Builder, comm: Any, buf: Any, dest: Any, tag: Any = 0) -> Request:
    x, to = sent(b, buf), peer_of(b, comm, dest, tag, is_source=False)
    begun = SendStart(comm, b.where, size_of(b, x), x.dtype, to)
    emit(b, "send", begun, [x], [])
    return _started(b, Request(begun, to, b.where, b.blocks[-1]))


def _start_receive(b: Builder, comm: Any, buf: Any, source: Any = None, tag: Any = None) -> Request:
    y, peer = target_of(b, buf), _source(b, comm, source, tag)
    begun = ReceiveStart(comm, b.where, size_of(b, y), y.dtype, peer)
    emit(b, "signal", begun, [], [])
    return _started(b, Request(begun, peer, b.where, b.blocks[-1], y))


def _started(b: Builder, request: Request) -> Request:
    b.requests.append(request)
    return request


def wait(b: Builder, request: Request, status: Any = None) -> bool:
    """``request.Wait()``: what is received arrives here."""
    refuse_status(b, status)
    if not any(one is request for one in b.requests):
        raise b.unsupported("this request has been waited for already", "Wait for each request once.")
    if b.blocks[-1] is not request.block:
        what = "a request is waited for in another loop or branch than the one in which it was started"
        raise b.unsupported(what, "Wait for it where it is started: in the same block of statements.")
    begun = request.begun
    _require_order(b, begun.comm, request.peer, request.is_send, request)
    b.requests[:] = [one for one in b.requests if one is not request]
    if isinstance(begun, SendStart):
        emit(b, "signal", SendEnd(begun, b.where), [], [])
        return True
    assert request.target is not None
    _received(b, request.target, request.peer, ReceiveEnd(begun, b.where), "receive")
    return True


@optional("mpi4py.MPI", "Request.Waitall", "Request.waitall", static=False)
def wait_all(b: Builder, requests: Any, statuses: Any = None) -> bool:
    """Waits for several; in the order of their starts, which makes no difference."""
    refuse_status(b, statuses)
    if not isinstance(requests, (list, tuple)) or not all(isinstance(one, Request) for one in requests):
        raise b.unsupported("Waitall takes a list of requests", "Pass what Isend and Irecv return.")
    order = {id(one): k for k, one in enumerate(b.requests)}
    for one in sorted(requests, key=lambda one: order.get(id(one), -1)):
        wait(b, one)
    return True


METHODS = {
    "Send": _send,
    "Ssend": _send,
    "Recv": _receive,
    "Sendrecv": _exchange,
    "Sendrecv_replace": _replace,
    "Isend": _start_send,
    "Issend": _start_send,
    "Irecv": _start_receive,
}
REQUESTS = {"Wait": wait, "wait": wait}
