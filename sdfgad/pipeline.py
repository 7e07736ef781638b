"""The pipeline: one gradient from the user's function to its C++, stage after stage; each takes the record before it.

What is asked for again is kept, and layouts for other calls, by `sdfgad.specialise`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sdfgad.ir.program import Program
from sdfgad.parse.parse import Primal, parse
from sdfgad.plan import Plan
from sdfgad.planning.layout import Layout
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.specialise.signature import Call
from sdfgad.specialise.specialise import Specialisation


@dataclass(frozen=True, eq=False)
class Pipeline:
    """The stages of a gradient for one call, each made when it is first asked for."""

    specialisation: Specialisation
    call: Call

    @cached_property
    def parsed(self) -> Primal:
        """The function as a program of statements, before any pass."""
        primal = self.specialisation.primal
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It has been parsed before, and has warned then.
            return parse(primal.source.function, self.call.kinds, primal.fixed)

    @property
    def prepared(self) -> Program:
        """That program with less work: what is differentiated."""
        return self.specialisation.primal.program

    @property
    def adjoint(self) -> Adjoint:
        """The adjoint of each statement, and the residuals that these ask for."""
        return self.specialisation.adjoint

    @cached_property
    def layout(self) -> Layout:
        """What is stored, recomputed and kept, within the memory limit."""
        return self.specialisation.layout(self.call)

    @property
    def plan(self) -> Plan:
        """The layout in the user's words."""
        return self.specialisation.plan(self.call)

    @property
    def gradient(self) -> Program:
        """One program: the forward sweep with its stores, then the reverse sweep."""
        return self.layout.code.source

    @property
    def optimised(self) -> Program:
        """That program after the passes."""
        return self.layout.code.program

    @cached_property
    def graph(self) -> Any:
        """The SDFG of the optimised program."""
        from sdfgad.sdfg.groups import add_groups  # These import DaCe.
        from sdfgad.sdfg.writer import write

        graph = write(self.optimised)
        add_groups(graph, self.layout.gradient_program)
        return graph

    @cached_property
    def code(self) -> str:
        """The C++ of the graph."""
        from sdfgad.runtime.compile import source_of_optimised

        return source_of_optimised(self.optimised).code
