"""Precompiled headers: DaCe's, sdfgad's and the standard library's, parsed once for each toolchain and level.

Parsing dominates the compile time of small programs: 1.4 s with only DaCe's headers precompiled, 0.5 s with all.

What most programs do not use is left out: g++ instantiates templates that precompiled headers use in each program anew.
Those of strings, streams, clocks and Bessel functions, which <complex>, DaCe's headers and <cmath> use, take 0.11 s of
the 0.22 s of a small program. So there are two sets of headers: all, and those for real numbers, which have none of
that (`sdfgad.runtime.real_numbers`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from sdfgad.cache import build_folder, build_lock, find, key_of, publish
from sdfgad.runtime.compiler import INCLUDE, Level, compiler, is_clang, run, toolchain
from sdfgad.runtime.real_numbers import is_of_real_numbers, text_for_real_numbers


class Headers(Enum):
    """A set of headers that is precompiled."""

    ALL = "all"
    REAL = "real"


# Headers of DaCe that are left out, and what programs call that need them.
LEFT_OUT = {
    "perf/reporting": ("dace::perf",),
    "serialization": ("dace::DataSerializer",),
    "comm": ("dace::comm",),
    "stream": ("dace::Stream", "dace::ArrayStreamView", "dace::Consume"),
}


def left_out(code: str) -> tuple[str, ...]:
    """The compiler options that include those of the headers left out that code needs."""
    needed = [header for header, names in LEFT_OUT.items() if any(name in code for name in names)]
    return tuple(word for header in needed for word in ("-include", f"dace/{header}.h"))


def headers_of(code: str) -> Headers:
    """The smallest set with all that code needs; clang instantiates templates where it precompiles them."""
    return Headers.REAL if not is_clang() and is_of_real_numbers(code) else Headers.ALL


def precompiled(levels: Sequence[Level], headers: Headers = Headers.ALL) -> dict[Level, tuple[str, ...]]:
    """For each level, the compiler options that include the precompiled headers, which are built if necessary.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    with contextlib.ExitStack() as stack:
        for level in sorted(levels, key=lambda level: level.name):
            stack.enter_context(build_lock(_name(level, headers)))
        found = {level: _cached_header(level, headers) for level in levels}
        missing = [level for level, header in found.items() if header is None]
        found |= _precompile(missing, headers) if missing else {}
    included = folders()
    return {level: ("-include", str(header), *included) for level, header in found.items()}


def _name(level: Level, headers: Headers) -> str:
    return f"headers/{key_of([toolchain(), *level.flags, _text(headers)])}/{headers.value}.h"


@functools.cache
def _text(headers: Headers) -> str:
    if headers is Headers.REAL:
        return text_for_real_numbers()
    guards = [f"__DACE_{header.replace('/', '_').upper()}_H" for header in LEFT_OUT]
    ours = [f'#include "{path.name}"' for path in sorted(INCLUDE.glob("*.h"))]
    defined, undefined = [f"#define {guard}" for guard in guards], [f"#undef {guard}" for guard in guards]
    return "\n".join([*defined, "#include <dace/dace.h>", *undefined, *ours, ""])


def _compiled_name(level: Level, headers: Headers) -> str:
    return f"{_name(level, headers)}.{'pch' if is_clang() else 'gch'}"


def _cached_header(level: Level, headers: Headers) -> Path | None:
    header, compiled = find(_name(level, headers)), find(_compiled_name(level, headers))
    return header if compiled is not None else None


def _precompile(levels: Sequence[Level], headers: Headers) -> dict[Level, Path]:
    """Precompile the headers for several levels concurrently."""
    with build_folder() as folder:
        text = folder / f"{headers.value}.h"
        text.write_text(_text(headers))
        # It is published before it is compiled: clang records its path and reads it again when it is used.
        files = {level: publish(_name(level, headers), text) for level in levels}
        targets = {level: folder / level.name for level in levels}
        run(*(_command(level, files[level], target) for level, target in targets.items()))
        for level, target in targets.items():
            publish(_compiled_name(level, headers), target)
    return files


def _command(level: Level, header: Path, target: Path) -> list[str]:
    return [*compiler(), *level.flags, *folders(), "-x", "c++-header", str(header), "-o", str(target)]


def folders() -> list[str]:
    """The compiler options with the folders of headers."""
    import dace

    from sdfgad.targets.cpu.environment import OpenBLAS

    runtime = Path(dace.__file__).parent / "runtime" / "include"
    return [f"-I{folder}" for folder in (runtime, INCLUDE, *OpenBLAS.cmake_includes)]
