"""Where files are cached between runs, and what they depend on."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import re
import sys
import threading
from pathlib import Path

import platformdirs

from sdfgad.errors import SdfgadError

# What ld.so(8) replaces in the path of a library.
LOADER_TOKEN = re.compile(r"\$(\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)\b)")
PACKAGES = ("dace", "islpy", "networkx", "numpy", "pulp", "scipy-openblas32", "sympy")


def cache_folder() -> Path:
    """The user's cache folder, absolute; the environment variable SDFGAD_CACHE_DIR overrides it.

    Raises:
        SdfgadError: libraries in a folder of this name cannot be loaded.
    """
    chosen = os.environ.get("SDFGAD_CACHE_DIR")
    # A compiler takes a relative path such as `-o` or `@file` for an option.
    folder = Path(chosen or platformdirs.user_cache_dir("sdfgad")).absolute()
    if LOADER_TOKEN.search(str(folder)):
        raise SdfgadError(
            f"the cache folder {folder} has a part that the dynamic loader replaces ($ORIGIN, $LIB or $PLATFORM)",
            todo="Set SDFGAD_CACHE_DIR to another folder.",
        )
    return folder


def replace_file(path: Path, content: bytes) -> None:
    """Write a file; other processes see either the old one or all of the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    partial.write_bytes(content)
    os.replace(partial, path)


@functools.cache
def fingerprint() -> str:
    """Stands for this package, whatever its version says, and for the packages that it is built on."""
    package = Path(__file__).parent
    sources = sorted(path for path in package.rglob("*") if path.suffix in (".py", ".h"))
    digest = hashlib.sha256(sys.version.encode())
    for name in PACKAGES:
        digest.update(f"\0{name} {importlib.metadata.version(name)}".encode())
    for path in sources:
        digest.update(f"\0{path.relative_to(package)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
