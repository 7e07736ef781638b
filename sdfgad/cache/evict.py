"""Bounds what the cache holds: what was not used for longest goes first."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdfgad.cache.folder import KINDS, places
from sdfgad.errors import ArgumentError, CacheError

VARIABLE = "SDFGAD_CACHE_BYTES"
MOST_BYTES = 2 << 30
# Another process may be about to load what it found so long ago, so that stays whatever the bound.
GRACE_SECONDS = 300.0
# What is partial for so long was left by a process that was killed, and a lock that old is nobody's.
STALE_SECONDS, PASSING = 86400.0, ("locks", "partial")
# Other constants of the machine would make other plans.
LASTING = ("machine",)
# How often the whole folder is looked at, and what part of the bound is left free then.
LOOK_SECONDS = 300.0
FREED = 10


@dataclass(frozen=True)
class Entry:
    """What is evicted as one: a file, or a folder with all that belongs to one key."""

    kind: str
    path: Path
    bytes: int
    used: float


def clear_cache() -> int:
    """Delete all that sdfgad keeps between runs: compiled programs, plans, measured constants of the machine.

    Gradients that this process has called go on working, and so do other processes: what they need again, they build
    again. Only sdfgad's own files go, whatever else is in the folder.

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
    for folder in places():
        for entry in _entries(folder):
            try:
                _delete(folder, entry)
            except OSError as error:
                raise CacheError(f"the cache folder {folder} cannot be cleared: {error}") from error
            freed += entry.bytes
    return freed


def make_room(folder: Path) -> None:
    """Evict what was not used for longest, if the folder holds more than it should.

    To look takes as long as there are entries, so it is done once in a while, by whatever process.
    """
    bound, stamp = most_bytes(), folder / "partial" / "looked"
    found = _state(stamp)
    if found is None or not 0 <= time.time() - found.st_mtime < LOOK_SECONDS:
        with contextlib.suppress(OSError):
            stamp.touch()
            evict(folder, bound)


def evict(folder: Path, bound: int) -> None:
    """Delete the entries that were not used for longest until at most nine tenths of the bound are left.

    Nothing happens while the bound is kept, except that what killed processes left goes after a day.
    """
    now = time.time()
    entries = sorted(_entries(folder), key=lambda entry: entry.used)
    held = sum(entry.bytes for entry in entries)
    target = bound - bound // FREED if held > bound else held
    for entry in entries:
        age = now - entry.used
        is_stale = entry.kind in PASSING and age > STALE_SECONDS
        is_idle = entry.kind not in (*PASSING, *LASTING) and age > GRACE_SECONDS
        if is_stale or (is_idle and held > target):
            with contextlib.suppress(OSError):  # Another process may be doing the same.
                _delete(folder, entry)
                held -= entry.bytes


def most_bytes() -> int:
    """What the cache may hold: 2 GiB, or what the environment variable SDFGAD_CACHE_BYTES says.

    Raises:
        ArgumentError: it says something else than a number.
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
                    size = sum(512 * state.st_blocks for state in found)  # Whole blocks, whatever the files hold.
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
    """All of an entry at once: nobody sees one of which half is gone."""
    if not entry.path.is_dir():
        entry.path.unlink(missing_ok=True)
        return
    grave = folder / "partial" / "gone" / f"{entry.path.name}.{os.getpid()}.{time.monotonic_ns()}"
    grave.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        entry.path.rename(grave)
        shutil.rmtree(grave)
