"""C++ for whole loop nests: each outermost statement becomes a function over the buffers and integers it mentions.

Buffers are restricted pointers, single elements are local variables, and a temporary scalar is declared in the
innermost block that it lives in, so that the compiler keeps it in a register. Loops whose trips may run in any order
are vectorised; one with enough work becomes a function of a range of trips, which threads share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sdfgad.analysis.accesses import Use, interval, mentions, uses_of
from sdfgad.analysis.private import begins_anew
from sdfgad.ir.expr import Const, Int, Read, postorder, symbols_of
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.linear import Lin
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Access,
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Params,
    Statement,
    buffers_of,
    reads_of,
    walk,
    written,
)
from sdfgad.lowering.blas import Product, call_text, product_of
from sdfgad.lowering.cpp import Writer, cpp_type, literal
from sdfgad.lowering.order import COMBINE, IDENTITY, Order, is_single, order_of
from sdfgad.lowering.totals import Total

# In elementary operations.
PARALLEL_WORK = 1 << 20
# Fewer, where each part has arrays of its own, of at most so many elements.
FEW_PARTS = 8
MOST_SUMMED = 1 << 13
# So many maxima or minima are found side by side.
LANES = 16
# A temporary of at most so many bytes is a local variable.
LOCAL = 1 << 14
# Sums over trips that threads share are made of so many parts, whatever the number of threads.
PARTS = 64


@dataclass(frozen=True)
class Nest:
    """The function for one statement of a program's body.

    Attributes:
        name: the function's name.
        code: its text, after those of the functions that it calls.
        reads, writes: the buffers that it is passed; single elements by value, and by reference where written.
        integers: the integers that it is passed.
        headers: of the library functions that it calls.
        uses_blas: whether it calls BLAS or LAPACK.
    """

    name: str
    code: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    integers: tuple[str, ...]
    headers: tuple[str, ...] = ()
    uses_blas: bool = False


def is_local(buffer: Buffer) -> bool:
    """Whether a temporary that one statement alone uses is a local variable of its function."""
    size = math.prod(extent.const if extent.is_const else LOCAL for extent in buffer.shape)
    return is_single(buffer) or size * buffer.dtype.itemsize <= LOCAL


def nest_of(statement: Statement, name: str, buffers: Mapping[str, Buffer], outside: Iterable[str]) -> Nest:
    """The function of a statement.

    Args:
        outside: the buffers that something else mentions, too: these are passed.
    """
    return _Nest(buffers, frozenset(outside), name).made(statement)


@dataclass
class _Nest:
    buffers: Mapping[str, Buffer]
    outside: frozenset[str]
    name: str
    functions: list[str] = field(default_factory=list)
    headers: dict[str, None] = field(default_factory=dict)
    uses_blas: bool = False
    names: Names = field(default_factory=Names)
    is_shared: bool = False
    counters: dict[str, Lin] = field(default_factory=dict)
    is_vector: bool = False

    def made(self, statement: Statement) -> Nest:
        block = (statement,)
        found = sorted({name for s in walk(block) for name in buffers_of(s)})
        changed = written(block)
        local = [name for name in found if name not in self.outside]
        passed = [name for name in found if name in self.outside]
        carried = [name for name in local if is_single(self.buffers[name]) and not begins_with_write(block, name)]
        integers = self.integers(block, found)
        lines = self.block(block, [name for name in local if name not in carried])
        start = [f"{self.type(name)} b_{name}_{{}};" for name in carried]
        text = self.function(self.name, passed, changed, integers, [*start, *lines])
        reads_ = tuple(name for name in passed if name not in changed or is_single(self.buffers[name]))
        writes = tuple(name for name in passed if name in changed)
        code = "\n".join([*self.functions, text])
        return Nest(self.name, code, reads_, writes, tuple(integers), tuple(self.headers), self.uses_blas)

    def integers(self, block: Block, names: Iterable[str]) -> list[str]:
        """The symbols of a block and of the shapes of its buffers."""
        return sorted(free_symbols(block) | _symbols(extent for name in names for extent in self.buffers[name].shape))

    def type(self, name: str) -> str:
        return cpp_type(self.buffers[name].dtype)

    def function(
        self, name: str, passed: list[str], changed: set[str], integers: list[str], lines: list[str], extra: str = ""
    ) -> str:
        parameters, first, last = [extra] if extra else [], list[str](), list[str]()
        for buffer in passed:
            type_, is_changed = self.type(buffer), buffer in changed
            if not is_single(self.buffers[buffer]):
                parameters.append(f"{'' if is_changed else 'const '}{type_}* __restrict__ b_{buffer}_")
            elif is_changed:
                parameters.append(f"{type_} i_{buffer}_, {type_}* __restrict__ o_{buffer}_")
                first.append(f"{type_} b_{buffer}_ = i_{buffer}_;")
                last.append(f"*o_{buffer}_ = b_{buffer}_;")
            else:
                parameters.append(f"const {type_} b_{buffer}_")
        parameters += [f"const int64_t {integer}" for integer in integers]
        body = "\n".join(f"    {line}" for line in (*first, *lines, *last))
        return f"[[gnu::noinline]] static void {name}({', '.join(parameters)}) {{\n{body}\n}}"

    # --- blocks

    def block(self, block: Block, scalars: list[str]) -> list[str]:
        """The text of a block; `scalars` are temporaries that live in it, each of which begins with a write."""
        lines: list[str] = []
        here: list[str] = []
        deeper: dict[int, list[str]] = {}
        for name in scalars:
            users = [k for k, s in enumerate(block) if name in s.mentioned]
            home = block[users[0]] if len(users) == 1 else None
            is_deeper = isinstance(home, Loop) and name not in own_buffers(home) and self.begins(home.body, name)
            (deeper.setdefault(users[0], []) if is_deeper else here).append(name)
        lines += map(self.declared, here)
        for position, statement in enumerate(block):
            lines += self.statement(statement, deeper.get(position, []))
        return lines

    def begins(self, block: Block, name: str) -> bool:
        """Whether a temporary carries nothing from one run of a block to the next."""
        return begins_with_write(block, name) if is_single(self.buffers[name]) else begins_anew(block, name)

    def declared(self, name: str) -> str:
        buffer = self.buffers[name]
        if is_single(buffer):
            return f"{self.type(name)} b_{name}_;"
        return f"alignas(64) {self.type(name)} b_{name}_[{math.prod(extent.const for extent in buffer.shape)}];"

    def statement(self, statement: Statement, scalars: list[str]) -> list[str]:
        if isinstance(statement, Compute):
            return self.compute(statement)
        if isinstance(statement, Call):
            return [self.call(statement)]
        if isinstance(statement, Branch):
            return self.branch(statement)
        return self.loop(statement, scalars)

    def branch(self, branch: Branch) -> list[str]:
        writer = self.writer()
        condition = writer.value(branch.condition)
        lines = ["{", *writer.lines, f"if ({condition}) {{", *self.block(branch.then, []), "} else {"]
        return [*lines, *self.block(branch.orelse, []), "}", "}"]

    def call(self, call: Call) -> str:
        self.headers[LIBRARY[call.name].header] = None
        self.uses_blas = True
        texts = [
            ("&" if is_single(self.buffers[w.buffer]) else "") + f"b_{w.buffer}_" for w in call.inputs + call.outputs
        ]
        target = f"{texts.pop()[1:]} = " if LIBRARY[call.name].failure else ""
        return f"{target}sdfgad::{call.name}({', '.join([*texts, *map(str, call.sizes)])});"

    # --- loops

    def loop(self, loop: Loop, scalars: list[str]) -> list[str]:
        if loop.is_parallel and not self.is_shared and self.is_worth(loop, scalars):
            return self.shared(loop, scalars)
        writer = self.writer()
        start, end = writer.form(loop.start), writer.form(loop.start + loop.trips)
        var, sums = loop.var, dict[Access, str]()
        bounds: list[str] = []
        if reads_of(loop) and not loop.is_open:
            # The body may change what they are read from.
            bounds = [f"const int64_t start_ = {start}, end_ = {end};"]
            start, end = "start_", "end_"
        body = loop.body
        pragma: list[str] = []
        if loop.is_parallel and all(isinstance(s, Compute) and not s.params for s in body):
            sums = _sums(body, var)
            pragma = self.pragma(sums) if _is_vector(body, var, scalars, sums) else []
        if loop.backward:
            head = f"for (int64_t {var} = {end} - 1; {var} >= {start}; --{var}) {{"
        else:
            head = f"for (int64_t {var} = {start}; {var} < {end}; ++{var}) {{"
        if loop.is_open:
            # The body changes the number of trips.
            return [head, *self.block(body, scalars), "}"]
        with self.within(((var, loop.trips),) if loop.start == Lin(0) else (), bool(pragma)):
            inner = self.summed(body, sums, scalars) if sums else self.block(body, scalars)
        first, last = list[str](), list[str]()
        for access, name in sums.items():
            total, element = self.sum(access.buffer, name), self.element(access, writer)
            first += total.begin(element)
            last.append(f"{element} = {total.value};")
        return ["{", *writer.lines, *bounds, *first, *pragma, head, *inner, "}", *last, "}"]

    def pragma(self, sums: Mapping[Access, str]) -> list[str]:
        """Trips may run side by side; sums may be reordered to use vector instructions."""
        if not sums:
            return ["#pragma omp simd"]
        names = [part for access, name in sums.items() for part in self.sum(access.buffer, name).parts]
        return [f"#pragma omp simd reduction(+ : {', '.join(names)})"]

    def sum(self, buffer: str, name: str) -> Total:
        return Total(self.buffers[buffer].dtype, name)

    def summed(self, block: Block, sums: Mapping[Access, str], scalars: list[str]) -> list[str]:
        """The body of a loop whose sums are in registers."""
        lines = [*map(self.declared, scalars)]
        for statement in block:
            assert isinstance(statement, Compute)
            name = sums.get(statement.target)
            lines += self.compute(statement) if name is None else self.added(statement, name)
        return lines

    def added(self, statement: Compute, name: str) -> list[str]:
        writer = self.writer()
        value = writer.value(statement.value)
        return ["{", *writer.lines, *self.sum(statement.target.buffer, name).add(value), "}"]

    # --- loops that threads share

    def is_worth(self, loop: Loop, scalars: list[str]) -> bool:
        """Whether a loop has enough work for threads, and they do not get into each other's way."""
        if work_of((loop,)) < PARALLEL_WORK or loop.backward or loop.start != Lin(0):
            return False
        if any(isinstance(s, Call) for s in walk(loop.body)):
            return False
        found: dict[str, list[Use]] = {}
        for use in uses_of(loop):
            found.setdefault(use.buffer, []).append(use)
        return all(name in scalars or self.is_apart(name, uses, loop) for name, uses in found.items())

    def is_apart(self, name: str, uses: list[Use], loop: Loop) -> bool:
        """Whether threads may share a buffer: they only read it, write different elements, or add up."""
        if is_single(self.buffers[name]):
            return len({use.kind for use in uses}) == 1 and uses[0].kind != "write"
        if self.is_array_sum(name, uses, loop):
            return True
        # What is assigned no other trip touches, but other places in the loop may add to the same element.
        sums = [use for use in uses if use.kind == "add"]
        assigned = [[use] for use in uses if use.kind == "write"]
        return all(_is_alone(group, loop.var) for group in (sums, *assigned))

    def is_array_sum(self, name: str, uses: Iterable[Use], loop: Loop) -> bool:
        """Whether a small array is only added to, so that each part of the trips can have its own."""
        size = math.prod(extent.const if extent.is_const else MOST_SUMMED + 1 for extent in self.buffers[name].shape)
        touches = [use for use in uses_of(loop) if use.buffer == name]
        is_sum = all(use.kind == "add" and not mentions(use, loop.var) for use in touches)
        # Elements of a vector of booleans have no addresses.
        is_small = 1 < size <= MOST_SUMMED and self.buffers[name].dtype.kind != "b"
        return is_small and is_sum and size * FEW_PARTS * FEW_PARTS <= work_of((loop,))

    def shared(self, loop: Loop, scalars: list[str]) -> list[str]:
        """A call of a function of a range of trips by each thread."""
        name = self.names.fresh(f"{self.name}_part")
        block, changed = loop.body, written(loop.body)
        found = sorted({n for s in walk(block) for n in buffers_of(s)} - set(scalars))
        integers = [name for name in self.integers(block, found) if name != loop.var]
        sums = [n for n in found if n in changed and is_single(self.buffers[n])]
        arrays = [n for n in found if n in changed and n not in sums and self.is_array_sum(n, (), loop)]
        part = replace(loop, start=Lin.symbol("first_"), trips=Lin.symbol("last_") - Lin.symbol("first_"))
        self.is_shared = True
        with self.within(((loop.var, loop.trips),), False):
            lines = self.loop(part, scalars)
        self.is_shared = False
        self.functions.append(
            self.function(name, found, changed, integers, lines, "const int64_t first_, const int64_t last_")
        )
        writer = self.writer()
        trips, count = writer.form(loop.trips), FEW_PARTS if arrays else PARTS
        arguments = ", ".join(["first_", "last_", *(self.argument(n, sums, arrays) for n in found), *integers])
        parts = [f"{self.type(n)} parts_{n}_[{count}];" for n in sums]
        parts += [f"std::vector<{self.type(n)}> parts_{n}_({count} * {self.size(n)});" for n in arrays]
        totals = [f"for (int64_t k_ = 0; k_ < {count}; ++k_) b_{n}_ += parts_{n}_[k_];" for n in sums]
        for n in arrays:
            totals.append(f"for (int64_t k_ = 0; k_ < {count}; ++k_)")
            totals.append(
                f"for (int64_t j_ = 0; j_ < {self.size(n)}; ++j_) b_{n}_[j_] += parts_{n}_[k_ * {self.size(n)} + j_];"
            )
        return [
            "{",
            *writer.lines,
            *parts,
            f"const int64_t trips_ = {trips}, size_ = (trips_ + {count} - 1) / {count};",
            "#pragma omp parallel for schedule(static)",
            f"for (int64_t k_ = 0; k_ < {count}; ++k_) {{",
            "const int64_t first_ = std::min(k_ * size_, trips_), last_ = std::min(first_ + size_, trips_);",
            f"{name}({arguments});",
            "}",
            *totals,
            "}",
        ]

    def size(self, name: str) -> int:
        return math.prod(extent.const for extent in self.buffers[name].shape)

    def argument(self, name: str, sums: list[str], arrays: list[str]) -> str:
        if name in sums:
            return f"{self.type(name)}(0), &parts_{name}_[k_]"
        return f"&parts_{name}_[k_ * {self.size(name)}]" if name in arrays else f"b_{name}_"

    # --- one statement

    def compute(self, statement: Compute) -> list[str]:
        product = product_of(statement, self.buffers)
        if product is not None:
            return self.product(statement, product)
        order = order_of(statement)
        if not statement.params:
            return self.point(statement)
        if (
            order.outer
            and order.outer[0] in order.own
            and order.is_injective
            and not self.is_shared
            and work_of((statement,)) >= PARALLEL_WORK
        ):
            return self.loop(_as_loop(statement, order.outer[0]), [])
        return self.nested(statement, order)

    def nested(self, statement: Compute, order: Order) -> list[str]:
        """Loops over the parameters in order, and the sum over the innermost ones in a register."""
        lines: list[str] = []
        if order.clears_first:
            lines += self.cleared(statement, order.own)
            statement = replace(statement, fresh=False)
        extents, bounds = dict(statement.params), self.writer()
        depth = 0
        heads: list[str] = []
        for name in order.outer:
            is_last = name == order.outer[-1] and not order.inner
            heads += ["#pragma omp simd"] if is_last and order.is_vector else []
            heads.append(f"for (int64_t {name} = 0; {name} < {bounds.form(extents[name])}; ++{name}) {{")
            depth += 1
        with self.within(statement.params, bool(order.inner) or order.is_vector):
            body = self.total(statement, order, extents) if order.inner else self.point(statement)
        return ["{", *lines, *bounds.lines, *heads, *body, *["}"] * depth, "}"]

    def cleared(self, statement: Compute, own: tuple[str, ...]) -> list[str]:
        value = Const(IDENTITY[statement.accumulate or "add"], statement.value.dtype)
        params = tuple(item for item in statement.params if item[0] in own)
        return self.compute(replace(statement, params=params, value=value, accumulate=None, fresh=False))

    def total(self, statement: Compute, order: Order, extents: Mapping[str, Lin]) -> list[str]:
        kind = statement.accumulate or "add"
        writer, bounds, place = self.writer(), self.writer(), self.writer()
        value = writer.value(statement.value)
        target = self.element(statement.target, place)
        dtype = self.buffers[statement.target.buffer].dtype
        identity = literal(dtype.type(IDENTITY[kind]), dtype) if statement.fresh else target
        if kind != "add" and dtype.kind == "f":
            # Of several at a time: the order does not matter, and the compiler would keep to it.
            ends = {n: bounds.form(extents[n]) for n in order.inner}
            steps = lanes(kind, order.inner, ends, writer.lines, value)
            first = [*place.lines, f"{cpp_type(dtype)} total_ = {identity};"]
            return ["{", *bounds.lines, *first, *steps, f"{target} = total_;", "}"]
        total = Total(dtype, "total_", kind)
        lines = [*place.lines, *total.begin(identity)]
        for name in order.inner:
            if name == order.inner[-1]:
                lines += total.pragma()
            lines.append(f"for (int64_t {name} = 0; {name} < {bounds.form(extents[name])}; ++{name}) {{")
        lines += [*writer.lines, *total.add(value), *["}"] * len(order.inner), f"{target} = {total.value};", "}"]
        return ["{", *bounds.lines, *lines]

    def point(self, statement: Compute) -> list[str]:
        writer = self.writer()
        value = writer.value(statement.value)
        target = self.element(statement.target, writer)
        if not statement.assigns:
            value = COMBINE[statement.accumulate].format(target, value)
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

    # --- elements

    def writer(self) -> Writer:
        may_read = self.is_inside if self.is_vector else lambda _: False
        writer = Writer(lambda node: self.element(Access(node.buffer, node.index), writer), may_read)
        return writer

    @contextmanager
    def within(self, counters: Params, is_vector: bool) -> Iterator[None]:
        """What is written now runs in loops from 0, the innermost of which may be one of vectors."""
        before = self.counters, self.is_vector
        self.counters, self.is_vector = {**self.counters, **dict(counters)}, is_vector
        yield
        self.counters, self.is_vector = before

    def is_inside(self, read: Read) -> bool:
        """Whether a read is certainly of an element, also where its value is not asked for."""
        shape = self.buffers[read.buffer].shape
        return all(self.is_below(lin, extent) for lin, extent in zip(read.index, shape, strict=True))

    def is_below(self, lin: Lin, extent: Lin) -> bool:
        """Whether a form of the counters is certainly between 0 and an extent."""
        least = most = lin.const
        for atom, coefficient in lin.terms:
            trips = self.counters.get(atom) if isinstance(atom, str) else None
            if trips is None or not trips.is_const:
                return False
            span = coefficient * max(trips.const - 1, 0)
            least, most = least + min(span, 0), most + max(span, 0)
        return extent.is_const and least >= 0 and most < extent.const

    def element(self, access: Access, writer: Writer) -> str:
        if is_single(self.buffers[access.buffer]):
            return f"b_{access.buffer}_"
        return f"b_{access.buffer}_[{self.offset(access, writer)}]"

    def offset(self, access: Access, writer: Writer) -> str:
        """The element's position in memory, row by row."""
        shape = self.buffers[access.buffer].shape
        parts: list[str] = []
        stride, factors = 1, list[str]()
        for lin, extent in reversed(list(zip(access.index, shape, strict=True))):
            scale = " * ".join([*factors, *([str(stride)] if stride != 1 else [])])
            parts.append(f"({writer.form(lin)})" + (f" * {scale}" if scale else ""))
            if extent.is_const:
                stride *= max(extent.const, 1)
            else:
                factors.append(f"({writer.form(extent)})")
        return " + ".join(reversed(parts)) or "0"


