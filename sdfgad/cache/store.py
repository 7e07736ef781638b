"""Keeps files by name, and believes none whose hash is another: one cut short, changed, or half written.

A file that other programs read has its hash in a file beside it; data has it in its first line. Everything appears by
being renamed, so a process that is killed in the middle leaves nothing behind that looks like an entry, and processes
that make the same do so beside each other.
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

from sdfgad.cache.evict import make_room
from sdfgad.cache.folder import VARIABLE, cache_folder, give_up, make_folder, places
from sdfgad.cache.keys import key_of
from sdfgad.errors import CacheError

SEAL = ".sha256"
# Whoever builds for longer is taken to be stuck; building the same twice is a waste, but not wrong.
LOCK_SECONDS = 600.0

# The hashes of files of so many bytes are remembered in a process.
BIG = 1 << 22
_known: dict[tuple[int, ...], str] = {}


def find(name: str) -> Path | None:
    """The file of that name, if there is one and it is as it was published; it then counts as used."""
    for folder in places():
        path = folder / name
        seal = _seal_of(path)
        try:
            if seal.read_text() == _digest(path):
                _use(seal)
                return path
        except (OSError, ValueError):
            continue
    return None


def publish(name: str, file: Path) -> Path:
    """Keep a copy of a finished file under a name; where it is.

    Raises:
        CacheError: neither the cache nor a temporary folder can be written.
    """
    digest = _digest(file)

    def put(folder: Path) -> None:
        _replace(folder, name + SEAL, lambda partial: partial.write_text(digest))
        _replace(folder, name, lambda partial: shutil.copyfile(file, partial))

    return _put(put) / name


def read(name: str) -> bytes | None:
    """The data of that name, if there is some and it is as it was written; it then counts as used."""
    for folder in places():
        path = folder / name
        try:
            digest, _, content = path.read_bytes().partition(b"\n")
        except OSError:
            continue
        if digest == _hash(content):
            _use(path)
            return content
    return None


def write(name: str, content: bytes) -> None:
    """Keep data under a name.

    Raises:
        CacheError: neither the cache nor a temporary folder can be written.
    """
    text = _hash(content) + b"\n" + content
    _put(lambda folder: _replace(folder, name, lambda partial: partial.write_bytes(text)))


@contextlib.contextmanager
def building(name: str) -> Iterator[None]:
    """Have other processes that come to build the same wait, as far as the file system can do that."""
    path = places()[0] / "locks" / key_of([name])
    lock = FileLock(str(path), timeout=LOCK_SECONDS)
    # Where it cannot be had, both build, and one of two equal files stays.
    with contextlib.suppress(OSError, NotImplementedError, Timeout):
        make_folder(places()[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def workshop() -> Iterator[Path]:
    """A private temporary folder to build in."""
    with tempfile.TemporaryDirectory(prefix="sdfgad-") as folder:
        yield Path(folder)


def _put(put: Callable[[Path], None]) -> Path:
    """Write to the cache, or to what stands in for it; which of them."""
    folder = places()[0]
    try:
        put(folder)
    except OSError as error:
        folder = _elsewhere(put, folder, error)
    make_room(folder)
    return folder


def _elsewhere(put: Callable[[Path], None], folder: Path, error: OSError) -> Path:
    try:
        stand_in = give_up(cache_folder(), error)
        if stand_in == folder:
            raise error
        put(stand_in)
    except OSError as again:
        raise CacheError(
            f"neither the cache folder {cache_folder()} nor a temporary one can be written: {again}",
            todo=f"Free or allow one of them, or set {VARIABLE} to another folder.",
        ) from again
    return stand_in


def _replace(folder: Path, name: str, fill: Callable[[Path], object]) -> None:
    """Write a file; other processes see either the old one or all of the new one."""
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
        # Whatever changes a file changes one of these.
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        if state in _known:
            return _known[state]
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if found.st_size >= BIG:
        _known[state] = digest
    return digest


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _use(path: Path) -> None:
    with contextlib.suppress(OSError):  # Who may only read counts for nothing.
        os.utime(path)
