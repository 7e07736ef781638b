"""Arrays on a device: copies, the protocols by which they are passed on, and arrays of other libraries."""

import ctypes
import sys
import types

import numpy as np
import pytest

from sdfgad.errors import ArgumentError
from sdfgad.runtime.gpu import dlpack
from sdfgad.runtime.gpu.arrays import address_of, is_device_array, like

STREAM = 0x5000
DTYPES = ["f8", "f4", "c16", "c8", "i8", "i4", "i2", "u1", "?"]


class Interface:
    """An array with `__cuda_array_interface__`, as that of numba."""

    def __init__(self, **parts):
        self.__cuda_array_interface__ = {
            "shape": (2, 3),
            "typestr": "<f4",
            "data": (4096, False),
            "version": 3,
            **parts,
        }


Interface.__cuda_array_interface__ = None


class Packed:
    """An array with `__dlpack__`, as that of cupy; its memory is the host's."""

    def __init__(self, array, device=2, **keywords):
        self.array, self.device, self.keywords = array, device, keywords
        self.streams = []

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__(**self.keywords)

    def __dlpack_device__(self):
        return self.device, 0


# --- own arrays


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 4), (), (0, 7), (1, 2, 1)])
def test_there_and_back(device, rng, dtype, shape):
    values = np.asarray(10 * rng.normal(size=shape)).astype(dtype)
    array = device.array(values)
    assert (array.shape, array.dtype, array.ndim, array.size) == (shape, values.dtype, values.ndim, values.size)
    assert array.nbytes == values.nbytes
    result = array.to_numpy()
    assert result.dtype == values.dtype
    np.testing.assert_array_equal(result, values)


def test_other_orders_are_copied_in_c_order(device, rng):
    values = rng.normal(size=(4, 6))
    for view in (values.T, values[::2], values[:, ::-1], np.broadcast_to(values[0], (3, 6))):
        np.testing.assert_array_equal(device.array(view).to_numpy(), view)


def test_nothing_is_copied_silently(device):
    array = device.array([1.0, 2.0])
    assert repr(array) == "DeviceArray(shape=(2,), dtype=float64, ordinal=0)"
    with pytest.raises(TypeError, match="to_numpy"):
        np.asarray(array)


def test_cuda_array_interface(device):
    array = device.empty((3, 4), "c8")
    assert array.__cuda_array_interface__ == {
        "version": 3,
        "shape": (3, 4),
        "typestr": "<c8",
        "data": (array.pointer, False),
        "strides": None,
        "stream": 1,
    }
    with device.stream(STREAM):
        assert array.__cuda_array_interface__["stream"] == STREAM
    assert device.empty((0,), "f8").__cuda_array_interface__["data"] == (0, False)


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 4, 5), (), (7,)])
def test_dlpack(device, shape, dtype, max_version):
    array = device.empty(shape, dtype)
    assert array.__dlpack_device__() == (2, 0)
    capsule = array.__dlpack__(max_version=max_version)
    is_versioned = max_version is not None and max_version[0] == 1
    assert f'"dltensor{"_versioned" if is_versioned else ""}"' in repr(capsule)
    strides = tuple(stride // array.dtype.itemsize for stride in np.empty(shape, dtype).strides)
    assert dlpack.read(capsule) == (array.pointer, shape, np.dtype(dtype), strides)
    tensor = dlpack._tensor(id(capsule))
    assert (tensor.device_type, tensor.device_id, tensor.lanes, tensor.offset) == (2, 0, 1, 0)


def test_capsules_own_the_memory(device, fake):
    array = device.array([1.0, 2.0])
    capsules = [array.__dlpack__(), array.__dlpack__(max_version=(1, 0))]
    del array
    assert fake.library.fake_blocks() == 1
    del capsules[0]
    assert fake.library.fake_blocks() == 1
    capsules.clear()
    assert fake.library.fake_blocks() == 0


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_whoever_takes_a_capsule_deletes_it(device, fake, max_version):
    capsule = device.array([1.0, 2.0]).__dlpack__(max_version=max_version)
    name = b"dltensor_versioned" if max_version else b"dltensor"
    place = dlpack._raw_pointer(id(capsule), name)
    set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_SetName", ctypes.pythonapi)
    )
    used = b"used_" + name
    set_name(capsule, used)
    del capsule
    assert fake.library.fake_blocks() == 1
    kind = dlpack._Versioned if max_version else dlpack._Unversioned
    managed = kind.from_address(place)
    if max_version:
        assert (managed.major, managed.minor, managed.flags) == (1, 0, 0)
    assert managed.tensor.data
    dlpack._DELETER(managed.deleter)(place)
    assert fake.library.fake_blocks() == 0


def test_streams_of_those_who_take_arrays_wait(device, fake):
    array = device.empty((2,), "f8")
    for stream in (None, 1, -1):
        array.__dlpack__(stream=stream)
    assert fake.log() == ["take 16 on 0"]
    array.__dlpack__(stream=STREAM)
    assert fake.log()[1:] == [f"{STREAM} waits for 0"]
    del array
    assert fake.log()[2:] == ["synchronise", "give 16 on 0"]


