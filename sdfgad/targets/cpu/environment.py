"""OpenBLAS as a library environment of DaCe. Only the lowering to SDFGs imports this, as importing DaCe takes long."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import dace.library

from sdfgad.threads import impatient_threads

with impatient_threads():
    import scipy_openblas32  # It loads the library.


class Environment:
    """What DaCe asks of each environment, without anything in it."""

    cmake_minimum_version: str | None = None
    cmake_packages: tuple[str, ...] = ()
    cmake_variables: Mapping[str, str] = {}
    cmake_includes: tuple[str, ...] = ()
    cmake_libraries: tuple[str, ...] = ()
    cmake_compile_flags: tuple[str, ...] = ()
    cmake_link_flags: tuple[str, ...] = ()
    cmake_files: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    state_fields: tuple[str, ...] = ()
    init_code = ""
    finalize_code = ""
    dependencies: tuple[Any, ...] = ()


@dace.library.environment
class Runtime(Environment):
    """Our headers, and the compiler flags that their floating-point arithmetic needs, as an environment of DaCe."""

    cmake_includes = (str(Path(__file__).parent / "include"),)
    # DaCe's own flags give up signs of zeros and quotients as IEEE 754 has them.
    cmake_compile_flags = ("-std=c++20", "-fsigned-zeros", "-fno-reciprocal-math", "-ffp-contract=off", "-fopenmp")


@dace.library.environment
class OpenBLAS(Environment):
    """OpenBLAS as an environment of DaCe; its symbols carry the prefix ``scipy_``."""

    cmake_includes = (scipy_openblas32.get_include_dir(),)
    cmake_libraries = (f"{scipy_openblas32.get_lib_dir()}/lib{scipy_openblas32.get_library()}.so",)
    headers = ("products.h",)


@dace.library.environment
class Transforms(Environment):
    """The functions of `fourier.h`: sdfgad compiles them once, DaCe's own build with each program."""

    separate = ("fourier",)


def environments(with_blas: bool, headers: Collection[str]) -> set[str]:
    """The names in DaCe of the environments of a function that includes some headers."""
    wanted: list[Any] = [Runtime]
    if with_blas:
        wanted.append(OpenBLAS)
    if "fourier.h" in headers:
        wanted.append(Transforms)
    return {environment.full_class_path() for environment in wanted}
