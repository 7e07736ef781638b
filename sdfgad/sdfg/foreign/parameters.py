"""Arguments of a graph: arrays and numbers by name, and symbols, which shapes tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import dace
import numpy as np
import sympy
from dace import symbolic

from sdfgad.errors import ArgumentError, Location, UnsupportedGraph
from sdfgad.parse.arguments import ArrayArgument


@dataclass(frozen=True)
class Parameters:
    """The parameters of a graph.

    Attributes:
        data: the arrays and scalars that a caller passes or receives, with their descriptors.
        symbols: the symbols that a caller may pass, with their dtypes.
    """

    data: Mapping[str, Any]
    symbols: Mapping[str, np.dtype[Any]]
    where: Location | None = None

    @staticmethod
    def of(sdfg: Any, where: Location | None = None) -> Parameters:
        """The parameters of a graph.

        Raises:
            UnsupportedGraph: it uses a symbol that it does not declare.
        """
        data = {name: descriptor for name, descriptor in sdfg.arrays.items() if not descriptor.transient}
        used = sdfg.free_symbols | {s for one in data.values() for s in map(str, one.free_symbols)}
        used -= set(sdfg.constants)
        for name in sorted(used - sdfg.symbols.keys()):
            what = f"the symbol `{name}` is used in the SDFG `{sdfg.name}`, which has none of that name"
            raise UnsupportedGraph(what, where, f'Declare it: sdfg.add_symbol("{name}", dace.int64).')
        return Parameters(data, {name: np.dtype(sdfg.symbols[name].type) for name in sorted(used)}, where)

    def sizes(self, given: Mapping[str, Any]) -> dict[str, int]:
        """The values of the symbols that shapes have in them: those that are passed, the others from the shapes.

        Raises:
            ArgumentError: shapes do not fit each other or the graph.
        """
        known = {name: int(given[name]) for name in self.symbols if type(given.get(name)) is int}
        shapes = {name: kind.shape for name, kind in given.items() if isinstance(kind, ArrayArgument)}
        left = [(name, k, size) for name in shapes if name in self.data for k, size in self._sizes(name, shapes[name])]
        while left:
            unsolved = [entry for entry in left if not self._solve(*entry, shapes, known)]
            if len(unsolved) == len(left):
                break
            left = unsolved
        return known

    def _sizes(self, name: str, shape: tuple[int, ...]) -> list[tuple[int, Any]]:
        expected = tuple(self.data[name].shape)
        if isinstance(self.data[name], dace.data.Scalar) or expected == (1,):
            if shape not in ((), (1,)):
                self.refuse(f"the argument `{name}` has the shape {shape}, and is to be a number")
            return []
        if len(expected) != len(shape):
            self.refuse(f"the argument `{name}` has {len(shape)} axes, and the graph's has {len(expected)}")
        return list(enumerate(expected))

    def _solve(self, name: str, k: int, size: Any, shapes: Mapping[str, Any], known: dict[str, int]) -> bool:
        """Whether one extent is settled: it is a number, or tells a symbol."""
        extent = sympy.sympify(size).subs(
            {s: known[str(s)] for s in sympy.sympify(size).free_symbols if str(s) in known}
        )
        if isinstance(extent, symbolic.SymExpr):
            extent = extent.expr
        free = list(extent.free_symbols)
        if not free:
            if int(extent) != shapes[name][k]:
                what = f"the argument `{name}` has the shape {shapes[name]}"
                self.refuse(f"{what}, and its axis {k} is to be {size} = {extent} long")
            return True
        if len(free) > 1:
            return False
        found = [one for one in sympy.solve(extent - shapes[name][k], free[0]) if one.is_Integer]
        if len(found) == 1:
            known[str(free[0])] = int(found[0])
        return len(found) == 1

    def refuse(self, what: str, todo: str = "Pass an array of the graph's shape.") -> NoReturn:
        raise ArgumentError(what, self.where, todo)

    def dtype(self, name: str) -> np.dtype[Any]:
        return np.dtype(self.data[name].dtype.type)
