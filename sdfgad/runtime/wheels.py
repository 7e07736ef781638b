"""A C++ compiler from wheels, for machines without one: clang as Zig ships it, and Intel's OpenMP.

`pip install ziglang intel-openmp` brings both, as does the extra `compiler`.
"""

from __future__ import annotations

import functools
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wheels:
    """A compiler installed from wheels.

    Attributes:
        command: the words of the compiler's command.
        openmp: linker options for OpenMP, which Zig does not link in spite of -fopenmp.
    """

    command: tuple[str, ...]
    openmp: tuple[str, ...]


def installed() -> Wheels | None:
    """The installed compiler; None if one of the files that it needs is missing."""
    try:
        zig = _file("ziglang", "ziglang/zig")
        header, library = _file("intel-openmp", "omp.h"), _file("intel-openmp", "libiomp5.so")
    except FileNotFoundError:
        return None
    # Zig's default is to check for undefined behaviour.
    command = (str(zig), "c++", "-fno-sanitize=undefined", f"-I{header.parent}")
    return Wheels(command, (f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", "-liomp5"))


# Cached, as Zig's list of files has 20,000 lines; a missing file is not cached, as it may be installed meanwhile.
@functools.cache
def _file(distribution: str, ending: str) -> Path:
    """The file of an installed distribution whose path ends with `ending`.

    Raises:
        FileNotFoundError: there is none.
    """
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    parts = Path(ending).parts
    found = next((Path(str(file.locate())) for file in files if file.parts[-len(parts) :] == parts), None)
    if found is None or not found.is_file():
        raise FileNotFoundError(f"{ending} of {distribution}")
    return found.resolve()
