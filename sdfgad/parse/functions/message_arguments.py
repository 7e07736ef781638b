"""Arguments of mpi4py's methods: buffers, ranks, tags."""

from __future__ import annotations

import math
from typing import Any

from sdfgad.messages.point_to_point import Peer
from sdfgad.parse.builder import Builder
from sdfgad.parse.communicators import mpi
from sdfgad.parse.functions.creation import zeros_like
from sdfgad.parse.functions.shape import reshape
from sdfgad.parse.layout import is_contiguous, is_row_major
from sdfgad.parse.returned import is_numeric
from sdfgad.parse.updating import updatable
from sdfgad.parse.values import Tensor, as_tensor

BUFFER = "Pass a NumPy array of numbers, or [array, MPI.DOUBLE] with the type that the array has."


def _array(b: Builder, value: Any) -> Any:
    """The array of a buffer, which may be given with its type: ``[x, MPI.DOUBLE]``."""
    if not isinstance(value, (list, tuple)):
        return value
    array, kind = value if len(value) == 2 else (None, None)
    if not is_numeric(array) or not isinstance(kind, mpi().Datatype):
        raise b.unsupported("this buffer of a message is not supported", BUFFER)
    if not kind.is_predefined or kind.tocode() != as_tensor(array).dtype.char:
        raise b.unsupported("a message has a derived type, or another one than its array", BUFFER)
    return array


def sent(b: Builder, value: Any) -> Tensor:
    value = _array(b, value)
    if not is_numeric(value):
        raise b.unsupported("a message is no array or number", BUFFER)
    return _row_major(b, as_tensor(value))


def target_of(b: Builder, value: Any) -> Tensor:
    value = updatable(b, _array(b, value), "what receives a message is no array", "Pass an array, such as np.empty(n).")
    return _row_major(b, value)


def _row_major(b: Builder, x: Tensor) -> Tensor:
    """An array that is in memory, element by element, as it is in the program."""
    if x.place is None:
        is_fine = is_row_major(b, [x])
    else:
        is_fine = bool(is_contiguous(b, x))
        b.sent.add(str(x.buffer))
    if not is_fine:
        what = "a message is a part of an array that is not contiguous in memory, row by row"
        raise b.unsupported(what, "Send a copy, np.ascontiguousarray(x[:, 0]), and receive into an array of its own.")
    return x


def size_of(b: Builder, x: Tensor) -> int:
    return math.prod(b.constant(extent) for extent in x.shape)


def require_alike(b: Builder, x: Tensor, y: Tensor, factor: int = 1) -> None:
    if x.dtype != y.dtype or size_of(b, x) * factor != size_of(b, y):
        what = f"a message of {size_of(b, x)} {x.dtype} goes into a buffer of {size_of(b, y)} {y.dtype}"
        raise b.unsupported(what, f"Make it {size_of(b, x) * factor} {x.dtype}.")


def peer_of(b: Builder, comm: Any, rank: Any, tag: Any, is_source: bool) -> Peer:
    rank, tag, constants = b.constant(rank), b.constant(tag), mpi()
    is_any_tag = is_source and tag == constants.ANY_TAG
    if is_source and rank == constants.ANY_SOURCE:
        what = "a receive from any rank is not supported: its transpose has to know the rank"
        raise b.unsupported(what, "Name the rank: comm.Recv(x, source=left).")
    if rank != constants.PROC_NULL and not 0 <= rank < comm.Get_size():
        raise b.unsupported(f"there is no rank {rank} among {comm.Get_size()}", "mpi4py raises here, too.")
    if tag < 0 and not is_any_tag:
        raise b.unsupported(f"the tag {tag} is no integer from 0 on", "mpi4py raises here, too.")
    return Peer(rank, rank == constants.PROC_NULL, tag, is_any_tag)


def root_of(b: Builder, comm: Any, root: Any) -> int:
    root = b.constant(root)
    if not 0 <= root < comm.Get_size():
        raise b.unsupported(f"there is no rank {root} among {comm.Get_size()}", "mpi4py raises here, too.")
    return root


def refuse_status(b: Builder, status: Any) -> None:
    if status is not None:
        raise b.unsupported("the status of a message is not supported", "Leave out `status`.")


def is_unset(b: Builder, y: Tensor) -> bool:
    """Whether nothing has been written to an array since np.empty made it."""
    return y.buffer in b.unset and not b.versions[str(y.buffer)]


def held(b: Builder, y: Tensor) -> Tensor:
    """What a buffer holds before a message comes; of one that is not set, zeros."""
    return zeros_like(b, y) if is_unset(b, y) else y


def reshaped(b: Builder, x: Tensor, like: Tensor) -> Tensor:
    """The elements of `x`, in another shape of the same size."""
    return x if x.shape == like.shape else reshape(b, x, [b.constant(extent) for extent in like.shape])
