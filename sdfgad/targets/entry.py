"""The entry point: a function around DaCe's that runs a program and returns how that ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import dace
from dace.codegen.codeobject import CodeObject
from dace.codegen.targets import cpp

from sdfgad.targets.gpu.kernels import Kernel


class Entry(CodeObject):
    """The entry point.

    Attributes:
        arguments: the program's arguments in order, with what each one is: "array", "device" or "integer".
        names: the counters in our functions.
        kernels: those for a device, in the order of their numbers.
    """

    names: frozenset[str] = frozenset()
    arguments: tuple[tuple[str, str], ...] = ()
    kernels: tuple[Kernel, ...] = ()


@dataclass(frozen=True)
class DeviceCode:
    """What a program has for a device.

    Attributes:
        arguments: those that are in its memory.
        kernels: in the order of their numbers.
    """

    arguments: frozenset[str]
    kernels: tuple[Kernel, ...]

    @property
    def text(self) -> str:
        """The kernels as a string, for NVRTC, and as functions, for the emulation."""
        code = "".join(kernel.code for kernel in self.kernels)
        rows = map(_emulated, self.kernels)
        return f"""
extern "C" const char* const sdfgad_kernel_text = R"kernels(#include "kernel.h"
#include "dialect.h"
{code})kernels";
extern "C" const int64_t sdfgad_kernel_count = {len(self.kernels)};
#ifdef SDFGAD_EMULATED
#include "emulated.h"
{code}
extern "C" const sdfgad::emulated::Kernel sdfgad_emulated_kernels[] = {{{"".join(rows)}{{}}}};
#endif
"""


def _emulated(kernel: Kernel) -> str:
    """A kernel's entry in the table of the emulation."""
    barriers = str(kernel.has_barriers).lower()
    return f"{{[](void** a) {{ sdfgad::emulated::run_all({kernel.name}, a, {barriers}); }}}},"


def entry_point(
    sdfg: Any,
    arguments: dict[str, Any],
    target: type[Any],
    names: Iterable[str] = (),
    device: DeviceCode | None = None,
) -> Entry:
    """A function that runs a program and returns 1 where there was too little memory, 2 for too few slots, else 0.

    Where it uses a device, it may also return the code of a failure there.
    """
    struct = cpp.mangle_dace_state_struct_name(sdfg)
    parameters = ", ".join(filter(None, [f"{struct} *__state", sdfg.signature(arglist=arguments)]))
    passed = ", ".join(filter(None, ["__state", sdfg.signature(False, for_call=True, arglist=arguments)]))
    program = f"__program_{sdfg.name}"
    code = f"""
#include <dace/dace.h>
#include "{"device" if device else "guard"}.h"
struct {struct};
DACE_EXPORTED void {program}({parameters});
DACE_EXPORTED int sdfgad_run_{sdfg.name}({parameters}) {{
    return sdfgad::{"device::" if device else ""}guarded([&] {{ {program}({passed}); }});
}}
{device.text if device else ""}"""
    entry = Entry(f"{sdfg.name}_entry", code, "cpp", target, "Entry", sdfg=sdfg)
    on_device = device.arguments if device else frozenset[str]()
    kinds = {name: "array" if isinstance(d, dace.data.Array) else "integer" for name, d in arguments.items()}
    kinds |= dict.fromkeys(on_device, "device")
    entry.arguments, entry.names = tuple(kinds.items()), frozenset(names)
    entry.kernels = device.kernels if device else ()
    return entry
