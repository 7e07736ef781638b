"""Compilation of programs, by way of an SDFG and the C++ that DaCe generates from it, to shared libraries.

An index in the cache maps programs to libraries, so that DaCe is neither run nor imported for a program that has been
compiled.
"""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Callable
from typing import Any

from sdfgad.cache import find, fingerprint, key_of, read, write
from sdfgad.emulated import is_emulated
from sdfgad.errors import Location
from sdfgad.ir.program import Program
from sdfgad.ir.serial import serialised
from sdfgad.progress import stage
from sdfgad.runtime.build import Library, Source, compile_source, library_name
from sdfgad.runtime.compiler import Level, toolchain
from sdfgad.runtime.sizes import AUTO, Sharing, compile_for


def compile_program(
    program: Program,
    with_plain: bool = False,
    optimised: Callable[[], Program] | None = None,
    sharing: Sharing = AUTO,
) -> Library:
    """Optimise and compile a program, or find its library in the cache.

    Args:
        with_plain: whether plain code is compiled, too.
        optimised: returns the program after all passes, where the caller has computed it already.
        sharing: whether code that other sizes share will do.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    entry = index_entry(program, sharing)
    library = find_library(entry)
    if library is None or (with_plain and library.plain is None):
        source = source_of(program) if optimised is None else source_of_optimised(optimised())
        library = compile_for(source, with_plain, sharing)
        record_library(entry, library)
    return library


def index_entry(program: Program, sharing: Sharing = AUTO) -> str:
    """The cache name of a program's entry in the index; another one for code that other sizes do not share."""
    parts = [_digest(program), toolchain(), _openblas_path(), fingerprint()]
    parts += ["exact"] if sharing.shapes == "exact" else []
    parts += _device_parts() if program.device != "cpu" else []
    return f"programs/{key_of(parts)}"


def _digest(program: Program) -> str:
    """A hash of all of a program that its code depends on, kept with it: an entry is looked up several times."""
    kept = vars(program)
    if "_digest" not in kept:
        kept["_digest"] = key_of([serialised(program)])
    return str(kept["_digest"])


def _device_parts() -> list[str]:
    """What code for a device depends on besides: tests change what the estimates of kernels' seconds are."""
    from sdfgad.optimise.device.side import SECONDS  # The CPU needs nothing of it.

    return [repr(SECONDS), "emulated" if is_emulated() else "real"]


def find_library(entry: str) -> Library | None:
    """The library that an index entry refers to; None if the entry or the library is not in the cache."""
    text = read(entry)
    if text is None:
        return None
    found = json.loads(text)
    path, plain = (find(library_name(found["library"], level)) for level in (Level.OPTIMISED, Level.PLAIN))
    arguments = tuple((name, kind) for name, kind in found["arguments"])
    return Library(path, found["name"], arguments, plain) if path is not None else None


def record_library(entry: str, library: Library) -> None:
    """Store an index entry that refers to a library."""
    key = "/".join(library.path.parts[-3:-1])
    write(entry, json.dumps({"library": key, "name": library.name, "arguments": library.arguments}).encode())


def source_of(program: Program) -> Source:
    """The C++ of a program, which is optimised first."""
    # A local import: it imports DaCe and all passes, which is slow.
    from sdfgad.optimise.passes import optimise

    return source_of_optimised(optimise(program))


def source_of_optimised(program: Program) -> Source:
    """The C++ of an optimised program."""
    from sdfgad.sdfg.sealed import write_sealed

    return generate(write_sealed(program))


def kernel_places(program: Program) -> tuple[tuple[Location, ...], ...]:
    """For each kernel of an optimised program the user's lines of its statements.

    They are not a part of the code, which stays the same where lines move.
    """
    from sdfgad.sdfg.sealed import write_sealed
    from sdfgad.targets.generate import code_of

    return code_of(write_sealed(program)).places


def generate(sdfg: Any) -> Source:
    """The C++ of an SDFG, which is modified: its library nodes are expanded."""
    from sdfgad.targets.generate import code_of

    with stage("generating C++"):
        code = code_of(sdfg)
    return Source(sdfg.name, code.text, code.arguments, code.options, code.separate)


def compile_sdfg(sdfg: Any) -> Library:
    """Compile an SDFG, or find the library of its code in the cache.

    Raises:
        CompilerError: there is no compiler, or it failed.
    """
    return compile_source(generate(sdfg))


@functools.cache
def _openblas_path() -> str:
    """The path of OpenBLAS, which the library depends on but its code does not contain."""
    spec = importlib.util.find_spec("scipy_openblas32")
    assert spec is not None
    return str(spec.origin)
