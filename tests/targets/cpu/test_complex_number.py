"""Complex arithmetic in generated loops: vectorised, it is still what its formulas say.

Loops of random expressions are generated, compiled as programs are, and run for all lengths up to 33, so that every
number of vectors and every rest comes up. But for sums, results are compared bit by bit with the same formulas in
NumPy, on real and imaginary parts.
"""

import ctypes
import subprocess
import warnings

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import BOOL, Lin, Op, Read
from sdfgad.ir.program import Access, Buffer, Compute, Loop
from sdfgad.runtime.compiler import INCLUDE, Level, compiler, libraries
from sdfgad.targets.cpu.nests import nest_of

PROGRAMS = 24
LONGEST = 33
I, N = Lin.symbol("i"), Lin.symbol("n")
ARRAYS = ("a", "b", "c", "first", "second", "sum", "mask")
UNARY, BINARY = ("negative", "conjugate", "square", "reciprocal"), ("add", "subtract", "multiply", "divide")


def single(number):
    """Whether a program is one of complex64."""
    return number % 4 == 3


def has_length(number):
    """Whether a program's first array gets absolute values."""
    return number % 3 == 0


def compared(number):
    """Arrays whose values are certain; the second may amplify what differs in the first."""
    return [name for name in ARRAYS[:5] if name != "second" or not has_length(number)]


def real_of(dtype):
    return np.empty(0, dtype).real.dtype


def expression(rng, leaves, depth):
    """A random complex expression."""

    def pick():
        return expression(rng, leaves, depth - 1)

    kind = rng.integers(8) if depth else 7
    dtype = leaves[0].dtype
    if kind < 2:
        return Op(str(rng.choice(UNARY)), (pick(),), dtype)
    if kind < 5:
        return Op(str(rng.choice(BINARY)), (pick(), pick()), dtype)
    if kind == 5:
        parts = [Op(str(rng.choice(["real", "imag"])), (pick(),), real_of(dtype)) for _ in range(2)]
        return Op("complex", tuple(parts), dtype)
    if kind == 6:
        return Op("select", (Read("mask", (I,), BOOL), pick(), pick()), dtype)
    return leaves[rng.integers(len(leaves))]


def program(number):
    """A loop that writes along memory, with gaps, in place, and adds up."""
    rng = np.random.default_rng(number)
    dtype = np.dtype(np.complex64 if single(number) else np.complex128)
    places = [("a", I), ("b", I), ("b", N - 1 - I), ("c", I.scaled(2)), ("c", I.scaled(3) + 1), ("c", Lin(0))]
    leaves = [Read(name, (place,), dtype) for name, place in places]
    x, y = expression(rng, leaves, 4), expression(rng, leaves, 3)
    length = Op("complex", (Op("absolute", (x,), real_of(dtype)), Op("imag", (y,), real_of(dtype))), dtype)
    writes = [
        Compute((), Access("first", (I,)), length if has_length(number) else x),
        Compute((), Access("second", (I.scaled(2) + 1,)), expression(rng, [*leaves, Read("first", (I,), dtype)], 3)),
        Compute((), Access("a", (I,)), expression(rng, leaves, 4)),
        Compute((), Access("sum"), expression(rng, leaves, 3), "add"),
    ]
    return dtype, Loop("i", N, tuple(writes[: 3 + number % 2]), (I, N - 1 - I), is_parallel=True)


def buffers(dtype):
    sizes = {name: () if name == "sum" else (Lin(4 * LONGEST),) for name in ARRAYS}
    return {name: Buffer(name, shape, BOOL if name == "mask" else dtype) for name, shape in sizes.items()}


