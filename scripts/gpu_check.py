"""Checks of the device: the gradients of NPBench's programs on a GPU against those of the CPU, and what they take.

    python -m scripts.gpu_check --preset test --processes 8        # on a GPU
    python -m scripts.gpu_check --emulate                          # without one

For each program: the largest difference from the CPU's gradients, relative to the largest element; whether further runs
have the same bits; the seconds of a run whose arrays are on the device, and of the CPU's.
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

# The largest difference from the CPU's gradients, in double and in single precision.
LIMITS = {8: 1e-9, 4: 1e-3}


@dataclass(frozen=True)
class Row:
    """What was found for a program.

    Attributes:
        error: the largest difference, relative to the gradient's largest element.
        repeats: whether all runs had the same bits.
        seconds: of a run on the device, of a call with NumPy's arrays, of the first call, and of a call on the CPU.
        failure: the exception, if there was one.
    """

    name: str
    error: float = float("nan")
    repeats: bool = False
    seconds: tuple[float, ...] = ()
    is_right: bool = False
    failure: str = ""

    def __str__(self) -> str:
        if self.failure:
            return f"{self.name:26} FAILED {self.failure}"
        state = "right" if self.is_right and self.repeats else "WRONG"
        same = "same bits" if self.repeats else "OTHER BITS"
        return f"{self.name:26} {state} {self.error:8.1e} {same} " + " ".join(f"{1e3 * s:9.3f}" for s in self.seconds)


def check(name: str, preset: str, runs: int) -> Row:
    """The row of a program; an exception is in it."""
    try:
        return _checked(name, preset, runs)
    except Exception as error:
        return Row(name, failure=f"{type(error).__name__}: {error}"[:1000])


def _checked(name: str, preset: str, runs: int) -> Row:
    import npbench_suite

    entry = npbench_suite.load(name)
    arguments, cotangent = entry.arguments_for(preset), None
    found: dict[str, Any] = {}
    seconds: dict[str, list[float]] = {"cpu": [], "gpu": []}
    repeats = True
    for device in ("cpu", "gpu"):
        g = gradient_of(entry, device)
        cotangent = _cotangent(g, arguments) if cotangent is None else cotangent
        for _ in range(runs):
            given = copy.deepcopy(arguments)
            start = time.perf_counter()
            result = g.vjp(*given, cotangent=cotangent)
            seconds[device].append(time.perf_counter() - start)
            repeats &= device not in found or _same(found[device], result)
            found[device] = result
    error, is_right = _difference(found["cpu"], found["gpu"])
    inside = _seconds_inside(g, arguments, cotangent, runs)
    taken = (inside, min(seconds["gpu"][1:] or seconds["gpu"]), seconds["gpu"][0], min(seconds["cpu"]))
    return Row(name, error, repeats, taken, is_right)


def use_kernels() -> None:
    """Let programs run on the host only what has no form as a kernel."""
    from sdfgad.optimise.device import side

    side.SECONDS = side.KERNELS_ONLY


def use_blocks() -> None:
    """Let one block of threads run each sequential loop that it can."""
    from sdfgad.optimise.device import side

    side.SECONDS = side.BLOCKS_ONLY


def gradient_of(entry: Any, device: str) -> Any:
    import sdfgad

    return sdfgad.differentiate(
        entry.program,
        wrt=entry.arrays,
        output=entry.output,
        allow_unused=True,
        device=device,  # type: ignore[arg-type]
    )


def _cotangent(g: Any, arguments: tuple[Any, ...]) -> Any:
    rng = np.random.default_rng(1)
    _, specialisation = g._bind_and_specialise(arguments, {})
    shape, dtype = specialisation.output_shape, specialisation.output_dtype
    values = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0)
    return np.asarray(values).astype(dtype)


def _seconds_inside(g: Any, arguments: tuple[Any, ...], cotangent: Any, runs: int) -> float:
    """The seconds of a run whose arrays are on the device already."""
    call, one = g._bind_and_specialise(copy.deepcopy(arguments), {})
    layout = one.layout(call)
    built = one.built(layout)
    arrays, integers = one.marshalled(call, layout, built, cotangent, False)
    if built.counting is not None:
        return float("nan")
    return float(built.gradient_executable.seconds(arrays, integers, runs))


def _same(first: Any, second: Any) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True) if a is not None)


def _difference(expected: Any, found: Any) -> tuple[float, bool]:
    worst, is_right = 0.0, True
    for a, b in zip(expected, found, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        scale = float(np.max(np.abs(a), initial=0.0)) or 1.0
        error = float(np.max(np.abs(a - b), initial=0.0)) / scale
        worst = max(worst, error)
        is_right &= error <= LIMITS[a.real.dtype.itemsize]
    return worst, is_right


def main() -> int:
    """Check all programs, or those named; 0 if all are right."""
    import npbench_suite

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; all by default")
    parser.add_argument("--preset", default="test")
    parser.add_argument("--runs", type=int, default=3, help="calls of each gradient")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--emulate", action="store_true", help="run kernels in the emulation, without a device")
    parser.add_argument("--kernels", action="store_true", help="run loops as kernels where the host would be faster")
    parser.add_argument("--blocks", action="store_true", help="run sequential loops in one block of threads, likewise")
    parser.add_argument("--single", action="store_true", help="in this process, for tools such as compute-sanitizer")
    chosen = parser.parse_args()
    if chosen.emulate:
        os.environ["SDFGAD_EMULATE"] = "1"
    begin = use_kernels if chosen.kernels else use_blocks if chosen.blocks else None
    names = chosen.names or npbench_suite.names()
    print(f"{'program':26} state    error            device/ms   call/ms  first/ms    CPU/ms", flush=True)
    wrong = 0
    one = partial(check, preset=chosen.preset, runs=chosen.runs)
    with ExitStack() as stack:
        pool = None if chosen.single else ProcessPoolExecutor(chosen.processes, get_context("spawn"), begin)
        rows = map(one, names) if pool is None else stack.enter_context(pool).map(one, names)
        for row in rows:
            print(row, flush=True)
            wrong += not (row.is_right and row.repeats)
    print(f"{len(names) - wrong} of {len(names)} right")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
