"""The program of a graph for one call: sizes are numbers, arguments stay as they are, outputs have their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import dace
import islpy as isl
import numpy as np

from sdfgad.errors import ArgumentError, UnsupportedGraph
from sdfgad.ir.expr import INT, Const, Expr, Int, Lin, cast
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Buffer, Compute, Loop, Program, walk
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.ir.verify import verify
from sdfgad.parse.arguments import ArrayArgument
from sdfgad.parse.draws import Draws
from sdfgad.parse.primal import Primal
from sdfgad.parse.returned import Output, Returned
from sdfgad.parse.source import Source
from sdfgad.parse.structure import flattened
from sdfgad.sdfg.foreign.canonical import canonical
from sdfgad.sdfg.foreign.extents import with_largest
from sdfgad.sdfg.foreign.extrema import with_values_before
from sdfgad.sdfg.foreign.inlining import inlined
from sdfgad.sdfg.foreign.interface import changed, copied, is_overwritten, refuse_unset, single, symbols_in
from sdfgad.sdfg.foreign.parameters import Parameters
from sdfgad.sdfg.foreign.statements import Statements, statements_of
from sdfgad.sdfg.marks import storage

RETURN = "__return"
# Begins the symbol of an integer that is not passed.
MISSING = "?"


class Assembly:
    """Makes the program of a graph for one call.

    Args:
        sdfg: in the form that the reader takes.
        arguments: what is known of each argument; None for those that are not passed.
    """

    def __init__(self, sdfg: Any, parameters: Parameters, source: Source, arguments: Mapping[str, Any]) -> None:
        self.sdfg, self.parameters, self.source = sdfg, parameters, source
        self.given = {name: kind for name, kind in arguments.items() if kind is not None}
        self.sizes = parameters.sizes(self.given)
        integers = [name for name, kind in self.given.items() if type(kind) is int]
        self.symbols = dict(zip(integers, map(Names().fresh, integers), strict=True))

    def primal(self, constant: set[str]) -> Primal:
        """The program, in which some integer arguments are constants, and those that sizes depend on."""
        while True:
            try:
                wanted = self._in_shapes(self.statements(constant)) - constant
            except NeedsConstant as need:
                wanted = {name for name, symbol in self.symbols.items() if symbol in need.symbols} - constant
                if not wanted:
                    what = "the size of a matrix is known only while the program runs"
                    raise UnsupportedGraph(what, need.where, "Solve for matrices of one size.") from need
            if not wanted:
                return _Made(self, constant).primal()
            constant = constant | wanted

    def statements(self, constant: set[str]) -> Statements:
        """What the graph computes where some integers are constants."""
        kinds = self.parameters.symbols
        integers = {name: self.integer(name, constant) for name, dtype in kinds.items() if dtype.kind in "iu"}
        floats = {name: dtype for name, dtype in kinds.items() if dtype.kind not in "iu"}
        numbers = {name: self.integer(name, constant) for name in self.numbers}
        return statements_of(self.sdfg, integers, numbers, floats)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The integers that are passed as scalars, and that nothing writes."""
        top = {n.data for s in self.sdfg.states() for n in s.data_nodes() if s.in_degree(n)}
        data = self.parameters.data
        scalars = [n for n, one in data.items() if isinstance(one, dace.data.Scalar) and n not in top]
        return tuple(name for name in scalars if self.parameters.dtype(name).kind in "iu")

    def integer(self, name: str, constant: set[str]) -> Lin:
        """The form of an integer: a number, or a symbol of its own for an argument that is none.

        Raises:
            ArgumentError: it is not passed, and no shape tells it.
        """
        given = self.given.get(name)
        if given is None and name in self.sizes:
            return Lin(self.sizes[name])
        if given is None and name in self.parameters.symbols:
            # DaCe lists symbols that nothing needs; `_Made` refuses those that something does.
            return Lin.symbol(MISSING + name)
        if type(given) is not int:
            self.parameters.refuse(f"the integer `{name}` is not passed", f"Pass `{name}` as an int.")
        return Lin(given) if name in constant else Lin.symbol(self.symbols[name])

    def _in_shapes(self, found: Statements) -> set[str]:
        """The integer arguments that extents depend on, or the bounds of loops whose counters they have in them."""
        integers = set(self.symbols.values())
        symbols = {s for buffer in found.buffers.values() for extent in buffer.shape for s in extent.symbols}
        self._refuse_missing(symbols | set().union(*map(symbols_in, walk(found.body))))
        if not symbols <= integers:
            loops = (s for s in walk(found.body) if isinstance(s, Loop))
            symbols |= {symbol for loop in loops for form in (loop.start, loop.trips) for symbol in form.symbols}
        return {name for name, symbol in self.symbols.items() if symbol in symbols}

    def _refuse_missing(self, symbols: set[str]) -> None:
        """Raises: ArgumentError, where an integer is needed that is not passed."""
        for symbol in sorted(symbols):
            if symbol.startswith(MISSING):
                name = symbol.removeprefix(MISSING)
                what = f"the integer `{name}` is not passed, and no shape tells it"
                self.parameters.refuse(what, f"Pass `{name}` as an int.")


