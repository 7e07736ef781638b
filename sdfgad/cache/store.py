"""File store with integrity checks: an entry is ignored unless its SHA-256 matches (truncated, modified, half written).

The hash of a file that other programs read is in a second file beside it; that of data is in its first line. Writes are
atomic, by rename: a killed process leaves no partial entry, and processes may write the same entry concurrently.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from sdfgad.cache.evict import evict_if_due
from sdfgad.cache.folder import KINDS, VARIABLE, cache_folder, cache_folders, make_folder, use_stand_in
from sdfgad.cache.keys import key_of
from sdfgad.errors import CacheError

SEAL = ".sha256"
# After this time a lock is ignored, as its holder is probably stuck; building twice is slow, but correct.
LOCK_SECONDS = 600.0

# In bytes: the hashes of larger files are cached in the process, by inode, size and times.
BIG = 1 << 22
_digests: dict[tuple[int, ...], str] = {}


def find(name: str) -> Path | None:
    """The path of a published file, which is marked as used; None if it is missing or its hash does not match."""
    for folder in cache_folders():
        path = folder / name
        seal = _seal_of(path)
        try:
            if seal.read_text() == _digest(path):
                _mark_used(seal)
                return path
        except (OSError, ValueError):
            continue
    return None


def publish(name: str, file: Path) -> Path:
    """Copy a file into the store under a name; returns its path there.

    Raises:
        CacheError: neither the cache nor a temporary folder can be written.
    """
    digest = _digest(file)

    def put(folder: Path) -> None:
        _replace(folder, name + SEAL, lambda partial: partial.write_text(digest))
        _replace(folder, name, lambda partial: shutil.copyfile(file, partial))

    return _write_somewhere(put) / name


def read(name: str) -> bytes | None:
    """The data of a name, which is marked as used; None if it is missing or its hash does not match."""
    for folder in cache_folders():
        path = folder / name
        try:
            digest, _, content = path.read_bytes().partition(b"\n")
        except OSError:
            continue
        if digest == _hash(content):
            _mark_used(path)
            return content
    return None


def write(name: str, content: bytes) -> None:
    """Store data under a name.

    Raises:
        CacheError: neither the cache nor a temporary folder can be written.
    """
    text = _hash(content) + b"\n" + content
    _write_somewhere(lambda folder: _replace(folder, name, lambda partial: partial.write_bytes(text)))


@contextlib.contextmanager
def build_lock(name: str) -> Iterator[None]:
    """A lock between processes that build the same entry, where the file system supports locks."""
    path = cache_folders()[0] / "locks" / key_of([name])
    lock = FileLock(str(path), timeout=LOCK_SECONDS)
    # Without the lock both build, and one of two equal files remains.
    with contextlib.suppress(OSError, NotImplementedError, Timeout):
        make_folder(cache_folders()[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def build_folder() -> Iterator[Path]:
    """A private temporary folder for build products, deleted on exit."""
    with tempfile.TemporaryDirectory(prefix="sdfgad-") as folder:
        yield Path(folder)


def _write_somewhere(put: Callable[[Path], None]) -> Path:
    """Write to the cache, or to its stand-in if that fails; returns the folder."""
    folder = cache_folders()[0]
    try:
        put(folder)
    except OSError as error:
        folder = _write_to_stand_in(put, folder, error)
    evict_if_due(folder)
    return folder


def _write_to_stand_in(put: Callable[[Path], None], folder: Path, error: OSError) -> Path:
    try:
        stand_in = use_stand_in(cache_folder(), error)
        if stand_in == folder:
            raise error
        put(stand_in)
    except OSError as failure:
        raise CacheError(
            f"neither the cache folder {cache_folder()} nor a temporary one can be written: {failure}",
            todo=f"Free or allow one of them, or set {VARIABLE} to another folder.",
        ) from failure
    return stand_in


def _replace(folder: Path, name: str, fill: Callable[[Path], object]) -> None:
    """Write a file atomically, by rename: other processes see either the old or the complete new one."""
    assert name.partition("/")[0] in KINDS, name  # Others would never be evicted.
    make_folder(folder)
    path = folder / name
    partial = folder / "partial" / "new" / f"{os.getpid()}.{threading.get_ident()}"
    for parent in (path.parent, partial.parent):
        parent.mkdir(parents=True, exist_ok=True)
    try:
        fill(partial)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _seal_of(path: Path) -> Path:
    return path.with_name(path.name + SEAL)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        # Every change of a file changes one of these.
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        if state in _digests:
            return _digests[state]
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if found.st_size >= BIG:
        _digests[state] = digest
    return digest


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _mark_used(path: Path) -> None:
    with contextlib.suppress(OSError):  # A reader without write permission cannot mark it.
        os.utime(path)
