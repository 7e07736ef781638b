"""Keys of cached files: a hash of all that they depend on."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Iterable
from pathlib import Path

PACKAGES = ("dace", "islpy", "networkx", "numpy", "pulp", "scipy-openblas32", "sympy")
# 128 bits: that two different programs ever share a key is out of the question.
DIGITS = 32


def key_of(parts: Iterable[str]) -> str:
    """The hash of texts, none of which may be left out, with the folder that it goes to: ``3f/3fa1…``."""
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]
    return f"{digest[:2]}/{digest}"


@functools.cache
def fingerprint() -> str:
    """Stands for this package, whatever its version says, and for the packages that it is built on."""
    package = Path(__file__).parent.parent
    sources = sorted(path for path in package.rglob("*") if path.suffix in (".py", ".h"))
    digest = hashlib.sha256(sys.version.encode())
    for name in PACKAGES:
        digest.update(f"\0{name} {importlib.metadata.version(name)}".encode())
    for path in sources:
        digest.update(f"\0{path.relative_to(package)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
