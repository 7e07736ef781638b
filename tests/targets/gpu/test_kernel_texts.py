"""Operations in kernels: NVRTC compiles the text of each of them, for all dtypes that it has on the CPU."""

from collections import defaultdict

import numpy as np
import pytest

from sdfgad.ir.expr import Lin, Op, Read
from sdfgad.ir.ops import OPERATIONS
from sdfgad.runtime.gpu import nvrtc
from sdfgad.targets.cpu.accumulators import Accumulator
from sdfgad.targets.cpu.cpp import TYPES, Writer, cpp_type
from tests.helpers_nvrtc import needs_nvrtc
from tests.helpers_tiers import some
from tests.sdfg.test_tasklet import SIGNATURES

pytestmark = needs_nvrtc
DTYPES = [np.dtype(name) for name in TYPES]
CASES = defaultdict(list)
for (name, inputs), output in SIGNATURES.items():
    CASES[name].append((inputs, output))
CASES["cast"] = [((old,), new) for old in DTYPES for new in DTYPES if old != new]
SLOW = [name for name in CASES if OPERATIONS[name].is_slow and not OPERATIONS[name].is_vectorised]
ARCHITECTURES = ["sm_90", "sm_80"]
INDEX = (Lin.symbol("i"),)


def kernel(name, operation, inputs, output, is_eager):
    """A kernel of one operation; all operands are elements of arrays."""
    writer = Writer(
        lambda read: f"sdfgad::is_set({read.buffer}[i])" if read.dtype.kind == "b" else f"{read.buffer}[i]",
        lambda _: is_eager,
    )
    operands = tuple(Read(f"b{k}", INDEX, dtype) for k, dtype in enumerate(inputs))
    value = writer.value(Op(operation, operands, output))
    parameters = [f"const {cpp_type(dtype)}* __restrict__ b{k}" for k, dtype in enumerate(inputs)]
    lines = ["const int64_t i = threadIdx.x;", *writer.lines, f"out[i] = {value};"]
    return (
        f'extern "C" __global__ void {name}({cpp_type(output)}* out, {", ".join(parameters)}) {{ {" ".join(lines)} }}'
    )


def text_of(operation):
    """A text with a kernel for each dtype, and another one where speculative evaluation has a text of its own."""
    lines = ['#include "kernel.h"']
    for k, (inputs, output) in enumerate(CASES[operation]):
        plain, eager = (kernel(f"k{k}", operation, inputs, output, is_eager) for is_eager in (False, True))
        lines += [plain] if eager == plain else [plain, eager.replace(f"k{k}(", f"k{k}_eager(", 1)]
    return "\n".join(lines)


def compiles(operations, architecture):
    for operation in operations:
        cubin, _ = nvrtc.compile_cubin(text_of(operation), architecture)
        assert cubin.startswith(b"\x7fELF"), operation


def test_there_are_kernels_of_all_operations():
    assert {*CASES} == {*OPERATIONS}
    assert "k0_eager" in text_of("select")


@pytest.mark.slow
@pytest.mark.parametrize("architecture", some(ARCHITECTURES, 2))
@pytest.mark.parametrize("part", range(4))
def test_elementary_operations(part, architecture):
    compiles([name for name in CASES if name not in SLOW][part::4], architecture)


@pytest.mark.long
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("part", range(8))
def test_special_functions(part, architecture):
    compiles(SLOW[part::8], architecture)


@pytest.mark.parametrize("architecture", some(ARCHITECTURES, 2))
def test_the_functions_that_libraries_of_the_cpu_have(architecture):
    compiles(["round_decimals", "bessel_jv", "gammaln"], architecture)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_sums_and_masks(dtype):
    total = Accumulator(np.dtype(dtype), "total_")
    type_ = TYPES[dtype]
    lines = [
        '#include "kernel.h"',
        f'extern "C" __global__ void sum({type_}* out, const {type_}* x, bool* mask, int64_t n) {{',
        *total.begin(f"{type_}(0)"),
        "for (int64_t i = 0; i < n; ++i) {",
        *total.add("x[i]"),
        "sdfgad::byte(mask[i]) = sdfgad::is_set(mask[i]) || i == 3;",
        f"}} out[0] = {total.value}; }}",
    ]
    assert nvrtc.compile_cubin("\n".join(lines), "sm_90")[0]


def test_constants_and_attributes():
    text = """#include "kernel.h"
    [[gnu::noinline]] SDFGAD_WIDE static void step(double* __restrict__ x, const int64_t i) { x[i] += INFINITY; }
    struct alignas(16) Pair { double a, b; };
    extern "C" __global__ void k(double* __restrict__ x, Pair* p, uint8_t* u, int32_t* v, int64_t n) {
        __shared__ Pair local[32];
        #pragma omp simd
        for (int64_t i = 0; i < n; ++i) step(x, i);
        local[threadIdx.x] = {NAN, double(std::numeric_limits<int64_t>::min())};
        __syncthreads();
        p[threadIdx.x] = local[31 - threadIdx.x];
        u[0] = uint8_t(std::numeric_limits<uint8_t>::max());
        v[0] = std::max(int32_t(n), std::numeric_limits<int32_t>::lowest());
    }"""
    assert nvrtc.compile_cubin(text, "sm_90")[0]
