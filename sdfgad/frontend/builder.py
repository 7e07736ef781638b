"""Emits statements while a program is parsed, and proves what the parser must know about integers."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import islpy as isl
import numpy as np

from sdfgad.errors import Location, ShapeMismatch, UnsupportedProgram
from sdfgad.frontend.values import Index, Tensor, as_tensor, cast, scalar, view_of
from sdfgad.ir.expr import INT, Const, Expr, Int, Op, reads, symbols_of
from sdfgad.ir.hazards import is_hazard
from sdfgad.ir.linear import IntLike, Lin, as_linear
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Accumulate, Branch, Buffer, Compute, Loop, Statement
from sdfgad.ir.sets import Domain
from sdfgad.ir.specialise import NeedsConstant

STATUS = "status"


class Builder:
    """The program under construction.

    Attributes:
        integers: run-time integer symbols, with the values of the call that is being parsed for.
        context: the values of `integers` for which the program holds; shrinks as facts are assumed.
        domain: what holds for the loop counters at the current place.
        where: the user's line that is being parsed.
    """

    def __init__(self, integers: dict[str, int]) -> None:
        self.integers = integers
        names = ", ".join(integers)
        self.context = isl.Set(f"[{names}] -> {{ : }}")
        # Lists and dicts that the program has made, with the depth of the block in which it did.
        self.containers: dict[int, tuple[Any, int]] = {}
        # The loops around the present place: the depth of their bodies, their counters and numbers of trips.
        self.loops: list[tuple[int, str, Lin]] = []
        # Arrays from outside the function: buffer -> array, and how to look each of them up again.
        self.captured: dict[str, np.ndarray[Any, Any]] = {}
        self.lookups: list[tuple[Callable[[], Any], np.ndarray[Any, Any]]] = []
        self._fixed: dict[Any, list[tuple[list[Any], list[Any], Lin]]] = {}
        self._values = isl.Set(f"[{names}] -> {{ : {' and '.join(f'{n} = {v}' for n, v in integers.items())} }}")
        self.buffers: dict[str, Buffer] = {}
        self.domain = Domain()
        self.where: Location | None = None
        self.checks: list[tuple[str, Location | None]] = []
        self.blocks: list[list[Statement]] = [[]]
        # How often each buffer has been written so far, for copies that later writes invalidate.
        self.writes: Counter[str] = Counter()
        self.names = Names((*integers, STATUS))

    # --- names and storage

    def fresh(self, base: str) -> str:
        return self.names.fresh(base)

    def new_buffer(self, base: str, shape: Index, dtype: np.dtype[Any]) -> Buffer:
        """Storage for at least `shape` elements, wherever the loop counters are."""
        sizes = tuple(Lin(self.largest(extent)) for extent in shape)
        buffer = Buffer(self.fresh(base), sizes, dtype, base, self.where)
        self.buffers[buffer.name] = buffer
        return buffer

    def capture(self, name: str, array: np.ndarray[Any, Any], lookup: Callable[[], Any]) -> Tensor:
        """An array from outside the function, as a value of the present call."""
        known = next((buffer for buffer, other in self.captured.items() if other is array), None)
        if known is None or known not in self.buffers:
            if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
                raise self.unsupported(f"`{name}` is an array of {array.dtype}", "Use floats or integers.")
            shape = tuple(Lin(extent) for extent in array.shape)
            buffer = Buffer(self.fresh(name), shape, array.dtype, name, self.where)
            self.buffers[buffer.name] = buffer
            self.captured[buffer.name] = array
            self.lookups.append((lookup, array))
            known = buffer.name
        return view_of(self.buffers[known]).as_value(settled=True)

    def new_view(self, base: str, shape: Index, dtype: np.dtype[Any], weak: bool = False) -> Tensor:
        return view_of(self.new_buffer(base, shape, dtype), weak, shape)

    def snapshot(self) -> tuple[Any, ...]:
        """A state to `restore`, for parsing a piece again under other assumptions."""
        lengths = [len(block) for block in self.blocks]
        names, writes = self.names.snapshot(), (Counter(self.writes), list(self.loops))
        return dict(self.buffers), names, lengths, len(self.checks), self.domain, self.where, writes

    def has_only_names_since(self, state: tuple[Any, ...]) -> bool:
        """Whether nothing has been emitted or checked since a snapshot."""
        return [len(block) for block in self.blocks] == state[2] and len(self.checks) == state[3]

    def restore(self, state: tuple[Any, ...]) -> None:
        self.buffers = dict(state[0])
        self._fixed.clear()
        self.names.restore(state[1])
        del self.blocks[len(state[2]) :], self.checks[state[3] :]
        for block, length in zip(self.blocks, state[2], strict=True):
            del block[length:]
        self.domain, self.where = state[4], state[5]
        self.writes, self.loops = Counter(state[6][0]), list(state[6][1])

    # --- statements

    def emit(self, statement: Statement) -> None:
        self.blocks[-1].append(statement)

    @contextmanager
    def block(self, *forms: Lin) -> Iterator[list[Statement]]:
        """Statements emitted inside go to the yielded list; `forms` >= 0 hold there."""
        outer, body = self.domain, list[Statement]()
        self.domain = outer.with_form(*forms)
        self.blocks.append(body)
        try:
            yield body
        finally:
            if self.blocks and self.blocks[-1] is body:
                self.blocks.pop()
            self.domain = outer

    def loop(self, var: str, trips: Lin, guards: tuple[Lin, ...], body: list[Statement]) -> None:
        self.emit(Loop(var, trips, tuple(body), guards, where=self.where))

    def branch(self, condition: Expr, then: list[Statement], orelse: list[Statement], guards: tuple[Lin, ...]) -> None:
        if then or orelse:
            self.emit(Branch(condition, tuple(then), tuple(orelse), guards, self.where))

    def assign(self, target: Tensor, value: Any, accumulate: Accumulate | None = None) -> None:
        """``target[...] = value`` with broadcasting; `target` is a view.

        Raises:
            ShapeMismatch: the value does not broadcast to the target's shape.
        """
        value = self.broadcast_to(as_tensor(value), target.shape)
        self.compute(target.shape, target, lambda p: p, value, accumulate)

    def compute(self, box: Index, target: Tensor, target_index: Any, value: Tensor, accumulate: Any = None) -> None:
        """``target[target_index(p)] = value[p]`` for every p in `box`, reading everything before writing."""
        assert target.place is not None
        symbols = tuple(self.fresh("p") for _ in box)
        index = tuple(Lin.symbol(s) for s in symbols)
        place = target.place(target_index(index))
        expr = cast(value.element(index), target.dtype)
        params = tuple(zip(symbols, box, strict=True))
        if is_hazard(self.domain, params, place, expr, self._is_empty):
            copy = self.new_view("t", box, target.dtype)
            self.compute(box, copy, lambda p: p, value)
            self.compute(box, target, target_index, copy, accumulate)
        else:
            self.emit(Compute(params, place, expr, accumulate, self.where))
            self.writes[place.buffer] += 1

    def _is_empty(self, domain: Domain) -> bool:
        if domain.is_empty:
            return True
        return bool((domain.parameters(tuple(self.integers)) & self.context).is_empty())

    def stored(self, tensor: Tensor, base: str = "t", weak: bool | None = None) -> Tensor:
        """A new array with a tensor's present value."""
        view = self.new_view(base, tensor.shape, tensor.dtype, tensor.weak if weak is None else weak)
        self.assign(view, tensor)
        return view

    def materialise(self, tensor: Tensor, base: str = "t") -> Tensor:
        """A tensor's present value: a new array, or a settled scalar."""
        view = self.stored(tensor, base)
        if tensor.is_copy:
            return replace(view, place=None, settled=True, is_copy=True, copy_of=tensor.copy_of)
        return view.as_value(settled=True) if tensor.ndim == 0 else view

    def fixed(self, value: Expr) -> Lin:
        """An integer's present value, which later writes to what it was made from do not change.

        Where it has been fixed before, in the same trip, and nothing that it reads was written since, it is the same
        integer. A place in a loop inside is reached again after later writes, and does not count.
        """
        marks = tuple((read.buffer, self.writes[read.buffer]) for read in reads(value))
        for place, loops, form in self._fixed.get((value, marks), ()):
            is_inside = len(place) <= len(self.blocks) and all(map(operator.is_, place, self.blocks))
            if is_inside and loops == self.loops:
                return form
        form = as_linear(self.materialise(scalar(value)).at())
        self._fixed.setdefault((value, marks), []).append((list(self.blocks), list(self.loops), form))
        return form

    def settle(self, value: Any, base: str = "t") -> Any:
        """A value as Python holds it in a name: arrays by reference, everything else fixed at this point."""
        if not isinstance(value, Tensor) or value.settled or value.place is not None:
            return value
        return self.materialise(value, base)

    def frozen(self, tensor: Tensor, sources: Iterable[str]) -> Tensor:
        """A copy that stands for one of the arrays in `sources`: readable until one of them changes."""
        marks = tuple((name, self.writes[name]) for name in sorted(set(sources)))
        return replace(tensor, place=None, is_copy=True, copy_of=marks)

    def changed_since(self, tensor: Tensor) -> bool:
        """Whether an array that a copy stands for has been written since."""
        return any(self.writes[name] != count for name, count in tensor.copy_of)

    def check(self, condition: Expr, box: tuple[tuple[str, Lin], ...], message: str) -> None:
        """At run time, report `message` at the current line if `condition` fails anywhere in the box."""
        if STATUS not in self.buffers:
            self.buffers[STATUS] = Buffer(STATUS, (), INT)
        self.checks.append((message, self.where))
        code = Op("select", (condition, Const(0, INT), Const(len(self.checks), INT)), INT)
        self.emit(Compute(box, Access(STATUS), code, "maximum", self.where))

    # --- integers

    def holds(self, form: IntLike) -> bool:
        """Whether `form` >= 0 here; may narrow the run-time integers to values like the present call's."""
        form = Lin.of(form)
        if form.is_const or self.domain.implies(form):
            return form.const >= 0 if form.is_const else True
        if not self.integers:
            return False
        bad = self.domain.parameters_violating(form, tuple(self.integers)) & self.context
        if bad.is_empty():
            return True
        if not (bad & self._values).is_empty():
            return False
        self.context = (self.context - bad).coalesce()
        return True

    def is_zero(self, form: IntLike) -> bool:
        form = Lin.of(form)
        return form.const == 0 if form.is_const else self.holds(form) and self.holds(-form)

    def largest(self, form: Lin) -> int:
        """The largest value that `form` takes here.

        Raises:
            NeedsConstant: there is none, so the symbols that it depends on must be fixed.
        """
        bound = self.domain.maximum(form, self.context)
        if bound is None:
            raise NeedsConstant(self.symbols_behind(form), self.where)
        return max(bound, 0)

    def symbols_behind(self, form: Lin) -> set[str]:
        """The run-time integers, or failing that the loop counters, on which a form depends."""
        found = symbols_of(Int(form))
        while True:
            linked = {s for f in self.domain.forms if symbols_of(Int(f)) & found for s in symbols_of(Int(f))}
            if linked <= found:
                break
            found |= linked
        return (found & set(self.integers)) or found

    def constant(self, value: Any) -> int:
        """An integer that must be known while parsing.

        Raises:
            NeedsConstant: it is not; the caller that introduced its symbols can fix them.
        """
        if isinstance(value, Lin):
            if not value.is_const:
                raise NeedsConstant(self.symbols_behind(value), self.where)
            return value.const
        return int(value)

    # --- shapes

    def broadcast_shapes(self, *shapes: Index) -> Index:
        """NumPy's broadcast shape.

        Raises:
            ShapeMismatch: there is none.
        """
        result: list[Lin] = []
        for position in range(max(map(len, shapes), default=0)):
            extents = [shape[-1 - position] for shape in shapes if position < len(shape)]
            result.append(self._common_extent(extents, shapes))
        return tuple(reversed(result))

    def _common_extent(self, extents: list[Lin], shapes: tuple[Index, ...]) -> Lin:
        wide = [e for e in extents if e != Lin(1)]
        if not wide:
            return Lin(1)
        first = next((e for e in wide if e.is_const), wide[0])
        for extent in wide:
            if extent != first and not self.is_zero(extent - first):
                symbols = self.symbols_behind(extent - first)
                if symbols:
                    raise NeedsConstant(symbols, self.where)
                if not (extent.is_const and first.is_const):
                    raise self.unsupported("sizes that are data are not known to be equal", "Slice by the same name.")
                text = " and ".join(f"({', '.join(map(str, s))})" for s in shapes)
                raise ShapeMismatch(f"shapes {text} do not broadcast", self.where, "Make the extents equal, or 1.")
        return first

    def broadcast_to(self, tensor: Tensor, shape: Index) -> Tensor:
        """The tensor seen in another shape.

        Raises:
            ShapeMismatch: it does not broadcast to it.
        """
        if tensor.shape == shape:
            return tensor
        extra = tensor.ndim - len(shape)
        if extra > 0 and all(e == Lin(1) for e in tensor.shape[:extra]):
            # Assignment drops leading extents of 1.
            tensor = tensor.reindexed(tensor.shape[extra:], lambda p: (*(Lin(0),) * extra, *p))
        if tensor.ndim > len(shape) or self.broadcast_shapes(tensor.shape, shape) != self.broadcast_shapes(shape):
            had, wants = ", ".join(map(str, tensor.shape)), ", ".join(map(str, shape))
            raise ShapeMismatch(f"shape ({had}) does not broadcast to ({wants})", self.where, "Slice or reshape it.")
        offset = len(shape) - tensor.ndim
        narrow = tuple(e == Lin(1) for e in tensor.shape)

        def old_index(index: Index) -> Index:
            return tuple(Lin(0) if one else i for one, i in zip(narrow, index[offset:], strict=True))

        return tensor.reindexed(shape, old_index)

    def python(self, function: Callable[..., Any], *positional: Any, **keywords: Any) -> Any:
        """What Python itself computes of values known while parsing.

        Raises:
            UnsupportedProgram: Python raises an exception.
        """
        try:
            return function(*positional, **keywords)
        except Exception as error:
            raise self.unsupported(f"Python raises {type(error).__name__} here: {error}", "Mend this line.") from error

    def unsupported(self, what: str, todo: str = "Rewrite this line.") -> UnsupportedProgram:
        return UnsupportedProgram(what, self.where, todo)
