"""Every program's gradient as kernels: in the emulation, against the CPU's, and as cubins without spills."""

import contextlib
import functools
import re

import pytest

import npbench_suite
from scripts import gpu_check
from sdfgad.emulated import VARIABLE
from sdfgad.errors import CompilerError, DeviceError
from sdfgad.optimise.device import side
from sdfgad.optimise.passes import optimise
from sdfgad.runtime.batch import Batch
from sdfgad.runtime.compile import source_of_optimised
from sdfgad.runtime.gpu import nvrtc
from tests.helpers_tiers import packed, packs, some
from tests.npbench_suite.oracle import NAMES


@pytest.fixture(scope="module", autouse=True)
def kernels():
    """All loops are kernels that can be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "1")
        patch.setattr(side, "SECONDS", side.KERNELS_ONLY)
        yield


PACKS = list(packs(NAMES, 6, every=4))


@functools.cache
def compile_pack(number):
    """Compile some of the gradients on both devices at once, where `gpu_check` finds them.

    It compiles what fails here by itself, and says of which program that is.
    """
    batch = Batch()
    for name in PACKS[number].values:
        entry = npbench_suite.load(name)
        for device in ("cpu", "gpu"):
            with contextlib.suppress(Exception):
                _, gradients, *_ = gpu_check.gradient_of(entry, device).programs(*entry.arguments_for("test"))
                batch.add(gradients)
    with contextlib.suppress(CompilerError):
        batch.build()


@pytest.mark.parametrize(("number", "name"), packed(PACKS))
def test_kernels_compute_what_the_cpu_does(number, name):
    compile_pack(number)
    row = gpu_check.check(name, "test", runs=2)
    assert row.is_right, row
    assert row.repeats, row


# Of those with sequential loops; the others have little that these lack.
IN_BLOCKS = ("adi", "durbin", "gramschmidt", "mandelbrot1", "nbody", "seidel_2d", "spmv", "trisolv")


@pytest.mark.parametrize("name", some(IN_BLOCKS, 2))
def test_blocks_compute_what_the_cpu_does(name, monkeypatch):
    monkeypatch.setattr(side, "SECONDS", side.BLOCKS_ONLY)
    row = gpu_check.check(name, "test", runs=2)
    assert row.is_right, row
    assert row.repeats, row


@pytest.mark.parametrize("name", some(NAMES, 4))
def test_kernels_compile_without_spills(name):
    try:
        nvrtc.library()
    except DeviceError as error:
        pytest.skip(str(error))
    entry = npbench_suite.load(name)
    (program, *_) = gpu_check.gradient_of(entry, "gpu").programs(*entry.arguments_for("S"))
    code = source_of_optimised(optimise(program)).code
    (text,) = re.findall(r'R"kernels\((.*?)\)kernels"', code, re.DOTALL)
    cubin, log = nvrtc.compile_cubin(text, "sm_90")
    assert cubin
    assert not re.search("[1-9][0-9]* bytes spill", log), log