def lanes(kind: str, inner: tuple[str, ...], ends: Mapping[str, str], lines: list[str], value: str) -> list[str]:
    """Loops that combine `total_` with a value, in several lanes that are combined at the end."""
    *outer, name = inner
    each = f"for (int k_ = 0; k_ < {LANES}; ++k_)"
    step = COMBINE[kind].format
    return [
        f"decltype(total_) lanes_[{LANES}];",
        f"{each} lanes_[k_] = total_;",
        *(f"for (int64_t {n} = 0; {n} < {ends[n]}; ++{n}) {{" for n in outer),
        f"int64_t {name}_first_ = 0;",
        f"for (; {name}_first_ + {LANES} <= {ends[name]}; {name}_first_ += {LANES}) {{",
        *("#pragma omp simd", f"{each} {{", f"const int64_t {name} = {name}_first_ + k_;", *lines),
        *(f"lanes_[k_] = {step('lanes_[k_]', value)};", "}", "}"),
        *(f"for (int64_t {name} = {name}_first_; {name} < {ends[name]}; ++{name}) {{", *lines),
        *(f"total_ = {step('total_', value)};", "}"),
        *["}"] * len(outer),
        f"{each} total_ = {step('total_', 'lanes_[k_]')};",
    ]


def _as_loop(statement: Compute, name: str) -> Loop:
    """A statement as a parallel loop over one of its parameters."""
    counter, extent = Lin.symbol(name), dict(statement.params)[name]
    rest = replace(statement, params=tuple(item for item in statement.params if item[0] != name))
    return Loop(name, extent, (rest,), (counter, extent - counter - 1), is_parallel=True)


