"""``sdfgad info``: what an issue report needs."""

from __future__ import annotations

import argparse
import os
import platform
import sys

from sdfgad.cache import cache_folder
from sdfgad.environment import machine, versions
from sdfgad.errors import CompilerError
from sdfgad.runtime.compiler import compiler, version

HELP = "Show versions, compiler, BLAS and threads: what an issue report needs."
PACKAGES = ("sdfgad", "dace", "numpy", "scipy", "pulp", "highspy", "islpy", "sympy", "scipy-openblas32")
BRIDGES = ("jax", "torch", "dask", "matplotlib", "ziglang")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """None."""


def run(_: argparse.Namespace) -> int:
    """Returns the exit status: 1 where there is no compiler."""
    settings = {name: value for name, value in sorted(os.environ.items()) if _is_setting(name)}
    found, problem = _compiler()
    rows = {
        "platform": platform.platform(),
        **machine(),
        "executable": sys.executable,
        "compiler": found,
        "cache": str(cache_folder()),
        **versions(PACKAGES),
        **versions(BRIDGES),
        **settings,
    }
    width = max(map(len, rows)) + 2
    for name, value in rows.items():
        print(f"{name:<{width}}{value}")
    return 1 if problem else 0


def _compiler() -> tuple[str, bool]:
    """The compiler's command and version, or why there is none."""
    try:
        return f"{' '.join(compiler())}: {version()}", False
    except CompilerError as error:
        return str(error), True


def _is_setting(name: str) -> bool:
    return name.startswith(("SDFGAD_", "OMP_", "OPENBLAS_")) or name in ("CXX", "CXXFLAGS")
