"""The stream that a call with arrays on a device works on, and what it waits for."""

import sys
import types

import numpy as np
import pytest

from sdfgad.runtime.gpu.caller import caller_of, current_stream, ordinal_of

STREAM, OTHER = 0x5000, 0x6000


class Argument:
    """What a call knows of an array that another library owns."""

    def __init__(self, array, stream=None, package="other", has_interface=True):
        kind = type("Array", (), {"__module__": package})
        if has_interface:
            interface = {**array.__cuda_array_interface__, "stream": stream}
            kind.__cuda_array_interface__ = interface
        self.owner, self.stream = kind(), stream
        self.pointer, self.shape, self.dtype = array.pointer, array.shape, array.dtype


@pytest.fixture
def libraries(monkeypatch):
    """CuPy and PyTorch, as far as their current streams."""
    cupy, torch = types.ModuleType("cupy"), types.ModuleType("torch")
    cupy.cuda = types.SimpleNamespace(get_current_stream=lambda ordinal: types.SimpleNamespace(ptr=STREAM + ordinal))
    torch.cuda = types.SimpleNamespace(current_stream=lambda ordinal: types.SimpleNamespace(cuda_stream=0))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "torch", torch)


def test_current_streams(device, libraries):
    array = device.array(np.ones(3))
    assert current_stream(Argument(array, package="cupy").owner, 1) == STREAM + 1
    assert current_stream(Argument(array, package="torch").owner, 0) is None
    assert current_stream(Argument(array, stream=OTHER).owner, 0) == OTHER
    assert current_stream(Argument(array, stream=1).owner, 0) is None
    assert current_stream(array, 0) is None
    with device.stream(OTHER):
        assert current_stream(array, 0) == OTHER


def test_where_arrays_are(device):
    array = device.array(np.ones(3))
    assert ordinal_of(array) == 0
    assert ordinal_of(Argument(array).owner) == 0


def test_calls_work_on_the_callers_stream(device, fake, libraries):
    array = device.array(np.ones(3))
    first = Argument(array, package="cupy")
    caller = caller_of(first.owner, 0)
    before = len(fake.log())
    with caller.entered([first]):
        assert device._library.sdfgad_device_stream() == STREAM
        made = caller.empty((2,), np.dtype("f8"))
    assert fake.log()[before:] == [f"{STREAM} waits for 0", f"take 16 on {STREAM}", f"0 waits for {STREAM}"]
    assert made.ordinal == 0


def test_what_is_enqueued_elsewhere_is_waited_for(device, fake, libraries):
    array = device.array(np.ones(3))
    # Numba's arrays are safe from reuse, as it frees memory when the device is done.
    first, second = Argument(array, package="torch"), Argument(array, stream=OTHER, package="numba.cuda")
    before = len(fake.log())
    with caller_of(first.owner, 0).entered([first, second]):
        assert fake.log()[before:] == [f"0 waits for {OTHER}"]
    assert fake.log()[before + 1 :] == []


@pytest.mark.parametrize("package", ["jaxlib", "other", "cupy"])
def test_memory_that_may_be_reused_on_other_streams(device, fake, libraries, package):
    array = device.array(np.ones(3))
    # CuPy's current stream is another one than PyTorch's, whose array is the first.
    first, second = Argument(array, package="torch"), Argument(array, package=package)
    before = len(fake.log())
    with caller_of(first.owner, 0).entered([first, second]):
        pass
    assert fake.log()[before:] == ["synchronise"]


def test_copies_of_callers_arrays(device, fake):
    array = device.array(np.ones(3))
    one = Argument(array)
    np.testing.assert_array_equal(caller_of(one.owner, 0).to_numpy(one), np.ones(3))
