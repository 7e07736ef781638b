"""CUDA devices: their properties, modules of kernels, arrays, streams and times."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from sdfgad.errors import DeviceError
from sdfgad.runtime.gpu.arrays import DeviceArray
from sdfgad.runtime.gpu.binding import (
    DRIVER_VARIABLE,
    check,
    error_text,
    functions,
    library,
)
from sdfgad.runtime.gpu.libraries import LIBRARIES

# Volta: the oldest that CUDA 12 and 13 know between them, and the first whose threads of a warp run independently.
OLDEST = (7, 0)

__all__ = ["Device", "Memory", "Module", "Time", "device", "error_text", "forget", "functions", "is_available"]


class Memory(NamedTuple):
    """A device's memory, in bytes.

    Attributes:
        free: not in use by any process.
        held: of the device by this process's pool, in use or idle.
        in_use: of these.
        most_in_use: ever, of these.
    """

    free: int
    held: int
    in_use: int
    most_in_use: int


class Time:
    """What a block of code took on the device; `seconds` is known after it."""

    seconds: float = float("nan")


class Module:
    """A loaded cubin: kernels, by name."""

    def __init__(self, image: bytes, ordinal: int) -> None:
        self._place: int | None = None
        self._ordinal, self._library = ordinal, library()
        place = ctypes.c_void_p()
        code = self._library.sdfgad_device_load_module(ordinal, image, ctypes.byref(place))
        check(code, "loading kernels")
        self._place = place.value

    def function(self, name: str) -> int:
        """The handle of a kernel, for launching it."""
        found = ctypes.c_void_p()
        code = self._library.sdfgad_device_function(self._ordinal, self._place, name.encode(), ctypes.byref(found))
        check(code, f"looking for its kernel {name}")
        return found.value or 0

    def __del__(self) -> None:
        if self._place is not None:
            self._library.sdfgad_device_unload_module(self._ordinal, self._place)


class Device:
    """A device that is open, by its primary context, which is other libraries', too; see `device`.

    Attributes:
        ordinal: among the visible ones.
        name: of its model.
        capability: compute capability, as (9, 0).
        architecture: what kernels are compiled for, as "sm_90".
        multiprocessors: how many.
        l2_bytes: of the second-level cache.
        total_bytes: of its memory.
        driver_version: as 13000 for CUDA 13.0.
    """

    def __init__(self, ordinal: int) -> None:
        self.ordinal, self._library = ordinal, library()
        name, numbers = ctypes.create_string_buffer(256), (ctypes.c_int64 * 6)()
        code = self._library.sdfgad_device_properties(ordinal, name, len(name), numbers)
        check(code, "looking for its properties")
        major, minor, self.multiprocessors, self.l2_bytes, self.total_bytes, self.driver_version = numbers
        self.name, self.capability = name.value.decode(), (major, minor)
        self.architecture = f"sm_{major}{minor}"
        if self.capability < OLDEST:
            raise DeviceError(
                f"the device {self.name} is too old: its compute capability is {major}.{minor}",
                todo=f"Use a device of compute capability {OLDEST[0]}.{OLDEST[1]} (Volta, 2017) or later.",
            )
        for one in LIBRARIES:
            self._library.sdfgad_device_set_library(one.missing, "\n".join(one.paths(self.driver_version)).encode())
        check(self._library.sdfgad_device_open(ordinal), "opening it")

    def __repr__(self) -> str:
        return f"Device({self.ordinal}, {self.name!r}, {self.architecture})"

    def use(self) -> None:
        """Let the calling thread work on this device, on its default stream, until it chooses another."""
        check(self._library.sdfgad_device_use(self.ordinal), "choosing a device")

    def memory(self) -> Memory:
        """How much of its memory is in use, and by whom."""
        numbers = (ctypes.c_int64 * len(Memory._fields))()
        check(self._library.sdfgad_device_memory(self.ordinal, numbers), "asking for its memory")
        return Memory(*numbers)

    def free_bytes(self) -> int:
        """How many bytes can still be allocated: free ones, and idle ones of the pool."""
        memory = self.memory()
        return memory.free + memory.held - memory.in_use

    def trim(self) -> None:
        """Give idle memory of the pool back."""
        check(self._library.sdfgad_device_trim(self.ordinal), "trimming its memory pool")

    def load(self, cubin: bytes) -> Module:
        """The kernels of a cubin for this architecture."""
        return Module(cubin, self.ordinal)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """An array without values.

        Raises:
            OutOfMemory: there is not enough memory.
        """
        return DeviceArray(shape, np.dtype(dtype), self.ordinal)

    def array(self, values: Any) -> DeviceArray:
        """A copy of an array of the host."""
        return DeviceArray.from_numpy(values, self.ordinal)

    def synchronise(self) -> None:
        """Wait for everything that was enqueued on the device.

        Raises:
            DeviceError: some of it failed.
        """
        check(self.finish(), "running kernels")

    def finish(self) -> int:
        """The same; returns an error code instead."""
        return int(self._library.sdfgad_device_synchronise(self.ordinal))

    @contextmanager
    def stream(self, handle: int | None) -> Iterator[None]:
        """Work on a stream of another library in this block: in order with what comes before and after it.

        The handle is a `CUstream`: None, 0 and 1 mean the legacy default stream.
        """
        self.use()
        former = self._library.sdfgad_device_stream()
        check(self._library.sdfgad_device_set_stream(handle), "changing the stream")
        try:
            yield
        finally:
            check(self._library.sdfgad_device_set_stream(former), "changing the stream")

    def wait_for(self, stream: int | None) -> None:
        """Let the calling thread's stream wait for what is enqueued on another one; None: on none."""
        if stream is not None:
            self.use()
            check(self._library.sdfgad_device_wait_for(stream), "waiting for a stream")

    @contextmanager
    def timed(self) -> Iterator[Time]:
        """Measure, by events, what the device does in this block; waits for it at the end."""
        self.use()
        time, marks = Time(), (ctypes.c_void_p(), ctypes.c_void_p())
        check(self._library.sdfgad_device_mark(ctypes.byref(marks[0])), "recording an event")
        yield time
        check(self._library.sdfgad_device_mark(ctypes.byref(marks[1])), "recording an event")
        milliseconds = ctypes.c_float()
        check(self._library.sdfgad_device_elapsed(*marks, ctypes.byref(milliseconds)), "running kernels")
        time.seconds = milliseconds.value / 1000


