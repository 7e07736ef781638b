"""The emulation as what runs a program, its kernels being functions of its library, and as where arrays are."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np

from sdfgad.cache import key_of
from sdfgad.errors import DeviceError, OutOfMemory, SdfgadError
from sdfgad.runtime.compiler import Level, build_helper
from sdfgad.runtime.gpu.arrays import DeviceArray
from sdfgad.runtime.gpu.binding import INCLUDE, Functions
from sdfgad.runtime.separate import objects
from sdfgad.threads import impatient_threads

# What a library has of its kernels.
COUNT, KERNELS = "sdfgad_kernel_count", "sdfgad_emulated_kernels"


class Emulation:
    """The emulation that a library brings with it."""

    ordinal = 0

    def __init__(self, shared: ctypes.CDLL) -> None:
        self._shared = shared
        shared.sdfgad_emulated_functions.restype = ctypes.c_void_p
        shared.sdfgad_emulated_error.restype = ctypes.c_char_p
        self.functions = Functions.from_address(shared.sdfgad_emulated_functions())

    def kernels(self, shared: ctypes.CDLL, program: str) -> Any:
        """The kernels of a program, in the order of their numbers, as an array of pointers."""
        own = f"_{program}" if hasattr(shared, f"{COUNT}_{program}") else ""  # One of several in its library.
        count = ctypes.c_int64.in_dll(shared, f"{COUNT}{own}").value
        first = ctypes.addressof(ctypes.c_void_p.in_dll(shared, f"{KERNELS}{own}"))
        return (ctypes.c_void_p * (count + 1))(*(first + k * ctypes.sizeof(ctypes.c_void_p) for k in range(count)))

    def begin(self) -> None:
        """Does nothing."""

    def finish(self) -> int:
        """Does nothing: all is done when it is called."""
        return 0

    def wait(self) -> None:
        """Does nothing: all is done when it is called."""

    def reset(self, seed: int = 1, room: int = 0) -> None:
        """Forget errors; another order of threads from now on, and so many bytes of memory (0: no limit)."""
        self._shared.sdfgad_emulated_reset(ctypes.c_uint64(seed), ctypes.c_int64(room))

    def error(self, status: int, doing: str) -> SdfgadError:
        """The exception for the status of a run."""
        return self.failure(1, doing) if status > 1 else OutOfMemory(f"the emulated device is full while {doing}")

    def failure(self, code: int, doing: str) -> SdfgadError:
        """The exception for the code of a function of the table."""
        text = self._shared.sdfgad_emulated_error().decode()
        self.reset()
        return DeviceError(f"the emulation found a fault while {doing}: {text}")


@functools.cache
def emulation() -> Emulation:
    """The emulation without a program: the emulated device is one for all libraries of the process."""
    headers = key_of(path.read_text() for path in sorted(INCLUDE.glob("*.h")))
    linked = objects(("emulated",), [Level.OPTIMISED])[Level.OPTIMISED]
    options = f"-I{INCLUDE}", f'-DSDFGAD_HEADERS="{headers}"', *linked
    path = build_helper(Path(__file__).with_name("emulated.cpp"), *options)
    with impatient_threads():
        return Emulation(ctypes.CDLL(str(path)))


class EmulatedArray(DeviceArray):
    """An array (C order) on the emulated device; other libraries cannot read it."""

    __slots__ = ("_table",)

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int = 0) -> None:
        self._block: int | None = None
        self.shape, self.dtype, self.ordinal = tuple(map(int, shape)), np.dtype(dtype), ordinal
        self._table = emulation().functions
        self._block = self._table.take(max(self.nbytes, 1))
        if self._block is None:
            raise emulation().error(1, f"allocating an array of {self.nbytes} bytes")
        self.pointer = self._block

    def __del__(self) -> None:
        if self._block is not None:
            self._table.give(self._block)

    @staticmethod
    def from_numpy(array: Any, ordinal: int = 0) -> EmulatedArray:
        """A copy of an array of the host."""
        source = np.asarray(array, order="C")
        made = EmulatedArray(source.shape, source.dtype, ordinal)
        made.set(source)
        return made

    def set(self, values: np.ndarray[Any, Any]) -> None:
        """Copy the elements of an array of the host (C order), of this shape and dtype, to this one."""
        _check(self._table.to_device(self.pointer, values.ctypes.data, self.nbytes))

    def __copy__(self) -> EmulatedArray:
        made = EmulatedArray(self.shape, self.dtype, self.ordinal)
        _check(self._table.copy(made.pointer, self.pointer, self.nbytes))
        return made

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A copy on the host."""
        return self.fetched(self.pointer, self.shape, self.dtype)

    @staticmethod
    def fetched(pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """A copy on the host of an array at this address."""
        target = np.empty(shape, dtype)
        _check(emulation().functions.to_host(target.ctypes.data, pointer, target.nbytes))
        return target

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        place = (self.pointer if self.size else 0, False)
        return {"version": 3, "shape": self.shape, "typestr": self.dtype.str, "data": place, "stream": None}

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("arrays of the emulated device are for tests: other libraries cannot read them")


def _check(code: int) -> None:
    if code:
        raise emulation().failure(code, "copying an array")
