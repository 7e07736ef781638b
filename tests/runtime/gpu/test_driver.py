"""Devices through a driver that is none: properties, memory, modules, streams, times, and the errors of each."""

import ctypes
import threading

import numpy as np
import pytest

from sdfgad.errors import DeviceError, OutOfMemory
from sdfgad.runtime.gpu import binding, driver

STREAM = 0x5000
# Of a kind that the default stream keeps in order with.
ORDERED = 0x7000


def launch(kernel, points, *arguments):
    places = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
    return driver.functions().launch(kernel, -(-points // 256), 256, places)


# --- devices


def test_properties(device):
    assert (device.name, device.capability, device.architecture) == ("Fake 100", (9, 0), "sm_90")
    assert (device.multiprocessors, device.l2_bytes) == (132, 52428800)
    assert (device.total_bytes, device.driver_version) == (1 << 30, 13000)
    assert repr(device) == "Device(0, 'Fake 100', sm_90)"


def test_there_is_one_for_each_ordinal(device):
    assert driver.device() is driver.device(0) is device
    assert driver.device(1) is not device
    assert driver.is_available()


def test_the_device_of_the_current_context_is_chosen(fake):
    fake.library.fake_push(1)
    try:
        assert driver.device().ordinal == 1
    finally:
        fake.library.fake_pop()


@pytest.mark.parametrize("ordinal", [2, -1])
def test_there_are_no_more(device, ordinal):
    with pytest.raises(DeviceError, match=r"(?s)no CUDA device -?\d: 2 are visible.*CUDA_VISIBLE_DEVICES"):
        driver.device(ordinal)


def test_there_is_no_driver(fake, monkeypatch):
    monkeypatch.setenv("SDFGAD_CUDA", "/nowhere/libcuda.so.1")
    with pytest.raises(DeviceError, match=r"(?s)no CUDA driver.*/nowhere/libcuda.so.1.*SDFGAD_CUDA"):
        driver.device()
    assert not driver.is_available()


def test_the_driver_is_too_old(fake, monkeypatch):
    monkeypatch.setenv("SDFGAD_CUDA", "libm.so.6")
    with pytest.raises(DeviceError, match=r"(?s)cuInit.*newer driver"):
        driver.device()


@pytest.mark.parametrize(
    ("code", "todo"), [(100, "CUDA_ERROR_NO_DEVICE(?s:.*)NVIDIA GPU"), (3, "NOT_INITIALIZED(?s:.*)spawn")]
)
def test_there_is_no_device(fake, code, todo):
    fake.fail("cuInit", code)
    with pytest.raises(DeviceError, match=todo):
        driver.device()


def test_none_is_visible(fake):
    fake.library.fake_set(0, 9, 0, 1)
    with pytest.raises(DeviceError, match="0 are visible"):
        driver.device()


def test_the_device_is_too_old(fake):
    fake.library.fake_set(1, 6, 1, 1)
    with pytest.raises(DeviceError, match=r"(?s)Fake 100 is too old.*6\.1.*7\.0"):
        driver.device()


def test_the_device_has_no_pools(fake):
    fake.library.fake_set(1, 9, 0, 0)
    with pytest.raises(DeviceError, match="memory pools"):
        driver.device()


def test_unknown_codes(device):
    assert binding.error_text(998) == "CUDA error 998"
    assert isinstance(binding.error(998, "trying"), DeviceError)


# --- memory


def test_freed_memory_is_kept(device, fake):
    assert fake.library.fake_threshold() == 2**64 - 1
    array = device.empty((1000,), np.uint8)
    assert device.memory() == (2**30 - 1000, 1000, 1000, 1000)
    assert device.free_bytes() == 2**30 - 1000
    del array
    assert device.memory()[1:] == (1000, 0, 1000)
    assert device.free_bytes() == 2**30
    device.trim()
    assert device.memory()[1] == 0


@pytest.mark.parametrize("size", [1 << 20, 1 << 62])
def test_memory_runs_out(device, fake, size):
    fake.library.fake_limit(1 << 20)
    kept = device.empty((1024,), np.uint8)
    with pytest.raises(OutOfMemory, match=rf"(?s)CUDA_ERROR_OUT_OF_MEMORY.*array of {size} bytes.*memory_limit"):
        device.empty((size,), np.uint8)
    # Not without having asked for what other streams have freed.
    assert ("trim" in fake.log()) == (size == 1 << 20)
    assert driver.functions().take(size) is None
    assert binding.library().sdfgad_device_last_error() == 2
    assert kept.nbytes == 1024


def test_another_error_is_no_lack_of_memory(device, fake):
    fake.fail("cuMemAllocFromPoolAsync", 700)
    with pytest.raises(DeviceError, match="ILLEGAL_ADDRESS"):
        device.empty((3,), float)


def test_arrays_return_to_the_pool_after_what_other_streams_do(device, fake):
    with device.stream(STREAM):
        array = device.empty((3,), float)
        own = device.empty((3,), float)
        del own
        assert fake.log()[-1] == f"give 24 on {STREAM}"
    del array
    assert fake.log()[-2:] == ["synchronise", "give 24 on 0"]


def test_streams_that_keep_in_order_with_the_default_one(device, fake):
    with device.stream(ORDERED):
        array, other = device.empty((3,), float), device.empty((4,), float)
        other.__dlpack__(stream=ORDERED + 1)
    before = len(fake.log())
    del array
    del other
    assert fake.log()[before:] == ["give 24 on 0", "give 32 on 0"]
    with device.stream(ORDERED):
        array = device.empty((3,), float)
        array.__dlpack__(stream=STREAM)
    del array
    assert fake.log()[-2:] == ["synchronise", "give 24 on 0"]


def test_copies_on_the_device(device):
    first, second = device.array(np.arange(5.0)), device.empty((5,), float)
    assert driver.functions().copy(second.pointer, first.pointer, first.nbytes) == 0
    np.testing.assert_array_equal(second.to_numpy(), np.arange(5.0))
    assert driver.functions().copy(second.pointer, first.pointer, 0) == 0


def test_other_libraries_contexts_stay_current(device, fake):
    before = fake.library.fake_depth()
    fake.library.fake_push(1)
    device.array(np.ones(3)).to_numpy()
    device.synchronise()
    assert fake.library.fake_depth() == before + 1
    fake.library.fake_pop()


def test_threads_have_their_own_device_and_stream(device):
    seen = []

    def work():
        other = driver.device(1)
        other.use()
        with other.stream(STREAM):
            seen.append((binding.library().sdfgad_device_stream(), other.array([1.0, 2.0]).to_numpy().tolist()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(STREAM, [1.0, 2.0])]
    assert binding.library().sdfgad_device_stream() is None


# --- kernels


def test_kernels(device, fake):
    module, array = device.load(b"cubin"), device.array(np.arange(600.0))
    arguments = ctypes.c_void_p(array.pointer), ctypes.c_int64(600), ctypes.c_double(2.5)
    with device.stream(STREAM):
        assert launch(module.function("scale"), 600, *arguments) == 0
    assert f"launch scale 3 of 256 on {STREAM}" in fake.log()
    np.testing.assert_array_equal(array.to_numpy(), 2.5 * np.arange(600))
    assert launch(module.function("scale"), 0, *arguments) == 0
    assert launch(module.function("scale"), 256 << 31, *arguments) == 1


def test_kernels_that_are_not_there(device):
    with pytest.raises(DeviceError, match="loading kernels: CUDA_ERROR_INVALID_IMAGE"):
        device.load(b"nothing")
    with pytest.raises(DeviceError, match="kernel turn: CUDA_ERROR_NOT_FOUND"):
        device.load(b"cubin").function("turn")


def test_faults_are_reported(device, fake):
    module = device.load(b"cubin")
    assert launch(module.function("fault"), 1) == 700
    assert binding.library().sdfgad_device_last_error() == 700
    assert binding.library().sdfgad_device_last_error() == 0
    fake.fail("cuCtxSynchronize", 700)
    with pytest.raises(DeviceError, match=r"(?s)running kernels: CUDA_ERROR_ILLEGAL_ADDRESS.*new process"):
        device.synchronise()
    fake.library.fake_reset()


# --- streams and times


def test_streams_are_ordered(device, fake):
    library = binding.library()
    with device.stream(STREAM):
        assert library.sdfgad_device_stream() == STREAM
        device.wait_for(7)
        device.wait_for(None)
    assert library.sdfgad_device_stream() is None
    assert fake.log() == [f"{STREAM} waits for 0", f"{STREAM} waits for 7", f"0 waits for {STREAM}"]
    for default in (None, 0, 1):
        with device.stream(default):
            assert library.sdfgad_device_stream() is None
    assert len(fake.log()) == 3


def test_times(device):
    with device.timed() as time:
        assert np.isnan(time.seconds)
    assert time.seconds == pytest.approx(0.0015)
