"""NVRTC, CUDA's runtime compiler: kernels compiled from C++ text to the machine code of a device (a cubin).

It is a shared library, called through ctypes. It needs no device, no host compiler and no toolkit.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sdfgad.errors import CompilerError, DeviceError

VARIABLE = "SDFGAD_NVRTC"
_TARGETS = Path(__file__).parents[2] / "targets"
# The standard library's headers come last: they are ours, and NVRTC has none.
INCLUDES = (_TARGETS / "gpu" / "include", _TARGETS / "cpu" / "include", _TARGETS / "gpu" / "include" / "std")
# As on the CPU: strict IEEE 754 semantics, and no contraction of a*b+c. Functions without a mark are of the device. The
# log tells registers and spills of each kernel.
OPTIONS = (
    "--std=c++20",
    "--device-as-default-execution-space",
    "--fmad=false",
    "--ptxas-options=-v",
    "--disable-warnings",
)
# The sonames, in order of preference, and the folders of the wheels for CUDA 13 and 12 in the package `nvidia`.
SONAMES = ("libnvrtc.so.13", "libnvrtc.so.12")
WHEELS = ("cu13/lib", "cuda_nvrtc/lib")


def compile_cubin(text: str, architecture: str, options: Sequence[str] = ()) -> tuple[bytes, str]:
    """The cubin of a kernel text, which may include ``kernel.h``, and the log, which has registers and spills.

    Args:
        text: C++; names of kernels are those of ``extern "C"`` functions.
        architecture: of the device, such as ``sm_90``.
        options: further ones of NVRTC.

    Raises:
        DeviceError: there is no NVRTC.
        CompilerError: the text does not compile, or NVRTC does not know the architecture or an option.
    """
    nvrtc, program = library(), ctypes.c_void_p()
    includes = [f"--include-path={folder}" for folder in INCLUDES]
    words = [*OPTIONS, f"--gpu-architecture={architecture}", *includes, *options]
    _check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None))
    try:
        given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
        failure = nvrtc.nvrtcCompileProgram(program, len(words), given)
        log = _bytes(nvrtc, program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
        if failure:
            raise CompilerError(
                f"NVRTC failed: {_message(nvrtc, failure)}\n{log[:4000]}", todo=f"The options were: {' '.join(words)}"
            )
        return _bytes(nvrtc, program, "CUBIN"), log
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def version() -> tuple[int, int]:
    """The version of NVRTC, major and minor.

    Raises:
        DeviceError: there is no NVRTC.
    """
    nvrtc, major, minor = library(), ctypes.c_int(), ctypes.c_int()
    _check(nvrtc, nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return major.value, minor.value


def architectures() -> list[str]:
    """The architectures that NVRTC compiles for, such as ``sm_90``.

    Raises:
        DeviceError: there is no NVRTC.
    """
    nvrtc, number = library(), ctypes.c_int()
    _check(nvrtc, nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(number)))
    found = (ctypes.c_int * number.value)()
    _check(nvrtc, nvrtc.nvrtcGetSupportedArchs(found))
    return [f"sm_{one}" for one in found]


def toolchain() -> str:
    """A text, for cache keys, of all that a cubin depends on besides its own text and architecture.

    Raises:
        DeviceError: there is no NVRTC.
    """
    return "\0".join([*map(str, version()), *OPTIONS, *_headers()])


def library() -> ctypes.CDLL:
    """NVRTC, loaded: the file that $SDFGAD_NVRTC names, else that of a wheel, else the system's.

    Raises:
        DeviceError: there is none, or it cannot be loaded.
    """
    wanted, reasons = os.environ.get(VARIABLE), list[str]()
    for name in [wanted] if wanted else _candidates():
        try:
            return _loaded(name)
        except (OSError, AttributeError) as error:
            reasons.append(str(error))
    raise DeviceError(
        f"NVRTC, which compiles for CUDA devices, cannot be loaded ({'; '.join(reasons)})",
        todo=f"Set {VARIABLE} to the path of libnvrtc.so, or unset it."
        if wanted
        else f'Install it: pip install "sdfgad[cuda]". Or set {VARIABLE} to the path of libnvrtc.so.',
    )


def _candidates() -> Iterator[str]:
    """Files of wheels, then the names by which the system's loader finds a library."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(folder) / part for part in WHEELS for folder in (spec and spec.submodule_search_locations) or ()]
    for name in SONAMES:
        yield from (str(folder / name) for folder in folders if (folder / name).is_file())
    yield from SONAMES


@functools.cache
def _loaded(name: str) -> ctypes.CDLL:
    """A library with its companion of built-in functions, which it looks for only where the system's loader does."""
    if os.sep in name:
        for companion in sorted(Path(name).parent.glob("libnvrtc-builtins.so.*")):
            ctypes.CDLL(str(companion))
    nvrtc = ctypes.CDLL(name)
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    for function in ("CreateProgram", "CompileProgram", "GetCUBIN", "GetProgramLog", "GetSupportedArchs"):
        getattr(nvrtc, f"nvrtc{function}")
    return nvrtc


@functools.cache
def _headers() -> tuple[str, ...]:
    return tuple(path.read_text() for folder in INCLUDES for path in sorted(folder.glob("*")) if path.is_file())


def _bytes(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    """A product of a compilation."""
    size = ctypes.c_size_t()
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    data = ctypes.create_string_buffer(size.value)
    _check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, data))
    return data.raw


def _check(nvrtc: ctypes.CDLL, result: int) -> None:
    if result:
        raise CompilerError(f"NVRTC failed: {_message(nvrtc, result)}")


def _message(nvrtc: ctypes.CDLL, result: int) -> str:
    return str(nvrtc.nvrtcGetErrorString(result).decode())
