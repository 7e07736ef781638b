"""Calls a compiled library with NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from sdfgad.errors import CompilerError
from sdfgad.runtime.compile import Library


class Executable:
    """A loaded library; calling it runs the program on the arrays and integers given by name."""

    def __init__(self, library: Library) -> None:
        self.library = library
        shared = ctypes.CDLL(str(library.path))
        self._initialise = getattr(shared, f"__dace_init_{library.name}")
        self._initialise.restype = ctypes.c_void_p
        self._exit = getattr(shared, f"__dace_exit_{library.name}")
        self._exit.argtypes = [ctypes.c_void_p]
        self._run = getattr(shared, f"__program_{library.name}")
        self._run.restype = None
        kinds = [ctypes.c_int64 if kind == "integer" else ctypes.c_void_p for _, kind in library.arguments]
        self._run.argtypes = [ctypes.c_void_p, *kinds]

    def __call__(self, arrays: Mapping[str, np.ndarray[Any, Any]], integers: Mapping[str, int]) -> None:
        """Run once. Arrays must be C-contiguous, of the program's shapes and dtypes; outputs are written."""
        arguments = [
            integers[name] if kind == "integer" else arrays[name].ctypes.data for name, kind in self.library.arguments
        ]
        symbols = [integers[name] for name, kind in self.library.arguments if kind == "integer"]
        handle = self._initialise(*map(ctypes.c_int64, symbols))
        if not handle:
            raise CompilerError("the compiled program could not be initialised")
        try:
            self._run(handle, *arguments)
        finally:
            self._exit(handle)
