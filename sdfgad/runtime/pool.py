"""Memory pool (free list of blocks) for result arrays and the arrays of compiled programs; see `pool.cpp`."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sdfgad.errors import ArgumentError, OutOfMemory
from sdfgad.runtime.compiler import build_helper
from sdfgad.threads import impatient_threads

# In bytes: page faults of a smaller array, if malloc causes any, take no longer than a call of the pool from Python.
SMALLEST = 1 << 16
VARIABLE = "SDFGAD_POOL_BYTES"
# Whether the pool holds no more than was in use at once.
_is_strict = False


class State(NamedTuple):
    """Statistics of the pool, in bytes.

    Attributes:
        in_use: in allocated blocks, rounded up to cache lines, or from 256 KiB on to pages.
        idle: in free blocks that are cached for reuse.
        mapped: both.
        ever_mapped: the total ever mapped from the system.
    """

    in_use: int
    idle: int
    mapped: int
    ever_mapped: int


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """As `np.empty`; the memory of a large array returns to the pool when its last view dies.

    Raises:
        OutOfMemory: there is not enough memory.
    """
    size = math.prod(shape) * dtype.itemsize
    if size < SMALLEST:
        return np.empty(shape, dtype)
    return np.asarray(_Block(shape, dtype, size))


def release_memory() -> None:
    """Return all free blocks of the memory pool to the operating system.

    Blocks that compiled programs release are cached for later calls, as the first access to fresh memory is slow
    (page faults). The pool is bounded: it holds at most twice what was in use at once, and no more than a sixteenth of
    the machine's memory beyond that; free blocks are at most a quarter of the machine's memory, or the environment
    variable SDFGAD_POOL_BYTES (0: none); blocks that were not used for ten seconds of calls are unmapped. A call with a
    `memory_limit` counts all of it.
    """
    if _library.cache_info().currsize:
        shrink(0)


def shrink(size: int) -> None:
    """Unmap free blocks until the pool holds at most `size` bytes; until `relax` it grows only when more are in use."""
    global _is_strict
    _is_strict = True
    _library().sdfgad_pool_shrink(size)


def relax() -> None:
    """Let the pool hold more than was in use at once: for calls without a limit."""
    global _is_strict
    if _is_strict:
        _is_strict = False
        _library().sdfgad_pool_relax()


def state() -> State:
    """The current statistics of the pool."""
    numbers = (ctypes.c_int64 * len(State._fields))()
    _library().sdfgad_pool_state(numbers)
    return State(*numbers)


def attach(program: ctypes.CDLL) -> None:
    """Let a compiled program allocate its arrays from the pool."""
    pool = _library()
    program.sdfgad_use_pool(pool.sdfgad_pool_take, pool.sdfgad_pool_give)


class _Block:
    """The owner (array interface) of one array's memory block, which it returns to the pool."""

    __slots__ = ("__array_interface__", "_address", "_release")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> None:
        self._address: int | None = None  # For __del__, if the pool cannot be loaded.
        pool = _library()
        self._address = pool.sdfgad_pool_take(min(size, sys.maxsize))
        # An own reference: at interpreter shutdown module globals may die before the last arrays.
        self._release = pool.sdfgad_pool_give
        if self._address is None:
            raise OutOfMemory(
                f"an array of {size} bytes could not be allocated",
                todo="Pass memory_limit=... to `differentiate`, or smaller arguments.",
            )
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (self._address, False),
        }

    def __del__(self) -> None:
        if self._address is not None:
            self._release(self._address)


@functools.cache
def _library() -> ctypes.CDLL:
    with impatient_threads():
        library = ctypes.CDLL(str(build_helper(Path(__file__).with_name("pool.cpp"))))
    library.sdfgad_pool_take.argtypes = [ctypes.c_int64]
    library.sdfgad_pool_take.restype = ctypes.c_void_p
    library.sdfgad_pool_give.argtypes = [ctypes.c_void_p]
    library.sdfgad_pool_give.restype = None
    for function in (library.sdfgad_pool_shrink, library.sdfgad_pool_keep):
        function.argtypes = [ctypes.c_int64]
        function.restype = None
    wanted = os.environ.get(VARIABLE)
    if wanted is not None:
        library.sdfgad_pool_keep(_bytes(wanted))
    return library


def _bytes(text: str) -> int:
    if not text.strip().isdecimal():
        raise ArgumentError(f"{VARIABLE}={text!r} is no number of bytes", todo="Set it to a number, or unset it.")
    return int(text)
