"""LRU eviction: bounds the size of the cache by deleting the least recently used entries."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdfgad.cache.folder import KINDS, cache_folders
from sdfgad.errors import ArgumentError, CacheError

VARIABLE = "SDFGAD_CACHE_BYTES"
MOST_BYTES = 2 << 30
# Entries used in the last GRACE_SECONDS stay whatever the bound: another process may be about to load them.
GRACE_SECONDS = 300.0
# Partial files and locks of this age are left over from killed processes.
STALE_SECONDS, SHORT_LIVED = 86400.0, ("locks", "partial")
# Never evicted: the measured constants of the machine, since other values would lead to other plans.
NEVER_EVICTED = ("machine",)
# The time between scans of the folder; an eviction frees one part in FREED_PART of the bound.
SCAN_SECONDS = 300.0
FREED_PART = 10


@dataclass(frozen=True)
class Entry:
    """The unit of eviction: a file, or the folder of one key; `used` is the time of its last use, in Unix seconds."""

    kind: str
    path: Path
    bytes: int
    used: float


def clear_cache() -> int:
    """Delete the cache on disk: compiled programs, plans, measured constants of the machine.

    Gradients that this process has loaded keep working, and so do other processes: they rebuild what they need. Only
    sdfgad's own files are deleted, not others in the folder.

    Returns:
        The bytes that were freed.

    Raises:
        CacheError: something in the cache folder cannot be deleted.

    Example:
        >>> import sdfgad
        >>> sdfgad.clear_cache()  # doctest: +SKIP
        96157402
    """
    freed = 0
    for folder in cache_folders():
        for entry in _entries(folder):
            try:
                _delete(folder, entry)
            except OSError as error:
                raise CacheError(f"the cache folder {folder} cannot be cleared: {error}") from error
            freed += entry.bytes
    return freed


def evict_if_due(folder: Path) -> None:
    """Evict if the folder exceeds its bound and has not been scanned recently, by any process.

    The time of a scan is proportional to the number of entries.
    """
    bound, stamp = most_bytes(), folder / "partial" / "looked"
    found = _state(stamp)
    if found is None or not 0 <= time.time() - found.st_mtime < SCAN_SECONDS:
        with contextlib.suppress(OSError):
            stamp.touch()
            evict(folder, bound)


def evict(folder: Path, bound: int) -> None:
    """Delete the least recently used entries until at most nine tenths of the bound are left.

    Below the bound only what killed processes left is deleted, after a day.
    """
    now = time.time()
    entries = sorted(_entries(folder), key=lambda entry: entry.used)
    held = sum(entry.bytes for entry in entries)
    target = bound - bound // FREED_PART if held > bound else held
    for entry in entries:
        age = now - entry.used
        is_stale = entry.kind in SHORT_LIVED and age > STALE_SECONDS
        is_idle = entry.kind not in (*SHORT_LIVED, *NEVER_EVICTED) and age > GRACE_SECONDS
        if is_stale or (is_idle and held > target):
            with contextlib.suppress(OSError):  # Another process may delete the same entry.
                _delete(folder, entry)
                held -= entry.bytes


def most_bytes() -> int:
    """The bound of the cache in bytes: 2 GiB, or the environment variable SDFGAD_CACHE_BYTES.

    Raises:
        ArgumentError: its value is no number.
    """
    wanted = os.environ.get(VARIABLE, str(MOST_BYTES)).strip()
    if not wanted.isdecimal():
        raise ArgumentError(f"{VARIABLE}={wanted!r} is no number of bytes", todo="Set it to a number, or unset it.")
    return int(wanted)


def _entries(folder: Path) -> Iterator[Entry]:
    for kind in KINDS:
        for part in _inside(folder / kind):
            for path in _inside(part):
                files = (_inside(path) or [path]) if path.is_dir(follow_symlinks=False) else [path]
                found = [state for state in map(_state, files) if state is not None]
                if found:
                    size = sum(512 * state.st_blocks for state in found)  # Disk usage: in whole blocks.
                    yield Entry(kind, Path(path), size, max(state.st_mtime for state in found))


def _inside(folder: Path | os.DirEntry[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _state(path: Path | os.DirEntry[str]) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _delete(folder: Path, entry: Entry) -> None:
    """Delete an entry atomically, by renaming it first: no process sees a part of it."""
    if not entry.path.is_dir():
        entry.path.unlink(missing_ok=True)
        return
    trash = folder / "partial" / "gone" / f"{entry.path.name}.{os.getpid()}.{time.monotonic_ns()}"
    trash.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        entry.path.rename(trash)
        shutil.rmtree(trash)
