"""Foreign-function interface to MPI: compiled code passes arrays to a Python function, which communicates by mpi4py."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sdfgad.errors import Location, ProgramRaises
from sdfgad.messages.recording import present

Array = np.ndarray[Any, Any]
# By the code that messages.h gives each type.
DTYPES = tuple(map(np.dtype, ("f4", "f8", "c8", "c16", "i4", "i8", "i1", "u1", "i2", "u2", "u4", "u8", "?")))
_Pointers, _Integers = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64)
_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, _Pointers, _Integers)
_failed: dict[int, tuple[BaseException, Location | None]] = {}


class Message:
    """A statement of a program that communicates: a linear map, whose transpose communicates the other way.

    Attributes:
        comm: the communicator, of mpi4py.
        where: the user's line.
        sizes, back_sizes: the numbers of elements of the arrays that it is passed, inputs first, and that its transpose
            is passed.
    """

    def __init__(self, comm: Any, where: Location | None, sizes: Sequence[int], back_sizes: Sequence[int]) -> None:
        self.comm, self.where = comm, where
        self.sizes, self.back_sizes = tuple(sizes), tuple(back_sizes)

    @property
    def has_transpose(self) -> bool:
        """Whether the reverse sweep communicates, too, if the values that are passed are floating."""
        return True

    def run(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        """Communicates; fills the results."""
        raise NotImplementedError

    def back(self, inputs: Sequence[Array], results: Sequence[Array]) -> None:
        """The transpose: of cotangents of the results it makes those of the inputs."""
        raise NotImplementedError


def wide(array: Array) -> Array:
    """Cotangents in double precision: those of different ranks may be in different ones."""
    return array.astype(np.result_type(array.dtype, np.float64), copy=False)


_messages: list[Message] = []


def place_of(message: Message) -> Array:
    """What compiled code is passed of a message: the address of the function to call, and the message's number."""
    _messages.append(message)
    return np.array([ctypes.cast(_native, ctypes.c_void_p).value or 0, len(_messages) - 1], dtype=np.int64)


def _communicate(number: int, is_back: int, count: int, addresses: Any, codes: Any) -> None:
    thread, message = threading.get_ident(), _messages[number]
    if thread in _failed:
        return  # The run is over: what it goes on to compute is thrown away.
    try:
        sizes = message.back_sizes if is_back else message.sizes
        arrays = [_at(addresses[k], size, DTYPES[codes[k]]) for k, size in enumerate(sizes)]
        _carried_out(message, bool(is_back), arrays[:count], arrays[count:])
    except BaseException as error:  # Nothing may be raised through compiled code.
        _failed[thread] = error, message.where


def _carried_out(message: Message, is_back: bool, inputs: list[Array], results: list[Array]) -> None:
    action: Callable[[Sequence[Array], Sequence[Array]], None] = message.back if is_back else message.run
    record = present()
    if record is None:
        action(inputs, results)
    else:
        record.carry_out((id(message), is_back), inputs, results, lambda: action(inputs, results))


def _at(address: int | None, size: int, dtype: np.dtype[Any]) -> Array:
    if not size:
        return np.zeros(0, dtype)
    memory = (ctypes.c_uint8 * (size * dtype.itemsize)).from_address(address or 0)
    return np.ctypeslib.as_array(memory).view(dtype)


def begin_run() -> None:
    """A run of a compiled program begins in this thread."""
    _failed.pop(threading.get_ident(), None)
    record = present()
    if record is not None:
        record.rewind()


def has_failed() -> bool:
    """Whether communication has raised in the last run of a program in this thread."""
    return threading.get_ident() in _failed


def raise_failure() -> None:
    """Raises what communication has raised in the last run of a program in this thread.

    Raises: ProgramRaises.
    """
    found = _failed.pop(threading.get_ident(), None)
    if found is not None:
        error, where = found
        if not isinstance(error, Exception):
            raise error  # Such as KeyboardInterrupt.
        what = f"communication failed: {type(error).__name__}: {error}"
        raise ProgramRaises(what, where, "mpi4py raises here, too; other ranks may wait for ever.") from error


# It lives as long as the process: compiled code has its address.
_native = _SIGNATURE(_communicate)
