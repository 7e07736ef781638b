"""Compilation of programs, by way of an SDFG and its generated C++, to shared libraries in a content-addressed cache.

DaCe generates the code; the compiler is called directly, so that neither CMake nor a build folder in the working
directory is needed. A library's key is a hash of all that it depends on, so processes can share it. An index maps
programs to libraries, so that DaCe is neither run nor imported for a program that has been compiled.
"""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdfgad.cache import build_folder, build_lock, find, fingerprint, key_of, publish, read, write
from sdfgad.ir.program import Program
from sdfgad.ir.serial import serialised
from sdfgad.runtime.compiler import Level, command_for, run, toolchain
from sdfgad.runtime.headers import precompiled
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


def compile_program(
    program: Program, with_plain: bool = False, optimised: Callable[[], Program] | None = None
) -> Library:
    """Optimise and compile a program, or find its library in the cache.

    Args:
        with_plain: whether plain code is compiled, too.
        optimised: returns the program after all passes, where the caller has computed it already.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    entry = index_entry(program)
    library = find_library(entry)
    if library is None or (with_plain and library.plain is None):
        source = source_of(program) if optimised is None else source_of_optimised(optimised())
        library = compile_source(source, with_plain)
        record_library(entry, library)
    return library


def index_entry(program: Program) -> str:
    """The cache name of a program's entry in the index."""
    return f"programs/{key_of([serialised(program), toolchain(), _openblas_path(), fingerprint()])}"


def find_library(entry: str) -> Library | None:
    """The library that an index entry refers to; None if the entry or the library is not in the cache."""
    text = read(entry)
    if text is None:
        return None
    found = json.loads(text)
    path, plain = (find(_library_name(found["library"], level)) for level in (Level.OPTIMISED, Level.PLAIN))
    arguments = tuple((name, kind) for name, kind in found["arguments"])
    return Library(path, found["name"], arguments, plain) if path is not None else None


def record_library(entry: str, library: Library) -> None:
    """Store an index entry that refers to a library."""
    key = "/".join(library.path.parts[-3:-1])
    write(entry, json.dumps({"library": key, "name": library.name, "arguments": library.arguments}).encode())


def _library_name(key: str, level: Level) -> str:
    return f"libraries/{key}/{'program' if level is Level.OPTIMISED else 'plain'}.so"


def source_of(program: Program) -> Source:
    """The C++ of a program, which is optimised first."""
    # A local import: it imports DaCe and all passes, which is slow.
    from sdfgad.optimise.passes import optimise

    return source_of_optimised(optimise(program))


def source_of_optimised(program: Program) -> Source:
    """The C++ of an optimised program."""
    from sdfgad.sdfg.sealed import write_sealed

    return generate(write_sealed(program))


def generate(sdfg: Any) -> Source:
    """The C++ of an SDFG, which is modified: its library nodes are expanded."""
    from sdfgad.targets.generate import code_of

    code = code_of(sdfg)
    return Source(sdfg.name, code.text, code.arguments, code.options, code.separate)


def compile_source(source: Source, with_plain: bool = False) -> Library:
    """Compile C++, or find the library in the cache; optimised and plain code are compiled concurrently.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    levels = (Level.OPTIMISED, Level.PLAIN) if with_plain else (Level.OPTIMISED,)
    with build_lock(f"libraries/{source.key}"):
        found = {level: find(_library_name(source.key, level)) for level in levels}
        missing = [level for level, path in found.items() if path is None]
        found |= _compiled(source, missing) if missing else {}
    path = found[Level.OPTIMISED]
    assert path is not None
    return Library(path, source.name, source.arguments, found.get(Level.PLAIN))


def compile_sdfg(sdfg: Any) -> Library:
    """Compile an SDFG, or find the library of its code in the cache.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    return compile_source(generate(sdfg))


def _source_file(folder: Path, level: Level) -> Path:
    """The path for the C++: DaCe's code includes ``../../include/hash.h``, which names the SDFG."""
    file = folder / "src" / "cpu" / f"{level.name}.cpp"
    file.parent.mkdir(parents=True, exist_ok=True)
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "hash.h").touch()
    return file


def _compiled(source: Source, levels: Sequence[Level]) -> dict[Level, Path]:
    with build_folder() as folder:
        targets = {level: folder / f"{level.name}.so" for level in levels}
        headers, linked = precompiled(levels), objects(source.separate, levels)
        commands = []
        for level, target in targets.items():
            file = _source_file(folder, level)
            file.write_text(source.code)
            commands.append(command_for(file, target, level, (*headers[level], *linked[level], *source.options)))
        run(*commands)
        return {level: publish(_library_name(source.key, level), target) for level, target in targets.items()}


@functools.cache
def _openblas_path() -> str:
    """The path of OpenBLAS, which the library depends on but its code does not contain."""
    spec = importlib.util.find_spec("scipy_openblas32")
    assert spec is not None
    return str(spec.origin)
