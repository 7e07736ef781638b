"""Cache keys: hashes of all that a cached file depends on."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Iterable
from pathlib import Path

PACKAGES = ("dace", "islpy", "networkx", "numpy", "pulp", "scipy-openblas32", "sympy")
# 128 bits: a collision is practically impossible.
DIGITS = 32


def key_of(parts: Iterable[str]) -> str:
    """The SHA-256 of a sequence of texts, cut to 128 bits, after its subfolder: ``3f/3fa1…``."""
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]
    return f"{digest[:2]}/{digest}"


@functools.cache
def fingerprint() -> str:
    """A hash of the sources of this package, the versions of its dependencies, and the version of Python."""
    package = Path(__file__).parent.parent
    sources = sorted(path for path in package.rglob("*") if path.suffix in (".py", ".h"))
    digest = hashlib.sha256(sys.version.encode())
    for name in PACKAGES:
        digest.update(f"\0{name} {importlib.metadata.version(name)}".encode())
    for path in sources:
        digest.update(f"\0{path.relative_to(package)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
