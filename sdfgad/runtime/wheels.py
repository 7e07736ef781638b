"""A C++ compiler from wheels, for machines without one: clang as Zig ships it, and Intel's OpenMP.

`pip install sdfgad[compiler]` brings both.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path


def command() -> tuple[str, ...] | None:
    """The command that the wheels make up; None if they are not installed."""
    zig, header = _file("ziglang", "ziglang/zig"), _file("intel-openmp", "omp.h")
    if zig is None or header is None:
        return None
    # Zig's default is to check for undefined behaviour.
    return (str(zig), "c++", "-fno-sanitize=undefined", f"-I{header.parent}")


def openmp() -> tuple[str, ...]:
    """Options that link OpenMP, which Zig does not, whatever -fopenmp says."""
    library = _file("intel-openmp", "libiomp5.so")
    return (f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", "-liomp5") if library is not None else ()


def _file(distribution: str, ending: str) -> Path | None:
    """The file of an installed distribution whose path ends so."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    parts = Path(ending).parts
    found = next((file for file in files if file.parts[-len(parts) :] == parts), None)
    return Path(str(found.locate())).resolve() if found is not None else None