class _Made:
    """One program in the making."""

    def __init__(self, assembly: Assembly, constant: set[str]) -> None:
        self.assembly, self.given = assembly, assembly.given
        found = assembly.statements(constant)
        self.integers = {name: symbol for name, symbol in assembly.symbols.items() if name not in constant}
        self.fixed = {name: self.given[name] for name in assembly.symbols if name in constant}
        sized = with_largest(found.body, found.buffers)
        self.body, self.buffers, self.new, self.names = canonical(found.body, sized, self.integers.values())
        outside = {self.new[name] for name, one in assembly.sdfg.arrays.items() if not one.transient}
        refuse_unset(self.body, self.buffers.keys() - outside - {"status"}, self.buffers)
        self.body = with_values_before(self.body, self.buffers, self.names)
        if not any(descriptor.storage == storage for descriptor in assembly.sdfg.arrays.values()):
            # Of our own graphs the same program is to come back.
            self.body = inlined(self.body, self.buffers.keys() - outside)
        self.captured = {self.new[name]: value for name, value in found.constants.items()}
        self.checks = found.checks
        self.inputs: dict[str, str] = {}
        self.outputs: dict[str, str] = {}

    def primal(self) -> Primal:
        assembly = self.assembly
        data = [*assembly.parameters.data, *(n for n, t in assembly.parameters.symbols.items() if t.kind not in "iu")]
        mentioned = frozenset[str]().union(*(s.mentioned for s in self.body))
        written = changed(self.body, [self.new[name] for name in data])
        first = [Compute((), Access("status"), Const(0, INT))] if self.checks else []
        for name in data:
            first += self._entered(name, mentioned, name in data and self.new[name] in written)
        last = [s for name in data if self.new[name] in written for s in self._left(name)]
        body: Block = (*first, *self.body, *last)
        used = frozenset(self.inputs.values()).union(self.outputs.values(), *(s.mentioned for s in body))
        buffers = {name: buffer for name, buffer in self.buffers.items() if name in used}
        captured = {name: value for name, value in self.captured.items() if name in used}
        inputs = (*self.inputs.values(), *captured)
        name = self.names.fresh(str(assembly.sdfg.name))
        integers = tuple(self.integers.values())
        program = Program(name, buffers, inputs, integers, self.outputs, body, self.checks)
        verify(program, "after it was read from a graph")
        return self._primal(program, captured)

    def _primal(self, program: Program, captured: Mapping[str, Any]) -> Primal:
        names = [name for name in self.outputs if name.startswith("return")]
        structure, _ = flattened((0.0,) * len(names), "return") if names != ["return"] else (None, [])
        returned = Returned(structure, tuple(map(Output, names)))
        context = isl.Set(f"[{', '.join(self.integers.values())}] -> {{ : }}")
        arrays = {name: np.ascontiguousarray(value) for name, value in captured.items()}
        return Primal(
            program, context, self.fixed, {}, self.integers, self.inputs, arrays, Draws(), (), (), frozenset(), False,
            returned, False, self.assembly.source,
        )  # fmt: skip

    # --- inputs

    def _entered(self, name: str, mentioned: frozenset[str], is_written: bool) -> list[Compute]:
        """The statements that give an argument's storage its first value; notes the input."""
        buffer, kind = self.buffers[self.new[name]], self.given.get(name)
        if kind is None:
            # DaCe allocates what a program returns.
            is_new = is_written and (name.startswith(RETURN) or is_overwritten(self.body, buffer))
            if buffer.name in mentioned and not is_new:
                self._refuse_missing(name, is_written)
            return []
        if not isinstance(kind, ArrayArgument):
            value = self._number(name, kind, buffer)
            return [value] if buffer.name in mentioned and name not in self.assembly.numbers else []
        self._check(name, kind, buffer)
        shape = tuple(map(Lin, kind.shape))
        if not is_written and shape == buffer.shape and kind.dtype == buffer.dtype:
            self.inputs[name] = buffer.name
            return []
        given = Buffer(self.names.fresh(f"{buffer.name}_in"), shape, kind.dtype, name, buffer.where)
        self.buffers[given.name] = given
        self.inputs[name] = given.name
        return [self._copied(given, buffer)] if buffer.name in mentioned else []

    def _copied(self, given: Buffer, buffer: Buffer) -> Compute:
        if len(given.shape) <= len(buffer.shape):
            return copied(given, buffer, self.names)
        value = cast(Access(given.name, (Lin(0),) * len(given.shape)).read(given.dtype), buffer.dtype)
        return Compute((), Access(buffer.name), value)

    def _number(self, name: str, kind: Any, buffer: Buffer) -> Compute:
        """The statement that gives storage the value of an integer or a boolean."""
        if not isinstance(kind, (bool, int)) or any(extent != Lin(1) for extent in buffer.shape):
            self.assembly.parameters.refuse(f"the argument `{name}` is {kind!r}, and no array")
        form = Lin.symbol(self.integers[name]) if name in self.integers else Lin(int(kind))
        value: Expr = Const(kind, np.dtype(bool)) if isinstance(kind, bool) else Int(form)
        value = Const(int(kind), INT) if isinstance(value, Int) and form.is_const else value
        return Compute((), Access(buffer.name, (Lin(0),) * len(buffer.shape)), cast(value, buffer.dtype))

    def _check(self, name: str, kind: ArrayArgument, buffer: Buffer) -> None:
        is_number = isinstance(self.assembly.parameters.data.get(name), (dace.data.Scalar, type(None)))
        if kind.dtype != buffer.dtype and not (kind.weak or (is_number and kind.dtype.kind == buffer.dtype.kind)):
            what = f"the argument `{name}` is of {kind.dtype}, and the graph's is of {buffer.dtype}"
            self.assembly.parameters.refuse(what, f"Convert it before: {name}.astype(np.{buffer.dtype}).")

    def _refuse_missing(self, name: str, is_written: bool) -> None:
        what = f"the argument `{name}` is not passed"
        why = ", and the graph reads what it holds before it has written all of it" if is_written else ""
        raise ArgumentError(what + why, self.assembly.parameters.where, f"Pass `{name}`.")

    # --- outputs

    def _left(self, name: str) -> list[Compute]:
        """The statements at the end for what a caller receives; notes the output."""
        buffer = self.buffers[self.new[name]]
        found = re.fullmatch(rf"{RETURN}(?:_(\d+))?", name)
        output = name if found is None else f"return[{found[1]}]" if found[1] is not None else "return"
        if not buffer.shape or any(extent != 1 for extent in self.assembly.parameters.data[name].shape):
            self.outputs[output] = buffer.name
            return []
        number, statement = single(buffer, self.names)
        self.buffers[number.name] = number
        self.outputs[output] = number.name
        return [statement]
