"""The cache folder: its path, its permissions, and the temporary folder that replaces it if it cannot be written."""

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
# Dynamic string tokens, which ld.so(8) expands in the path of a library.
LOADER_TOKEN = re.compile(r"\$(\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)\b)")
# The subfolders of the cache; other files in its folder are not sdfgad's.
KINDS = (
    *("checks", "cubins", "headers", "helpers", "layouts", "libraries", "locks"),
    *("machine", "objects", "partial", "programs", "reports", "skeletons"),
)
PRIVATE = 0o700

_stand_ins: dict[Path, Path] = {}
_lock = threading.Lock()


def cache_folder() -> Path:
    """The cache folder, created with mode 0700: the platform's default, or the environment variable SDFGAD_CACHE_DIR.

    If other users may write to the named folder, a private subfolder is used, since libraries in the cache are loaded
    and run with this user's rights.

    Raises:
        CacheError: libraries in a folder of this name cannot be loaded.
    """
    chosen = os.environ.get(VARIABLE)
    if LOADER_TOKEN.search(chosen or ""):
        raise CacheError(
            f"the cache folder {chosen} has a part that the dynamic loader replaces ($ORIGIN, $LIB or $PLATFORM)",
            todo=f"Set {VARIABLE} to another folder.",
        )
    return _private(Path(chosen).absolute()) if chosen else _default_folder(Path(platformdirs.user_cache_dir("sdfgad")))


def cache_folders() -> tuple[Path, ...]:
    """The folders to read from, in order; the first is written to: a temporary one if the cache cannot be written."""
    folder = cache_folder()
    stand_in = _stand_ins.get(folder)
    if stand_in is not None:
        return stand_in, folder
    return (folder,)


def use_stand_in(folder: Path, error: OSError) -> Path:
    """Replace an unwritable cache by a private temporary folder for this process, and warn once."""
    with _lock:
        if folder in _stand_ins:
            return _stand_ins[folder]
        stand_in = Path(tempfile.mkdtemp(prefix="sdfgad-"))
        atexit.register(_remove, stand_in, os.getpid())
        _stand_ins[folder] = stand_in
    warnings.warn(
        f"the cache folder {folder} cannot be written ({error}): what is compiled now is kept in a "
        f"temporary folder and lost at the end of this process. Free or allow it, or set {VARIABLE} to another folder.",
        CacheWarning,
        stacklevel=2,
    )
    return stand_in


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # Not in a forked child, which inherits the atexit handlers.
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def _default_folder(folder: Path) -> Path:
    """The default folder, which other users may not read either."""
    with contextlib.suppress(OSError):  # Writing to it will report the error.
        make_folder(folder)
        folder.chmod(PRIVATE)
    return _private(folder)


@functools.cache
def _private(folder: Path) -> Path:
    """The folder, or a subfolder, to which no other user can write."""
    try:
        make_folder(folder)
        found = folder.stat()
    except OSError:
        return folder  # Writing to it will report the error.
    if found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return folder
    return _private_subfolder(folder)


def _private_subfolder(folder: Path) -> Path:
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
    # Its files are not trusted: the stand-in replaces it for reading, too.
    return use_stand_in(inner, error)


def make_folder(folder: Path) -> None:
    """Create a folder with mode 0700, if it does not exist."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE, exist_ok=True)
