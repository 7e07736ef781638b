"""The cache is bounded: what was not used for longest goes first, and nothing that is in use."""

import os
import time

import numpy as np
import pytest

import sdfgad
from sdfgad import cache
from sdfgad.cache import evict as module
from sdfgad.cache.evict import GRACE_SECONDS, SCAN_SECONDS, evict
from sdfgad.errors import ArgumentError, CacheError
from tests.helpers_cache import cache_with_headers

KIB = 1 << 10


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entry(name, size=64 * KIB, age=0.0):
    """An entry that was used last so many seconds ago."""
    path = cache.cache_folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    aged(path, age)
    return path


def aged(path, age):
    os.utime(path, (time.time() - age,) * 2)


def names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_the_least_recently_used_go_first(folder):
    for k in range(10):
        entry(f"layouts/ab/{k}", age=10_000 - 1000 * k if k != 3 else 1000)
    evict(folder, 640 * KIB)
    assert len(names(folder)) == 10  # As long as the bound is kept.
    evict(folder, 500 * KIB)
    # To nine tenths of the bound, so that not each new entry has all of them looked at.
    assert names(folder) == ["3", "4", "5", "6", "7", "8", "9"]


def test_being_found_or_read_is_being_used(folder, tmp_path):
    (tmp_path / "made").write_bytes(bytes(64 * KIB))
    for name in ("libraries/ab/1/x.so", "libraries/ab/2/x.so"):
        path = cache.publish(name, tmp_path / "made")
        for file in path.parent.iterdir():
            aged(file, 5000)
    for name in ("layouts/ab/3", "layouts/ab/4"):
        cache.write(name, bytes(64 * KIB))
        aged(folder / name, 5000)
    cache.find("libraries/ab/2/x.so")
    cache.read("layouts/ab/3")
    evict(folder, 200 * KIB)
    assert cache.find("libraries/ab/1/x.so") is None
    assert cache.find("libraries/ab/2/x.so") is not None
    assert cache.read("layouts/ab/3") is not None
    assert cache.read("layouts/ab/4") is None


def test_what_belongs_together_goes_together(folder):
    for name in ("program.so", "program.so.sha256", "plain.so"):
        entry(f"libraries/ab/old/{name}", age=9000)
    entry("libraries/ab/new/program.so", age=8000)
    aged(entry("libraries/ab/mixed/plain.so", age=9999).with_name("plain.so"), 9999)
    entry("libraries/ab/mixed/program.so", age=7000)
    evict(folder, 300 * KIB)
    assert sorted(path.name for path in (folder / "libraries" / "ab").iterdir()) == ["mixed", "new"]


def test_what_was_just_used_stays_whatever_the_bound(folder):
    entry("layouts/ab/old", age=GRACE_SECONDS + 10)
    entry("layouts/ab/new", age=GRACE_SECONDS - 10)
    evict(folder, 1)
    assert names(folder) == ["new"]


def test_what_is_small_and_needed_and_what_is_not_ours_stays(folder):
    entry("machine/ab/constants", age=1e6)
    entry("locks/ab/held", age=100)
    entry("own/ab/file", age=1e6)
    entry("file", age=1e6)
    evict(folder, 1)
    assert names(folder) == ["constants", "file", "file", "held"]


def test_what_killed_processes_left_goes_after_a_day(folder):
    entry("partial/new/1.2", age=1e5)
    entry("partial/gone/ab.1/program.so", age=1e5)
    entry("locks/ab/old", age=1e5, size=0)
    entry("partial/new/3.4", age=1e4)
    evict(folder, 1 << 40)
    assert names(folder) == ["3.4"]


def test_publishing_evicts(folder, monkeypatch):
    monkeypatch.setenv("SDFGAD_CACHE_BYTES", str(200 * KIB))
    for k in range(5):
        entry(f"layouts/ab/{k}", age=10_000 - 1000 * k)
    cache.write("layouts/ab/new", bytes(64 * KIB))
    assert names(folder) == ["4", "looked", "new"]
    # Looked at once in a while only, also where the clock was put back.
    for age, left in ((0, 7), (SCAN_SECONDS / 2, 7), (2 * SCAN_SECONDS, 3), (-100, 3)):
        for k in range(5):
            entry(f"layouts/ab/{k}", age=10_000 - 1000 * k)
        aged(folder / "partial" / "looked", age)
        cache.write("layouts/ab/new", bytes(64 * KIB))
        assert len(names(folder)) == left


@pytest.mark.parametrize("wrong", ["many", "-1", "1.5", ""])
def test_a_bound_that_is_no_number(folder, monkeypatch, wrong):
    monkeypatch.setenv("SDFGAD_CACHE_BYTES", wrong)
    for _ in range(2):
        with pytest.raises(ArgumentError, match="SDFGAD_CACHE_BYTES="):
            cache.write("layouts/ab/cd", b"data")


def test_clearing(folder, tmp_path):
    assert sdfgad.clear_cache() == 0
    for kind in ("layouts", "machine", "locks", "programs"):
        entry(f"{kind}/ab/file")
    entry("libraries/ab/key/program.so")
    entry("mine.txt")
    entry("own/ab/file")
    assert sdfgad.clear_cache() == 5 * 64 * KIB
    assert names(folder) == ["file", "mine.txt"]
    cache.write("layouts/ab/cd", b"data")
    assert cache.read("layouts/ab/cd") == b"data"


def test_what_would_never_be_deleted_is_not_written(folder):
    with pytest.raises(AssertionError, match="own/ab/file"):
        cache.write("own/ab/file", b"data")
    assert names(folder) == []


def test_clearing_what_cannot_be_deleted(folder, monkeypatch):
    entry("layouts/ab/file")

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module.Path, "unlink", refused)
    with pytest.raises(CacheError, match=r"cannot be cleared.*Permission denied"):
        sdfgad.clear_cache()


def cubes(x):
    return np.sum(x * x * x)


@pytest.mark.long
def test_gradients_work_on_when_the_cache_is_cleared_or_evicted(monkeypatch, tmp_path):
    """What is loaded stays, what is needed anew is built anew."""
    x = np.arange(3.0)
    folder = cache_with_headers(tmp_path / "cache")
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(folder))
    g = sdfgad.differentiate(cubes, wrt="x")
    np.testing.assert_array_equal(g(x), 3 * x * x)
    for path in folder.rglob("*"):
        aged(path, 1e6)
    evict(folder, 100 << 20)  # Of the headers, too.
    np.testing.assert_array_equal(g(x), 3 * x * x)
    np.testing.assert_array_equal(sdfgad.differentiate(cubes, wrt="x")(x), 3 * x * x)
    sdfgad.clear_cache()
    np.testing.assert_array_equal(g(x), 3 * x * x)
    np.testing.assert_array_equal(sdfgad.differentiate(cubes, wrt="x")(x), 3 * x * x)
    np.testing.assert_array_equal(g(x[:2]), 3 * x[:2] ** 2)
