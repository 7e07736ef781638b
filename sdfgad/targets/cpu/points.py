"""C++ code for one statement: loops over its parameters around the code of a point."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sdfgad.ir.expr import Const, Expr, Lin, Read
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import Access, Block, Buffer, Compute, Loop
from sdfgad.schedule.bounds import Ranges, is_inside, ranges_of
from sdfgad.schedule.loop_order import Order, order_of
from sdfgad.schedule.products import Product, product_of
from sdfgad.schedule.splitting import split_points
from sdfgad.schedule.work import is_worth_threads
from sdfgad.targets.cpu.accumulators import Accumulator, lanes
from sdfgad.targets.cpu.blas import call_text
from sdfgad.targets.cpu.cpp import COMBINE, Writer, cpp_type, literal, simd
from sdfgad.targets.cpu.invariants import invariant_quotients
from sdfgad.targets.cpu.nontemporal_stores import row, rows_of, store, strips


@dataclass
class Points:
    """Writes the C++ code of statements.

    Attributes:
        is_shared: whether this is inside a loop that threads share.
        is_streaming: whether this function has non-temporal stores.
        ranges: the counters of the loops around, the outermost first.
        is_vector: whether the innermost loop around may be vectorised.
        filled: the arrays for which non-temporal stores are used.
        known: index quotients that have been computed before the innermost loop around, and their names.
        rows: array -> the text that stands for its element in the innermost loop around: one in the buffer of a strip.
    """

    buffers: Mapping[str, Buffer]
    uses_blas: bool = field(default=False, init=False)
    is_shared: bool = field(default=False, init=False)
    is_streaming: bool = field(default=False, init=False)
    ranges: Ranges = field(default_factory=dict, init=False)
    is_vector: bool = field(default=False, init=False)
    filled: frozenset[str] = field(default=frozenset(), kw_only=True)
    rows: dict[str, str] = field(default_factory=dict, init=False)
    known: dict[Expr, str] = field(default_factory=dict, init=False)

    def loop(self, loop: Loop, scalars: list[str]) -> list[str]:
        """The text of a loop; `scalars` are temporaries local to a trip of it."""
        raise NotImplementedError

    def may_share(self, loop: Loop) -> bool:
        """Whether threads may share a loop, and its work is worth it."""
        raise NotImplementedError

    def shared_extremum(self, statement: Compute, name: str) -> list[str]:
        """A thread-parallel maximum or minimum over all points: each part finds its own, and these are combined."""
        raise NotImplementedError

    def type(self, name: str) -> str:
        return cpp_type(self.buffers[name].dtype)

    # --- one statement

    def compute(self, statement: Compute) -> list[str]:
        product = product_of(statement, self.buffers)
        if product is not None:
            return self.product(statement, product)
        order = order_of(statement)
        if not statement.params:
            return self.point(statement)
        if not self.is_shared and is_worth_threads((statement,)):
            return self.shared_points(statement, order) or self.nested(statement, order)
        return self.nested(statement, order)

    def shared_points(self, statement: Compute, order: Order) -> list[str]:
        """The statement as a loop that threads share; no lines if they cannot."""
        name, lines = (*order.outer, *order.inner)[0], list[str]()
        if not (order.is_injective and name in order.own):
            if statement.accumulate in ("maximum", "minimum") and not order.own:
                return self.shared_extremum(statement, name)
            if statement.accumulate != "add":
                return []
            if statement.fresh:
                # What threads add up is cleared before.
                lines, statement = self.cleared(statement, order.own), replace(statement, fresh=False)
        loop = _as_loop(statement, name)
        return [*lines, *self.loop(loop, [])] if self.may_share(loop) else []

    def nested(self, statement: Compute, order: Order) -> list[str]:
        """Loops over the parameters in order; if the innermost ones sum, the sum is in a register."""
        parts = split_points(statement, (*order.outer, *order.inner)[-1])
        if len(parts) > 1:
            return [line for part in parts for line in self.nested(part, order_of(part))]
        lines: list[str] = []
        if order.clears_first:
            lines += self.cleared(statement, order.own)
            statement = replace(statement, fresh=False)
        extents, bounds = dict(statement.params), self.writer()
        heads = [
            f"for (int64_t {name} = 0; {name} < {bounds.form(extents[name])}; ++{name}) {{" for name in order.outer
        ]
        rows, last = dict[str, Access](), order.outer[-1] if order.outer else ""
        if not order.inner and order.is_vector:
            rows = rows_of((statement,), last, extents[last], self.filled)
        inside = self.within(ranges_of(statement.params), bool(order.inner) or order.is_vector)
        with inside, self.hoisting((statement,), extents) as hoisted, self.filling(rows, last):
            body = self.total(statement, order, extents) if order.inner else self.point(statement)
        if not order.inner:
            pragma = simd() if order.is_vector else []
            end, head = bounds.form(extents[last]), heads.pop()
            body = self.in_strips((last, "0", end), body, rows, pragma) if rows else [*pragma, head, *body, "}"]
        return ["{", *lines, *bounds.lines, *hoisted, *heads, *body, *["}"] * len(heads), "}"]

    def cleared(self, statement: Compute, own: tuple[str, ...]) -> list[str]:
        value = Const(OPERATIONS[statement.accumulate or "add"].identity, statement.value.dtype)
        params = tuple(item for item in statement.params if item[0] in own)
        return self.compute(replace(statement, params=params, value=value, accumulate=None, fresh=False))

    def total(self, statement: Compute, order: Order, extents: Mapping[str, Lin]) -> list[str]:
        kind = statement.accumulate or "add"
        writer, bounds, place = self.writer(), self.writer(), self.writer()
        value = writer.value(statement.value)
        target = self.element(statement.target, place)
        dtype = self.buffers[statement.target.buffer].dtype
        identity = literal(dtype.type(OPERATIONS[kind].identity), dtype) if statement.fresh else target
        if kind != "add" and dtype.kind == "f":
            # Of several at a time: the order does not matter, and the compiler would keep to it.
            ends = {n: bounds.form(extents[n]) for n in order.inner}
            steps = lanes(kind, order.inner, ends, writer.lines, value)
            first = [*place.lines, f"{cpp_type(dtype)} total_ = {identity};"]
            return self.where_there_is_some(statement, order, extents, bounds, [*first, *steps, f"{target} = total_;"])
        total = Accumulator(dtype, "total_", kind)
        lines = [*place.lines, *total.begin(identity)]
        for name in order.inner:
            if name == order.inner[-1]:
                lines += total.pragma()
            lines.append(f"for (int64_t {name} = 0; {name} < {bounds.form(extents[name])}; ++{name}) {{")
        lines += [*writer.lines, *total.add(value), *["}"] * len(order.inner), f"{target} = {total.value};"]
        return self.where_there_is_some(statement, order, extents, bounds, lines)

    def where_there_is_some(
        self, statement: Compute, order: Order, extents: Mapping[str, Lin], bounds: Writer, lines: list[str]
    ) -> list[str]:
        """The lines under the condition that there is something to sum: a target of an empty sum need not exist."""
        unknown = [extents[name] for name in order.inner if not extents[name].is_const]
        if statement.fresh or not unknown:
            return ["{", *bounds.lines, *lines, "}"]
        return [
            "{",
            *bounds.lines,
            f"if ({' && '.join(f'{bounds.form(e)} > 0' for e in unknown)}) {{",
            *lines,
            "}",
            "}",
        ]

    def point(self, statement: Compute) -> list[str]:
        writer = self.writer()
        value = writer.value(statement.value)
        target = self.rows.get(statement.target.buffer) or self.element(statement.target, writer)
        if not statement.assigns:
            value = COMBINE[statement.accumulate].format(target, value)
        elif self.is_mask(statement.target.buffer):
            target = f"sdfgad::byte({target})"
        return ["{", *writer.lines, f"{target} = {value};", "}"] if writer.lines else [f"{target} = {value};"]

    def product(self, statement: Compute, product: Product) -> list[str]:
        self.uses_blas = True
        writer = self.writer()
        scalar = cpp_type(statement.value.dtype)
        alpha = " * ".join([*(writer.value(factor) for factor in product.alpha), f"{scalar}(1)"])
        operands = (product.a, product.b, product.c)
        pointers = [f"b_{o.access.buffer}_ + ({writer.form(o.offset)})" for o in operands]
        texts = {name: f"({writer.form(extent)})" for name, extent in statement.params}
        call = call_text(product, scalar, f"({alpha})", texts, (pointers[0], pointers[1], pointers[2]))
        return ["{", *writer.lines, call, "}"]

    # --- rows that are stored past the cache

    @contextmanager
    def filling(self, rows: Mapping[str, Access], var: str) -> Iterator[None]:
        """A context: the code written inside is the body of an innermost loop that fills rows."""
        self.rows = {name: row(name, var) for name in rows}
        yield
        self.rows = {}

    def in_strips(
        self, loop: tuple[str, str, str], lines: list[str], rows: Mapping[str, Access], pragma: list[str]
    ) -> list[str]:
        """An innermost loop (counter, start, end) that fills rows, strip by strip."""
        self.is_streaming = True
        writer, begin = self.writer(), {loop[0]: Lin.symbol("strip_")}
        first = {n: Access(n, tuple(lin.substitute(begin) for lin in target.index)) for n, target in rows.items()}
        ends = [store(name, self.element(access, writer)) for name, access in first.items()]
        return strips(loop, lines, {name: self.type(name) for name in rows}, pragma, [*writer.lines, *ends])

    # --- elements

    def writer(self) -> Writer:
        may_read = self.is_inside if self.is_vector else lambda _: False
        writer = Writer(lambda node: self.read(node, writer), may_read, self.known)
        return writer

    def read(self, node: Read, writer: Writer) -> str:
        text = self.element(Access(node.buffer, node.index), writer)
        return f"sdfgad::is_set({text})" if self.is_mask(node.buffer) else text

    def is_mask(self, name: str) -> bool:
        """Whether a buffer is an array of booleans."""
        return self.buffers[name].dtype.kind == "b" and not self.buffers[name].is_single

    @contextmanager
    def hoisting(self, block: Block, varying: Collection[str]) -> Iterator[list[str]]:
        """A context: the code written inside is an innermost loop of a block; the lines that come before the loop."""
        before, writer, lines = self.known, self.writer(), list[str]()
        found = [atom for atom in invariant_quotients(block, varying) if atom not in before]
        for atom in found:
            lines.append(f"const int64_t q{len(before) + len(lines)}_ = {writer.value(atom)};")
        self.known = before | {atom: f"q{len(before) + k}_" for k, atom in enumerate(found)}
        yield [*writer.lines, *lines]
        self.known = before

    @contextmanager
    def within(self, ranges: Ranges, is_vector: bool) -> Iterator[None]:
        """A context: the code written inside is in loops, the innermost of which may be vectorised."""
        before = self.ranges, self.is_vector
        self.ranges, self.is_vector = {**self.ranges, **ranges}, is_vector
        yield
        self.ranges, self.is_vector = before

    def is_inside(self, read: Read) -> bool:
        """Whether a read is certainly in bounds, even where its value is not needed."""
        axes = zip(read.index, self.buffers[read.buffer].shape, strict=True)
        return is_inside(list(axes), self.ranges, self.is_slot)

    def is_slot(self, lin: Lin, extent: Lin) -> bool:
        """Whether a form is a slot of a tape whose number of slots is counted."""
        raise NotImplementedError

    def element(self, access: Access, writer: Writer) -> str:
        if self.buffers[access.buffer].is_single:
            return f"b_{access.buffer}_"
        return f"b_{access.buffer}_[{self.offset(access, writer)}]"

    def offset(self, access: Access, writer: Writer) -> str:
        """The row-major offset of an element in memory, as C++ text."""
        return offset_text(access.index, self.buffers[access.buffer].shape, writer)


def offset_text(index: tuple[Lin, ...], shape: tuple[Lin, ...], writer: Writer) -> str:
    """The row-major offset of an element in memory, as C++ text."""
    parts: list[str] = []
    stride, factors = 1, list[str]()
    for lin, extent in reversed(list(zip(index, shape, strict=True))):
        scale = " * ".join([*factors, *([str(stride)] if stride != 1 else [])])
        parts.append(f"({writer.form(lin)})" + (f" * {scale}" if scale else ""))
        if extent.is_const:
            stride *= max(extent.const, 1)
        else:
            factors.append(f"({writer.form(extent)})")
    return " + ".join(reversed(parts)) or "0"


def _as_loop(statement: Compute, name: str) -> Loop:
    """A statement as a parallel loop over one of its parameters."""
    counter, extent = Lin.symbol(name), dict(statement.params)[name]
    rest = replace(statement, params=tuple(item for item in statement.params if item[0] != name))
    return Loop(name, extent, (rest,), (counter, extent - counter - 1), is_parallel=True)
