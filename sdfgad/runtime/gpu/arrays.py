"""Device arrays: blocks of the device's memory, shared with other libraries without copies, and theirs with us."""

from __future__ import annotations

import ctypes
import importlib
import math
import sys
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.runtime.gpu import dlpack
from sdfgad.runtime.gpu.binding import check, error, functions, library

# The legacy default stream, in both protocols.
LEGACY_STREAM = 1


class DeviceArray:
    """An array (C order) on a device, which owns its memory.

    It is as much as is needed to get it elsewhere: other libraries view it by `__dlpack__` or by
    `__cuda_array_interface__`, without a copy, and `to_numpy` copies it.

    Attributes:
        shape: of the array.
        dtype: of its elements.
        ordinal: of the device.
        pointer: the address on the device.
    """

    __slots__ = ("__weakref__", "_block", "_library", "dtype", "ordinal", "pointer", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int = 0) -> None:
        self._block: int | None = None  # For __del__, if there is no memory.
        self.shape, self.dtype, self.ordinal = tuple(map(int, shape)), np.dtype(dtype), ordinal
        # An own reference: at interpreter shutdown module globals may die before the last arrays.
        self._library = library()
        self._block = self._library.sdfgad_device_take(ordinal, min(self.nbytes, sys.maxsize))
        if self._block is None:
            raise error(self._library.sdfgad_device_last_error(), f"allocating an array of {self.nbytes} bytes")
        self.pointer: int = self._library.sdfgad_device_place(self._block)

    def __del__(self) -> None:
        if self._block is not None:
            self._library.sdfgad_device_release(self._block)

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, ordinal={self.ordinal})"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @staticmethod
    def from_numpy(array: Any, ordinal: int = 0) -> DeviceArray:
        """A copy of an array of the host."""
        source = np.asarray(array, order="C")
        made = DeviceArray(source.shape, source.dtype, ordinal)
        check(library().sdfgad_device_use(ordinal), "choosing a device")
        check(functions().to_device(made.pointer, source.ctypes.data, source.nbytes), "copying an array to it")
        return made

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A copy on the host, as soon as the array's values are there."""
        target = np.empty(self.shape, self.dtype)
        check(library().sdfgad_device_use(self.ordinal), "choosing a device")
        check(functions().to_host(target.ctypes.data, self.pointer, target.nbytes), "copying an array from it")
        return target

    def set(self, values: np.ndarray[Any, Any]) -> None:
        """Copy the elements of an array of the host (C order), of this shape and dtype, to this one."""
        check(library().sdfgad_device_use(self.ordinal), "choosing a device")
        check(functions().to_device(self.pointer, values.ctypes.data, self.nbytes), "copying an array to it")

    def __copy__(self) -> DeviceArray:
        made = type(self)(self.shape, self.dtype, self.ordinal)
        check(library().sdfgad_device_use(self.ordinal), "choosing a device")
        check(functions().copy(made.pointer, self.pointer, self.nbytes), "copying an array")
        return made

    def __deepcopy__(self, _: Any) -> DeviceArray:
        return self.__copy__()

    def __reduce__(self) -> str:
        raise TypeError("an array on a device is sent elsewhere by way of its method to_numpy")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray[Any, Any]:
        raise TypeError("an array on a device becomes one of NumPy by its method to_numpy, not by itself")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer if self.size else 0, False),
            "strides": None,
            "stream": library().sdfgad_device_stream() or LEGACY_STREAM,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.ordinal

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("arrays on a device are passed on as they are; copy the result")
        if stream == 0:
            raise ValueError("stream 0 may be either default stream: pass 1 or 2")
        code, bits = dlpack.type_of(self.dtype)
        if stream != -1:
            self._let_wait(LEGACY_STREAM if stream is None else stream)
        extents = (ctypes.c_int64 * self.ndim)(*self.shape)
        is_versioned = max_version is not None and max_version[0] >= 1
        managed = self._library.sdfgad_device_export(self._block, is_versioned, self.ndim, extents, code, bits)
        return dlpack.capsule(managed, is_versioned)

    def _let_wait(self, stream: int) -> None:
        check(self._library.sdfgad_device_use(self.ordinal), "choosing a device")
        check(self._library.sdfgad_device_let_wait(stream), "passing an array to another stream")
        self._library.sdfgad_device_show(self._block, stream)


# What arrays that are elsewhere, or in several places, or only stand for one while a program is traced, answer with.
_NOT_THERE = (AttributeError, BufferError, NotImplementedError, RuntimeError, TypeError, ValueError)


def is_device_array(value: Any) -> bool:
    """Whether a value is an array in the memory of a CUDA device, of whatever library."""
    if isinstance(value, DeviceArray):
        return True
    kind = type(value)
    if isinstance(value, (np.ndarray, np.generic)) or not _has_protocol(kind):
        return False
    try:
        if hasattr(kind, "__dlpack_device__"):
            return value.__dlpack_device__()[0] in (dlpack.CUDA, dlpack.CUDA_MANAGED)
        return value.__cuda_array_interface__ is not None
    except _NOT_THERE:
        return False


def _has_protocol(kind: type) -> bool:
    return hasattr(kind, "__dlpack_device__") or hasattr(kind, "__cuda_array_interface__")


def address_of(value: Any, own: int | None = None) -> tuple[int, tuple[int, ...], np.dtype[Any], int | None, bool]:
    """Where a device array of any library is: address, shape, dtype, stream, and whether it is contiguous (C order).

    The address is valid as long as `value` lives. The stream `own`, or the calling thread's one, waits for the array's
    values, or else has to wait for the stream returned (None: for none); see `Device.wait_for`.

    Raises:
        ArgumentError: its elements are of no type of NumPy.
    """
    if isinstance(value, DeviceArray):
        return value.pointer, value.shape, value.dtype, None, True
    if hasattr(type(value), "__dlpack__"):
        own = own or library().sdfgad_device_stream() or LEGACY_STREAM
        pointer, shape, dtype, strides = dlpack.read(value.__dlpack__(stream=own))
        return pointer, shape, dtype, None, _is_contiguous(shape, strides, 1)
    interface = value.__cuda_array_interface__
    dtype = np.dtype(interface["typestr"])
    shape = tuple(interface["shape"])
    is_contiguous = _is_contiguous(shape, interface.get("strides"), dtype.itemsize)
    # Before version 3 nothing is said of streams; the default one is meant.
    stream = interface.get("stream", None if interface["version"] >= 3 else LEGACY_STREAM)
    if interface.get("mask") is not None:
        raise ArgumentError("masked arrays on a device are not supported", todo="Fill in the missing values first.")
    return interface["data"][0] or 0, shape, dtype, stream, is_contiguous


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, unit: int) -> bool:
    if strides is None or 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != unit:
            return False
        unit *= extent
    return True


def like(value: Any, array: DeviceArray) -> Any:
    """A device array as one of the library that `value` is of, without a copy; itself, if that library is not known."""
    package = type(value).__module__.partition(".")[0]
    if package in ("cupy", "torch"):
        return importlib.import_module(package).from_dlpack(array)
    if package in ("jax", "jaxlib"):
        return importlib.import_module("jax.dlpack").from_dlpack(array)
    if package == "numba":
        return importlib.import_module("numba.cuda").as_cuda_array(array)
    return array
