"""Big blocks of memory are kept for later arrays and calls, within bounds."""

import copy
import gc
import os
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, CompilerError, OutOfMemory
from sdfgad.runtime import pool

ROOT = Path(sdfgad.__file__).parent.parent
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _empty_pool():
    sdfgad.release_memory()
    yield
    sdfgad.release_memory()


def block(size):
    return pool.empty((size,), np.dtype(np.uint8))


def address(array):
    return array.__array_interface__["data"][0]


# --- arrays


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i8", "i4", "u1", "?"])
@pytest.mark.parametrize("shape", [(3, 1 << 20), (1 << 19, 1, 2), (5,), (), (0, 7)])
def test_arrays_are_ordinary(shape, dtype):
    array = pool.empty(shape, np.dtype(dtype))
    assert type(array) is np.ndarray
    assert (array.shape, array.dtype) == (shape, np.dtype(dtype))
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.flags.aligned
    assert array.nbytes < pool.SMALLEST or address(array) % 64 == 0
    array[...] = 1
    for other in (copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array)), array + 0):
        np.testing.assert_array_equal(other, np.ones(shape))
        assert not np.shares_memory(array, other)


def test_small_arrays_are_numpys():
    before = pool.state()
    array = block(pool.SMALLEST - 1)
    assert array.flags.owndata
    assert pool.state() == before


def test_memory_returns_with_the_last_view():
    before = pool.state().in_use
    array = block(4 * MIB)
    views = [array[5:], array.reshape(2, -1).T[3], memoryview(array), np.asarray(array, dtype=np.uint8)]
    array[:] = 7
    del array
    while views:
        assert pool.state().in_use == before + 4 * MIB
        assert np.asarray(views.pop())[-1] == 7
    assert pool.state().in_use == before


def test_arrays_that_cannot_be_had():
    for size in (1 << 60, 1 << 70):
        with pytest.raises(OutOfMemory):
            block(size)
    before = pool.state()
    block(MIB)[:] = 1
    assert pool.state().in_use == before.in_use


# --- what is kept


def test_a_block_is_handed_out_again():
    where = address(block(MIB))
    before = pool.state().ever_mapped
    again = block(MIB)
    assert address(again) == where
    assert pool.state().ever_mapped == before


