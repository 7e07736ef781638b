"""Synchronous launches (SDFGAD_SYNC=1): each kernel is waited for, so that an error is known to be its own.

CUDA graphs, which are launched as one, can be switched off by themselves, too (SDFGAD_GRAPHS=0).

Else the host learns of an error some launches later. In the emulation a launch ends when all of it is done.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sdfgad.emulated import is_emulated
from sdfgad.runtime.gpu.binding import Functions

VARIABLE, GRAPHS = "SDFGAD_SYNC", "SDFGAD_GRAPHS"


def are_watched() -> bool:
    """Whether launches are waited for."""
    return is_emulated() or os.environ.get(VARIABLE) == "1"


def without_graphs(functions: Functions) -> Functions:
    """A table of functions by which programs launch each kernel in each call."""
    table = Functions.from_buffer_copy(functions)
    table.replay = type(functions.replay)()
    return table


def are_replayed() -> bool:
    """Whether loops of launches become graphs, which a fault of a kernel is not found in."""
    return os.environ.get(GRAPHS) != "0" and (is_emulated() or os.environ.get(VARIABLE) != "1")


class Watched:
    """Launches that are waited for.

    Attributes:
        table: the functions that programs call.
    """

    def __init__(self, functions: Functions, kernels: Any, finish: Callable[[], int]) -> None:
        """Watches `kernels`, in the order of their numbers; `finish` waits for the device and returns an error code."""
        self._launch, self._finish = functions.launch, finish
        self._numbers = {kernel: number for number, kernel in enumerate(kernels) if kernel}
        self._failed: int | None = None
        self.table = Functions.from_buffer_copy(functions)
        # The table does not keep it alive.
        self._callback = type(functions.launch)(self._launched)
        self.table.launch = self._callback

    def _launched(self, kernel: int, blocks: int, threads: int, arguments: Any) -> int:
        code = int(self._launch(kernel, blocks, threads, arguments)) or self._finish()
        if code:
            self._failed = self._numbers.get(kernel)
        return code

    def failed(self) -> int | None:
        """The number of the kernel that failed, which is forgotten; None if it was none."""
        found, self._failed = self._failed, None
        return found
