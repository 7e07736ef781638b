"""Name resolution in an SDFG: which buffer each array is at a place, and which integer form each symbol."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import dace
import numpy as np
from dace import symbolic

from sdfgad.errors import Location, UnsupportedGraph
from sdfgad.ir.expr import Const, Expr, Int, Lin, Read
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Buffer, Check
from sdfgad.sdfg.forms import form_of, shape_of
from sdfgad.sdfg.parsing import TaskletParser
from sdfgad.sdfg.windows import Layout, Window

VIEWS = "Pass what it sees to a nested SDFG, or copy it to an array of its own."

# What may stand for a node that is not understood.
TODO = "Write it as maps, tasklets in Python, copies and nested SDFGs."


class Kept(UnsupportedGraph):
    """A symbol has a value that no integer form has: it is a variable.

    Attributes:
        symbol: the SDFG, by its number in the graph, and the name.
    """

    symbol: tuple[int, str] = (0, "")


@dataclass
class Buffers:
    """The buffers of the whole program, and the names that are taken.

    Attributes:
        is_foreign: whether others have written the graph: maps may have hazards, and arrays see parts of others.
        numbers: the buffers that are integers of the caller, with their forms; no statement mentions these.
        variables: the symbols that are scalars in storage.
        checks: what is checked at run time; the statement of each sets `STATUS` of `linear_algebra`.
        constants: the buffers of constants of the graph that are arrays.
    """

    found: dict[str, Buffer] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    is_foreign: bool = False
    numbers: Mapping[str, Lin] = field(default_factory=dict)
    variables: frozenset[tuple[int, str]] = frozenset()
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)

    def add(self, name: str, descriptor: Any, symbols: dict[str, Lin]) -> str:
        """The name of a new buffer for an array: another one, if the array of another nested SDFG has its name."""
        # DaCe passes a single number as an array of one element.
        is_number = isinstance(descriptor, dace.data.Scalar) or tuple(descriptor.shape) == (1,)
        shape = () if is_number else shape_of(descriptor, symbols)
        return self.make(name, shape, np.dtype(descriptor.dtype.type), located(descriptor)).name

    def make(self, name: str, shape: tuple[Lin, ...], dtype: Any, where: Location | None = None) -> Buffer:
        """A new buffer; its name is another one, if this is taken."""
        new = name if name not in self.found else self._unused(name)
        self.found[new] = Buffer(new, shape, np.dtype(dtype), name if self.is_foreign else "", where)
        return self.found[new]

    def _unused(self, name: str) -> str:
        new = self.names.fresh(name)
        return new if new not in self.found else self._unused(name)


def _free_symbols(value: Any) -> Any:
    value = getattr(value, "expr", value)
    return value.free_symbols if hasattr(value, "free_symbols") else symbolic.pystr_to_symbolic(str(value)).free_symbols


def located(thing: Any) -> Location | None:
    """The user's line that a node or a descriptor comes from, if it is known."""
    info = getattr(thing, "debuginfo", None)
    if info is None or not info.filename or not info.start_line:
        return None
    return Location(info.filename, info.start_line, linecache.getline(info.filename, info.start_line).strip())


@dataclass(frozen=True)
class Exits:
    """The flags that jumps set, scalars: for ``return``, and for ``break`` and ``continue`` of the innermost loop."""

    returned: str = ""
    stop: str = ""
    skip: str = ""


