"""Separate compilation: object files of slow-to-compile functions, built once for each toolchain and level."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from sdfgad.cache import build_folder, build_lock, find, key_of, publish
from sdfgad.runtime.compiler import SEPARATE, Level, compiler, run, toolchain
from sdfgad.runtime.headers import folders


def objects(names: Sequence[str], levels: Sequence[Level]) -> dict[Level, tuple[str, ...]]:
    """For each level, the object files of some files of ``targets/cpu/separate``, which are compiled if necessary.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    wanted = [(name, level) for level in sorted(levels, key=lambda level: level.name) for name in sorted(names)]
    with contextlib.ExitStack() as stack:
        for name, level in wanted:
            stack.enter_context(build_lock(_cached(name, level)))
        missing = [(name, level) for name, level in wanted if find(_cached(name, level)) is None]
        if missing:
            _compile(missing)
    return {level: tuple(str(find(_cached(name, level))) for name in names) for level in levels}


def _cached(name: str, level: Level) -> str:
    return f"objects/{key_of([toolchain(), *level.flags])}/{name}.o"


def _compile(wanted: Sequence[tuple[str, Level]]) -> None:
    with build_folder() as folder:
        targets = {(name, level): folder / f"{name}.{level.name}.o" for name, level in wanted}
        run(*(_command(SEPARATE / f"{name}.cpp", target, level) for (name, level), target in targets.items()))
        for (name, level), target in targets.items():
            publish(_cached(name, level), target)


def _command(source: Path, target: Path, level: Level) -> list[str]:
    return [*compiler(), *level.flags, *folders(), "-c", str(source), "-o", str(target)]
