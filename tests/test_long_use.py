"""One process that goes on for long, and threads that share a gradient."""

import gc
import os
import statistics
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sdfgad


def powers(x, w, n):
    for _ in range(n):
        x = np.tanh(w @ x) * x
    return np.sum(x * x)


def sines(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x)


def cubes(x):
    return np.sum(x * x * x)


def held():
    """Bytes of memory, and open files."""
    gc.collect()
    sdfgad.release_memory()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE"), len(os.listdir("/proc/self/fd"))


def test_ten_thousand_calls_take_no_more_and_no_longer():
    """Of several sizes of integers, kept and gone results, and with the value or without."""
    rng = np.random.default_rng(1)
    x, w = rng.random(30), rng.random((30, 30)) / 30
    g = sdfgad.differentiate(powers, wrt=("x", "w"))
    expected = {n: g(x, w, n) for n in range(1, 6)}
    seconds: list[float] = []

    def call(k):
        start = time.perf_counter()
        found = g.value_and_grad(x, w, k % 5 + 1)[1] if k % 2 else g(x, w, k % 5 + 1)
        seconds.append(time.perf_counter() - start)
        return found

    for k in range(1000):
        call(k)
    memory, files = held()
    for k in range(1000, 11_000):
        found = call(k)
    for one, other in zip(found, expected[10_999 % 5 + 1], strict=True):
        np.testing.assert_array_equal(one, other)
    after, files_after = held()
    assert files_after == files
    assert after - memory < 4 << 20
    first, last = statistics.median(seconds[1000:3000]), statistics.median(seconds[-2000:])
    assert last < 2 * first


@pytest.mark.long
def test_signatures_do_not_pile_up():
    """Each is compiled; of what remains, a library is the most."""
    g = sdfgad.differentiate(cubes, wrt="x")
    sizes = range(1, 1 + int(os.environ.get("SDFGAD_TEST_SIGNATURES", "40")))
    seconds, memory = [], []
    for size in sizes:
        x = np.linspace(0.0, 1.0, size)
        start = time.perf_counter()
        np.testing.assert_allclose(g(x), 3 * x * x, rtol=1e-13)
        seconds.append(time.perf_counter() - start)
        memory.append(held())
    quarter = len(sizes) // 4
    grown = (memory[-1][0] - memory[quarter][0]) / (len(sizes) - quarter)
    assert grown < 1 << 20, f"{grown:.0f} bytes a signature"
    assert memory[-1][1] == memory[quarter][1]
    assert statistics.median(seconds[-quarter:]) < 2 * statistics.median(seconds[quarter : 2 * quarter])
    again = time.perf_counter()
    for size in sizes:
        g(np.linspace(0.0, 1.0, size))
    assert time.perf_counter() - again < statistics.median(seconds) * len(sizes) / 10


def test_eight_threads_at_once():
    """The same gradient and others, first calls included, with results of each thread's own arguments."""
    gradients = [sdfgad.differentiate(sines, wrt="x"), sdfgad.differentiate(cubes, wrt="x")]
    wrong: list[str] = []
    ready = threading.Barrier(8)

    def work(number):
        x = np.linspace(0.1, 1.0, 500 + number % 2) * (number + 1) / 8
        ready.wait()
        for k in range(200):
            n = k % 4 + 1
            if not np.allclose(gradients[0](x, n), of_sines(x, n), rtol=1e-10, atol=1e-12):
                wrong.append(f"thread {number}, call {k}")
            if not np.allclose(gradients[1](x), 3 * x * x, rtol=1e-12):
                wrong.append(f"thread {number}, call {k} of the other")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def of_sines(x, n):
    """By the chain rule."""
    bar = np.ones_like(x)
    for _ in range(n):
        bar, x = bar * (np.cos(x) * x + np.sin(x)), np.sin(x) * x
    return bar


def test_python_goes_on_while_compiled_code_runs():
    """Another thread counts meanwhile: with the GIL held, it would not come to its turn at all."""
    x = np.linspace(0.1, 1.0, 100_000)
    g = sdfgad.differentiate(sines, wrt="x")
    g(x, 100)
    calls: list[tuple[float, float]] = []
    ticks: list[float] = []

    def call():
        start = time.perf_counter()
        g(x, 400)
        calls.append((start, time.perf_counter()))

    thread = threading.Thread(target=call)
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    thread.join()
    ((start, end),) = calls
    within = sum(start < tick < end for tick in ticks)
    assert end - start > 0.05, "not a test"
    assert within > 10
