"""Compiles programs by way of an SDFG and its generated C++ with g++, and caches the libraries.

DaCe generates the code; the compiler is called directly, so that neither CMake nor a build folder in the working
directory is needed. The key of a library is everything it depends on, so processes may share it. An index leads from
programs to libraries, so that DaCe is neither run nor even imported for a program that has been compiled.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from sdfgad.cache import cache_folder, fingerprint, replace_file
from sdfgad.errors import CompilerError
from sdfgad.ir.program import Program
from sdfgad.ir.serial import serialised
from sdfgad.lowering.memory import manage

# Optimised for this machine. NaN, infinity and the order of roundings stay those of the program: no -ffast-math,
# and no contraction of a*b+c, which would round differently from NumPy. GCC 12's vectoriser of straight-line code
# mixes up the lanes of eight loads with gaps (tests/runtime/test_compile.py has the program), so it is off. Where it
# knows a sine and a cosine of the same angle it calls sincos, which does not come for whole vectors.
FLAGS = (
    "-std=c++20",
    "-O3",
    "-march=native",
    "-fopenmp",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-slp-vectorize",
    "-ffp-contract=off",
    *(f"-fno-builtin-{name}" for name in ("sin", "cos", "sinf", "cosf")),
    "-w",
)
INCLUDE = Path(__file__).parent.parent / "lowering" / "include"


@dataclass(frozen=True)
class Library:
    """A compiled program: the shared object, the program's name in it, and its arguments in order."""

    path: Path
    name: str
    arguments: tuple[tuple[str, str], ...]


def compile_program(program: Program) -> Library:
    """Optimise and compile a program, or find that this has been done.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    parts = [serialised(program), _toolchain(), _place_of_openblas(), fingerprint()]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    entry = cache_folder() / "programs" / key[:2] / f"{key}.json"
    library = _entered(entry)
    if library is None:
        # These import DaCe and all passes, which takes a while.
        from sdfgad.lowering.compiled import lower_nests
        from sdfgad.optimize.passes import optimise

        library = compile_sdfg(lower_nests(optimise(program)))
        _enter(entry, library)
    return library


def _entered(entry: Path) -> Library | None:
    """The library that an entry of the index leads to, if there are both."""
    try:
        found = json.loads(entry.read_text())
    except (OSError, ValueError):
        return None
    path = _library_path(found["library"])
    arguments = tuple((name, kind) for name, kind in found["arguments"])
    return Library(path, found["name"], arguments) if path.exists() else None


def _enter(entry: Path, library: Library) -> None:
    found = {"library": library.path.parent.name, "name": library.name, "arguments": library.arguments}
    replace_file(entry, json.dumps(found).encode())


def _library_path(key: str) -> Path:
    return cache_folder() / key[:2] / key / "program.so"


def compile_sdfg(sdfg: Any) -> Library:
    """Compile an SDFG, or find its code compiled.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    # DaCe keeps state by SDFG name; the text is made with a fixed one and named by its content afterwards.
    code, arguments, options = _generate(sdfg)
    key = hashlib.sha256("\0".join([code, _toolchain(), *options]).encode()).hexdigest()[:32]
    library = Library(_library_path(key), sdfg.name, arguments)
    if library.path.exists():
        return library
    folder = library.path.parent
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(str(folder / "lock")):
        if not library.path.exists():
            _build(code, options, folder, library.path)
    return library


def _generate(sdfg: Any) -> tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The C++ text, the arguments in order, and the compiler's options for it and the libraries that it calls."""
    import dace
    from dace.codegen import codegen

    with warnings.catch_warnings():
        # The first trip of a loop saves a value that nothing has set yet and that nothing will read.
        warnings.filterwarnings("ignore", message=".*uninitialized transient")
        generated = codegen.generate_code(sdfg, validate=True)
    objects = [c for c in generated if c.linkable and c.language == "cpp"]
    text = "\n".join(c.clean_code for c in objects)
    lines = [line for line in text.splitlines() if not line.startswith('#include "../')]
    arguments = tuple(
        (name, "array" if isinstance(descriptor, dace.data.Array) else "integer")
        for name, descriptor in sdfg.arglist().items()
    )
    used = {environment for c in objects for environment in c.environments}
    return manage("\n".join(lines) + "\n", sdfg.name), arguments, _library_options(used)


