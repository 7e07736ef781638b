"""C++ to shared libraries, in a content-addressed cache: a library's key is a hash of all that it depends on.

The compiler is called directly, so that neither CMake nor a build folder in the working directory is needed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdfgad.cache import build_folder, build_lock, find, key_of, publish
from sdfgad.errors import CompilerError
from sdfgad.progress import stage
from sdfgad.runtime.compiler import Level, command_for, run, toolchain
from sdfgad.runtime.headers import Headers, headers_of, left_out, precompiled
from sdfgad.runtime.separate import objects


@dataclass(frozen=True)
class Library:
    """A compiled program: the shared object, the program's name in it, and its ABI: the (name, kind) of each argument.

    Attributes:
        plain: the shared object of plain code, by which the optimised one is tested; None if it was not requested.
    """

    path: Path
    name: str
    arguments: tuple[tuple[str, str], ...]
    plain: Path | None = None

    @property
    def key(self) -> str:
        """Identifies the code and all that its compiled form depends on."""
        return f"{self.path.parent.name}/{self.name}"


@dataclass(frozen=True)
class Source:
    """The C++ of a program, the (name, kind) of its arguments in order, the linker options that it needs, and the files
    of ``targets/cpu/separate`` with functions that it calls."""

    name: str
    code: str
    arguments: tuple[tuple[str, str], ...]
    options: tuple[str, ...]
    separate: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return key_of([self.code, toolchain(), *self.options])


def compile_source(source: Source, with_plain: bool = False) -> Library:
    """Compile C++, or find the library in the cache; optimised and plain code are compiled concurrently.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    with build_lock(f"libraries/{source.key}"):
        found = {level: find(library_name(source.key, level)) for level in levels_of(with_plain)}
        missing = [level for level, path in found.items() if path is None]
        if missing:
            with stage("compiling C++"):
                found |= _compiled(source, missing)
    path = found[Level.OPTIMISED]
    assert path is not None
    return Library(path, source.name, source.arguments, found.get(Level.PLAIN))


def is_compiled(source: Source, with_plain: bool) -> bool:
    """Whether the libraries of C++ are in the cache."""
    return all(find(library_name(source.key, level)) is not None for level in levels_of(with_plain))


def levels_of(with_plain: bool) -> tuple[Level, ...]:
    return (Level.OPTIMISED, Level.PLAIN) if with_plain else (Level.OPTIMISED,)


def library_name(key: str, level: Level) -> str:
    """The cache name of a shared object."""
    return f"libraries/{key}/{'program' if level is Level.OPTIMISED else 'plain'}.so"


def _source_file(folder: Path, level: Level) -> Path:
    """The path for the C++: DaCe's code includes ``../../include/hash.h``, which names the SDFG."""
    file = folder / "src" / "cpu" / f"{level.name}.cpp"
    file.parent.mkdir(parents=True, exist_ok=True)
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "hash.h").touch()
    return file


def _compiled(source: Source, levels: Sequence[Level]) -> dict[Level, Path]:
    headers = headers_of(source.code)
    try:
        return _compiled_with(headers, source, levels)
    except CompilerError:
        if headers is Headers.ALL or os.environ.get("SDFGAD_VERIFY") == "1":
            raise
        # What a user wrote in C++ may need what no rule foresees.
        return _compiled_with(Headers.ALL, source, levels)


def _compiled_with(headers: Headers, source: Source, levels: Sequence[Level]) -> dict[Level, Path]:
    with build_folder() as folder:
        targets = {level: folder / f"{level.name}.so" for level in levels}
        included, linked = precompiled(levels, headers), objects(source.separate, levels)
        commands = []
        for level, target in targets.items():
            file = _source_file(folder, level)
            file.write_text(source.code)
            options = (*included[level], *left_out(source.code), *linked[level], *source.options)
            commands.append(command_for(file, target, level, options))
        run(*commands)
        return {level: publish(library_name(source.key, level), target) for level, target in targets.items()}
