"""The emulation as what runs a program: its kernels are functions of its library."""

from __future__ import annotations

import ctypes
from typing import Any

from sdfgad.errors import DeviceError, OutOfMemory, SdfgadError
from sdfgad.runtime.gpu.binding import Functions

# What a library has of its kernels.
COUNT, KERNELS = "sdfgad_kernel_count", "sdfgad_emulated_kernels"


class Emulation:
    """The emulation that a library brings with it."""

    def __init__(self, shared: ctypes.CDLL) -> None:
        self._shared = shared
        shared.sdfgad_emulated_functions.restype = ctypes.c_void_p
        shared.sdfgad_emulated_error.restype = ctypes.c_char_p
        self.functions = Functions.from_address(shared.sdfgad_emulated_functions())

    def kernels(self, shared: ctypes.CDLL) -> Any:
        """The kernels of a library, in the order of their numbers, as an array of pointers."""
        count = ctypes.c_int64.in_dll(shared, COUNT).value
        first = ctypes.addressof(ctypes.c_void_p.in_dll(shared, KERNELS))
        return (ctypes.c_void_p * (count + 1))(*(first + k * ctypes.sizeof(ctypes.c_void_p) for k in range(count)))

    def begin(self) -> None:
        """Does nothing."""

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
