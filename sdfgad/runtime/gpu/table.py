"""The table of functions by which a program reaches a device, as `device.h` declares it."""

from __future__ import annotations

import ctypes

ADDRESS, SIZE = ctypes.c_void_p, ctypes.c_int64
COPY = ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, ADDRESS, SIZE)


class Functions(ctypes.Structure):
    """Memory, launches, copies, products."""

    _fields_ = (
        ("take", ctypes.CFUNCTYPE(ADDRESS, SIZE)),
        ("give", ctypes.CFUNCTYPE(None, ADDRESS)),
        ("launch", ctypes.CFUNCTYPE(ctypes.c_int, ADDRESS, SIZE, SIZE, ADDRESS)),
        ("to_device", COPY),
        ("to_host", COPY),
        ("copy", COPY),
        ("gemm", ADDRESS),
    )
