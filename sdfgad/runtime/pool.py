"""Result arrays of a pool of big memory blocks, which compiled programs share: `pool.cpp` says what it keeps."""

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

# Smaller ones are left to malloc; `memory.h` has the same number.
SMALLEST = 1 << 18
VARIABLE = "SDFGAD_POOL_BYTES"


class State(NamedTuple):
    """Bytes of the pool.

    Attributes:
        in_use: handed out, in whole pages.
        idle: kept for later.
        mapped: both, and the unused ends of blocks that are larger than was asked for.
        ever_mapped: all that was ever asked of the system.
    """

    in_use: int
    idle: int
    mapped: int
    ever_mapped: int


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """As `np.empty`; the memory of a big array returns to the pool with the last view of it.

    Raises:
        OutOfMemory: there is not enough memory.
    """
    size = math.prod(shape) * dtype.itemsize
    if size < SMALLEST:
        return np.empty(shape, dtype)
    return np.asarray(_Block(shape, dtype, size))


def release_memory() -> None:
    """Give the memory that is kept for later calls back to the system.

    Compiled programs keep big blocks of memory that they no longer use, as fresh memory is slow to touch: never so
    many that the process holds more than it once needed at the same time, never more than a quarter of the machine's
    memory or than the environment variable SDFGAD_POOL_BYTES says (0: none), and none that was not used for ten seconds
    of calls.
    """
    if _library.cache_info().currsize:
        shrink(0)


def shrink(size: int) -> None:
    """Hold no more than so many bytes, idle ones included, until more are in use."""
    _library().sdfgad_pool_shrink(size)


def state() -> State:
    """What the pool holds now."""
    numbers = (ctypes.c_int64 * len(State._fields))()
    _library().sdfgad_pool_state(numbers)
    return State(*numbers)


def attach(program: ctypes.CDLL) -> None:
    """Have a compiled program take its big arrays from the pool."""
    pool = _library()
    program.sdfgad_use_pool(pool.sdfgad_pool_take, pool.sdfgad_pool_give)


class _Block:
    """Memory for one array, which holds on to it."""

    __slots__ = ("__array_interface__", "_give", "_place")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> None:
        self._place: int | None = None  # Should the pool not be there.
        pool = _library()
        self._place = pool.sdfgad_pool_take(min(size, sys.maxsize))
        # Kept here: what a module holds may be gone when the last arrays of a process die.
        self._give = pool.sdfgad_pool_give
        if self._place is None:
            raise OutOfMemory(
                f"an array of {size} bytes could not be allocated",
                todo="Pass memory_limit=... to `differentiate`, or smaller arguments.",
            )
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (self._place, False),
        }

    def __del__(self) -> None:
        if self._place is not None:
            self._give(self._place)


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