def wrapper(number):
    """C++ of a program's loop, and a function that calls it with all arrays."""
    dtype, loop = program(number)
    nest = nest_of((loop,), f"nest_{number}", buffers(dtype), ARRAYS)
    scalar = "sdfgad::complex<float>" if single(number) else "sdfgad::complex<double>"
    passed = {name: f"({'bool' if name == 'mask' else scalar}*)arrays[{k}]" for k, name in enumerate(ARRAYS)}
    passed["sum"] = f"*{passed['sum']}, {passed['sum']}"
    found = [passed[name] for name in nest.passed]
    return (
        f'{nest.code}\nextern "C" void run_{number}(void** arrays, int64_t n) {{ {nest.name}({", ".join(found)}, n); }}'
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("complex")
    source, target = folder / "programs.cpp", folder / "programs.so"
    headers = '#include <algorithm>\n#include "sdfgad.h"\n'
    source.write_text(headers + "\n".join(wrapper(number) for number in range(PROGRAMS)))
    options = ["-shared", f"-I{INCLUDE}", str(source), "-o", str(target), *libraries()]
    subprocess.run([*compiler(), *Level.OPTIMISED.flags, *options], check=True)
    return ctypes.CDLL(str(target))


def drawn(rng, dtype, is_special):
    """Values of the arrays, with zeros, infinities and NaN if `is_special`."""

    made = {}
    for name in ARRAYS[:5]:
        parts = rng.standard_normal((4 * LONGEST, 2))
        if is_special:
            special = rng.choice([0.0, -0.0, 1.0, np.inf, np.nan], parts.shape)
            parts = np.where(rng.random(parts.shape) < 0.2, special, parts)
        made[name] = parts.astype(real_of(dtype)).view(dtype).ravel()
    made["sum"] = np.full(1, 0.5 - 2j, dtype)
    made["mask"] = rng.random(4 * LONGEST) < 0.5
    return made


# --- the formulas, on pairs of arrays


def times(a, b):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def over(a, b):
    """NumPy's quotient: scaled by the larger part of the divisor."""
    one = b[0].dtype.type(1)
    x, y = np.abs(b[0]), np.abs(b[1])
    r = b[1] / b[0]
    s = one / (b[0] + b[1] * r)
    wide = (a[0] + a[1] * r) * s, (a[1] - a[0] * r) * s
    r = b[0] / b[1]
    s = one / (b[1] + b[0] * r)
    high = (a[0] * r + a[1]) * s, (a[1] * r - a[0]) * s
    zero = a[0] / x, a[1] / x
    return tuple(
        np.where((x == 0) & (y == 0), z, np.where(x >= y, w, h)) for z, w, h in zip(zero, wide, high, strict=True)
    )


FORMULAS = {
    "negative": lambda a: (-a[0], -a[1]),
    "conjugate": lambda a: (a[0], -a[1]),
    "square": lambda a: times(a, a),
    "reciprocal": lambda a: over((np.ones_like(a[0]), np.zeros_like(a[0])), a),
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "subtract": lambda a, b: (a[0] - b[0], a[1] - b[1]),
    "multiply": times,
    "divide": over,
    "real": lambda a: a[0],
    "imag": lambda a: a[1],
    "absolute": lambda a: np.hypot(a[0], a[1]),
    "complex": lambda x, y: (x, y),
    "select": lambda m, a, b: (np.where(m, a[0], b[0]), np.where(m, a[1], b[1])),
}


def value(node, arrays, n):
    """An expression for i = 0, …, n - 1."""
    if isinstance(node, Op):
        return FORMULAS[node.name](*(value(arg, arrays, n) for arg in node.args))
    found = arrays[node.buffer][positions(node.index[0], n)]
    return found if node.dtype == BOOL else (found.real, found.imag)


def positions(lin, n):
    return lin.coefficient("i") * np.arange(n) + lin.coefficient("n") * n + lin.const


def expected(loop, arrays, n):
    arrays = {name: x.copy() for name, x in arrays.items()}
    largest = 0.0
    for statement in loop.body:
        re, im = value(statement.value, arrays, n)
        name = statement.target.buffer
        if name == "sum":
            largest = float(np.sum(np.abs(re)) + np.sum(np.abs(im)))
            arrays[name][0] += complex(np.sum(re, dtype=float), np.sum(im, dtype=float))
        else:
            place = positions(statement.target.index[0], n)
            arrays[name].real[place], arrays[name].imag[place] = re, im
    return arrays, largest


@pytest.mark.parametrize("is_special", [False, True])
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_loops_compute_what_they_say(library, number, is_special):
    dtype, loop = program(number)
    rng = np.random.default_rng((number, is_special))
    for n in range(1, LONGEST + 1):
        arrays = drawn(rng, dtype, is_special)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted, largest = expected(loop, arrays, n)
        pointers = (ctypes.c_void_p * len(ARRAYS))(*(arrays[name].ctypes.data for name in ARRAYS))
        library[f"run_{number}"](pointers, ctypes.c_int64(n))
        for name in compared(number):
            # The vector hypot differs from the scalar one in the last places.
            tolerance = 8 * np.finfo(dtype).eps if name == "first" and has_length(number) else 0
            for found, right in zip(parts(arrays[name]), parts(wanted[name]), strict=True):
                np.testing.assert_allclose(found, right, rtol=tolerance, atol=0, err_msg=f"{name}, n = {n}")
        if not is_special:
            error = abs(arrays["sum"][0] - wanted["sum"][0])
            assert error <= 1e2 * np.finfo(dtype).eps * (largest + 3)


def parts(z):
    return z.real, z.imag


def test_products_and_quotients_are_those_of_numpy():
    """The formulas above are NumPy's, with which they share infinities and NaN."""
    rng = np.random.default_rng(3)
    arrays = drawn(rng, np.dtype(np.complex128), True)
    a, b = arrays["a"], arrays["b"]
    with np.errstate(all="ignore"):
        for formula, function in ((times, np.multiply), (over, np.divide)):
            found, right = formula(parts(a), parts(b)), parts(function(a, b))
            for x, y in zip(found, right, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-14)


def exponentials(z):
    return np.exp(z)


SPECIAL = [0.0, -0.0, 1.5, -1.5, 709.9, -709.9, 720.0, 1000.0, -1000.0, 1e-300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_exponentials_are_those_of_numpy(dtype):
    """Of any numbers, in vectors and in what is left over."""
    rng = np.random.default_rng(5)
    z = np.array([complex(x, y) for x in SPECIAL for y in SPECIAL] + list(rng.normal(size=50) * 20j + 3), dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.exp(z)
        for n in (len(z), len(z) - 1, len(z) - 3):
            found = sdfgad.differentiate(exponentials).value(z[:n].copy())
            for x, y in zip(parts(np.asarray(found)), parts(wanted[:n]), strict=True):
                np.testing.assert_allclose(x, y, rtol=32 * np.finfo(dtype).eps, atol=0)
