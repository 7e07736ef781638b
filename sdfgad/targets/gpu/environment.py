"""The headers of the device as a library environment of DaCe."""

from __future__ import annotations

from pathlib import Path

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
