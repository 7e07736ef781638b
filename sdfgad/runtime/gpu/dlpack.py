"""DLPack's structures and capsules, through ctypes: what other libraries' arrays are, and ours for them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError

CUDA, CUDA_MANAGED = 2, 13
_UNVERSIONED, _VERSIONED = b"dltensor", b"dltensor_versioned"
# DLDataTypeCode, by NumPy's kinds.
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Unversioned(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def _drop(capsule: int) -> None:
    """Delete what a capsule holds that nobody took: whoever does renames it."""
    for name, kind in ((_UNVERSIONED, _Unversioned), (_VERSIONED, _Versioned)):
        if _is_valid(capsule, name):
            place = _raw_pointer(capsule, name)
            _DELETER(kind.from_address(place).deleter)(place)


# An address and not an object: the capsule is being deleted, and must not be referred to.
_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_drop)


def type_of(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The code and the bits of a dtype.

    Raises:
        ArgumentError: DLPack has none.
    """
    if dtype.kind not in _CODES or not dtype.isnative:
        raise ArgumentError(f"arrays of {dtype} cannot be passed on", todo="Convert it with .astype(float).")
    return _CODES[dtype.kind], 8 * dtype.itemsize


def capsule(managed: int, is_versioned: bool) -> Any:
    """A capsule of one of our managed tensors, which it deletes unless somebody takes it."""
    return _new(managed, _VERSIONED if is_versioned else _UNVERSIONED, ctypes.cast(_destructor, ctypes.c_void_p))


def read(capsule: Any) -> tuple[int, tuple[int, ...], np.dtype[Any], tuple[int, ...] | None]:
    """The address, the shape, the dtype and the strides in elements (None: contiguous) of another library's array.

    The capsule is not taken: when it dies, so does this view of the array.
    """
    tensor = _tensor(id(capsule))
    shape = tuple(tensor.shape[axis] for axis in range(tensor.dimensions))
    strides = tuple(tensor.strides[axis] for axis in range(tensor.dimensions)) if tensor.strides else None
    return (tensor.data or 0) + tensor.offset, shape, _dtype(tensor), strides


def _tensor(capsule: int) -> _Tensor:
    for name, kind in ((_VERSIONED, _Versioned), (_UNVERSIONED, _Unversioned)):
        if _is_valid(capsule, name):
            return kind.from_address(_raw_pointer(capsule, name)).tensor
    raise ArgumentError("an array's __dlpack__ returned no DLPack capsule", todo="Report this to the array's library.")


def _dtype(tensor: _Tensor) -> np.dtype[Any]:
    kinds = {code: kind for kind, code in _CODES.items()}
    kind = kinds.get(tensor.code)
    sizes = {"b": (8,), "f": (16, 32, 64), "c": (64, 128)}.get(kind or "", (8, 16, 32, 64))
    if kind is None or tensor.bits not in sizes or tensor.lanes != 1:
        raise ArgumentError(
            f"device arrays of this type (DLPack code {tensor.code}, {tensor.bits} bits) are not supported",
            todo="Convert it to float32 or float64.",
        )
    return np.dtype(f"{kind}{tensor.bits // 8}")
