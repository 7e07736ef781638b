"""Calls a compiled library with NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from sdfgad.errors import CompilerError, OutOfMemory, TooFewSlots
from sdfgad.runtime.compile import Library
from sdfgad.runtime.contention import Team
from sdfgad.runtime.pool import attach
from sdfgad.threads import impatient_threads

# What a compiled program returns where one of its bounds is too small.
NO_ROOM = 2


class Executable:
    """A loaded library; calling it runs the program on the arrays and integers given by name."""

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
        self._arguments = [(name, kind == "array") for name, kind in library.arguments]
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
        """The most bytes that the library's arrays and workspaces held since `reset_peak`; arguments do not count.

        Every executable of the same library has the same peak, and calls beside each other add up.
        """
        return int(self._peak_bytes())

    def reset_peak(self) -> None:
        """Forget the peak: it is what is held now."""
        self._reset_peak()

    def perturb(self, seed: int) -> None:
        """Of plain code: perturb what optimised code may round otherwise (`include/perturb.h`), or with 0 nothing."""
        self._shared.sdfgad_perturb(ctypes.c_uint64(seed))

    def __call__(self, arrays: Mapping[str, np.ndarray[Any, Any]], integers: Mapping[str, int]) -> None:
        """Run once. Arrays must be C-contiguous, of the program's shapes and dtypes; outputs are written.

        Raises:
            CompilerError: the library does not start.
            TooFewSlots: one of the program's bounds is too small; as for memory.
            OutOfMemory: there is not enough memory; all that the program held is released, the outputs are undefined.
        """
        arguments = [_address(arrays[name]) if is_array else integers[name] for name, is_array in self._arguments]
        handle = self._initialise(*[integers[name] for name in self._symbols])
        if not handle:
            raise CompilerError("the compiled program could not be initialised")
        threads = self._team.halve()
        try:
            failure = self._run(handle, *arguments)
        finally:
            self._team.restore(threads)
            self._exit(handle)
        if failure == NO_ROOM:
            raise TooFewSlots("the compiled program needs more slots than it was passed")
        if failure:
            raise OutOfMemory(
                "the compiled program could not allocate an array",
                todo="Pass memory_limit=... to `differentiate`, or smaller arguments.",
            )


def _address(array: np.ndarray[Any, Any]) -> int:
    """Where the elements of a C-contiguous array are."""
    try:
        # Several times as fast as what NumPy offers, but not for arrays that are empty or read-only.
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]  # The stub says less.
    except (TypeError, ValueError):
        return array.ctypes.data
