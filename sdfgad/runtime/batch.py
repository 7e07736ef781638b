"""Unity build: compiles many programs in one run of the compiler, which spends most of its time on common headers.

The programs become one C++ text and one shared library. Each is recorded in the index that `compile_program` reads, so
that later calls find it. The functions of a program's loop nests are never inlined, so their machine code is that of a
separate build.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sdfgad.emulated import is_emulated
from sdfgad.ir.program import Program
from sdfgad.runtime.build import Library, Source, compile_source
from sdfgad.runtime.compile import find_library, index_entry, record_library, source_of
from sdfgad.runtime.sizes import AUTO, Sharing

# What a library has of the kernels of its one program, and the text of them, which the emulation does not read.
_OF_KERNELS = re.compile(r"\bsdfgad_(kernel_count|emulated_kernels)\b")
_TEXT = re.compile(r'extern "C" const char\* const sdfgad_kernel_text = R"kernels\(.*?\)kernels";', re.DOTALL)


class Batch:
    """A set of programs to compile in one unity build.

    Example:
        >>> batch = Batch()  # doctest: +SKIP
        >>> batch.add(one), batch.add(another)  # doctest: +SKIP
        >>> batch.build()  # doctest: +SKIP
    """

    def __init__(self) -> None:
        self._parts: dict[str, Source] = {}
        self._emulated: dict[str, Source] = {}
        # For a device: its library has the kernels of one program.
        self._alone: dict[str, Source] = {}

    def add(self, program: Program) -> None:
        """Optimise a program and generate its C++, unless it is in the batch or has been compiled."""
        entry = index_entry(program, _sharing(program))
        groups = self._parts, self._emulated, self._alone
        if any(entry in group for group in groups) or find_library(entry) is not None:
            return
        parts = groups[0 if program.device == "cpu" else 1 if is_emulated() else 2]
        name = f"{program.name}_{entry.rpartition('/')[2]}"
        parts[entry] = source_of(replace(program, name=name))

    def build(self, with_plain: bool = False) -> int:
        """Compile the programs of the batch, and empty it.

        Args:
            with_plain: whether plain code is compiled, too, by which optimised code is tested.

        Returns:
            The number of compiled programs.

        Raises:
            CompilerError: there is no compiler, or it failed; then none of the programs has been compiled.
        """
        parts, emulated, alone = self._parts, self._emulated, self._alone
        self._parts, self._emulated, self._alone = {}, {}, {}
        for entry, part in alone.items():
            record_library(entry, compile_source(part, with_plain))
        for group in filter(None, (parts, {entry: _with_own_kernels(part) for entry, part in emulated.items()})):
            library = compile_source(_concatenated(list(group.values())), with_plain)
            for entry, part in group.items():
                record_library(entry, Library(library.path, part.name, part.arguments))
        return len(parts) + len(emulated) + len(alone)


def _sharing(program: Program) -> Sharing:
    """As the program is loaded."""
    return AUTO if program.device == "cpu" else Sharing("exact")


def _with_own_kernels(part: Source) -> Source:
    """A program for the emulation whose kernels have a name that no other one in its library has."""
    return replace(part, code=_OF_KERNELS.sub(rf"\g<0>_{part.name}", _TEXT.sub("", part.code)))


def _concatenated(parts: Sequence[Source]) -> Source:
    """One C++ text of all parts, each in its own namespace, with the includes hoisted to the top."""
    includes, texts = dict[str, None](), list[str]()
    for part in parts:
        lines = part.code.splitlines()
        includes |= dict.fromkeys(line for line in lines if line.startswith("#include"))
        rest = "\n".join(line for line in lines if not line.startswith("#include"))
        texts.append(f"namespace in_{part.name} {{\n{rest}\n}}\n")
    options = tuple(dict.fromkeys(option for part in parts for option in part.options))
    separate = tuple(sorted({name for part in parts for name in part.separate}))
    return Source("together", "\n".join([*includes, *texts]), (), options, separate)
