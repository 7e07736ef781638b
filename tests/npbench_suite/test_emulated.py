"""Every program's gradient as kernels in the emulation of a device, against the CPU's; threads run in random order."""

import pytest

from scripts import gpu_check
from sdfgad.emulated import VARIABLE
from sdfgad.optimise.device import side
from tests.npbench_suite.oracle import NAMES


@pytest.fixture(scope="module", autouse=True)
def kernels(tmp_path_factory):
    """All loops are kernels that can be, and programs compiled so do not reach the cache of other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setenv("SDFGAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(side, "SECONDS", side.Seconds(launch=0.0, copy=0.0, byte=0.0, host=1.0, device=0.0, thread=0.0))
        yield


@pytest.mark.parametrize("name", NAMES)
def test_kernels_compute_what_the_cpu_does(name):
    row = gpu_check.check(name, "test", runs=2)
    assert row.is_right, row
    assert row.repeats, row
