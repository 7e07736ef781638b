"""Compiles programs by way of an SDFG and its generated C++, and caches the libraries.

DaCe generates the code; the compiler is called directly, so that neither CMake nor a build folder in the working
directory is needed. The key of a library is everything it depends on, so processes may share it. An index leads from
programs to libraries, so that DaCe is neither run nor even imported for a program that has been compiled.
"""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdfgad.cache import building, find, fingerprint, key_of, publish, read, workshop, write
from sdfgad.ir.program import Program
from sdfgad.ir.serial import serialised
from sdfgad.runtime.compiler import Level, command_for, run, toolchain
from sdfgad.runtime.headers import precompiled


@dataclass(frozen=True)
class Library:
    """A compiled program: the shared object, the program's name in it, and its arguments in order.

    Attributes:
        plain: the same program in plain code, by which the optimised one is tested; None where that was not asked for.
    """

    path: Path
    name: str
    arguments: tuple[tuple[str, str], ...]
    plain: Path | None = None

    @property
    def key(self) -> str:
        """Stands for the code, and for all that its compiled form depends on."""
        return f"{self.path.parent.name}/{self.name}"


@dataclass(frozen=True)
class Source:
    """The C++ of a program, its arguments in order, and the compiler's options for the libraries that it calls."""

    name: str
    code: str
    arguments: tuple[tuple[str, str], ...]
    options: tuple[str, ...]

    @property
    def key(self) -> str:
        return key_of([self.code, toolchain(), *self.options])


def compile_program(
    program: Program, with_plain: bool = False, optimised: Callable[[], Program] | None = None
) -> Library:
    """Optimise and compile a program, or find that this has been done.

    Args:
        with_plain: whether plain code is compiled, too.
        optimised: the program after all passes, where somebody has asked for it already.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    entry = entry_of(program)
    library = entered(entry)
    if library is None or (with_plain and library.plain is None):
        source = source_of(program) if optimised is None else source_of_optimised(optimised())
        library = compile_source(source, with_plain)
        enter(entry, library)
    return library


def entry_of(program: Program) -> str:
    """The name of a program's entry in the index."""
    return f"programs/{key_of([serialised(program), toolchain(), _place_of_openblas(), fingerprint()])}"


def entered(entry: str) -> Library | None:
    """The library that an entry of the index leads to, if there are both."""
    text = read(entry)
    if text is None:
        return None
    found = json.loads(text)
    path, plain = (find(_name(found["library"], level)) for level in (Level.OPTIMISED, Level.PLAIN))
    arguments = tuple((name, kind) for name, kind in found["arguments"])
    return Library(path, found["name"], arguments, plain) if path is not None else None


def enter(entry: str, library: Library) -> None:
    """Have an entry of the index lead to a library."""
    key = "/".join(library.path.parts[-3:-1])
    write(entry, json.dumps({"library": key, "name": library.name, "arguments": library.arguments}).encode())


def _name(key: str, level: Level) -> str:
    return f"libraries/{key}/{'program' if level is Level.OPTIMISED else 'plain'}.so"


def source_of(program: Program) -> Source:
    """The C++ that a program becomes."""
    # These import DaCe and all passes, which takes a while.
    from sdfgad.optimise.passes import optimise

    return source_of_optimised(optimise(program))


def source_of_optimised(program: Program) -> Source:
    """The C++ that a program becomes as it is."""
    from sdfgad.sdfg.writer import write

    return generate(write(program))


def generate(sdfg: Any) -> Source:
    """The C++ of an SDFG, which is changed on the way: its library nodes are expanded."""
    from sdfgad.targets.generate import code_of

    code = code_of(sdfg)
    return Source(sdfg.name, code.text, code.arguments, code.options)


def compile_source(source: Source, with_plain: bool = False) -> Library:
    """Compile C++, or find it compiled; where plain code is asked for, both at a time.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    levels = (Level.OPTIMISED, Level.PLAIN) if with_plain else (Level.OPTIMISED,)
    with building(f"libraries/{source.key}"):
        found = {level: find(_name(source.key, level)) for level in levels}
        missing = [level for level, path in found.items() if path is None]
        found |= _built(source, missing) if missing else {}
    path = found[Level.OPTIMISED]
    assert path is not None
    return Library(path, source.name, source.arguments, found.get(Level.PLAIN))


def compile_sdfg(sdfg: Any) -> Library:
    """Compile an SDFG, or find its code compiled.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    return compile_source(generate(sdfg))


def _file(folder: Path, level: Level) -> Path:
    """Where the code goes: DaCe's includes the file that says which SDFG it is of from two folders up."""
    file = folder / "src" / "cpu" / f"{level.name}.cpp"
    file.parent.mkdir(parents=True, exist_ok=True)
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "hash.h").touch()
    return file


def _built(source: Source, levels: Sequence[Level]) -> dict[Level, Path]:
    with workshop() as folder:
        targets = {level: folder / f"{level.name}.so" for level in levels}
        headers = precompiled(levels)
        commands = []
        for level, target in targets.items():
            file = _file(folder, level)
            file.write_text(source.code)
            commands.append(command_for(file, target, level, (*headers[level], *source.options)))
        run(*commands)
        return {level: publish(_name(source.key, level), target) for level, target in targets.items()}


@functools.cache
def _place_of_openblas() -> str:
    """Where a library finds OpenBLAS, which its code does not say."""
    spec = importlib.util.find_spec("scipy_openblas32")
    assert spec is not None
    return str(spec.origin)
