"""The SDFG that is compiled: one state for each statement of a program's body, whose tasklet calls its loop nest."""

from __future__ import annotations

from typing import Any

import dace
from dace import dtypes

from sdfgad.ir.program import Loop, Program, computes, walk
from sdfgad.memory.lifetimes import arguments, lifetimes, local_variables
from sdfgad.schedule.loop_order import is_single
from sdfgad.targets.cpu.allocation import Schedule
from sdfgad.targets.cpu.blas import environment_name
from sdfgad.targets.cpu.dace_arrays import add_buffer
from sdfgad.targets.cpu.nests import Nest, nest_of
from sdfgad.targets.cpu.nontemporal import Nontemporal


def lower_nests(program: Program) -> dace.SDFG:
    """The SDFG of a program, with the arguments that `sdfgad.sdfg.lower` gives it."""
    # The position in this file of each call to DaCe is of no use, and takes a third of the time to find.
    with dace.config.set_temporary("compiler", "lineinfo", value="none"):
        return _Lowering(program).run()


class _Lowering:
    def __init__(self, program: Program) -> None:
        self.program, self.buffers = program, program.buffers
        self.sdfg = dace.SDFG(program.name)
        self.outside = arguments(program)
        mentioned = {name for statement in program.body for name in statement.mentioned}
        self.passed = (mentioned - local_variables(program)) | self.outside
        self.schedule = Schedule({name: span for name, span in lifetimes(program).items() if name in self.passed})

    def is_single(self, name: str) -> bool:
        return is_single(self.buffers[name])

    def run(self) -> dace.SDFG:
        for symbol in self.program.integers:
            self.sdfg.add_symbol(symbol, dace.int64)
        for name, buffer in self.buffers.items():
            if name in self.passed:
                add_buffer(self.sdfg, buffer, is_transient=name not in self.outside)
        last = self.sdfg.add_state("start", is_start_block=True)
        texts: list[str] = []
        headers = ["<algorithm>", "<exception>", "<vector>", '"memory.h"', '"sdfgad.h"', '"stream.h"']
        nontemporal = Nontemporal(self.program)
        for position, statement in enumerate(self.program.body):
            self.schedule.enter(position)
            bounds, filled = self.program.bounds, nontemporal.at(position)
            nest = nest_of(statement, f"nest_{position}_", self.buffers, self.passed, bounds, filled)
            texts.append(nest.code)
            headers += [*(['"products.h"'] if nest.uses_blas else []), *(f'"{header}"' for header in nest.headers)]
            state = self.sdfg.add_state(f"s{position}")
            self.sdfg.add_edge(last, state, dace.InterstateEdge())
            self.call(state, nest)
            last = state
        includes = "".join(f"#include {header}\n" for header in dict.fromkeys(headers))
        self.sdfg.append_global_code(self.schedule.table() + includes + self.undefined() + "\n".join(texts) + "\n")
        return self.sdfg

    def undefined(self) -> str:
        """Lines that undefine macros: the headers have some with names, such as M_PI, that a program may use."""
        loops = [s for s in walk(self.program.body) if isinstance(s, Loop)]
        points = [name for s in computes(self.program.body) for name, _ in s.params]
        names = {*self.passed, *self.program.integers, *(loop.var for loop in loops), *points}
        return "".join(f"#undef {name}\n" for name in sorted(names))

    def call(self, state: Any, nest: Nest) -> None:
        """A tasklet that calls the function of a nest; single elements come by value and are returned by address."""
        inputs = {name: f"i_{name}_" for name in nest.reads}
        outputs = {name: f"o_{name}_" for name in nest.writes}
        found = sorted({*inputs, *outputs})
        arguments = ", ".join([*(self.argument(name, outputs) for name in found), *nest.integers])
        code = self.schedule.mark(f"{nest.name}({arguments});")
        tasklet = state.add_tasklet(
            nest.name, dict.fromkeys(inputs.values()), dict.fromkeys(outputs.values()), code, dtypes.Language.CPP
        )
        tasklet.environments = {environment_name()} if nest.uses_blas else set()
        for name, connector in inputs.items():
            state.add_edge(state.add_read(name), None, tasklet, connector, self.memlet(name))
        for name, connector in outputs.items():
            state.add_edge(tasklet, connector, state.add_write(name), None, self.memlet(name))

    def argument(self, name: str, outputs: dict[str, str]) -> str:
        is_single, is_output = self.is_single(name), name in outputs
        address = f"{'&' if is_single else ''}{'o' if is_output else 'i'}_{name}_"
        if self.buffers[name].dtype.kind == "c":
            # A std::complex to DaCe.
            address = f"sdfgad::own({address})"
        if not is_single:
            return address
        return f"i_{name}_, {address}" if is_output else f"i_{name}_"

    def memlet(self, name: str) -> dace.Memlet:
        return dace.Memlet.from_array(name, self.sdfg.arrays[name])
