"""Precompiled headers: DaCe's, sdfgad's and the standard library's, parsed once for each toolchain and level.

Parsing dominates the compile time of small programs: 1.4 s with only DaCe's headers precompiled, 0.5 s with all.

What most programs do not use is left out: g++ instantiates templates that precompiled headers use in each program anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from sdfgad.cache import build_folder, build_lock, find, key_of, publish
from sdfgad.runtime.compiler import INCLUDE, Level, compiler, is_clang, run, toolchain

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


def precompiled(levels: Sequence[Level]) -> dict[Level, tuple[str, ...]]:
    """For each level, the compiler options that include the precompiled headers, which are built if necessary.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    with contextlib.ExitStack() as stack:
        for level in sorted(levels, key=lambda level: level.name):
            stack.enter_context(build_lock(_name(level)))
        found = {level: _cached_header(level) for level in levels}
        missing = [level for level, header in found.items() if header is None]
        found |= _precompile(missing) if missing else {}
    included = folders()
    return {level: ("-include", str(header), *included) for level, header in found.items()}


def _name(level: Level) -> str:
    return f"headers/{key_of([toolchain(), *level.flags, _text()])}/all.h"


def _text() -> str:
    guards = [f"__DACE_{header.replace('/', '_').upper()}_H" for header in LEFT_OUT]
    ours = [f'#include "{path.name}"' for path in sorted(INCLUDE.glob("*.h"))]
    defined, undefined = [f"#define {guard}" for guard in guards], [f"#undef {guard}" for guard in guards]
    return "\n".join([*defined, "#include <dace/dace.h>", *undefined, *ours, ""])


def _compiled_name(level: Level) -> str:
    return f"{_name(level)}.{'pch' if is_clang() else 'gch'}"


def _cached_header(level: Level) -> Path | None:
    header, compiled = find(_name(level)), find(_compiled_name(level))
    return header if compiled is not None else None


def _precompile(levels: Sequence[Level]) -> dict[Level, Path]:
    """Precompile the headers for several levels concurrently."""
    with build_folder() as folder:
        text = folder / "all.h"
        text.write_text(_text())
        # It is published before it is compiled: clang records its path and reads it again when it is used.
        headers = {level: publish(_name(level), text) for level in levels}
        targets = {level: folder / level.name for level in levels}
        run(*(_command(level, headers[level], target) for level, target in targets.items()))
        for level, target in targets.items():
            publish(_compiled_name(level), target)
    return headers


def _command(level: Level, header: Path, target: Path) -> list[str]:
    return [*compiler(), *level.flags, *folders(), "-x", "c++-header", str(header), "-o", str(target)]


def folders() -> list[str]:
    """The compiler options with the folders of headers."""
    import dace

    from sdfgad.targets.cpu.environment import OpenBLAS

    runtime = Path(dace.__file__).parent / "runtime" / "include"
    return [f"-I{folder}" for folder in (runtime, INCLUDE, *OpenBLAS.cmake_includes)]
