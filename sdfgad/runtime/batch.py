"""Compiles many programs in one run of the compiler, which spends most of its time on headers that all of them share.

The programs are parts of one C++ text and of one shared library. Each is entered in the index that `compile_program`
looks into, so calls find it compiled. The functions of a program's loop nests are never inlined, so what is made of
them is the same as when the program is compiled alone.
"""

from __future__ import annotations

from dataclasses import replace

from sdfgad.ir.program import Program
from sdfgad.runtime.compile import Library, Source, compile_source, enter, entered, entry_of, source_of


class Batch:
    """Programs that are to be compiled together.

    Example:
        >>> batch = Batch()  # doctest: +SKIP
        >>> batch.add(one), batch.add(another)  # doctest: +SKIP
        >>> batch.build()  # doctest: +SKIP
    """

    def __init__(self) -> None:
        self._parts: dict[str, Source] = {}

    def add(self, program: Program) -> None:
        """Optimise a program and generate its code, unless it is here or has been compiled."""
        entry = entry_of(program)
        if entry not in self._parts and entered(entry) is None:
            name = f"{program.name}_{entry.rpartition('/')[2]}"
            self._parts[entry] = source_of(replace(program, name=name))

    def build(self, with_plain: bool = False) -> int:
        """Compile what was added, and return the number of programs that this took; the batch is empty afterwards.

        Args:
            with_plain: whether plain code is compiled, too, by which optimised code is tested.

        Raises:
            CompilerError: there is no compiler, or it failed; then none of the programs has been compiled.
        """
        parts, self._parts = self._parts, {}
        if parts:
            library = compile_source(_together(list(parts.values())), with_plain)
            for entry, part in parts.items():
                enter(entry, Library(library.path, part.name, part.arguments))
        return len(parts)


def _together(parts: list[Source]) -> Source:
    """One text of all parts, each in a namespace of its own."""
    includes, texts = dict[str, None](), list[str]()
    for part in parts:
        lines = part.code.splitlines()
        includes |= dict.fromkeys(line for line in lines if line.startswith("#include"))
        rest = "\n".join(line for line in lines if not line.startswith("#include"))
        texts.append(f"namespace in_{part.name} {{\n{rest}\n}}\n")
    options = tuple(dict.fromkeys(option for part in parts for option in part.options))
    return Source("together", "\n".join([*includes, *texts]), (), options)
