"""The headers of the device, and its emulation, as library environments of DaCe."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import dace.library

from sdfgad.emulated import is_emulated
from sdfgad.targets.cpu.environment import Environment

INCLUDE = Path(__file__).parent / "include"


@dace.library.environment
class Device(Environment):
    """What launches kernels."""

    cmake_includes = (str(INCLUDE),)

    @staticmethod
    def options() -> tuple[str, ...]:
        """The options of the compiler."""
        return (f"-I{INCLUDE}", *(("-DSDFGAD_EMULATED", "-O1") if is_emulated() else ()))


@dace.library.environment
class Emulation(Environment):
    """The functions of `emulated.h`, which are compiled once."""

    separate = ("emulated",)


@dace.library.environment
class EmulatedLibrary(Environment):
    """The functions of `emulated_library.h`."""

    separate = ("emulated_library",)


def environments(headers: Collection[str]) -> set[str]:
    """The names in DaCe of the environments of a function that launches kernels, and includes some headers."""
    wanted: list[Any] = [Device, *([Emulation] if is_emulated() else [])]
    if "emulated_library.h" in headers:
        wanted.append(EmulatedLibrary)
    return {environment.full_class_path() for environment in wanted}