def _sums(body: Block, var: str) -> dict[Access, str]:
    """The elements that all trips of a loop add to, with names for the sums; nothing else touches their buffers."""
    found: dict[Access, str] = {}
    read = {node.buffer for statement in body for node in reads_of(statement)}
    for statement in body:
        assert isinstance(statement, Compute)
        name, index = statement.target.buffer, statement.target.index
        alike = [s for s in body if isinstance(s, Compute) and s.target.buffer == name]
        is_sum = all(s.accumulate == "add" and not s.fresh and s.target.index == index for s in alike)
        if is_sum and name not in read and var not in _symbols(index):
            found.setdefault(statement.target, f"sum{len(found)}_")
    return found


def _is_vector(body: Block, var: str, scalars: list[str], sums: Mapping[Access, str]) -> bool:
    """Whether trips may be elements of a vector: what one writes, no other one touches, but for the sums."""
    added: dict[str, Access] = {}
    for statement in body:
        assert isinstance(statement, Compute)
        target = statement.target
        if target.buffer in scalars or target in sums:
            continue
        # Two sums into one buffer in different places may meet.
        is_moving = var in symbols_of(*(Int(lin) for lin in target.index))
        if not is_moving or (not statement.assigns and added.setdefault(target.buffer, target) != target):
            return False
    return True