def _library_options(used: set[str]) -> tuple[str, ...]:
    import dace.library

    options: list[str] = []
    for environment in dace.library.get_environments_and_dependencies(used):
        options += [f"-I{folder}" for folder in environment.cmake_includes]
        for path in environment.cmake_libraries:
            options += [path, "-Xlinker", "-rpath", "-Xlinker", str(Path(path).parent)]
    return tuple(options)


def _build(code: str, options: tuple[str, ...], folder: Path, target: Path) -> None:
    source, partial = folder / "program.cpp", folder / f"program.{os.getpid()}.so"
    source.write_text(code)
    files = [f"-I{INCLUDE}", str(source), "-o", str(partial), *options]
    command = [compiler(), *FLAGS, "-shared", *_precompiled(), *files, *_vector_math()]
    _run(command)
    os.replace(partial, target)


def _vector_math() -> tuple[str, ...]:
    """The library of what vector_math.h declares."""
    has_it = platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"
    return ("-Wl,--as-needed", "-lmvec", "-lm") if has_it else ()


def build_helper(source: Path) -> Path:
    """The shared library of a C++ file that belongs to no program, compiled once."""
    text = source.read_text()
    folder = cache_folder() / "helpers" / hashlib.sha256("\0".join([text, _toolchain()]).encode()).hexdigest()[:32]
    target = folder / f"{source.stem}.so"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(str(folder / "lock")):
        if not target.exists():
            partial = folder / f"{source.stem}.{os.getpid()}.so"
            _run([compiler(), *FLAGS, "-shared", str(source), "-o", str(partial)])
            os.replace(partial, target)
    return target


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CompilerError(
            f"the C++ compiler failed:\n{done.stderr[:4000]}", todo=f"The command was: {' '.join(command)}"
        )


@functools.cache
def compiler() -> str:
    """The path of the C++ compiler: $CXX, or g++.

    Raises:
        CompilerError: there is none.
    """
    wanted = os.environ.get("CXX", "g++")
    path = shutil.which(wanted)
    if path is None:
        raise CompilerError(
            f"no C++ compiler: `{wanted}` is not on the PATH", todo="Install g++ (apt-get install g++)."
        )
    return path


@functools.cache
def _toolchain() -> str:
    """All that the compiled code depends on besides its text."""
    version = subprocess.run([compiler(), "--version"], capture_output=True, text=True).stdout.partition("\n")[0]
    headers = [path.read_text() for path in sorted(INCLUDE.glob("*.h"))]
    versions = [importlib.metadata.version(name) for name in ("dace", "scipy-openblas32")]
    return "\0".join([version, _processor(), *versions, *FLAGS, *headers])


@functools.cache
def _place_of_openblas() -> str:
    """Where a library finds OpenBLAS, which its code does not say."""
    spec = importlib.util.find_spec("scipy_openblas32")
    assert spec is not None
    return str(spec.origin)


@functools.cache
def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    wanted = ("model name", "flags")
    return "\n".join(sorted({line for line in text.splitlines() if line.startswith(wanted)}))


def _runtime_include() -> Path:
    import dace

    return Path(dace.__file__).parent / "runtime" / "include"


@functools.cache
def _precompiled() -> tuple[str, ...]:
    """Options that use a precompiled copy of DaCe's headers, built once per toolchain."""
    folder = cache_folder() / "headers" / hashlib.sha256(_toolchain().encode()).hexdigest()[:16]
    header = folder / "dace_all.h"
    compiled = folder / "dace_all.h.gch"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(str(folder / "lock")):
        if not compiled.exists():
            header.write_text("#include <dace/dace.h>\n")
            partial = folder / "dace_all.partial"
            _run(
                [
                    compiler(),
                    *FLAGS,
                    f"-I{_runtime_include()}",
                    "-x",
                    "c++-header",
                    str(header),
                    "-o",
                    str(partial),
                ]
            )
            os.replace(partial, compiled)
    return ("-include", str(header), f"-I{_runtime_include()}")
