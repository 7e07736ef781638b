"""CUDA as what runs a program: kernels compiled once for the device's architecture, cubins in the cache."""

from __future__ import annotations

import ctypes
from typing import Any

from sdfgad.cache import build_lock, key_of, read, write
from sdfgad.errors import SdfgadError
from sdfgad.progress import stage
from sdfgad.runtime.gpu import nvrtc
from sdfgad.runtime.gpu.binding import FIRST_FAILURE, Functions, functions, program_error
from sdfgad.runtime.gpu.driver import Module, device


class Cuda:
    """A device, and the modules of kernels that are loaded on it.

    Raises:
        DeviceError: there is no driver, no device, or none that is new enough.
    """

    def __init__(self, ordinal: int | None = None) -> None:
        self.device = device(ordinal)
        self.ordinal = self.device.ordinal
        self.functions: Functions = functions()
        self._modules: list[Module] = []

    def kernels(self, shared: ctypes.CDLL, program: str) -> Any:
        """The kernels of a library's program, in the order of their numbers, as an array of pointers.

        Raises:
            DeviceError: there is no NVRTC.
        """
        count = ctypes.c_int64.in_dll(shared, "sdfgad_kernel_count").value
        if not count:
            return (ctypes.c_void_p * 1)()
        text = ctypes.c_char_p.in_dll(shared, "sdfgad_kernel_text").value
        assert text is not None
        module = self.device.load(cubin_of(text.decode(), self.device.architecture))
        self._modules.append(module)
        return (ctypes.c_void_p * (count + 1))(*(module.function(f"k{number}") for number in range(count)))

    def begin(self) -> None:
        """Let the calling thread work on the device."""
        self.device.use()

    def finish(self) -> int:
        """Wait for everything that was enqueued on the device; returns an error code."""
        return self.device.finish()

    def wait(self) -> None:
        """Wait for everything that was enqueued on the device.

        Raises:
            DeviceError: some of it failed.
        """
        self.device.synchronise()

    def error(self, status: int, doing: str) -> SdfgadError:
        """The exception for the status of a run."""
        return program_error(status, doing)

    def failure(self, code: int, doing: str) -> SdfgadError:
        """The exception for the code of a function of the table."""
        return program_error(FIRST_FAILURE + code, doing)


def cubin_of(text: str, architecture: str) -> bytes:
    """The cubin of a text of kernels, from the cache or from NVRTC.

    Raises:
        DeviceError: there is no NVRTC.
        CompilerError: NVRTC does not know the architecture.
    """
    name = f"cubins/{key_of([text, architecture, nvrtc.toolchain()])}"
    with build_lock(name):
        found = read(name)
        if found is None:
            with stage("compiling kernels"):
                found, _ = nvrtc.compile_cubin(text, architecture)
            write(name, found)
    return found
