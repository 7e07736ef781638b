"""Foreign functions of `driver.cpp`, and the typed errors that their codes stand for."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

from sdfgad.cache import key_of
from sdfgad.errors import DeviceError, OutOfMemory, SdfgadError
from sdfgad.runtime.compiler import build_helper
from sdfgad.runtime.gpu.libraries import LIBRARIES
from sdfgad.threads import impatient_threads

# The path of the driver, where it is not where it is looked for.
DRIVER_VARIABLE = "SDFGAD_CUDA"
INCLUDE = Path(__file__).parent.parent.parent / "targets" / "gpu" / "include"
# As in device.h: to what `guarded` returns for an error code.
FIRST_FAILURE = 1 << 20
_HERE = Path(__file__).parent

# Of the driver's codes, those that say something about the machine or the call; of our own see driver_api.h.
_OUT_OF_MEMORY, _NOT_INITIALISED, _NO_DEVICE = 2, 3, 100
_NO_DRIVER, _NO_SYMBOL, _NO_POOLS, _NOT_OPEN = range(10000, 10004)
_TODO = {
    _NOT_INITIALISED: "CUDA does not work in a forked process: start it with multiprocessing's 'spawn'.",
    _NO_DEVICE: "Is there an NVIDIA GPU in this machine, and does CUDA_VISIBLE_DEVICES leave it visible?",
    _NO_DRIVER: f"Install NVIDIA's driver, or set {DRIVER_VARIABLE} to the path of its library libcuda.so.1.",
    _NO_SYMBOL: "Install a newer driver: 525 (CUDA 12.0) or later.",
    _NO_POOLS: "Use a device, or a virtual machine, whose driver supports memory pools.",
    _NOT_OPEN: "Call sdfgad.runtime.gpu.driver.device(ordinal) first.",
}
_UNKNOWN_TODO = (
    "After a fault of a kernel every call fails: start a new process, with SDFGAD_SYNC=1 to learn the line, and report "
    "the program that did it."
)


# By name, without the prefix: the types of the result and of the arguments.
_CODE, _PLACE = ctypes.c_int, ctypes.c_void_p
_INTEGERS, _PLACES, _ORDINALS = (ctypes.POINTER(kind) for kind in (ctypes.c_int64, _PLACE, ctypes.c_int))
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "load": (_CODE, [ctypes.c_char_p]),
    "count": (_CODE, [_ORDINALS, _ORDINALS]),
    "properties": (_CODE, [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, _INTEGERS]),
    "open": (_CODE, [ctypes.c_int]),
    "close": (None, []),
    "use": (_CODE, [ctypes.c_int]),
    "set_stream": (_CODE, [_PLACE]),
    "stream": (_PLACE, []),
    "wait_for": (_CODE, [_PLACE]),
    "let_wait": (_CODE, [_PLACE]),
    "synchronise": (_CODE, [ctypes.c_int]),
    "trim": (_CODE, [ctypes.c_int]),
    "memory": (_CODE, [ctypes.c_int, _INTEGERS]),
    "load_module": (_CODE, [ctypes.c_int, ctypes.c_char_p, _PLACES]),
    "function": (_CODE, [ctypes.c_int, _PLACE, ctypes.c_char_p, _PLACES]),
    "unload_module": (_CODE, [ctypes.c_int, _PLACE]),
    "mark": (_CODE, [_PLACES]),
    "elapsed": (_CODE, [_PLACE, _PLACE, ctypes.POINTER(ctypes.c_float)]),
    "set_library": (None, [ctypes.c_int, ctypes.c_char_p]),
    "take": (_PLACE, [ctypes.c_int, ctypes.c_int64]),
    "place": (_PLACE, [_PLACE]),
    "show": (None, [_PLACE, _PLACE]),
    "release": (None, [_PLACE]),
    "export": (_PLACE, [_PLACE, ctypes.c_int, ctypes.c_int, _INTEGERS, ctypes.c_int, ctypes.c_int]),
    "functions": (_PLACE, []),
    "of": (_CODE, [_PLACE, _ORDINALS]),
    "last_error": (_CODE, []),
    "error_text": (None, [ctypes.c_int, ctypes.c_char_p, ctypes.c_int]),
}


@functools.cache
def library() -> ctypes.CDLL:
    """The compiled `driver.cpp`; nothing is loaded or opened yet."""
    # The headers belong to the key of the cache, too.
    headers = key_of(path.read_text() for path in (*sorted(_HERE.glob("*.h")), INCLUDE / "device.h"))
    options = (f"-I{_HERE}", f"-I{INCLUDE}", f'-DSDFGAD_HEADERS="{headers}"', "-ldl")
    with impatient_threads():
        loaded = ctypes.CDLL(str(build_helper(_HERE / "driver.cpp", *options)))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, f"sdfgad_device_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


class Functions(ctypes.Structure):
    """The table of `device.h`, as far as Python calls it."""

    _fields_ = (
        ("take", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)),
        ("give", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        (
            "launch",
            ctypes.CFUNCTYPE(
                ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p)
            ),
        ),
        ("to_device", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
        ("to_host", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
        ("copy", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
        (
            "gemm",
            ctypes.CFUNCTYPE(
                ctypes.c_int,
                *[ctypes.c_int] * 3,
                *[ctypes.c_int64] * 3,
                *[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64],
                *[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64],
            ),
        ),
        (
            "call",
            ctypes.CFUNCTYPE(*[ctypes.c_int] * 3, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64)),
        ),
        ("replay", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)),
    )


def functions() -> Functions:
    """The table of functions that compiled programs are passed."""
    return Functions.from_address(library().sdfgad_device_functions())


def error_text(code: int) -> str:
    """What the driver, or a library, says about an error code."""
    text = ctypes.create_string_buffer(2000)
    library().sdfgad_device_error_text(code, text, len(text))
    return text.value.decode(errors="replace")


def error(code: int, doing: str) -> SdfgadError:
    """The exception for an error code; `doing` ends the sentence 'the device failed while'."""
    said = error_text(code)
    if code in (_OUT_OF_MEMORY, *(one.codes + one.full for one in LIBRARIES)):
        todo = "Pass memory_limit=... to `differentiate`, or smaller arguments, or let other libraries keep less."
        return OutOfMemory(f"the device has not as much memory ({said}) while {doing}", todo=todo)
    if code in (_NO_DRIVER, _NO_SYMBOL):
        return DeviceError(f"no CUDA driver that can be used: {said}", todo=_TODO[code])
    for one in LIBRARIES:
        if code == one.missing:
            return DeviceError(f"{one.title} cannot be loaded: {said}", todo=one.todo)
    return DeviceError(f"the device failed while {doing}: {said}", todo=_TODO.get(code, _UNKNOWN_TODO))


def check(code: int, doing: str) -> None:
    """Raises:
    OutOfMemory: the code says that there is not enough memory.
    DeviceError: it is another one than 0.
    """
    if code:
        raise error(code, doing)


def program_error(code: int, doing: str) -> SdfgadError:
    """The exception for what `sdfgad::device::guarded` returned: 1, for a lack of memory, or a failure's code."""
    last = library().sdfgad_device_last_error()
    return error(code - FIRST_FAILURE if code > FIRST_FAILURE else last or _OUT_OF_MEMORY, doing)
