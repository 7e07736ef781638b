"""Programs on a device: their library is loaded, its kernels are compiled for the device, and arguments go there."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

import numpy as np

from sdfgad.emulated import is_emulated
from sdfgad.errors import Location, SdfgadError
from sdfgad.ir.program import Program, buffers_of, walk
from sdfgad.memory.allocation import DEVICE_UNIT
from sdfgad.memory.allocation import array as size_of
from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from sdfgad.runtime.build import Library
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_program, kernel_places
from sdfgad.runtime.gpu.binding import Functions
from sdfgad.runtime.gpu.cuda import Cuda
from sdfgad.runtime.gpu.emulation import Emulation
from sdfgad.runtime.gpu.one_by_one import Watched, are_replayed, are_watched, without_graphs
from sdfgad.runtime.sizes import Sharing

# For each kernel, by its number, the user's lines.
Places = Sequence[Sequence[Location]]


class Backend(Protocol):
    """What runs kernels: a device, or the emulation.

    Attributes:
        functions: the table that programs call.
        ordinal: of the device.
    """

    functions: Functions
    ordinal: int

    def kernels(self, shared: ctypes.CDLL, program: str) -> Any:
        """The kernels of a library's program, in the order of their numbers, as an array of pointers."""

    def begin(self) -> None:
        """Let the calling thread work on it."""

    def finish(self) -> int:
        """Wait for everything that was enqueued; returns an error code."""

    def wait(self) -> None:
        """Wait for everything that was enqueued."""

    def error(self, status: int, doing: str) -> SdfgadError:
        """The exception for the status of a run."""

    def failure(self, code: int, doing: str) -> SdfgadError:
        """The exception for the code of a function of the table."""