def _is_alone(uses: list[Use], var: str) -> bool:
    """Whether different trips of a loop certainly touch different elements."""
    return not uses or any(_tell([use.index[axis] for use in uses], uses, var) for axis in range(len(uses[0].index)))


def _tell(forms: list[Lin], uses: list[Use], var: str) -> bool:
    """Whether the counter can be read off all the forms, whatever the counters inside of the loop add to it."""
    inside = [{name: extent for name, extent in use.bound if name != var} for use in uses]
    spans = [interval(form, bound) for form, bound in zip(forms, inside, strict=True)]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans) or len({fixed for fixed, _, _ in known}) != 1:
        return False
    width = max(high for _, _, high in known) - min(low for _, low, _ in known)
    return width < abs(known[0][0].coefficient(var))


def own_buffers(loop: Loop) -> set[str]:
    """What a loop's own bounds read."""
    return {read.buffer for read in reads_of(loop)}


def begins_with_write(block: Block, name: str) -> bool:
    """Whether a scalar is assigned in a block before it is read there."""
    users = [s for s in block if name in s.mentioned]
    first = users[0] if users else None
    if isinstance(first, Loop) and len(users) == 1:
        return name not in own_buffers(first) and begins_with_write(first.body, name)
    if not isinstance(first, Compute) or (first.params and not first.fresh):
        return False
    is_read = any(read.buffer == name for read in reads_of(first))
    return first.assigns and first.target.buffer == name and not is_read


