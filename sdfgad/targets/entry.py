"""The entry point: a function around DaCe's that runs a program and returns how that ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import dace
from dace.codegen.codeobject import CodeObject
from dace.codegen.targets import cpp


class Entry(CodeObject):
    """The entry point.

    Attributes:
        arguments: the program's arguments in order, with what each one is: "array" or "integer".
        names: the counters in our functions.
    """

    names: frozenset[str] = frozenset()
    arguments: tuple[tuple[str, str], ...] = ()


def entry_point(sdfg: Any, arguments: dict[str, Any], target: type[Any], names: Iterable[str] = ()) -> Entry:
    """A function that runs a program and returns 1 where there was too little memory, 2 for too few slots, else 0."""
    struct = cpp.mangle_dace_state_struct_name(sdfg)
    parameters = ", ".join(filter(None, [f"{struct} *__state", sdfg.signature(arglist=arguments)]))
    passed = ", ".join(filter(None, ["__state", sdfg.signature(False, for_call=True, arglist=arguments)]))
    program = f"__program_{sdfg.name}"
    code = f"""
#include <dace/dace.h>
#include "guard.h"
struct {struct};
DACE_EXPORTED void {program}({parameters});
DACE_EXPORTED int sdfgad_run_{sdfg.name}({parameters}) {{
    return sdfgad::guarded([&] {{ {program}({passed}); }});
}}
"""
    entry = Entry(f"{sdfg.name}_entry", code, "cpp", target, "Entry", sdfg=sdfg)
    kinds = {name: "array" if isinstance(d, dace.data.Array) else "integer" for name, d in arguments.items()}
    entry.arguments, entry.names = tuple(kinds.items()), frozenset(names)
    return entry