class DeviceExecutable(Executable):
    """A loaded program whose arrays are on a device.

    NumPy's are copied there, and results back; those that are there already are read and written where they are, on the
    stream that the thread works on.
    """

    def __init__(
        self, library: Library, outputs: frozenset[str], touched: frozenset[str], places: Callable[[], Places]
    ) -> None:
        """Loads it.

        Args:
            touched: the buffers that may be read or written.
            places: for each kernel the user's lines.
        """
        super().__init__(library)
        self._outputs, self._touched, self._doing = outputs, touched, f"running {library.name}"
        self._places_of_kernels, self._watched = places, dict[int, Watched]()
        self._on_device = [name for name, kind in library.arguments if kind == "device"]
        self._on_host = [name for name, kind in library.arguments if kind == "array"]
        self._backends: dict[int | None, tuple[Backend, Any]] = {}
        self._device_peak = self._shared.sdfgad_device_peak_bytes
        self._device_peak.restype = ctypes.c_int64
        self._choose(None)

    def _choose(self, ordinal: int | None) -> None:
        """Let the program run on a device; None: that of the thread, or the first."""
        if ordinal not in self._backends:
            made = backend_of(self._shared, ordinal)
            self._backends[ordinal] = made, made.kernels(self._shared, self.library.name)
        self._backend, self._kernels = self._backends[ordinal]
        self._backends.setdefault(self._backend.ordinal, self._backends[ordinal])
        self._table = self._backend.functions if are_replayed() else without_graphs(self._backend.functions)
        if are_watched():
            here = Watched(self._table, self._kernels, self._backend.finish)
            self._table = self._watched.setdefault(self._backend.ordinal, here).table

    def _begin(self) -> None:
        """Let the calling thread work on the device, and the library launch the kernels of this program."""
        self._shared.sdfgad_use_device(ctypes.byref(self._table), self._kernels)
        self._backend.begin()

    def __call__(self, arrays: Mapping[str, Any], integers: Mapping[str, int]) -> None:
        """Run once. Arrays are NumPy's, or have a `pointer` into the device's memory, and its `ordinal`."""
        ordinal = next((a.ordinal for a in arrays.values() if not isinstance(a, np.ndarray)), self._backend.ordinal)
        if ordinal != self._backend.ordinal:
            self._choose(ordinal)
        self._begin()
        with ExitStack() as stack:
            places = {name: self._place(name, arrays[name], stack) for name in self._on_device}
            fetched = {name: self._fetched(name, arrays[name]) for name in self._on_host}
            self._run_on({**arrays, **fetched}, integers, places)
            for name in self._outputs & places.keys():
                if isinstance(arrays[name], np.ndarray):
                    self._fetch(arrays[name], places[name])
            for name in self._outputs & fetched.keys():
                if not isinstance(arrays[name], np.ndarray):
                    self._send(arrays[name].pointer, fetched[name])

    @property
    def peak_bytes(self) -> int:
        """The peak in bytes of the device's memory since `reset_peak`; arguments do not count."""
        return int(self._device_peak())

    def held_bytes(self, arrays: Mapping[str, Any]) -> int:
        """The bytes of the arguments of a call in the device's memory."""
        found = (arrays[name] for name in self._on_device)
        return sum(size_of(array.size, array.dtype.itemsize, DEVICE_UNIT) for array in found)

    def reset_peak(self) -> None:
        self._shared.sdfgad_reset_device_peak()

    def seconds(self, arrays: Mapping[str, Any], integers: Mapping[str, int], runs: int) -> float:
        """The median of several runs, each until the device has finished, without copies of arguments."""
        self._begin()
        taken = []
        with ExitStack() as stack:
            places = {name: self._place(name, arrays[name], stack) for name in self._on_device}
            for _ in range(runs):
                self._backend.wait()
                start = time.perf_counter()
                self._run_on(arrays, integers, places)
                self._backend.wait()
                taken.append(time.perf_counter() - start)
        return sorted(taken)[len(taken) // 2]

    def _place(self, name: str, array: Any, stack: ExitStack) -> int:
        """The address on the device of an argument, which is copied there if it is not there yet."""
        if not isinstance(array, np.ndarray) and array.pointer:
            return int(array.pointer)
        block = self._table.take(max(array.nbytes, 1))
        if not block:
            raise self._error_of(1)
        stack.callback(self._table.give, block)
        if name not in self._outputs:
            self._send(block, array)
        return int(block)

    def _fetched(self, name: str, array: Any) -> np.ndarray[Any, Any]:
        """A host's array for an argument that the program has on the host, such as a number."""
        if isinstance(array, np.ndarray):
            return array
        copy = np.empty(array.shape, array.dtype)
        if name in self._touched and name not in self._outputs:
            self._fetch(copy, array.pointer)
        return copy

    def _send(self, place: int, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes:
            self._checked(self._table.to_device(place, array.ctypes.data, array.nbytes))

    def _fetch(self, array: np.ndarray[Any, Any], place: int) -> None:
        if array.nbytes:
            self._checked(self._table.to_host(array.ctypes.data, place, array.nbytes))

    def _error_of(self, failure: int) -> SdfgadError:
        return self._located(self._backend.error(failure, self._doing))

    def _located(self, error: SdfgadError) -> SdfgadError:
        """The error, with the user's line if the kernel that failed is known."""
        watched = self._watched.get(self._backend.ordinal)
        failed = None if watched is None else watched.failed()
        places = self._places_of_kernels()[failed] if failed is not None else ()
        if not places:
            return error
        first, *others = places
        if others:
            listed = ", ".join(f"{one.line}" for one in others)
            error.todo = f"{error.todo} The kernel has statements of other lines, too: {listed}.".strip()
        error.locate(first)
        return error

    def _checked(self, code: int) -> None:
        if code:
            raise self._located(self._backend.failure(code, self._doing))


class HostExecutable(Executable):
    """A loaded program of numbers alone, which runs on the host; those that are on a device are copied."""

    def __init__(self, library: Library, outputs: frozenset[str], touched: frozenset[str]) -> None:
        """Loads it; `touched`: the buffers that may be read or written."""
        super().__init__(library)
        self._outputs, self._read = outputs, touched - outputs

    def __call__(self, arrays: Mapping[str, Any], integers: Mapping[str, int]) -> None:
        """Run once. Arrays are NumPy's, or have a method `to_numpy`, and as outputs a method `set`."""
        there = {name: array for name, array in arrays.items() if not isinstance(array, np.ndarray)}
        copies = {n: a.to_numpy() if n in self._read else np.empty(a.shape, a.dtype) for n, a in there.items()}
        super().__call__({**arrays, **copies}, integers)
        for name in there.keys() & self._outputs:
            there[name].set(copies[name])


def backend_of(shared: ctypes.CDLL, ordinal: int | None = None) -> Backend:
    """What runs a library's kernels; None: the device of the thread's current context, or the first.

    Raises:
        DeviceError: there is no device, or no driver, or it is too old.
    """
    if is_emulated():
        return Emulation(shared)
    return Cuda(ordinal)


def load_on_device(program: Program, optimised: Callable[[], Program] | None = None) -> Executable:
    """Compile a program for a device, and load it.

    Raises:
        CompilerError: there is no compiler, or it failed.
        DeviceError: there is no device, or no driver, or it is too old.
    """
    library = compile_program(program, optimised=optimised, sharing=Sharing("exact"))
    outputs = frozenset((*program.outputs.values(), *(("status",) if program.checks else ())))
    touched = frozenset(name for statement in walk(remove_dead_code(program).body) for name in buffers_of(statement))
    if not _uses_device(library):
        return HostExecutable(library, outputs, touched)
    return DeviceExecutable(library, outputs, touched, lambda: kernel_places(_optimised(program, optimised)))


def _optimised(program: Program, optimised: Callable[[], Program] | None) -> Program:
    from sdfgad.optimise.passes import optimise  # It imports DaCe and all passes, which is slow.

    return optimised() if optimised is not None else optimise(program)


def _uses_device(library: Library) -> bool:
    """Whether a library has kernels of its program: one of numbers has none."""
    shared, name = ctypes.CDLL(str(library.path)), "sdfgad_kernel_count"
    return hasattr(shared, name) or hasattr(shared, f"{name}_{library.name}")
