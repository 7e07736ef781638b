"""NVRTC: where it is found, what it is told, and what is said where it is missing or refuses a text."""

import re

import pytest

from sdfgad.errors import CompilerError, DeviceError
from sdfgad.runtime.gpu import nvrtc
from tests.helpers_nvrtc import needs_nvrtc

KERNEL = """
extern "C" __global__ void scale(double* __restrict__ x, int64_t n) {
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] * x[i] + 1.0;
}
"""


@needs_nvrtc
def test_a_kernel_becomes_a_cubin():
    cubin, log = nvrtc.compile_cubin(f'#include "kernel.h"{KERNEL}', "sm_90")
    # An ELF file, of the kernel that has this name.
    assert cubin.startswith(b"\x7fELF")
    assert b"scale" in cubin
    assert re.search(r"0 bytes spill stores.*Used \d+ registers", log, re.DOTALL)


@needs_nvrtc
def test_products_are_rounded_before_they_are_added():
    text = f'#include "kernel.h"{KERNEL}'
    assert nvrtc.compile_cubin(text, "sm_90")[0] != nvrtc.compile_cubin(text, "sm_90", ["--fmad=true"])[0]


@needs_nvrtc
def test_errors_in_a_text_are_those_of_nvrtc():
    with pytest.raises(CompilerError, match=r"(?s)NVRTC_ERROR_COMPILATION.*kernel\.cu\(1\): error.*nothing") as caught:
        nvrtc.compile_cubin('extern "C" __global__ void k() { nothing; }', "sm_90")
    assert "--gpu-architecture=sm_90" in caught.value.todo


@needs_nvrtc
def test_an_unknown_architecture_is_named():
    with pytest.raises(CompilerError, match="gpu-architecture"):
        nvrtc.compile_cubin("", "sm_1")
    assert {"sm_80", "sm_90"} <= {*nvrtc.architectures()}


@needs_nvrtc
def test_cache_keys_know_the_version_and_the_headers():
    major, minor = nvrtc.version()
    text = nvrtc.toolchain()
    assert text.startswith(f"{major}\0{minor}\0")
    assert "Header of generated kernels" in text
    assert "Scalar functions for generated code" in text


def test_a_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.delenv(nvrtc.VARIABLE, raising=False)
    monkeypatch.setattr(nvrtc, "_candidates", lambda: iter(["libnvrtc.so.0"]))
    with pytest.raises(DeviceError, match=r"NVRTC.*cannot be loaded") as caught:
        nvrtc.compile_cubin(KERNEL, "sm_90")
    assert 'pip install "sdfgad[cuda]"' in caught.value.todo


@pytest.mark.parametrize("content", [None, b"no library"])
def test_the_variable_overrides_what_is_installed(monkeypatch, tmp_path, content):
    file = tmp_path / "libnvrtc.so"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv(nvrtc.VARIABLE, str(file))
    with pytest.raises(DeviceError, match=re.escape(str(file))) as caught:
        nvrtc.version()
    assert nvrtc.VARIABLE in caught.value.todo


def test_a_library_of_another_kind_is_none(monkeypatch):
    monkeypatch.setenv(nvrtc.VARIABLE, "libm.so.6")
    with pytest.raises(DeviceError, match="nvrtcGetErrorString"):
        nvrtc.version()


def test_wheels_come_before_the_system(monkeypatch, tmp_path):
    package = tmp_path / "nvidia"
    for folder, name in (("cuda_nvrtc/lib", "libnvrtc.so.12"), ("cu13/lib", "libnvrtc.so.13")):
        (package / folder).mkdir(parents=True)
        (package / folder / name).touch()
    monkeypatch.syspath_prepend(tmp_path)
    found = [*nvrtc._candidates()]
    assert found[0].endswith("nvidia/cu13/lib/libnvrtc.so.13")
    assert str(package / "cuda_nvrtc/lib/libnvrtc.so.12") in found
    assert found[-2:] == [*nvrtc.SONAMES]
