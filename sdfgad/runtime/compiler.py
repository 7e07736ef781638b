"""The C++ compiler and how it is called: for optimised code, and for plain code that this is tested by."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import shlex
import shutil
from enum import Enum
from pathlib import Path

from sdfgad.cache import building, find, key_of, publish, workshop
from sdfgad.errors import CompilerError
from sdfgad.processes import run as run_program
from sdfgad.processes import run_beside
from sdfgad.runtime import wheels

INCLUDE = Path(__file__).parent.parent / "targets" / "cpu" / "include"

# For this machine. NaN, infinity and the order of roundings stay those of the program: no -ffast-math, and no
# contraction of a*b+c, which would round differently from NumPy.
COMMON = (
    "-std=c++20",
    "-march=native",
    "-fopenmp",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-w",
)
# The automatic vectorisers are off, since GCC's are wrong where they decide about dependences (ADR 15): only loops that
# we mark (`omp simd`) become vectors, because -fno-tree-vectorize, unlike -fno-tree-loop-vectorize, leaves these alone.
# Without those vectorisers GCC's elimination of partial redundancies would carry loads from trip to trip, and marked
# loops would be no vectors. Where it knows a sine and a cosine of the same angle it calls sincos, which does not come
# for whole vectors. It fuses products with alternating sums and differences in spite of -ffp-contract=off, for which
# -mno-fma takes the instructions away (but those of AVX-512; complex_number.h has more). It takes addresses that it has
# written as sums without a pointer for null pointers and drops calls of functions with such (ADR 20), unless null
# pointers may be read. It interchanges loops whose trips depend on each other (ADR 21): the passes that reorder trips
# are off. Where it runs trips up to an aligned address before it runs vectors, it may run others twice (ADR 22).
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
# Plain code shares as few of GCC's conclusions with optimised code as it can afford: of faults in what both share, such
# as ADR 20's, comparing them tells nothing.
PLAIN_GCC = ("-fno-ivopts", "-fno-ipa-pure-const")
X86 = ("-mno-fma",)
CLANG = ("-fno-vectorize", "-fno-slp-vectorize")
# The functions of glibc that take vectors; GCC learns of them in vector_math.h.
CLANG_VECTOR_MATH = "-fveclib=libmvec"


class Level(Enum):
    """How code is compiled.

    Plain code has no vectors and as good as no optimisations. It is quick to compile, and can be run with its sums and
    elementary functions perturbed by as much as optimised code may round them otherwise (`include/perturb.h`).
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
    """The command of the C++ compiler: $CXX, or g++, or the one that the extra `compiler` installs.

    Raises:
        CompilerError: there is none.
    """
    wanted = os.environ.get("CXX")
    found = _on_the_path(wanted or "g++") or (None if wanted else _of_wheels())
    if found is None:
        raise CompilerError(
            f"no C++ compiler: `{wanted or 'g++'}` is not on the PATH",
            todo="Install g++ (apt-get install g++), or set CXX to the command of another compiler, g++ or clang++, or "
            "with CXX unset install one from wheels (x86-64): pip install ziglang intel-openmp.",
        )
    return found


def _of_wheels() -> tuple[str, ...] | None:
    found = wheels.installed()
    return found.command if found is not None else None


def _on_the_path(command: str) -> tuple[str, ...] | None:
    """A command as the list of its words, if its program exists: the whole text is a path, or begins with one."""
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
    """The first line of what the compiler says of itself."""
    return run_program([*compiler(), "--version"]).stdout.partition("\n")[0]


def is_clang() -> bool:
    return "clang" in version()


@functools.cache
def toolchain() -> str:
    """All that the compiled code depends on besides its text."""
    headers = [path.read_text() for path in sorted(INCLUDE.glob("*.h"))]
    versions = [importlib.metadata.version(name) for name in ("dace", "scipy-openblas32")]
    flags = [flag for level in Level for flag in level.flags]
    return "\0".join([*compiler(), version(), _processor(), *versions, *flags, *headers])


@functools.cache
def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    wanted = ("model name", "flags")
    return "\n".join(sorted({line for line in text.splitlines() if line.startswith(wanted)}))


def command_for(source: Path, target: Path, level: Level, options: tuple[str, ...]) -> list[str]:
    """The command that makes a shared library of a C++ file."""
    return [*compiler(), *level.flags, "-shared", str(source), "-o", str(target), *options, *libraries()]


def run(*commands: list[str]) -> None:
    """Run commands of the compiler beside each other.

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


def build_helper(source: Path) -> Path:
    """The shared library of a C++ file that belongs to no program, compiled once."""
    name = f"helpers/{key_of([source.read_text(), toolchain()])}/{source.stem}.so"
    with building(name), workshop() as folder:
        found, target = find(name), folder / f"{source.stem}.so"
        if found is None:
            run(command_for(source, target, Level.OPTIMISED, (f"-I{INCLUDE}",)))
            found = publish(name, target)
    return found


def _has_vector_math() -> bool:
    return platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"


def libraries() -> tuple[str, ...]:
    """What is linked: the library of what vector_math.h declares, and OpenMP where -fopenmp does not do that."""
    vectors = ("-Wl,--as-needed", "-lmvec", "-lm") if _has_vector_math() else ()
    found = wheels.installed()
    return (*vectors, *(found.openmp if found is not None and compiler() == found.command else ()))
