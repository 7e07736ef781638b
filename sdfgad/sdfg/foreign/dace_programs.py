"""`dace.program`s: their function where its text is NumPy's alone, and what DaCe parses where it names DaCe."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import dace
import numpy as np

from sdfgad.errors import SdfgadError, UnsupportedGraph
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.primal import Primal
from sdfgad.parse.program_source import ProgramSource
from sdfgad.parse.source import Source, read_source
from sdfgad.sdfg.foreign.graph_program import GraphProgram

TODO = "Call `program.to_sdfg()` to see all that DaCe says, or leave the decorator away."


def names_dace(program: Any) -> bool:
    """Whether a program's text, annotations of its parameters apart, has names of DaCe: a symbol, a map, a type."""
    try:
        source = read_source(program.f)
    except SdfgadError:
        return True
    body = source.node.body if isinstance(source.node.body, list) else [source.node.body]
    names = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return any(_is_of_dace(source.outer.get(name)) for name in names)


def _is_of_dace(value: Any) -> bool:
    module = value.__name__ if isinstance(value, ModuleType) else type(value).__module__
    return module.partition(".")[0] == "dace" and type(value).__name__ != "DaceProgram"


def program_of(program: Any) -> ProgramSource:
    """What stands for an SDFG or a `dace.program` in the pipeline."""
    return GraphProgram(program) if isinstance(program, dace.SDFG) else ParsedByDace(program)


class ParsedByDace(ProgramSource):
    """A `dace.program`, which DaCe parses once, or for each signature where not all parameters are annotated."""

    def __init__(self, program: Any) -> None:
        self._program = program
        self.__name__, self.__qualname__ = program.f.__name__, program.f.__qualname__
        self.__module__, self.__doc__ = program.f.__module__, program.f.__doc__
        self.source: Source = read_source(program.f)
        self._graphs: dict[Any, GraphProgram] = {}
        parameters = inspect.signature(program.f).parameters.values()
        self._is_annotated = all(one.annotation is not one.empty for one in parameters)
        own = [one.replace(annotation=one.empty) for one in parameters]
        self.__signature__ = inspect.Signature([*own, *map(_symbol, self._symbols())])

    def _symbols(self) -> list[str]:
        """The symbols that a caller may pass besides the parameters."""
        if not self._is_annotated:
            return []
        names = self._graph({}).parameters.symbols
        return [name for name in names if name not in inspect.signature(self._program.f).parameters]

    def primal(self, arguments: Mapping[str, Any], constant: Iterable[str]) -> Primal:
        found = self._graph({} if self._is_annotated else arguments)
        held = [name for name in found.parameters.data if name.startswith("__g_")]
        if held:
            what = f"`{self.__name__}` reads arrays from outside: {', '.join(n.removeprefix('__g_') for n in held)}"
            raise UnsupportedGraph(what, self.source.where(self.source.node), "Pass them as arguments.")
        return found.primal(arguments, constant)

    def _graph(self, arguments: Mapping[str, Any]) -> GraphProgram:
        key = tuple(arguments.items())
        if key not in self._graphs:
            examples = {name: _example(kind) for name, kind in arguments.items() if kind is not None}
            try:
                sdfg = self._program.to_sdfg(**examples, simplify=False)
            except Exception as error:
                what = f"DaCe does not parse `{self.__name__}`: {error}"
                raise UnsupportedGraph(what, self.source.where(self.source.node), TODO) from error
            self._graphs[key] = GraphProgram(sdfg)
            self._graphs[key].source = self.source
        return self._graphs[key]


def _symbol(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)


def _example(kind: Any) -> Any:
    """An argument of a kind, for DaCe to see its type."""
    if not isinstance(kind, ArrayArgument):
        return kind
    return kind.dtype.type(0) if kind.is_scalar else np.zeros(kind.shape, kind.dtype)