@pytest.mark.parametrize("parts", [[0.9, 0.1], [0.5, 0.25, 0.25], [0.1] * 10])
def test_blocks_are_split_and_joined_again(parts):
    where = address(block(8 * MIB))
    before = pool.state().ever_mapped
    arrays = [block(int(8 * MIB * part) // 4096 * 4096) for part in parts]
    assert address(arrays[0]) == where
    for k, array in enumerate(arrays):
        array[:] = k
    assert all((array == k).all() for k, array in enumerate(arrays))
    while arrays:
        arrays.pop(len(arrays) // 2)
        del array
        array = None
    assert address(block(8 * MIB)) == where
    assert pool.state().ever_mapped == before


def test_the_best_block_is_taken():
    sizes = [MIB * 34 // 32, MIB, MIB * 33 // 32]
    block(8 * MIB)  # The others are parts of it, side by side; those between keep them apart.
    arrays = [block(size) for size in sizes for size in (size, MIB // 2)]
    where = dict(zip(sizes, map(address, arrays[::2]), strict=True))
    del arrays[::2]
    kept = [block(size) for size in sorted(sizes)]
    assert [address(array) for array in kept] == [where[size] for size in sorted(sizes)]


def test_idle_blocks_make_room():
    start = pool.state().mapped
    first = block(4 * MIB)
    del first
    second = block(6 * MIB)
    assert pool.state().mapped == start + 6 * MIB
    assert pool.state().idle == 0
    del second
    assert pool.state().idle == 6 * MIB


def test_only_what_exceeds_makes_room():
    start = pool.state().mapped
    large = block(8 * MIB)
    del large
    a = block(8 * MIB - MIB // 2)  # In the large one, of which the end stays idle.
    a[:] = 3
    assert pool.state().idle == MIB // 2
    b = block(MIB)
    b[:] = 4
    assert pool.state().mapped == start + 8 * MIB + MIB // 2
    assert (a == 3).all()
    assert (b == 4).all()


def test_more_is_mapped_unless_there_is_a_limit():
    pool.relax()
    limit = 20 * MIB + pool.state().in_use  # Other tests may hold arrays.
    block(16 * MIB + MIB // 2)  # The others are parts of it, side by side.
    del (arrays := [block(8 * MIB), block(MIB // 2), block(8 * MIB)])[::2]
    arrays.append(block(12 * MIB))  # It fits into neither.
    assert pool.state().idle == 16 * MIB
    pool.shrink(limit)
    assert pool.state().mapped <= limit
    arrays.append(block(7 * MIB + MIB // 2))
    assert pool.state().mapped <= limit


def test_no_more_is_mapped_than_was_ever_in_use():
    rng = random.Random(0)
    held, most = [], 0
    for _ in range(2000):
        if held and rng.random() < 0.5:
            array, value = held.pop(rng.randrange(len(held)))
            assert array[0] == array[-1] == value
        else:
            array, value = block(int(rng.choice([0.1, 0.2, 0.3, 1, 1.02, 2, 2.1, 3, 8]) * MIB)), rng.randrange(256)
            array[0] = array[-1] = value
            held.append((array, value))
        del array
        state = pool.state()
        most = max(most, state.in_use)
        assert state.in_use + state.idle == state.mapped <= most
    while len(held) > 4:
        held.pop()
    pool.shrink(40 * MIB)
    state = pool.state()
    assert state.mapped <= max(40 * MIB, state.in_use)


def test_release_gives_everything_back():
    del (arrays := [block(MIB) for _ in range(4)])[1:]
    assert pool.state().idle == 3 * MIB
    arrays[0][:] = 9
    sdfgad.release_memory()
    assert pool.state().idle == 0
    assert (arrays[0] == 9).all()


def test_threads_do_not_share_blocks():
    wrong = []

    def work(number):
        rng = random.Random(number)
        for _ in range(200):
            array = block(rng.choice([MIB // 2, MIB // 2 + 9000, MIB]))
            array[::4096] = number
            if not (array[::4096] == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


FORK = """
import os, threading, warnings
import numpy as np
from sdfgad.runtime import pool
warnings.simplefilter("ignore")  # Of threads and fork.
kept = pool.empty((1 << 20,), np.dtype(np.uint8))
kept[:] = 5
done = False
def work():
    while not done:
        pool.empty((1 << 19,), np.dtype(np.uint8))
threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads: t.start()
codes = []
for k in range(20):
    child = os.fork()
    if child == 0:
        array = pool.empty((1 << 20,), np.dtype(np.uint8))
        array[:] = 1
        right = (kept == 5).all()
        kept[:] = 6
        os._exit(0 if right else 1)
    codes.append(os.waitpid(child, 0)[1])
done = True
for t in threads: t.join()
assert codes == [0] * 20 and (kept == 5).all(), codes
pool.empty((1 << 20,), np.dtype(np.uint8))
print(pool.state().idle)
"""


def in_a_new_process(text, **variables):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-c", text]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=60, check=False)


def test_processes_may_fork():
    done = in_a_new_process(FORK)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= MIB


def test_the_environment_says_how_much_is_kept(monkeypatch):
    assert in_a_new_process(FORK, SDFGAD_POOL_BYTES="0").stdout.strip() == "0"
    monkeypatch.setenv("SDFGAD_POOL_BYTES", "much")
    with pytest.raises(ArgumentError, match="SDFGAD_POOL_BYTES='much' is no number of bytes"):
        pool._library.__wrapped__()


# --- compiled programs


def waves(x):
    a = np.sin(x)
    b = a * x
    a[1:] = a[1:] * b[:-1]
    return np.sum(a * b)


def test_programs_share_what_they_leave():
    x = np.linspace(0.0, 1.0, 1 << 17)
    g, h = sdfgad.differentiate(waves, wrt="x"), sdfgad.differentiate(lambda x: np.sum(np.exp(x) * x), wrt="x")
    first, copied = g(x), g(x).copy()
    before = pool.state().ever_mapped
    second = g(2 * x)
    np.testing.assert_array_equal(first, copied)
    np.testing.assert_array_equal(g(x), copied)
    h(x)
    assert pool.state().ever_mapped - before <= 2 * x.nbytes
    assert not np.shares_memory(first, second)
    held = pool.state().in_use
    del first
    assert pool.state().in_use == held - x.nbytes


FAULTS = """
import ctypes, resource, sys
import numpy as np
import sdfgad

sys.path.insert(0, ".")
from tests.runtime.test_pool import small_tapes

libc = ctypes.CDLL(None)
libc.mallopt(-1, 0)  # M_TRIM_THRESHOLD: what is free at the end of the heap is given back at once,
libc.mallopt(-3, 1 << 17)  # M_MMAP_THRESHOLD: and what is larger, whatever the process allocated before.
g, x = sdfgad.differentiate(small_tapes, wrt="x"), np.linspace(0.1, 1.0, 12000)
for _ in range(3):
    g(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    g(x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def small_tapes(x):
    u = x * 1.0
    for _ in range(40):
        u[1:-1] = np.sin(u[1:-1] * u[2:]) + u[:-2] * x[1:-1]
    return np.sum(u * u)


def test_arrays_of_a_few_pages_are_kept_whatever_malloc_does():
    done = in_a_new_process(FAULTS)
    assert done.returncode == 0, done.stderr
    # Each call holds some 4 MB: a thousand pages.
    assert int(done.stdout) < 20 * 30


def test_a_limit_counts_what_is_idle():
    x = np.linspace(0.0, 1.0, 1 << 17)
    block(64 * MIB)
    g = sdfgad.differentiate(waves, wrt="x", memory_limit=12 * MIB)
    assert pool.state().idle >= 64 * MIB
    measured = g.measure(x, repeats=1)
    assert pool.state().mapped <= 12 * MIB - x.nbytes
    assert measured.peak_bytes <= 12 * MIB


def test_a_block_without_a_pool_ends_quietly(monkeypatch):
    def fails():
        raise CompilerError("no compiler")

    monkeypatch.setattr(pool, "_library", fails)
    with pytest.raises(CompilerError):
        block(MIB)
    gc.collect()  # What a destructor raises is a warning, and so an error here.
