"""Compiles many programs in one run of the compiler, which spends most of its time on headers that all of them share.

The programs are parts of one C++ text and of one shared library. Each is entered in the index that `compile_program`
looks into, so calls find it compiled. The functions of a program's loop nests are never inlined, so what is made of
them is the same as when the program is compiled alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from sdfgad.ir.program import Program
from sdfgad.runtime import compile as compiling
from sdfgad.runtime.compile import Library


@dataclass(frozen=True)
class _Part:
    """The C++ of one program: lines of `#include`, what follows them, and what the library is to be told of it."""

    name: str
    includes: tuple[str, ...]
    code: str
    arguments: tuple[tuple[str, str], ...]
    options: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"namespace in_{self.name} {{\n{self.code}\n}}\n"


class Batch:
    """Programs that are to be compiled together.

    Example:
        >>> batch = Batch()  # doctest: +SKIP
        >>> batch.add(one), batch.add(another)  # doctest: +SKIP
        >>> batch.build()  # doctest: +SKIP
    """

    def __init__(self) -> None:
        self._parts: dict[Path, _Part] = {}

    def add(self, program: Program) -> None:
        """Optimise a program and generate its code, unless it is here or has been compiled."""
        entry = compiling._entry_of(program)
        if entry not in self._parts and compiling._entered(entry) is None:
            self._parts[entry] = _part(program, f"{program.name}_{entry.stem}")

    def build(self) -> int:
        """Compile what was added, and return the number of programs that this took; the batch is empty afterwards.

        Raises:
            CompilerError: there is no compiler, or it failed; then none of the programs has been compiled.
        """
        parts, self._parts = self._parts, {}
        if parts:
            path = _compiled(list(parts.values()))
            for entry, part in parts.items():
                compiling._enter(entry, Library(path, part.name, part.arguments))
        return len(parts)


def _part(program: Program, name: str) -> _Part:
    # These import DaCe and all passes, which takes a while.
    from sdfgad.lowering.compiled import lower_nests
    from sdfgad.optimize.passes import optimise

    code, arguments, options = compiling._generate(lower_nests(replace(optimise(program), name=name)))
    lines = code.splitlines()
    includes = tuple(line for line in lines if line.startswith("#include"))
    rest = "\n".join(line for line in lines if not line.startswith("#include"))
    return _Part(name, includes, rest, arguments, options)


def _compiled(parts: list[_Part]) -> Path:
    """The library of all parts, which is compiled unless there is one."""
    includes = dict.fromkeys(line for part in parts for line in part.includes)
    code = "\n".join([*includes, *(part.text for part in parts)])
    options = tuple(dict.fromkeys(option for part in parts for option in part.options))
    key = hashlib.sha256("\0".join([code, compiling._toolchain(), *options]).encode()).hexdigest()[:32]
    path = compiling._library_path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(str(path.parent / "lock")):
        if not path.exists():
            compiling._build(code, options, path.parent, path)
    return path