def device(ordinal: int | None = None) -> Device:
    """A device, opened when it is asked for first; None: that of the thread's current context, else the first.

    The environment variables SDFGAD_CUDA, SDFGAD_CUBLAS, SDFGAD_CUFFT and SDFGAD_CUSOLVER are the paths of libcuda.so.1
    and of the libraries where these are not where they are looked for.

    Raises:
        DeviceError: there is no driver, or no device, or none that is new enough.
    """
    code = library().sdfgad_device_load(os.environ.get(DRIVER_VARIABLE, "libcuda.so.1").encode())
    check(code, "loading its driver")
    count, current = ctypes.c_int(), ctypes.c_int()
    check(library().sdfgad_device_count(ctypes.byref(count), ctypes.byref(current)), "counting devices")
    wanted = max(current.value, 0) if ordinal is None else ordinal
    if not 0 <= wanted < count.value:
        raise DeviceError(
            f"there is no CUDA device {wanted}: {count.value} are visible",
            todo="Pass a smaller number, or let CUDA_VISIBLE_DEVICES name more devices.",
        )
    return _opened(wanted)


@functools.cache
def _opened(ordinal: int) -> Device:
    return Device(ordinal)


def is_available() -> bool:
    """Whether `device()` returns one."""
    try:
        device()
    except DeviceError:
        return False
    return True


def forget() -> None:
    """Close all devices; there must be no arrays and modules left."""
    library().sdfgad_device_close()
    _opened.cache_clear()
