"""The caller of a program that passes arrays on a device: the device, and the stream that the call works on."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from sdfgad.emulated import is_emulated
from sdfgad.runtime.gpu.arrays import DeviceArray, address_of
from sdfgad.runtime.gpu.binding import check, functions, library
from sdfgad.runtime.gpu.driver import device
from sdfgad.runtime.gpu.emulation import EmulatedArray

Address = tuple[int, tuple[int, ...], np.dtype[Any], int | None, bool]


class Passed(Protocol):
    """An array of the caller's on the device; `stream` is what has to be waited for, or None."""

    owner: Any
    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stream: int | None


class Caller:
    """A device, and the stream of whoever calls.

    Attributes:
        first: the first array on the device that is passed; the value is of its library.
        ordinal: the device.
        stream: None is the legacy default stream.
    """

    def __init__(self, first: Any, ordinal: int) -> None:
        self.first, self.ordinal, self.stream = first, ordinal, current_stream(first, ordinal)
        self._device = device(ordinal)

    @contextmanager
    def entered(self, passed: Iterable[Passed]) -> Iterator[None]:
        """Let the thread work on the stream in this block, after what these arrays wait for.

        At the end the host waits, if a library may reuse an array's memory while the stream still reads it.
        """
        arrays = list(passed)
        with self._device.stream(self.stream):
            for stream in {array.stream for array in arrays}:
                self._device.wait_for(stream)
            yield
            if not all(self._is_in_order(array.owner) for array in arrays):
                self.wait()

    def _is_in_order(self, owner: Any) -> bool:
        """Whether memory that an array has now is reused after what is on the stream now."""
        if package_of(owner) in ("cupy", "torch"):
            return current_stream(owner, self.ordinal) == self.stream
        # Numba frees memory by a function that waits for the device.
        return isinstance(owner, DeviceArray) or package_of(owner) == "numba"

    def address_of(self, value: Any) -> Address:
        """What `arrays.address_of` says, for this stream."""
        self._device.use()
        return address_of(value, self.stream)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        """An array of ours, on the stream that the thread works on.

        Raises:
            OutOfMemory: there is not enough memory.
        """
        return DeviceArray(shape, dtype, self.ordinal)

    def array(self, values: Any) -> DeviceArray:
        """A copy of an array of the host."""
        return DeviceArray.from_numpy(values, self.ordinal)

    def to_numpy(self, array: Passed) -> np.ndarray[Any, Any]:
        """A copy on the host of an array of the caller's."""
        target = np.empty(array.shape, array.dtype)
        with self.entered([array]):
            check(functions().to_host(target.ctypes.data, array.pointer, target.nbytes), "copying an array from it")
        return target

    def wait(self) -> None:
        """Wait for what is enqueued on the device."""
        self._device.synchronise()


class EmulatedCaller(Caller):
    """A caller of the emulated device, where all is done when a function returns."""

    def __init__(self, first: Any, ordinal: int) -> None:
        self.first, self.ordinal, self.stream = first, ordinal, None

    @contextmanager
    def entered(self, passed: Iterable[Passed]) -> Iterator[None]:
        yield

    def address_of(self, value: Any) -> Address:
        return address_of(value, self.stream)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        return EmulatedArray(shape, dtype, self.ordinal)

    def array(self, values: Any) -> DeviceArray:
        return EmulatedArray.from_numpy(values, self.ordinal)

    def to_numpy(self, array: Passed) -> np.ndarray[Any, Any]:
        return EmulatedArray.fetched(array.pointer, array.shape, array.dtype)

    def wait(self) -> None:
        pass


def caller_of(value: Any, ordinal: int) -> Caller:
    """The caller that passes this array first, with the stream that its library works on."""
    return EmulatedCaller(value, ordinal) if is_emulated() else Caller(value, ordinal)


def current_stream(value: Any, ordinal: int) -> int | None:
    """The stream that an array's library works on, or on which the array was made; None: the legacy default stream."""
    package, found = package_of(value), None
    if package == "cupy":
        found = sys.modules["cupy"].cuda.get_current_stream(ordinal).ptr
    elif package == "torch":
        found = sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream
    elif isinstance(value, DeviceArray):
        found = library().sdfgad_device_stream()
    elif not hasattr(type(value), "__dlpack__"):
        found = value.__cuda_array_interface__.get("stream")
    # The legacy default stream has several names.
    return None if found in (None, 0, 1) else int(found)


def ordinal_of(value: Any) -> int:
    """The device that an array is on."""
    if hasattr(type(value), "__dlpack_device__"):
        return int(value.__dlpack_device__()[1])
    if is_emulated():
        return 0
    first, ordinal = device(), ctypes.c_int()
    address = value.__cuda_array_interface__["data"][0]
    if not address:
        return first.ordinal
    check(library().sdfgad_device_of(address, ctypes.byref(ordinal)), "asking where an array is")
    return ordinal.value


def package_of(value: Any) -> str:
    """The package of an array's library."""
    return type(value).__module__.partition(".")[0]
