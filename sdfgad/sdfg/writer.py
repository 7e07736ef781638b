"""SDFG export: writes a program as an SDFG that shows its dataflow.

A sequential loop becomes a LoopRegion, a branch a ConditionalBlock, a box of points or a parallel loop a map, a
computation a tasklet with exact memlets, a product or a library call a library node. Each statement is a state. An
outermost loop or branch, and the body of a parallel loop, is a nested SDFG, in which variables local to a trip are
declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

import dace
from dace import dtypes
from dace.properties import CodeBlock
from dace.sdfg.state import ConditionalBlock, ControlFlowRegion, LoopRegion

from sdfgad.dependence.private import carries_no_value
from sdfgad.ir.expr import Expr, Lin, Read, symbols_in
from sdfgad.ir.names import Names
from sdfgad.ir.program import (
    Block,
    Branch,
    Buffer,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    computes,
    reads_of,
    walk,
    written,
)
from sdfgad.memory.basic_blocks import basic_blocks, mentioned_in
from sdfgad.memory.lifetimes import arguments, lifetimes, local_variables
from sdfgad.schedule.loop_facts import free_symbols
from sdfgad.schedule.scopes import is_local_to
from sdfgad.sdfg.computations import Computations, label
from sdfgad.sdfg.descriptors import add_buffer, add_value, connector_type, mark_bounds
from sdfgad.sdfg.marks import mark
from sdfgad.sdfg.quiet import without_line_info
from sdfgad.sdfg.tasklet import TaskletWriter, conversion


def write(program: Program) -> dace.SDFG:
    """The SDFG of a program.

    Its arguments are the inputs and outputs by buffer name (0-d ones as arrays of one element), the buffer `status`
    if the program has checks, and the run-time integers as int64 symbols.
    """
    with without_line_info():
        return _Writer(program).run()


@dataclass
class Place:
    """The place in an SDFG where the next state goes.

    Attributes:
        local: the buffers that this SDFG, or one nested in it, declares.
    """

    sdfg: Any
    region: Any
    local: frozenset[str]
    last: Any = None

    def follow(self, node: Any, assignments: dict[str, str] | None = None) -> Any:
        if self.last is not None:
            self.region.add_edge(self.last, node, dace.InterstateEdge(assignments=assignments or {}))
        self.last = node
        return node

    def within(self, region: Any) -> Place:
        """The place of the first state of a region."""
        return Place(self.sdfg, region, self.local, region.add_state("begin", is_start_block=True))


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program, self.buffers = program, program.buffers
        used = {*program.buffers, *program.integers, *program.bounds}
        used |= {s.var for s in walk(program.body) if isinstance(s, Loop)}
        used |= {name for s in walk(program.body) if isinstance(s, Compute) for name, _ in s.params}
        self.names = Names(used)
        self.outside, self.local = arguments(program), local_variables(program)
        self.computations = Computations(program.buffers)
        # What certainly has no value before the statement that is written now.
        self.new: frozenset[str] = frozenset()

    def run(self) -> dace.SDFG:
        program = self.program
        sdfg = dace.SDFG(program.name)
        mentioned = add_declarations(sdfg, program, self.local)
        place = Place(sdfg, sdfg, frozenset(self.local), sdfg.add_state("start", is_start_block=True))
        known: set[str] = set(self.outside)
        for block in basic_blocks(program, lifetimes(program)):
            self.new = mentioned - known
            if len(block) > 1 or isinstance(block[0], Loop | Branch):
                self.nest(block, place)
            else:
                self.statement(block[0], place)
            known |= written(block)
        for node, _ in sdfg.all_nodes_recursive():
            if isinstance(node, dace.nodes.Tasklet | dace.nodes.NestedSDFG):
                mark(node)
        return sdfg

    # --- control flow

    def block(self, block: Block, place: Place, inner: frozenset[str]) -> None:
        """A block; `inner` are the local variables that nothing outside of it uses."""
        users = Counter(name for statement in block for name in inner & statement.mentioned)
        seen: frozenset[str] = frozenset()
        for statement in block:
            self.new, seen = inner - seen, seen | statement.mentioned
            deeper = frozenset(n for n in inner & statement.mentioned if users[n] == 1)
            self.statement(statement, place, frozenset(n for n in deeper if is_local_to(statement, n, self.buffers)))

    def statement(self, statement: Statement, place: Place, inner: frozenset[str] = frozenset()) -> None:
        if isinstance(statement, Compute):
            extents = [(name, self.bound(extent, place)) for name, extent in statement.params]
            self.declare(statement.touched, place)
            self.computations.compute(statement, extents, place)
        elif isinstance(statement, Call):
            self.declare(statement.touched, place)
            self.computations.call(statement, place)
        elif isinstance(statement, Branch):
            self.branch(statement, place, inner)
        elif statement.is_parallel:
            self.parallel(statement, place, inner)
        else:
            self.loop(statement, place, inner)

    def loop(self, loop: Loop, place: Place, inner: frozenset[str]) -> None:
        var, start = loop.var, self.text(loop.start, place)
        if loop.backward:
            last = self.text(loop.start + loop.trips - 1, place)
            head = (f"{var} >= {start}", f"{var} = {last}", f"{var} = {var} - 1")
        else:
            head = (self.goes_on(loop, place), f"{var} = {start}", f"{var} = {var} + 1")
        add_symbol(place.sdfg, var)
        region = LoopRegion(self.names.fresh(f"loop_{var}"), head[0], var, head[1], head[2])
        place.region.add_node(region, ensure_unique_name=True)
        place.follow(region)
        self.block(loop.body, place.within(region), inner)

    def goes_on(self, loop: Loop, place: Place) -> str:
        if not loop.is_open:
            return f"{loop.var} < {self.text(loop.start + loop.trips, place)}"
        # Not a symbol, which would be fixed before the loop: the body changes the scalar.
        (scalar,) = reads_of(loop)
        self.declare({scalar.buffer}, place)
        return f"{loop.var} < {scalar.buffer}"

    def branch(self, branch: Branch, place: Place, inner: frozenset[str]) -> None:
        block = ConditionalBlock(self.names.fresh("branch"))
        condition = self.inline(branch.condition, place)
        place.region.add_node(block, ensure_unique_name=True)
        place.follow(block)
        for code, body in ((CodeBlock(condition), branch.then), (None, branch.orelse)):
            if body or code is not None:
                region = ControlFlowRegion(self.names.fresh("case"), sdfg=place.sdfg)
                block.add_branch(code, region)
                self.block(body, place.within(region), inner)

    def inline(self, value: Expr, place: Place) -> str:
        """A value as text for a condition, which may be the name of a scalar that is computed before."""
        self.declare({read.buffer for read in value.reads}, place)

        def read(node: Read, index: list[str]) -> str:
            is_scalar = isinstance(place.sdfg.arrays[node.buffer], dace.data.Scalar)
            text = node.buffer if is_scalar else f"{node.buffer}[{', '.join(index) or 0}]"
            return text if node.dtype == self.buffers[node.buffer].dtype else conversion(text, node.dtype)

        writer = TaskletWriter(read)
        text = writer.value(value)
        return self.scalar(value, place) if writer.lines else text

    def scalar(self, value: Expr, place: Place) -> str:
        """A scalar that holds a value."""
        self.declare({read.buffer for read in value.reads}, place)
        name = self.names.fresh("value")
        add_value(place.sdfg, name, value.dtype)
        self.computations.scalar(Buffer(name, (), value.dtype), value, place)
        return name

    def parallel(self, loop: Loop, place: Place, inner: frozenset[str]) -> None:
        """A map around a nested SDFG, which declares variables local to a trip; perfectly nested loops are one map."""
        loops = [loop]
        while (deeper := self.next_loop(loops, inner)) is not None:
            loops.append(deeper)
        spans = [(self.bound(one.start, place), self.bound(one.start + one.trips, place)) for one in loops]
        state = place.follow(place.region.add_state(self.names.fresh(f"s_{loop.var}")))
        node, names = self.nested(loops[-1].body, inner, place, state)
        ranges = [(one.var, first, end) for one, (first, end) in zip(loops, spans, strict=True)]
        self.computations.around(state, node, names, ranges)

    def next_loop(self, loops: list[Loop], inner: frozenset[str]) -> Loop | None:
        """The parallel loop perfectly nested in the last one, if it can be a parameter of the same map."""
        if len(loops[-1].body) != 1:
            return None
        (found,) = loops[-1].body
        if not isinstance(found, Loop) or not found.is_parallel or found.is_open or reads_of(found):
            return None
        is_box = {loop.var for loop in loops}.isdisjoint(found.start.symbols | found.trips.symbols)
        return found if is_box and all(is_local_to(found, name, self.buffers) for name in inner) else None

    # --- nested SDFGs

    def nest(self, block: Block, place: Place) -> None:
        """A basic block, or an outermost loop or branch, as a nested SDFG."""
        state = place.follow(place.region.add_state(self.names.fresh("s")))
        node, names = self.nested(block, mentioned_in(block) & self.local, place, state)
        self.computations.beside(state, node, names)

    def nested(
        self, block: Block, local: frozenset[str], place: Place, state: Any
    ) -> tuple[Any, tuple[list[str], list[str]]]:
        """A nested SDFG of a block, and the arrays that it reads and writes."""
        inner = dace.SDFG(self.names.fresh(label(block[0]) if block else "nothing"))
        new = self.new
        passed = sorted(frozenset[str]().union(*(s.mentioned for s in block)) - local)
        self.declare(passed, place)
        for name in passed:
            inner.add_datadesc(name, place.sdfg.arrays[name].clone())
            inner.arrays[name].transient = False
        used = free_symbols(block) | symbols_in(e for name in passed for e in self.buffers[name].shape)
        used |= {str(s) for name in passed for s in place.sdfg.arrays[name].free_symbols}
        for symbol in sorted(used):
            add_symbol(inner, symbol)
        inside = Place(inner, inner, local, inner.add_state("begin", is_start_block=True))
        self.block(block, inside, local)
        changed = written(block)
        transient = {name for name in passed if place.sdfg.arrays[name].transient}
        # DaCe takes it for a read of nothing where a transient is passed before it has a value.
        anew = {name for name in changed & transient if name in new or carries_no_value(block, self.buffers[name])}
        inputs = [name for name in passed if name in accessed(block) - anew]
        outputs = [name for name in passed if name in changed]
        mapping = {symbol: symbol for symbol in sorted(used)}
        return nested_node(state, inner, (inputs, outputs), mapping), (inputs, outputs)

    def declare(self, names: Iterable[str], place: Place) -> None:
        """Declares the local variables that a statement is the first to mention."""
        for name in sorted(names):
            if name not in place.sdfg.arrays:
                assert name in place.local, name
                add_buffer(place.sdfg, self.buffers[name], is_transient=True, is_local=True)

    # --- integers

    def text(self, form: Lin, place: Place) -> str:
        """A form as text; parts that depend on data are first assigned to symbols."""
        return str(self.bound(form, place))

    def bound(self, form: Lin, place: Place) -> Lin:
        """A form of symbols alone: parts that depend on data, or are not linear, are first assigned to symbols."""
        known: dict[str, str] = {}
        found = Lin(form.const)
        for atom, coefficient in form.terms:
            if isinstance(atom, Expr):
                atom = known.setdefault(str(atom), self.symbol(atom, place))
            found = found + Lin.symbol(atom).scaled(coefficient)
        return Lin.symbol(self.sized(str(found), place)) if has_equal_factors(found) else found

    def symbol(self, value: Expr, place: Place) -> str:
        # Functions mean nothing to DaCe on an edge.
        text = self.inline(value, place) if isinstance(value, Read) else self.scalar(value, place)
        return self.sized(text, place)

    def sized(self, text: str, place: Place) -> str:
        """A new symbol, assigned a value."""
        symbol = self.names.fresh("size")
        add_symbol(place.sdfg, symbol)
        place.follow(place.region.add_state(self.names.fresh("sized")), {symbol: text})
        return symbol


def add_declarations(sdfg: Any, program: Program, local: Set[str]) -> frozenset[str]:
    """Adds the symbols of a program, and its arrays but the local ones; returns the buffers that it mentions."""
    for symbol in program.integers:
        add_symbol(sdfg, symbol)
    outside, mentioned = arguments(program), frozenset[str]().union(*(s.mentioned for s in program.body))
    for name, buffer in program.buffers.items():
        if name in outside or name in mentioned - local:
            add_buffer(sdfg, buffer, is_transient=name not in outside)
            mark_bounds(sdfg.arrays[name], buffer, program.bounds)
    return mentioned


def has_equal_factors(form: Lin) -> bool:
    """Whether two terms have the same factor, as in ``n - i - j``.

    DaCe 2.0.0b1 finds the types of ranges from such bounds with constants that SymPy cannot order.
    """
    factors = [factor for _, factor in form.terms if factor != 1]
    return len(set(factors)) < len(factors)


def accessed(block: Block) -> set[str]:
    """The buffers whose elements a block reads, or adds to."""
    found = {read.buffer for statement in walk(block) for read in reads_of(statement)}
    return found | {s.target.buffer for s in computes(block) if not s.assigns}


def nested_node(state: Any, inner: Any, names: tuple[list[str], list[str]], symbols: dict[str, str]) -> Any:
    """Adds a nested SDFG to a state with all its symbols mapped, which saves DaCe's search for them."""
    inner.parent, inner.parent_sdfg = state, state.sdfg
    inner.update_cfg_list([])
    inputs, outputs = ({name: connector_type(inner.arrays[name]) for name in side} for side in names)
    node = dace.nodes.NestedSDFG(inner.label, inner, inputs, outputs, symbols, debuginfo=dtypes.DebugInfo(0))
    state.add_node(node)
    inner.parent_nsdfg_node = node
    return node


def add_symbol(sdfg: Any, name: str) -> None:
    if name not in sdfg.symbols:
        sdfg.add_symbol(name, dace.int64)