def free_symbols(block: Block) -> set[str]:
    """The symbols of a block that are no counters or parameters of its own."""
    found: set[str] = set()
    for statement in block:
        if isinstance(statement, Loop):
            own = {statement.var}
            found |= _symbols((statement.start, statement.trips)) | (free_symbols(statement.body) - own)
        elif isinstance(statement, Branch):
            found |= symbols_of(statement.condition) | free_symbols(statement.then) | free_symbols(statement.orelse)
        elif isinstance(statement, Compute):
            lins = (*statement.target.index, *(extent for _, extent in statement.params))
            mentioned = _symbols(lins) | symbols_of(statement.value)
            found |= mentioned - {name for name, _ in statement.params}
    return found


def _symbols(lins: Iterable[Lin]) -> set[str]:
    return symbols_of(*(Int(lin) for lin in lins))


def work_of(block: Block) -> int:
    """Elementary operations, as far as sizes are known; of a loop with an unknown number of trips one trip."""
    total = 0
    for statement in block:
        if isinstance(statement, Compute):
            size = sum(1 for _ in postorder(statement.value))
            for _, extent in statement.params:
                size *= max(extent.const, 0) if extent.is_const else 1
            total += size
        elif isinstance(statement, Loop):
            total += work_of(statement.body) * (max(statement.trips.const, 0) if statement.trips.is_const else 1)
        elif isinstance(statement, Branch):
            total += work_of(statement.then) + work_of(statement.orelse)
    return total
