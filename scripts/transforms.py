"""Times the Fourier transforms of `fourier.h` beside NumPy's, and prints a table in Markdown."""

import argparse
import ctypes
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sdfgad.runtime.compiler import INCLUDE, Level, command_for, run

SHAPES = (
    *((64,), (256,), (1024,), (4096,), (65536,), (1 << 20,), (1000,), (3**7,), (5**5,), (7**4,), (1009,), (10007,)),
    *((1000, 64), (1000, 60), (1000, 97), (1000, 1024), (64, 64), (100, 100), (97, 97), (256, 256), (1024, 1024)),
    *((30, 30, 30), (64, 64, 64), (128, 128, 128)),
)
# Of these the last axis alone is transformed.
BATCHES = {(1000, 64), (1000, 60), (1000, 97), (1000, 1024)}
LEAST = 0.02


def library(folder: Path) -> ctypes.CDLL:
    target = folder / "transforms.so"
    source = Path(__file__).with_suffix(".cpp")
    run(command_for(source, target, Level.OPTIMISED, (f"-I{INCLUDE}", "-USDFGAD_SEPARATE")))
    return ctypes.CDLL(str(target))


def lines(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def call(function: Callable, source: np.ndarray, target: np.ndarray, sizes: tuple[int, int, int]) -> np.ndarray:
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (source, target))
    function(*pointers, *map(ctypes.c_int64, sizes))
    return target


def complex_case(ours: ctypes.CDLL, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Callable, Callable]:
    """Our and NumPy's transform of all axes, or of the last one of a batch."""
    x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    buffers = np.empty_like(x), np.empty_like(x)
    axes = [len(shape) - 1] if shape in BATCHES else list(range(len(shape)))

    def transform() -> np.ndarray:
        source = x
        for number, axis in enumerate(axes):
            source = call(ours.of_complex, source, buffers[number % 2], lines(shape, axis))
        return source

    return transform, lambda: np.fft.fftn(x, axes=axes)


def real_case(ours: ctypes.CDLL, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Callable, Callable]:
    x, sizes = rng.standard_normal(shape), lines(shape, len(shape) - 1)
    spectrum = np.empty((*shape[:-1], shape[-1] // 2 + 1), complex)
    return lambda: call(ours.of_real, x, spectrum, sizes), lambda: np.fft.rfft(x)


def inverse_case(ours: ctypes.CDLL, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Callable, Callable]:
    n, sizes = shape[-1], lines(shape, len(shape) - 1)
    spectrum, x = np.fft.rfft(rng.standard_normal(shape)), np.empty(shape)
    return lambda: call(ours.to_real, spectrum, x, sizes), lambda: np.fft.irfft(spectrum, n, norm="forward")


def seconds(function: Callable) -> float:
    started, calls = time.perf_counter(), 0
    while time.perf_counter() - started < LEAST:
        function()
        calls += 1
    return (time.perf_counter() - started) / calls


def ratio(ours: Callable, numpys: Callable, rounds: int) -> tuple[float, float]:
    """Our time in microseconds, and NumPy's in terms of it: medians of rounds in turn.

    Raises:
        AssertionError: the results differ.
    """
    np.testing.assert_allclose(ours(), numpys(), rtol=1e-9, atol=1e-9 * np.abs(numpys()).max())
    pairs = [(seconds(ours), seconds(numpys)) for _ in range(rounds)]
    return 1e6 * float(np.median([a for a, _ in pairs])), float(np.median([b / a for a, b in pairs]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-r", "--rounds", type=int, default=5, help="rounds of both in turn (default: 5)")
    rounds = parser.parse_args().rounds
    print("| shape | complex, µs | NumPy/ours | real, µs | NumPy/ours | to real, µs | NumPy/ours |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        ours, rng = library(Path(folder)), np.random.default_rng(0)
        for shape in SHAPES:
            cells = [ratio(*case(ours, shape, rng), rounds) for case in (complex_case, real_case, inverse_case)]
            text = " | ".join(f"{time:.0f} | {quotient:.2f}" for time, quotient in cells)
            name = " x ".join(map(str, shape)) + (" (rows)" if shape in BATCHES else "")
            print(f"| {name} | {text} |", flush=True)


if __name__ == "__main__":
    main()
