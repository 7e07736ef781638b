"""Name resolution in an SDFG: which buffer each array is at a place, and which integer form each symbol."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import dace
import numpy as np
from dace import symbolic

from sdfgad.errors import UnsupportedGraph
from sdfgad.ir.expr import Expr, Int, Lin, Read
from sdfgad.ir.names import Names
from sdfgad.ir.program import Buffer
from sdfgad.sdfg.forms import form_of, shape_of
from sdfgad.sdfg.parsing import TaskletParser


@dataclass
class Buffers:
    """The buffers of the whole program, and the names that are taken."""

    found: dict[str, Buffer] = field(default_factory=dict)
    names: Names = field(default_factory=Names)

    def add(self, name: str, descriptor: Any, symbols: dict[str, Lin]) -> str:
        """The name of a new buffer for an array: another one, if the array of another nested SDFG has its name."""
        new = name if name not in self.found else self._unused(name)
        # DaCe passes a single number as an array of one element.
        shape = () if tuple(descriptor.shape) == (1,) else shape_of(descriptor, symbols)
        self.found[new] = Buffer(new, shape, np.dtype(descriptor.dtype.type))
        return new

    def _unused(self, name: str) -> str:
        new = self.names.fresh(name)
        return new if new not in self.found else self._unused(name)


@dataclass(frozen=True)
class Scope:
    """The meaning of names at a place of an SDFG.

    Attributes:
        arrays: the buffer of each array.
        symbols: the forms of those symbols that do not stand for themselves.
        unknown: the symbols that were assigned in a loop or a branch before, or may be in a trip before.
    """

    buffers: Buffers
    sdfg: Any
    arrays: dict[str, str]
    symbols: dict[str, Lin]
    unknown: frozenset[str] = frozenset()

    def form(self, value: Any) -> Lin:
        if self.unknown and not isinstance(value, int):
            for symbol in symbolic.pystr_to_symbolic(str(value)).free_symbols:
                self.require_known(str(symbol))
        return form_of(value, self.symbols)

    def require_known(self, symbol: str) -> None:
        """Raises: UnsupportedGraph, where a symbol has the value of whichever trip or branch assigned it last."""
        if symbol in self.unknown:
            what = f"the symbol `{symbol}` keeps a value that a loop or a branch in `{self.sdfg.label}` has assigned"
            raise UnsupportedGraph(what)

    def buffer(self, name: str) -> Buffer:
        """The buffer of an array.

        Raises:
            UnsupportedGraph: there is no such array, or it is a view, a stream or a structure.
        """
        if name not in self.arrays:
            descriptor = self.sdfg.arrays.get(name)
            if type(descriptor) not in (dace.data.Array, dace.data.Scalar):
                raise UnsupportedGraph(f"`{name}` is a {type(descriptor).__name__}, and no array")
            self.arrays[name] = self.buffers.add(name, descriptor, self.symbols)
        return self.buffers.found[self.arrays[name]]

    def read(self, name: str, index: tuple[Lin, ...]) -> Read:
        buffer = self.buffer(name)
        return Read(buffer.name, index if buffer.shape else (), buffer.dtype)

    def with_counter(self, name: str) -> tuple[str, Scope]:
        """A new name for a counter, unless no symbol stands for one of its name; and the scope inside its loop."""
        taken = {symbol for form in self.symbols.values() for symbol in form.symbols}
        new = name
        while new in taken:
            new = self.buffers.names.fresh(name)
        return new, self.with_symbols({name: Lin.symbol(new)})

    def with_symbols(self, symbols: dict[str, Lin]) -> Scope:
        return replace(self, symbols={**self.symbols, **symbols}, unknown=self.unknown - symbols.keys())

    def without(self, symbols: set[str]) -> Scope:
        """The scope in which the values of some symbols are not known."""
        return replace(self, unknown=self.unknown | symbols) if symbols else self

    @property
    def parser(self) -> TaskletParser:
        """A parser for conditions, bounds and assignments, which mention arrays and symbols."""
        return TaskletParser(self.lookup)

    def lookup(self, name: str, index: tuple[Lin, ...] | None) -> Expr | None:
        self.require_known(name)
        if name in self.symbols and index is None:
            return Int(self.symbols[name])
        if name in self.sdfg.symbols and index is None:
            return None
        if name not in self.sdfg.arrays:
            raise UnsupportedGraph(f"there is no `{name}` in the SDFG `{self.sdfg.label}`")
        return self.read(name, index if index is not None else (Lin(0),) * len(self.buffer(name).shape))
