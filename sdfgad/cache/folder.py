"""The cache folder: which one it is, that nobody else writes to it, and what stands in where it cannot be used."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import shutil
import stat
import tempfile
import threading
import warnings
from pathlib import Path

import platformdirs

from sdfgad.errors import CacheError, CacheWarning

VARIABLE = "SDFGAD_CACHE_DIR"
# What ld.so(8) replaces in the path of a library.
LOADER_TOKEN = re.compile(r"\$(\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)\b)")
# What the folder holds; whatever else is in it belongs to somebody else.
KINDS = ("checks", "headers", "helpers", "layouts", "libraries", "locks", "machine", "partial", "programs", "reports")
PRIVATE = 0o700

_stand_ins: dict[Path, Path] = {}
_lock = threading.Lock()


def cache_folder() -> Path:
    """The user's cache folder, made with mode 0700; the environment variable SDFGAD_CACHE_DIR names another.

    Where others may write to the folder that it names, a private one within it is used: whoever writes a library there
    would have it run as this user.

    Raises:
        CacheError: libraries in a folder of this name cannot be loaded.
    """
    chosen = os.environ.get(VARIABLE)
    if LOADER_TOKEN.search(chosen or ""):
        raise CacheError(
            f"the cache folder {chosen} has a part that the dynamic loader replaces ($ORIGIN, $LIB or $PLATFORM)",
            todo=f"Set {VARIABLE} to another folder.",
        )
    return _private(Path(chosen).absolute()) if chosen else _own(Path(platformdirs.user_cache_dir("sdfgad")))


def places() -> tuple[Path, ...]:
    """The folders to look in, the one to write to first: a private temporary one where the cache cannot be written."""
    folder = cache_folder()
    stand_in = _stand_ins.get(folder)
    if stand_in is not None:
        return stand_in, folder
    return (folder,)


def give_up(folder: Path, error: OSError) -> Path:
    """Use a private temporary folder beside the cache from now on, and warn once that later runs will not find it."""
    with _lock:
        if folder in _stand_ins:
            return _stand_ins[folder]
        made = Path(tempfile.mkdtemp(prefix="sdfgad-"))
        atexit.register(_remove, made, os.getpid())
        _stand_ins[folder] = made
    warnings.warn(
        f"the cache folder {folder} cannot be written ({error}): what is compiled now is kept in a "
        f"temporary folder and lost at the end of this process. Free or allow it, or set {VARIABLE} to another folder.",
        CacheWarning,
        stacklevel=2,
    )
    return made


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # Not in a child, which has a copy of what is to be done at the end.
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def _own(folder: Path) -> Path:
    """The default folder, which is nobody else's to read either."""
    with contextlib.suppress(OSError):  # Whoever writes to it hears of it.
        make_folder(folder)
        folder.chmod(PRIVATE)
    return _private(folder)


@functools.cache
def _private(folder: Path) -> Path:
    """The folder, or one within it, that nobody else can write to."""
    try:
        make_folder(folder)
        found = folder.stat()
    except OSError:
        return folder  # Whoever writes to it hears of it.
    if found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return folder
    return _within(folder)


def _within(folder: Path) -> Path:
    inner = folder / f"private-{os.geteuid()}"
    try:
        make_folder(inner)
        found = inner.lstat()
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if is_ours:
            inner.chmod(PRIVATE)
            return inner
        error = OSError("it belongs to another user")
    except OSError as caught:
        error = caught
    # Nothing in it is believed: the stand-in takes its place altogether.
    return give_up(inner, error)


def make_folder(folder: Path) -> None:
    """Make a folder that is the user's alone, if there is none."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE, exist_ok=True)