def test_what_dlpack_cannot_do(device):
    array = device.empty((2,), "f8")
    with pytest.raises(ValueError, match="stream 0"):
        array.__dlpack__(stream=0)
    for keywords in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError, match="as they are"):
            array.__dlpack__(**keywords)
    array.__dlpack__(copy=False, dl_device=(2, 0))
    with pytest.raises(ArgumentError, match="datetime64"):
        device.empty((2,), "M8[s]").__dlpack__()


# --- arrays of other libraries


def test_what_is_a_device_array(device):
    assert is_device_array(device.empty((2,), "f8"))
    assert is_device_array(Interface())
    assert is_device_array(Packed(np.ones(3)))
    assert is_device_array(Packed(np.ones(3), device=13))
    for value in (Packed(np.ones(3), device=1), np.ones(3), np.float64(1), 1.0, [1.0], None, Interface, "x"):
        assert not is_device_array(value)


def test_arrays_that_refuse_the_protocols_are_none():
    class Refusing:
        @property
        def __cuda_array_interface__(self):
            raise AttributeError("on the host")

    class Spread(Refusing):
        def __dlpack_device__(self):
            raise BufferError("on several devices")

    assert not is_device_array(Refusing())
    assert not is_device_array(Spread())


def test_jaxs_and_pytorchs_arrays_of_the_host():
    jax = pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    assert not is_device_array(jax.numpy.ones(3))
    assert not is_device_array(torch.ones(3))
    assert not is_device_array(torch.ones(3, requires_grad=True))
    assert not is_device_array(torch.ones(3, device="meta"))
    jax.jit(lambda x: [x, pytest.fail("traced")][0] if is_device_array(x) else x)(1.0)


def test_addresses_of_own_arrays(device):
    array = device.empty((2, 3), "f4")
    assert address_of(array) == (array.pointer, (2, 3), np.dtype("f4"), None, True)


@pytest.mark.parametrize(
    ("parts", "stream", "is_contiguous"),
    [
        ({}, None, True),
        ({"stream": 1}, 1, True),
        ({"stream": STREAM, "strides": None}, STREAM, True),
        ({"version": 2}, 1, True),
        ({"strides": (12, 4)}, None, True),
        ({"strides": (4, 8)}, None, False),
        ({"strides": (24, 4)}, None, False),
    ],
)
def test_addresses_by_interface(fake, parts, stream, is_contiguous):
    assert address_of(Interface(**parts)) == (4096, (2, 3), np.dtype("f4"), stream, is_contiguous)


def test_masked_arrays_are_refused(fake):
    with pytest.raises(ArgumentError, match="masked"):
        address_of(Interface(mask=Interface()))


@pytest.mark.parametrize("keywords", [{}, {"max_version": (1, 0)}])
@pytest.mark.parametrize("dtype", DTYPES)
def test_addresses_by_dlpack(device, dtype, keywords):
    array = np.zeros((4, 3), dtype)
    for view in (array, array.T, array[:, 1:], array[2:], array[2:3], array[:1, :1], array[:0]):
        value = Packed(view, **keywords)
        pointer, shape, found, stream, is_contiguous = address_of(value)
        assert view.size == 0 or pointer == view.ctypes.data
        assert (shape, found, stream) == (view.shape, view.dtype, None)
        assert is_contiguous == view.flags.c_contiguous
        assert value.streams == [1]


def test_libraries_are_told_the_stream(device):
    value = Packed(np.ones(3))
    with device.stream(STREAM):
        address_of(value)
    assert value.streams == [STREAM]


def test_types_that_numpy_does_not_have(device, monkeypatch):
    tensor = dlpack._Tensor(code=4, bits=16, lanes=1)
    with pytest.raises(ArgumentError, match="code 4, 16 bits"):
        dlpack._dtype(tensor)
    with pytest.raises(ArgumentError, match="no DLPack capsule"):
        dlpack.read("capsule")


@pytest.mark.parametrize("package", ["cupy", "torch", "jaxlib._jax", "jax.interpreters", "numba.cuda.devices", "other"])
def test_arrays_like_others(device, monkeypatch, package):
    taken = []

    def take(array):
        taken.append(array)
        return package

    names = {"cupy": "cupy", "torch": "torch", "jaxlib": "jax.dlpack", "jax": "jax.dlpack", "numba": "numba.cuda"}
    name = names.get(package.partition(".")[0])
    if name is not None:
        module = types.ModuleType(name)
        module.from_dlpack = module.as_cuda_array = take
        monkeypatch.setitem(sys.modules, name, module)
        if name == "numba.cuda":
            monkeypatch.setitem(sys.modules, "numba", types.ModuleType("numba"))
    value = type("Array", (), {"__module__": package})()
    array = device.empty((2,), "f8")
    assert like(value, array) is (array if name is None else package)
    assert taken == ([] if name is None else [array])
    taken.clear()
