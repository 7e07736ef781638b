"""Host calls: a Python function on arrays that share the memory of XLA's buffers; nothing is copied on the way in.

A call is known by a random number, of which XLA's program is a function: a program that JAX keeps on disk is never that
of another process, whose calls have other numbers.
"""

from __future__ import annotations

import ctypes
import functools
import math
import secrets
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np

from sdfgad.runtime.compiler import build_helper

Array = np.ndarray[Any, Any]
Specs = Sequence[jax.ShapeDtypeStruct]
TARGET = "sdfgad_host_call"
MOST_CHARACTERS = 4096

_Pointers = ctypes.POINTER(ctypes.c_void_p)
_Callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, _Pointers, _Pointers, ctypes.c_void_p)
_sites: dict[int, tuple[Callable[..., Sequence[Array]], list[Any], list[Any]]] = {}


def host_call(function: Callable[..., Sequence[Array]], results: Specs, *arrays: Any) -> list[Any]:
    """A call of a function, in JAX's graph.

    Args:
        function: takes NumPy arrays, which it must not write, nor keep, and returns those of `results`.
        results: shapes and dtypes.

    Raises:
        CompilerError: the interface cannot be compiled.
    """
    _register()
    number = secrets.randbits(62)
    _sites[number] = function, [_viewer(one) for one in arrays], [_viewer(one) for one in results]
    call = jax.ffi.ffi_call(TARGET, list(results))
    return list(call(*arrays, site=np.int64(number)))


def _viewer(spec: Any) -> Callable[[int | None], Array]:
    """What makes an array of memory at an address."""
    shape, dtype = tuple(spec.shape), np.dtype(spec.dtype)
    size = math.prod(shape) * dtype.itemsize

    def view(address: int | None) -> Array:
        if size == 0:
            return np.empty(shape, dtype)
        return np.frombuffer((ctypes.c_char * size).from_address(address or 0), dtype).reshape(shape)

    return view


def _run(number: int, arguments: Any, results: Any, message: int) -> int:
    """The callback; an exception of Python's becomes an error of XLA's."""
    try:
        function, views, places = _sites[number]
        given = [view(arguments[k]) for k, view in enumerate(views)]
        for array in given:
            array.flags.writeable = False
        for k, found in enumerate(function(*given)):
            np.copyto(places[k](results[k]), found)
        return 0
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".encode()[:MOST_CHARACTERS]
        ctypes.memmove(message, text, len(text))
        return len(text)


@functools.cache
def _register() -> Any:
    """Compile the interface, once for a version of jaxlib, and tell XLA of it."""
    options = (f"-I{jax.ffi.include_dir()}", f'-DJAXLIB="{version("jaxlib")}"')
    library = ctypes.CDLL(str(build_helper(Path(__file__).with_name("host_call.cpp"), *options)))
    callback = _Callback(_run)
    library.sdfgad_set_callback(callback)
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(library.sdfgad_host_call), platform="cpu")
    return library, callback
