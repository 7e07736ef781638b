"""The headers of the device as a library environment of DaCe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dace.library

from sdfgad.emulated import is_emulated

INCLUDE = Path(__file__).parent / "include"


@dace.library.environment
class Device:
    """What launches kernels."""

    cmake_minimum_version: str | None = None
    cmake_packages: tuple[str, ...] = ()
    cmake_variables: Mapping[str, str] = {}
    cmake_includes = (str(INCLUDE),)
    cmake_libraries: tuple[str, ...] = ()
    cmake_compile_flags: tuple[str, ...] = ()
    cmake_link_flags: tuple[str, ...] = ()
    cmake_files: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    state_fields: tuple[str, ...] = ()
    init_code = ""
    finalize_code = ""
    dependencies: tuple[Any, ...] = ()

    @staticmethod
    def options() -> tuple[str, ...]:
        """The options of the compiler."""
        return (f"-I{INCLUDE}", *(("-DSDFGAD_EMULATED",) if is_emulated() else ()))
