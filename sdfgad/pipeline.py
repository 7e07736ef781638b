"""The pipeline: one gradient from the user's function to its C++, stage after stage; each takes the record before it.

`sdfgad.specialise` asks for the stages, keeps their records for later calls, and runs what comes out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sdfgad.errors import UnusedArgument
from sdfgad.ir.program import Program
from sdfgad.options import Options
from sdfgad.parse.primal import Primal
from sdfgad.plan import Plan
from sdfgad.planning.layout import Layout, Sizes
from sdfgad.planning.layout_cache import LayoutCache
from sdfgad.planning.report import infeasible, plan_of
from sdfgad.planning.search import Planner
from sdfgad.progress import stage
from sdfgad.reverse.adjoint import Adjoint, differentiate_program, varying_inputs


@dataclass(frozen=True, eq=False)
class Pipeline:
    """The stages of a program's gradient for one signature, in their order.

    Attributes:
        parsed: the function as a program of statements, before any pass.
        primal: that program after the passes before differentiation.
        wrt: the arguments to differentiate by.
        output: the output that is differentiated.
        needed: groups of `wrt`, of each of which the output must depend on one.
    """

    parsed: Primal
    primal: Primal
    wrt: tuple[str, ...]
    output: str
    needed: tuple[tuple[str, ...], ...]
    options: Options

    @cached_property
    def adjoint(self) -> Adjoint:
        """The adjoint of each statement, and the residuals that these read.

        Raises: MissingRule, UnusedArgument.
        """
        inputs = {self.primal.inputs[name]: name for name in self.wrt}
        program = self.primal.program
        is_wide = self.options.accumulate is not None
        output = program.outputs[self.output]
        with stage("deriving the adjoint"):
            adjoint = differentiate_program(program, self.primal.context, inputs, output, is_wide=is_wide)
        if unused := self._unused({name for buffer, name in inputs.items() if buffer in adjoint.bars}):
            names = ", ".join(f"`{name}`" for name in unused)
            raise UnusedArgument(
                f"the output `{self.output}` does not depend on {names} in a differentiable way",
                self.primal.source.where(self.primal.source.node),
                "Leave them out of `wrt`, or pass allow_unused=True to get zeros for them.",
            )
        return adjoint

    def _unused(self, used: set[str]) -> list[str]:
        """Needed arguments without influence, given those known to be used."""
        if not any(used.isdisjoint(group) for group in self.needed):
            return []
        # Before dead code went, an argument that is wholly overwritten reached the output's buffer.
        inputs, program = {self.parsed.inputs[name]: name for name in self.wrt}, self.parsed.program
        found = varying_inputs(program, self.parsed.context, inputs, program.outputs[self.output])
        used = used | {inputs[buffer] for buffer in found}
        return [name for group in self.needed if used.isdisjoint(group) for name in group]

    @cached_property
    def planner(self) -> Planner:
        """The search for layouts; it asks for the adjoint unless it finds the layout in the cache."""
        wrt = tuple(self.primal.inputs[name] for name in self.wrt)
        chosen = str((self.needed, self.options.all_outputs, self.options.accumulate))
        key = (str(self.primal.context), *wrt, self.output, chosen)
        return Planner(lambda: self.adjoint, wrt, self.output, self.options, LayoutCache(self.primal.program, *key))

    def layout(self, sizes: Sizes) -> Layout:
        """What is stored, recomputed and checkpointed, within the memory limit.

        Raises:
            InfeasibleBudget: no layout is within the memory limit.
        """
        layout, limit = self.planner.layout(sizes), self.options.limit
        if limit is not None and layout.peak_bytes(sizes) > limit:
            raise infeasible(limit, layout, sizes, self.planner.accounts(sizes), self.options.strategy)
        return layout

    def plan(self, layout: Layout, sizes: Sizes) -> Plan:
        """The layout in the user's words."""
        return plan_of(layout, self.planner.store_all, self.planner.accounts(sizes), sizes, self.options)

    @staticmethod
    def gradient(layout: Layout) -> Program:
        """One program: the forward sweep with its stores, then the reverse sweep."""
        return layout.code.source

    @staticmethod
    def optimised(layout: Layout) -> Program:
        """That program after all passes."""
        return layout.code.complete

    @staticmethod
    def graph(layout: Layout, optimised: Program) -> Any:
        """The SDFG of the optimised program; the viewer shades what the layout stores and recomputes."""
        from sdfgad.sdfg.groups import add_groups  # These import DaCe, and what is found compiled does without.
        from sdfgad.sdfg.writer import write

        graph = write(optimised)
        add_groups(graph, layout.gradient_program)
        return graph

    @staticmethod
    def code(optimised: Program) -> str:
        """The C++ of the graph."""
        from sdfgad.runtime.compile import source_of_optimised

        return source_of_optimised(optimised).code

    @cached_property
    def forward(self) -> Program:
        """The program of the output's value alone; it branches off before the adjoint."""
        program = self.primal.program
        return replace(program, outputs={self.output: program.outputs[self.output]})
