"""An SDFG where the pipeline has a function: its parameters are the graph's arrays, scalars and symbols, by name."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any

from sdfgad.parse.primal import Primal
from sdfgad.parse.program_source import ProgramSource
from sdfgad.parse.source import Source
from sdfgad.progress import stage
from sdfgad.sdfg.foreign.assembly import Assembly
from sdfgad.sdfg.foreign.expansion import expand
from sdfgad.sdfg.foreign.parameters import Parameters
from sdfgad.sdfg.foreign.raising import raise_control_flow
from sdfgad.sdfg.foreign.refusals import refuse_unknown


class GraphProgram(ProgramSource):
    """A `dace.SDFG` as it is now: later changes to it do not reach what is made of it."""

    has_names = True

    def __init__(self, sdfg: Any) -> None:
        refuse_unknown(sdfg)
        self._graph = deepcopy(sdfg)
        self.__name__ = self.__qualname__ = str(sdfg.name)
        self.__module__, self.__doc__ = __name__, f"The SDFG `{sdfg.name}`."
        self.source = _source(self, sdfg)
        self.parameters = Parameters.of(self._graph, self.source.where(self.source.node))
        self.__signature__ = inspect.Signature([_parameter(name) for name in self._names()])

    def _names(self) -> list[str]:
        """The parameters: first those that the graph puts in an order; what it returns is none."""
        known = [*self._graph.arg_names, *self.parameters.data, *self.parameters.symbols]
        present = {*self.parameters.data, *self.parameters.symbols}
        return [name for name in dict.fromkeys(known) if name in present and not name.startswith("__return")]

    @cached_property
    def normal(self) -> Any:
        """The graph in the form that the reader takes.

        Raises:
            UnsupportedGraph: it has something that the reader does not take.
        """
        with stage(f"reading the SDFG {self.__name__}"):
            graph = deepcopy(self._graph)
            raise_control_flow(graph)
            expand(graph)
            graph.reset_cfg_list()
            refuse_unknown(graph)
        return graph

    def primal(self, arguments: Mapping[str, Any], constant: Iterable[str]) -> Primal:
        return Assembly(self.normal, self.parameters, self.source, arguments).primal(set(constant))


def _parameter(name: str) -> inspect.Parameter:
    # What is left out is a symbol that shapes tell, or an array that the graph writes as a whole.
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)


def _source(program: Any, sdfg: Any) -> Source:
    info = getattr(sdfg, "debuginfo", None)
    file = info.filename if info is not None and info.filename else f"<SDFG {sdfg.name}>"
    node = ast.parse(f"def {sdfg.name}(): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    return Source(program, node, file, f"SDFG `{sdfg.name}`", {})