@dataclass(frozen=True)
class Scope:
    """The meaning of names at a place of an SDFG.

    Attributes:
        arrays: the buffer of each array.
        symbols: the forms of those symbols that do not stand for themselves.
        unknown: the symbols that were assigned in a loop or a branch before, or may be in a trip before.
        windows: the arrays that are parts of buffers, or have their elements in another order.
        values: the symbols that are no integers, with what they read.
        exits: the flags of what can be left here.
    """

    buffers: Buffers
    sdfg: Any
    arrays: dict[str, str]
    symbols: dict[str, Lin]
    unknown: frozenset[str] = frozenset()
    windows: Mapping[str, Window] = field(default_factory=dict)
    values: Mapping[str, Expr] = field(default_factory=dict)
    exits: Exits = Exits()

    def form(self, value: Any) -> Lin:
        if self.unknown and not isinstance(value, int):
            for symbol in _free_symbols(value):
                self.require_known(str(symbol))
        return form_of(value, self.symbols)

    def require_known(self, symbol: str) -> None:
        """Raises: UnsupportedGraph, where a symbol has the value of whichever trip or branch assigned it last."""
        if symbol in self.unknown:
            what = f"the symbol `{symbol}` keeps a value that a loop or a branch in `{self.sdfg.label}` has assigned"
            raise self.kept(symbol, what)

    def kept(self, symbol: str, what: str) -> Kept:
        """The error for a symbol that no form stands for."""
        error = Kept(what)
        error.symbol = (self.sdfg.cfg_id, symbol)
        return error

    def buffer(self, name: str) -> Buffer:
        """The buffer of an array, or that which it sees a part of.

        Raises:
            UnsupportedGraph: there is no such array, or it is a stream, a structure, or a view of nothing.
        """
        if name in self.windows:
            return self.buffers.found[self.windows[name].buffer]
        if name not in self.arrays:
            descriptor = self.sdfg.arrays.get(name)
            if type(descriptor) not in (dace.data.Array, dace.data.Scalar):
                raise UnsupportedGraph(f"`{name}` is a {type(descriptor).__name__}, and no array", todo=VIEWS)
            self.arrays[name] = self.buffers.add(name, descriptor, self.symbols)
            if self.buffers.is_foreign and name in self.sdfg.constants:
                self.buffers.constants[self.arrays[name]] = self.sdfg.constants[name]
        return self.buffers.found[self.arrays[name]]

    def layout(self, name: str) -> Layout:
        """The extents and strides that an array has here."""
        return Layout.of(self.sdfg.arrays[name], self.symbols)

    def access(self, name: str, index: tuple[Lin, ...]) -> Access:
        """The element of a buffer that an element of an array is."""
        if name in self.windows:
            return self.windows[name].at(index)
        buffer = self.buffer(name)
        return Access(buffer.name, index if buffer.shape else ())

    def read(self, name: str, index: tuple[Lin, ...]) -> Read:
        """An element of an array, as what is read or written."""
        access = self.access(name, index)
        return access.read(self.buffers.found[access.buffer].dtype)

    def value(self, read: Read) -> Expr:
        """What an element has: an integer of the caller stands for itself."""
        number = self.buffers.numbers.get(read.buffer)
        return read if number is None else Int(number)

    def with_counter(self, name: str) -> tuple[str, Scope]:
        """A new name for a counter, unless no symbol stands for one of its name; and the scope inside its loop."""
        taken = {symbol for form in self.symbols.values() for symbol in form.symbols}
        new = name
        while new in taken:
            new = self.buffers.names.fresh(name)
        return new, self.with_symbols({name: Lin.symbol(new)})

    def with_symbols(self, symbols: Mapping[str, Lin]) -> Scope:
        return replace(self, symbols={**self.symbols, **symbols}, unknown=self.unknown - symbols.keys())

    def without(self, symbols: set[str]) -> Scope:
        """The scope in which the values of some symbols are not known."""
        symbols = {name for name in symbols if not self.is_variable(name)}
        return replace(self, unknown=self.unknown | symbols) if symbols else self

    def is_variable(self, symbol: str) -> bool:
        """Whether a symbol is a scalar in storage."""
        return bool(self.buffers.variables) and (self.sdfg.cfg_id, symbol) in self.buffers.variables

    @property
    def parser(self) -> TaskletParser:
        """A parser for conditions, bounds and assignments, which mention arrays and symbols."""
        return TaskletParser(self.lookup, self.buffers.is_foreign)

    def lookup(self, name: str, index: tuple[Lin, ...] | None) -> Expr | None:
        self.require_known(name)
        if name in self.values and index is None:
            return self.values[name]
        if name in self.symbols and index is None:
            return Int(self.symbols[name])
        if name in self.sdfg.symbols and index is None:
            return None
        if name not in self.sdfg.arrays and name in self.sdfg.constants:
            return self._constant(name, index)
        if name not in self.sdfg.arrays:
            raise UnsupportedGraph(f"there is no `{name}` in the SDFG `{self.sdfg.label}`")
        rank = len(self.windows[name].shape) if name in self.windows else len(self.buffer(name).shape)
        return self.value(self.read(name, index if index is not None else (Lin(0),) * rank))

    def _constant(self, name: str, index: tuple[Lin, ...] | None) -> Expr:
        value = np.asarray(self.sdfg.constants[name])
        if not value.ndim and index is None:
            return Const(value.item(), value.dtype)
        if index is None or len(index) != value.ndim:
            raise UnsupportedGraph(f"the constant `{name}` is used without an index for each of its axes")
        same = (n for n, one in self.buffers.constants.items() if one is self.sdfg.constants[name])
        buffer = next(same, None) or self.buffers.make(name, tuple(map(Lin, value.shape)), value.dtype).name
        self.buffers.constants[buffer] = self.sdfg.constants[name]
        return Read(buffer, index, value.dtype)
