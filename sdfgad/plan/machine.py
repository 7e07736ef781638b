"""Machine model (roofline): constants of this machine, measured once, that predict the run time of compiled code.

They are meant to be right within a factor of two or three: enough to decide whether to recompute a value or to store
it. NumPy's loops stand for compiled ones (C++ at -O3, vectorised, in one thread; large maps run in several). Where the
two are known to differ, in calls of libm and in the cost of starting a loop, the measurement is corrected.
"""

from __future__ import annotations

import functools
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from sdfgad.cache import build_lock, key_of, read, write

# Changes whenever what is measured does, so that older caches are not read.
VERSION = 6
# A call of a NumPy function costs about as much as starting this many compiled loops.
LOOPS_PER_CALL = 30
# No plausible machine is outside; a measurement may be, when the process was interrupted in the middle of it.
LIMITS = {
    "bytes_per_second": (1e9, 1e12),
    "cache_bytes_per_second": (1e9, 1e13),
    "cache_bytes": (1 << 17, 1 << 27),
    # Less is measured where the pages had just been released by somebody else.
    "fresh_seconds_per_byte": (3e-10, 1e-8),
    "operations_per_second": (2e8, 1e11),
    "transcendentals_per_second": (1e7, 2e9),
    "blas_flops_per_second": (5e8, 1e13),
    "statement_seconds": (1e-9, 1e-6),
}


@dataclass(frozen=True)
class Machine:
    """Constants that predict run times.

    Attributes:
        bytes_per_second: traffic with main memory, reads and writes together.
        cache_bytes_per_second, cache_bytes: the same with the cache of one core, and the size of that cache.
        fresh_seconds_per_byte: the extra cost of the first write to new memory, whose pages the kernel clears.
        operations_per_second: additions and multiplications of doubles, vectorised.
        transcendentals_per_second: calls of functions like exp and sin.
        blas_flops_per_second: floating-point operations of a large matrix product in doubles.
        statement_seconds: the fixed cost of a statement, however small.
    """

    bytes_per_second: float
    cache_bytes_per_second: float
    cache_bytes: float
    fresh_seconds_per_byte: float
    operations_per_second: float
    transcendentals_per_second: float
    blas_flops_per_second: float
    statement_seconds: float


def seconds(
    machine: Machine,
    *,
    points: int,
    operations: int,
    transcendentals: int,
    bytes: int,
    flops: int = 0,
    in_cache: bool = False,
) -> float:
    """Predict how long one statement runs.

    The roofline model (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009): computing and moving
    data overlap, so the slower of the two counts.

    Args:
        machine: the constants.
        points: how many points the statement runs at.
        operations: additions, multiplications and the like at each point.
        transcendentals: calls of exp, sin and the like at each point.
        bytes: what the whole statement reads and writes.
        in_cache: whether that is in the cache.
        flops: operations of the whole statement inside BLAS.
    """
    at_each = operations / machine.operations_per_second + transcendentals / machine.transcendentals_per_second
    computing = points * at_each + flops / machine.blas_flops_per_second
    rate = machine.cache_bytes_per_second if in_cache else machine.bytes_per_second
    return max(computing, bytes / rate) + machine.statement_seconds


@functools.cache
def machine() -> Machine:
    """The constants of this machine: measured on the first call ever, in a fraction of a second, then cached in a file.

    A cache that cannot be written is no error: they are measured, once in a process.
    """
    name = f"machine/{key_of([_processor(), str(os.cpu_count()), str(VERSION)])}"
    found = _parse(read(name))
    if found is not None:
        return found
    with build_lock(name):
        # Whoever comes second waits, rather than measure at the same time and be in the way of the first.
        return _parse(read(name)) or _measured(name)


def _measured(name: str) -> Machine:
    measured = _measure()
    write(name, json.dumps(asdict(measured)).encode())
    return measured


def _parse(text: bytes | None) -> Machine | None:
    return None if text is None else Machine(**json.loads(text))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _measure() -> Machine:
    measured = {
        "bytes_per_second": _copying(1 << 22, 15),  # 32 MiB, more than most caches hold.
        "cache_bytes_per_second": _copying(1 << 14, 101),  # 128 KiB.
        "cache_bytes": _cache_bytes(),
        "fresh_seconds_per_byte": _first_writing(),
        "operations_per_second": _calculating(),
        "transcendentals_per_second": _calling_libm(),
        "blas_flops_per_second": _multiplying_matrices(),
        "statement_seconds": _starting(),
    }
    return Machine(**{name: min(max(value, LIMITS[name][0]), LIMITS[name][1]) for name, value in measured.items()})


def _typical_seconds(run: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs, after one that is not counted: whatever else runs only makes them longer."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return max(min(times), 1e-9)  # A coarse clock may say zero.


def _copying(size: int, repeats: int) -> float:
    source = np.ones(size)
    target = np.empty_like(source)
    return 2 * source.nbytes / _typical_seconds(lambda: np.copyto(target, source), repeats)


def _cache_bytes() -> float:
    """The size of the second-level cache, as far as the system tells."""
    try:
        return float(os.sysconf("SC_LEVEL2_CACHE_SIZE"))
    except (OSError, ValueError):
        return float(1 << 20)


def _first_writing() -> float:
    """Seconds per byte by which writing new memory takes longer than writing it again.

    The mean over a few times, as in a process that calls a gradient a few times: the first is by far the slowest where
    the machine is a virtual one, which gets its memory from its host only then.
    """
    size, repeats = 1 << 23, 5
    start = time.perf_counter()
    for _ in range(repeats):
        np.empty(size).fill(1.0)
    new = (time.perf_counter() - start) / repeats
    touched = np.empty(size)
    return (new - _typical_seconds(lambda: touched.fill(1.0), repeats)) / touched.nbytes


def _calculating() -> float:
    x, y, z = (np.linspace(start, start + 1, 1 << 13) for start in (0.0, 1.0, 2.0))  # They stay in the cache.
    result = np.empty_like(x)

    def run() -> None:
        np.multiply(x, y, out=result)
        np.add(result, z, out=result)

    # Compiled code keeps what is between two operations in registers: it was measured to be twice as fast.
    return 2 * 2 * x.size / _typical_seconds(run, 101)


def _calling_libm() -> float:
    """The slower of exp and sin: NumPy vectorises one or both on some processors, and compiled code calls libm."""
    x = np.linspace(0.0, 1.0, 1 << 13)
    result = np.empty_like(x)
    slowest = max(
        _typical_seconds(lambda: np.exp(x, out=result), 51), _typical_seconds(lambda: np.sin(x, out=result), 51)
    )
    return x.size / slowest


def _multiplying_matrices() -> float:
    size = 512
    a, b = np.full((size, size), 0.5), np.full((size, size), 0.25)
    result = np.empty_like(a)
    return 2 * size**3 / _typical_seconds(lambda: np.matmul(a, b, out=result), 7)


def _starting() -> float:
    x = np.ones(1)
    return _typical_seconds(lambda: np.add(x, x, out=x), 1001) / LOOPS_PER_CALL
