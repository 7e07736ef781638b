"""Foreign-function interface back to Python: functions that compiled code calls, by their addresses."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Kind = tuple[tuple[int, ...], np.dtype[Any]]
SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
# What the last function that failed has raised, by thread.
_raised: dict[int, BaseException] = {}
# Stands for the threads that Python has not started, those of compiled loops.
FOREIGN = 0


class Callback:
    """A Python function over arrays at the addresses that compiled code passes: its inputs, then its outputs.

    Attributes:
        address: of the function that compiled code calls; it returns 1 where the Python function raises.
    """

    def __init__(
        self, function: Callable[[Sequence[Array]], Sequence[Any]], inputs: Sequence[Kind], outputs: Sequence[Kind]
    ) -> None:
        self.function, self.inputs, self.outputs = function, tuple(inputs), tuple(outputs)
        # The function lives as long as this object refers to it.
        self._native = SIGNATURE(self._run)
        self.address = np.array(ctypes.cast(self._native, ctypes.c_void_p).value or 0, dtype=np.int64)

    def _run(self, addresses: Any) -> int:
        try:
            arrays = [_at(addresses[k], kind) for k, kind in enumerate((*self.inputs, *self.outputs))]
            count = len(self.inputs)
            # Copies: the function may keep what it is passed, whose memory is used for other values later.
            found = self.function([array.copy() for array in arrays[:count]])
            for target, value in zip(arrays[count:], found, strict=True):
                target[...] = _fitting(value, target)
        except BaseException as error:  # Nothing may be raised through compiled code.
            _raised[_thread()] = error
            return 1
        return 0


def _at(address: int | None, kind: Kind) -> Array:
    shape, dtype = kind
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if not size:
        return np.zeros(shape, dtype)
    memory = (ctypes.c_uint8 * size).from_address(address or 0)
    return np.ctypeslib.as_array(memory).view(dtype).reshape(shape)


def _fitting(value: Any, target: Array) -> Array:
    found = np.asarray(value)
    if found.shape != target.shape or not np.can_cast(found.dtype, target.dtype, "same_kind"):
        what = f"the function returns {found.dtype} of shape {found.shape}"
        raise ValueError(f"{what}, and was declared to return {target.dtype} of shape {target.shape}")
    return found


def raised() -> BaseException | None:
    """What the last function that failed has raised; it is forgotten then."""
    foreign, own = _raised.pop(FOREIGN, None), _raised.pop(_thread(), None)
    return own or foreign


def _thread() -> int:
    """The present thread's number; Python gives the threads that it has not started names that begin with Dummy."""
    return FOREIGN if threading.current_thread().name.startswith("Dummy-") else threading.get_ident()
