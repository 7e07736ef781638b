"""Function outlining: parts of a nest that become C++ functions of their own, which the nest calls.

The trips that a thread runs are one such part. The statements of a long loop body are others, and so are long runs of
scalar computations: g++ takes time that grows with the square of a function's length, and more than in proportion to
the pointers that are alive in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from sdfgad.dependence.uses import Use, uses_of
from sdfgad.ir.expr import Lin, rewrite, symbols_in
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Block, Compute, Loop, Statement, buffers_of, reads_of, walk, written
from sdfgad.memory.basic_blocks import is_scalar, mentioned_in
from sdfgad.memory.sharing import distance_of, fixed_index, is_array_sum
from sdfgad.schedule.bounds import range_of
from sdfgad.schedule.loop_facts import free_symbols
from sdfgad.schedule.target import cpu
from sdfgad.schedule.thread_independence import has_calls, maximum_reductions
from sdfgad.schedule.work import work_of
from sdfgad.targets.cpu.cpp import COMBINE, Writer
from sdfgad.targets.cpu.partial_sums import PartialSums
from sdfgad.targets.cpu.points import Points
from sdfgad.targets.cpu.strip_slots import DECLARED, SLOT, in_slots, strips_of
from sdfgad.targets.cpu.thread_parts import shares

# What the names of a buffer's variables begin with: its own, and those by which a number comes in and goes out.
PARAMETERS = "bio"
# The parameters of a function of a range of trips.
OF_A_PART = "const int64_t first_, const int64_t last_"


@dataclass
class Functions(Points):
    """Writes functions and their calls.

    Attributes:
        name: that of the function of the whole nest.
        functions: the texts of those that it calls, callees first.
        is_wide: whether wide vectors pay in them.
        is_long: whether the statements of loop bodies become functions.
        outermost: the counter of the loop that is the whole nest, if it is one.
        alone: the arrays that nothing but the nest mentions.
    """

    name: str
    functions: list[str] = field(default_factory=list, init=False)
    names: Names = field(default_factory=Names, init=False)
    is_wide: bool = field(default=False, init=False)
    is_long: bool = field(default=False, init=False)
    outermost: str = field(default="", init=False)
    alone: frozenset[str] = field(default=frozenset(), init=False)

    def statement(self, statement: Statement, scalars: list[str]) -> list[str]:
        """The text of a statement; `scalars` are temporaries local to it."""
        raise NotImplementedError

    def block(self, block: Block, scalars: list[str]) -> list[str]:
        """The text of a block; `scalars` are temporaries local to it, each written before it is read."""
        raise NotImplementedError

    def integers(self, block: Block, names: Iterable[str]) -> list[str]:
        """The free symbols of a block and of the shapes of its buffers."""
        return sorted(free_symbols(block) | symbols_in(extent for name in names for extent in self.buffers[name].shape))

    def function(
        self, name: str, passed: list[str], changed: set[str], integers: list[str], lines: list[str], extra: str = ""
    ) -> str:
        parameters, first, last = [extra] if extra else [], list[str](), list[str]()
        for buffer in passed:
            parameter, before, after = self.parameter(buffer, buffer in changed)
            parameters.append(parameter)
            first += before
            last += after
        parameters += [f"const int64_t {integer}" for integer in integers]
        # Stores past the cache keep no order by themselves.
        streams = ["const sdfgad::Streams streams_;"] if self.is_streaming else []
        body = "\n".join(f"    {line}" for line in (*first, *streams, *lines, *last))
        wide = "SDFGAD_WIDE " if self.is_wide else ""
        return f"[[gnu::noinline]] {wide}static void {name}({', '.join(parameters)}) {{\n{body}\n}}"

    def parameter(self, name: str, is_changed: bool) -> tuple[str, list[str], list[str]]:
        """A buffer as a parameter, and what comes first and last in the function: a number is a variable in between."""
        type_ = self.type(name)
        if not self.buffers[name].is_single:
            return f"{'' if is_changed else 'const '}{type_}* __restrict__ b_{name}_", [], []
        if not is_changed:
            return f"const {type_} b_{name}_", [], []
        parameter = f"{type_} i_{name}_, {type_}* __restrict__ o_{name}_"
        return parameter, [f"{type_} b_{name}_ = i_{name}_;"], [f"*o_{name}_ = b_{name}_;"]

    # --- parts of long bodies

    def pieces(self, block: Block) -> list[Block]:
        """A block as single statements, but for long runs of scalar computations, which become functions."""
        if self.is_vector or len(block) <= cpu().long_run:
            return [(statement,) for statement in block]
        runs = groupby(block, lambda s: is_scalar(s, self.buffers))
        return [piece for are_scalar, run in runs for piece in _cut(tuple(run), are_scalar)]

    def is_outlined(self, statement: Statement) -> bool:
        """Whether a statement of a loop's body becomes a function: a call takes as long as some tens of operations."""
        is_nest = isinstance(statement, Loop | Compute) and not self.is_vector
        return self.is_long and is_nest and work_of((statement,)) >= cpu().outlined_work

    def outlined(self, block: Block, scalars: list[str]) -> list[str]:
        """The call of a function that has a part of a block; `scalars` are temporaries local to it."""
        found, changed = sorted(mentioned_in(block) - set(scalars)), written(block)
        integers, name = self.integers(block, found), self.names.fresh(f"{self.name}_step")
        before = self.is_streaming, self.known
        self.is_streaming, self.known = False, {}
        lines = self.statement(block[0], scalars) if len(block) == 1 else self.block(block, scalars)
        self.functions.append(self.function(name, found, changed, integers, lines))
        self.is_streaming, self.known = before
        both = {n for n in found if n in changed and self.buffers[n].is_single}
        arguments = [f"b_{n}_, &b_{n}_" if n in both else f"b_{n}_" for n in found]
        return [f"{name}({', '.join([*arguments, *integers])});"]

    # --- loops that threads share

    @contextmanager
    def part(self) -> Iterator[None]:
        """A context: the code written inside is that of a function of a range of trips, which threads call."""
        before = self.is_shared, self.is_streaming
        self.is_shared, self.is_streaming = True, False
        yield
        self.is_shared, self.is_streaming = before

    def may_share(self, loop: Loop) -> bool:
        return distance_of(loop, (), self.buffers) is not None

    def shared(self, loop: Loop, scalars: list[str], distance: int) -> list[str]:
        """A thread-parallel loop: calls of a function of a range of trips."""
        name = self.names.fresh(f"{self.name}_part")
        block, changed = loop.body, written(loop.body)
        found = sorted({n for s in walk(block) for n in buffers_of(s)} - set(scalars))
        integers = [name for name in self.integers(block, found) if name != loop.var]
        sums = [n for n in found if n in changed and self.buffers[n].is_single]
        uses = {n: [use for use in uses_of(loop) if use.buffer == n] for n in changed - {*sums}}
        added = [n for n in found if n in uses and is_array_sum(self.buffers[n], uses[n], loop)]
        strips = strips_of(loop, self.alone - {*scalars}, self.buffers) if loop.var == self.outermost else {}
        body, ranges = in_slots(block, loop.var, strips), {loop.var: range_of(loop), SLOT: range_of(loop)}
        part = replace(loop, start=Lin.symbol("first_"), trips=Lin.symbol("last_") - Lin.symbol("first_"), body=body)
        with self.part(), self.within(ranges, False):
            lines = self.loop(part, scalars)
            of_a_part = f"{OF_A_PART}, const int64_t {SLOT}" if strips else OF_A_PART
            self.functions.append(self.function(name, found, changed, integers, lines, of_a_part))
        writer = self.writer()
        calls, arrays = has_calls(loop), {n: self.slice(n, uses[n], loop, writer) for n in added}
        has_arrays = any(size > 1 for size, _ in arrays.values())
        count = cpu().few_parts if has_arrays or calls else cpu().parts
        partial = PartialSums(self.buffers, sums, maximum_reductions(loop), arrays, count)
        bounds = ["first_", "last_", *([SLOT] if strips else [])]
        call = f"{name}({', '.join([*bounds, *map(partial.argument, found), *integers])});"
        call = f"{DECLARED} {call}" if strips else call
        run = shares(call, writer.form(loop.trips), count, distance, calls)
        return ["{", *writer.lines, *partial.declarations(), *run, *partial.totals(), "}"]

    def slice(self, name: str, uses: list[Use], loop: Loop, writer: Writer) -> tuple[int, str]:
        """The number of elements of the slice that a loop touches, and where it begins."""
        place, shape = fixed_index(uses, loop), self.buffers[name].shape
        first = Access(name, (*place, *(Lin(0) for _ in shape[len(place) :])))
        return math.prod(extent.const for extent in shape[len(place) :]), self.offset(first, writer)

    def shared_extremum(self, statement: Compute, name: str) -> list[str]:
        target = statement.target.buffer
        found = sorted(buffers_of(statement))
        is_read = any(read.buffer == target for read in reads_of(statement))
        has_identity = not statement.fresh or self.buffers[target].dtype.kind == "f"
        if is_read or not has_identity or not self.buffers[target].is_single:
            return []
        first, last = Lin.symbol("first_"), Lin.symbol("last_")
        extent = dict(statement.params)[name]
        params = tuple((n, last - first if n == name else e) for n, e in statement.params)
        value = rewrite(statement.value, {name: Lin.symbol(name) + first})
        # Each part starts from the old value: maxima and minima are idempotent.
        part = replace(statement, params=params, value=value, fresh=False)
        integers = self.integers((statement,), found)
        function, type_ = self.names.fresh(f"{self.name}_part"), self.type(target)
        with self.part():
            lines = self.compute(part)
            self.functions.append(self.function(function, found, {target}, integers, lines, OF_A_PART))
        given = [f"b_{n}_, &parts_[k_]" if n == target else f"b_{n}_" for n in found]
        writer = self.writer()
        call = f"{function}({', '.join(['first_', 'last_', *given, *integers])});"
        calls = shares(call, writer.form(extent), cpu().parts, 1)
        start = self.cleared(statement, ()) if statement.fresh else []
        combined = COMBINE[statement.accumulate].format(f"b_{target}_", "parts_[k_]")
        total = f"for (int64_t k_ = 0; k_ < {cpu().parts}; ++k_) b_{target}_ = {combined};"
        return ["{", *start, *writer.lines, f"{type_} parts_[{cpu().parts}];", *calls, total, "}"]


def _cut(run: Block, are_scalar: bool) -> list[Block]:
    """A run of statements in pieces that are alike in length; single ones where they do not become functions."""
    count = math.ceil(len(run) / cpu().long_run) if are_scalar else 1
    if count == 1:
        return [(statement,) for statement in run]
    borders = [len(run) * k // count for k in range(count + 1)]
    return [run[start:end] for start, end in pairwise(borders)]
