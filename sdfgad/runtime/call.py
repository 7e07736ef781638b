"""Foreign function calls: loads a compiled shared library (dlopen) and calls it with NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from sdfgad.errors import CompilerError, OutOfMemory, SdfgadError, TooFewSlots
from sdfgad.messages.host import begin_run
from sdfgad.runtime.build import Library
from sdfgad.runtime.contention import Team
from sdfgad.runtime.pool import attach
from sdfgad.threads import impatient_threads

# The status that a compiled program returns if one of its bounds is too small.
BOUND_TOO_SMALL = 2


class Executable:
    """A loaded shared library; calling it runs the program on arrays and integers that are passed by name."""

    def __init__(self, library: Library) -> None:
        self.library = library
        with impatient_threads():
            shared = ctypes.CDLL(str(library.path))
        attach(shared)
        self._team = Team(shared)
        self._initialise = getattr(shared, f"__dace_init_{library.name}")
        self._initialise.restype = ctypes.c_void_p
        self._exit = getattr(shared, f"__dace_exit_{library.name}")
        self._exit.argtypes = [ctypes.c_void_p]
        self._run = getattr(shared, f"sdfgad_run_{library.name}")
        self._run.restype = ctypes.c_int
        self._arguments = [(name, kind != "integer") for name, kind in library.arguments]
        self._symbols = [name for name, is_array in self._arguments if not is_array]
        self._initialise.argtypes = [ctypes.c_int64] * len(self._symbols)
        kinds = [ctypes.c_void_p if is_array else ctypes.c_int64 for _, is_array in self._arguments]
        self._run.argtypes = [ctypes.c_void_p, *kinds]
        self._peak_bytes = shared.sdfgad_peak_bytes
        self._peak_bytes.restype = ctypes.c_int64
        self._reset_peak = shared.sdfgad_reset_peak
        self._reset_peak.restype = None
        self._shared = shared

    @property
    def peak_bytes(self) -> int:
        """The peak in bytes of the library's arrays and workspaces since `reset_peak`; arguments do not count.

        All executables of the same library share this counter, and concurrent calls add up.
        """
        return int(self._peak_bytes())

    def held_bytes(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> int:
        """The bytes of the arguments of a call."""
        return sum(array.nbytes for array in arrays.values())

    def reset_peak(self) -> None:
        """Set the peak to the bytes that are allocated now."""
        self._reset_peak()

    def perturb(self, seed: int) -> None:
        """Of plain code: perturb at random what optimised code may round differently (`perturb.h`); 0: nothing."""
        self._shared.sdfgad_perturb(ctypes.c_uint64(seed))

    def __call__(self, arrays: Mapping[str, np.ndarray[Any, Any]], integers: Mapping[str, int]) -> None:
        """Run once. Arrays must be C-contiguous, of the program's shapes and dtypes; outputs are written.

        Raises:
            CompilerError: the library cannot be initialised.
            TooFewSlots: one of the program's bounds is too small; memory and outputs are as for OutOfMemory.
            OutOfMemory: an allocation failed; all memory of the program is released, the outputs are undefined.
        """
        self._run_on(arrays, integers, {})

    def _run_on(
        self, arrays: Mapping[str, np.ndarray[Any, Any]], integers: Mapping[str, int], places: Mapping[str, int]
    ) -> None:
        """Run once, with these addresses for what is not an array of NumPy."""
        begin_run()
        arguments = [
            places[name] if name in places else _address(arrays[name]) if is_array else integers[name]
            for name, is_array in self._arguments
        ]
        handle = self._initialise(*[integers[name] for name in self._symbols])
        if not handle:
            raise CompilerError("the compiled program could not be initialised")
        threads = self._team.halve()
        try:
            failure = self._run(handle, *arguments)
        finally:
            self._team.restore(threads)
            self._exit(handle)
        if failure == BOUND_TOO_SMALL:
            raise TooFewSlots("the compiled program needs more slots than it was passed")
        if failure:
            raise self._error_of(failure)

    def _error_of(self, failure: int) -> SdfgadError:
        """What a run's status means."""
        return OutOfMemory(
            "the compiled program could not allocate an array",
            todo="Pass memory_limit=... to `differentiate`, or smaller arguments.",
        )


def _address(array: np.ndarray[Any, Any]) -> int:
    """The address of a C-contiguous array's elements."""
    try:
        # Several times as fast as `array.ctypes.data`, but not possible for empty or read-only arrays.
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]  # The stub says less.
    except (TypeError, ValueError):
        return array.ctypes.data
