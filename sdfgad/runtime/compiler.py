"""The C++ compiler and its flags: for optimised code, and for plain code, by which the optimised code is tested."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import shlex
import shutil
from enum import Enum
from pathlib import Path

from sdfgad.cache import build_folder, build_lock, find, key_of, publish, read, write
from sdfgad.errors import CompilerError
from sdfgad.processes import run as run_program
from sdfgad.processes import run_beside
from sdfgad.runtime import wheels

_TARGETS = Path(__file__).parent.parent / "targets"
INCLUDE, SEPARATE = _TARGETS / "cpu" / "include", _TARGETS / "cpu" / "separate"

# For this machine, with strict IEEE 754 semantics: no -ffast-math, and no contraction of a*b+c, which would round
# differently from NumPy.
COMMON = (
    "-std=c++20",
    "-march=native",
    "-fopenmp",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-w",
    "-DSDFGAD_SEPARATE",
)
# Auto-vectorisation is off, since GCC miscompiles some dependences (ADR 15): only loops marked `omp simd` become
# vectors, which -fno-tree-vectorize, unlike -fno-tree-loop-vectorize, permits. -fno-tree-pre: partial redundancy
# elimination would carry loads from trip to trip, and prevent the vectorisation of marked loops. -fno-builtin-sin and
# -cos: GCC would merge a sine and a cosine of the same angle into sincos, which has no vector version. -mno-fma: GCC
# fuses products with alternating sums and differences in spite of -ffp-contract=off (with AVX-512, too; see
# complex_number.h). -fno-delete-null-pointer-checks: GCC takes some sums of addresses for null pointers, and drops the
# calls that they are passed to (ADR 20). The passes that reorder trips are off: GCC interchanges dependent loops (ADR
# 21). No loop peeling for alignment: GCC may run some trips twice (ADR 22).
GCC = (
    "-fno-tree-vectorize",
    "-fno-tree-pre",
    "--param=vect-max-peeling-for-alignment=0",
    "-fno-loop-interchange",
    "-fno-loop-unroll-and-jam",
    "-fno-tree-loop-distribution",
    "-fno-tree-loop-distribute-patterns",
    "-fno-delete-null-pointer-checks",
    *(f"-fno-builtin-{name}" for name in ("sin", "cos", "sinf", "cosf")),
)
# Plain code is compiled with as few passes in common with optimised code as is affordable: a comparison of the two does
# not reveal a fault of a common pass, such as that of ADR 20.
PLAIN_GCC = ("-fno-ivopts", "-fno-ipa-pure-const")
X86 = ("-mno-fma",)
CLANG = ("-fno-vectorize", "-fno-slp-vectorize")
# glibc's vector functions; for GCC vector_math.h declares them.
CLANG_VECTOR_MATH = "-fveclib=libmvec"
GOLD = ("-fuse-ld=gold",)


class Level(Enum):
    """Optimisation level.

    Plain code is not vectorised and hardly optimised. It compiles quickly, and it can be run with its sums and
    elementary functions perturbed by the bound of their rounding differences to optimised code (`include/perturb.h`).
    """

    OPTIMISED = "-O3"
    PLAIN = "-O1"

    @property
    def flags(self) -> tuple[str, ...]:
        special = (*CLANG, *((CLANG_VECTOR_MATH,) if _has_vector_math() else ())) if is_clang() else GCC
        machine = X86 if platform.machine() == "x86_64" and not is_clang() else ()
        return (*COMMON, self.value, *special, *machine, *(self._plain if self is Level.PLAIN else ()))

    @property
    def _plain(self) -> tuple[str, ...]:
        return ("-DSDFGAD_PLAIN", *(() if is_clang() else PLAIN_GCC))


@functools.cache
def compiler() -> tuple[str, ...]:
    """The command of the C++ compiler: $CXX, else g++, else the compiler of the optional dependencies `compiler`.

    Raises:
        CompilerError: there is none.
    """
    wanted = os.environ.get("CXX")
    found = _on_the_path(wanted or "g++") or (None if wanted else _of_wheels())
    if found is None:
        raise CompilerError(
            f"no C++ compiler: `{wanted or 'g++'}` is not on the PATH",
            todo="Install g++ (apt-get install g++), or set CXX to the command of another compiler, g++ or clang++, or "
            'unset CXX and install a compiler from wheels (x86-64): pip install "sdfgad[compiler]".',
        )
    return found


def _of_wheels() -> tuple[str, ...] | None:
    found = wheels.installed()
    return found.command if found is not None else None


def _on_the_path(command: str) -> tuple[str, ...] | None:
    """A shell command split into words, if its program exists; a command that is a path may contain spaces."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    for program, *options in filter(None, ([command], words)):
        path = shutil.which(program)
        if path is not None:
            return (path, *options)
    return None


