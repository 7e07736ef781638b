"""Code generation: DaCe's generator, with our targets registered in it, writes the C++ of an SDFG."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dace
import dace.library
from dace.codegen import codegen

from sdfgad.errors import Location
from sdfgad.sdfg.marks import is_marked
from sdfgad.sdfg.quiet import without_line_info
from sdfgad.targets import generator
from sdfgad.targets.entry import Entry, entry_point


@dataclass(frozen=True)
class Code:
    """The C++ of an SDFG.

    Attributes:
        text: one translation unit.
        arguments: its arguments in order, with what each one is: "array" or "integer".
        options: the compiler's options for the libraries that it calls.
        separate: the files of ``cpu/separate`` with functions that it calls.
        places: for each kernel for a device the user's lines of its statements.
    """

    text: str
    arguments: tuple[tuple[str, str], ...]
    options: tuple[str, ...]
    separate: tuple[str, ...]
    places: tuple[tuple[Location, ...], ...]


def code_of(sdfg: Any) -> Code:
    """The code of an SDFG, whose library nodes are expanded here.

    Raises:
        UnsupportedGraph: a node with our schedule or mark does something that our target does not know.
    """
    with _quickly(), warnings.catch_warnings():
        # The first trip of a loop saves a value that nothing has set yet and that nothing will read.
        warnings.filterwarnings("ignore", message=".*uninitialized transient")
        objects = [c for c in codegen.generate_code(sdfg, validate=False) if c.linkable and c.language == "cpp"]
    if not any(isinstance(c, Entry) for c in objects):
        # Nothing in it is ours.
        objects.append(entry_point(sdfg, sdfg.arglist(), generator.CPU))
    (entry,) = (c for c in objects if isinstance(c, Entry))
    names = {environment for c in objects for environment in c.environments}
    used = dace.library.get_environments_and_dependencies(names)
    text = "\n".join([_undefined(sdfg, entry.names), *(c.clean_code for c in objects)]) + "\n"
    places = tuple(kernel.places for kernel in entry.kernels)
    return Code(text, entry.arguments, tuple(_options(used)), tuple(_separate(used)), places)


def _undefined(sdfg: Any, counters: Iterable[str]) -> str:
    """Lines that undefine macros: the headers have some with names, such as M_PI, that a program may use."""
    # Arrays of nested SDFGs have a prefix in our functions, whose counters are known.
    found = {*sdfg.arrays, *counters}
    for nested in sdfg.all_sdfgs_recursive():
        if nested.parent_nsdfg_node is None or not is_marked(nested.parent_nsdfg_node):
            found |= set(nested.symbols)
            found |= {name for state in nested.states() for node in state.nodes() for name in _params(node)}
    headers = ["#include <dace/dace.h>", *(f'#include "{header}"' for header in generator.HEADERS)]
    return "\n".join([*headers, *(f"#undef {name}" for name in sorted(found))])


def _params(node: Any) -> Iterable[str]:
    return list(node.map.params) if isinstance(node, dace.nodes.MapEntry) and not is_marked(node) else []


@contextmanager
def _quickly() -> Iterator[None]:
    """Without what takes DaCe long and is of no use here: the search for loops between states, the symbols of each
    nested SDFG again for each one around it, and a copy of the graph before its library nodes are expanded. DaCe's
    generator is one for all threads."""
    with (
        without_line_info(),
        dace.config.set_temporary("optimizer", "detect_control_flow", value=False),
        dace.config.set_temporary("store_history", value=False),
        dace.nodes.memoize_nested_used_symbols(),
    ):
        yield


def _separate(environments: Iterable[Any]) -> Iterable[str]:
    return sorted(name for environment in environments for name in getattr(environment, "separate", ()))


def _options(environments: Iterable[Any]) -> Iterable[str]:
    for environment in environments:
        for path in environment.cmake_libraries:
            yield from (path, "-Xlinker", "-rpath", "-Xlinker", str(Path(path).parent))
        yield from environment.options() if hasattr(environment, "options") else ()
