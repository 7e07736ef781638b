"""A driver without a device, so that everything but the device itself is tested on any machine."""

import ctypes
import gc
from pathlib import Path

import pytest

from sdfgad.runtime.compiler import build_helper
from sdfgad.runtime.gpu import binding, driver
from sdfgad.runtime.gpu.libraries import LIBRARIES

HERE = Path(__file__).parent


class Fake:
    """The functions of `fake_cuda.cpp` that the driver does not have: they set it up, and tell what was called."""

    def __init__(self, path):
        self.path = str(path)
        library = ctypes.CDLL(self.path)
        library.fake_log.restype = ctypes.c_char_p
        library.fake_threshold.restype = ctypes.c_uint64
        library.fake_limit.argtypes = [ctypes.c_int64]
        self.library = library

    def fail(self, name, code):
        self.library.fake_fail(name.encode(), code)

    def log(self):
        return self.library.fake_log().decode().splitlines()


@pytest.fixture
def fake(monkeypatch):
    fake = Fake(build_helper(HERE / "fake_cuda.cpp"))
    monkeypatch.setenv("SDFGAD_CUDA", fake.path)
    for library in LIBRARIES:
        monkeypatch.setenv(library.variable, fake.path)
    driver.forget()
    fake.library.fake_reset()
    yield fake
    fake.library.fake_reset()
    if fake.library.fake_blocks() or fake.library.fake_modules():
        gc.collect()
    # A thread without a context keeps ours.
    assert fake.library.fake_depth() <= 1
    if fake.library.fake_depth():
        fake.library.fake_pop()
    driver.forget()
    assert (fake.library.fake_blocks(), fake.library.fake_modules(), fake.library.fake_graphs()) == (0, 0, 0)


@pytest.fixture
def device(fake):
    return driver.device()


@pytest.fixture
def program(device):
    """The host part of a program, `host_program.cpp`, with the kernels of the fake driver."""
    header = binding.INCLUDE / "device.h"
    options = (f"-I{binding.INCLUDE}", f"-DTEXT={hash(header.read_text())}")
    program = ctypes.CDLL(str(build_helper(Path(__file__).parent / "host_program.cpp", *options)))
    program.first.restype = ctypes.c_double
    for name in ("sdfgad_device_peak_bytes", "sdfgad_peak_bytes"):
        getattr(program, name).restype = ctypes.c_int64
    module = device.load(b"cubin")
    kernels = (ctypes.c_void_p * 2)(module.function("scale"), module.function("fault"))
    program.sdfgad_use_device(ctypes.c_void_p(binding.library().sdfgad_device_functions()), kernels)
    program.sdfgad_reset_device_peak()
    yield program
    program.sdfgad_use_device(None, None)
    del module