@functools.cache
def version() -> str:
    """The first line of the compiler's ``--version``."""
    return run_program([*compiler(), "--version"]).stdout.partition("\n")[0]


def is_clang() -> bool:
    return "clang" in version()


@functools.cache
def toolchain() -> str:
    """A hash, for cache keys, of all that compiled code depends on besides its source: compiler, headers, processor."""
    files = [*INCLUDE.glob("*.h"), *SEPARATE.glob("*.cpp"), *_TARGETS.glob("gpu/include/**/*")]
    headers = [path.read_text() for path in sorted(files) if path.is_file()]
    versions = [importlib.metadata.version(name) for name in ("dace", "scipy-openblas32")]
    flags = [flag for level in Level for flag in level.flags]
    return key_of([*compiler(), version(), _processor(), *versions, *flags, *headers])


@functools.cache
def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    wanted = ("model name", "flags")
    return "\n".join(sorted({line for line in text.splitlines() if line.startswith(wanted)}))


def command_for(source: Path, target: Path, level: Level, options: tuple[str, ...]) -> list[str]:
    """The command that compiles a C++ file to a shared library."""
    return [*compiler(), *level.flags, "-shared", str(source), "-o", str(target), *options, *linker(), *libraries()]


@functools.cache
def linker() -> tuple[str, ...]:
    """Linker options: gold where it can link, which takes a third of the time of GNU's other linker (35 ms less).

    That is tried once for each toolchain: gold does not find the libraries of a compiler that was moved.
    """
    if is_clang():
        return ()
    name = f"machine/{key_of(['gold', toolchain()])}"
    known = read(name)
    if known is None:
        known = b"yes" if _links(GOLD) else b"no"
        write(name, known)
    return GOLD if known == b"yes" else ()


def _links(options: tuple[str, ...]) -> bool:
    """Whether a library like those of programs can be linked: with exceptions, and what the compiler brings."""
    with build_folder() as folder:
        source = folder / "tried.cpp"
        source.write_text("int* tried() { try { return new int; } catch (...) { return nullptr; } }\n")
        command = [*compiler(), *COMMON, "-shared", str(source), "-o", str(folder / "tried.so"), *options, *libraries()]
        (done,) = run_beside([command])
    return done.returncode == 0


def run(*commands: list[str]) -> None:
    """Run commands of the compiler concurrently.

    Raises:
        CompilerError: one of them failed.
    """
    for command, done in zip(commands, run_beside(commands), strict=True):
        if done.returncode:
            needs_openmp = "omp" in done.stderr and is_clang()
            hint = " clang needs its OpenMP library (such as libomp-19-dev)." if needs_openmp else ""
            raise CompilerError(
                f"the C++ compiler failed:\n{done.stderr[:4000]}", todo=f"The command was: {' '.join(command)}{hint}"
            )


def build_helper(source: Path, *options: str) -> Path:
    """The shared library of a C++ file of our own, compiled on first use with these options."""
    name = f"helpers/{key_of([source.read_text(), toolchain(), *options])}/{source.stem}.so"
    with build_lock(name), build_folder() as folder:
        found, target = find(name), folder / f"{source.stem}.so"
        if found is None:
            run(command_for(source, target, Level.OPTIMISED, (f"-I{INCLUDE}", *options)))
            found = publish(name, target)
    return found


def _has_vector_math() -> bool:
    return platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"


def libraries() -> tuple[str, ...]:
    """Linker options: the library of vector functions (libmvec), and OpenMP where -fopenmp does not link it."""
    vectors = ("-Wl,--as-needed", "-lmvec", "-lm") if _has_vector_math() else ()
    found = wheels.installed()
    return (*vectors, *(found.openmp if found is not None and compiler() == found.command else ()))
