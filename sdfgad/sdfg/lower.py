"""Lowering of a `Program` to an SDFG: loops and conditionals as regions, each `Compute` as a state with one map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dace
import numpy as np
from dace import dtypes, subsets
from dace.properties import CodeBlock
from dace.sdfg.state import ConditionalBlock, ControlFlowRegion, LoopRegion

from sdfgad.ir.expr import BOOL, INT, Expr, Lin, Read
from sdfgad.ir.library import LIBRARY
from sdfgad.ir.names import Names
from sdfgad.ir.program import Access, Branch, Buffer, Call, Compute, Loop, Program, buffers_of, reads_of, walk
from sdfgad.memory.lifetimes import arguments, lifetimes
from sdfgad.schedule.loop_order import is_single
from sdfgad.sdfg.kernels import Kernel, kernel_of, only_element
from sdfgad.targets.cpu.allocation import Schedule
from sdfgad.targets.cpu.blas import environment_name
from sdfgad.targets.cpu.dace_arrays import add_buffer, symbolic_form

Region = Any  # an SDFG or a control-flow region of it


def lower(program: Program) -> dace.SDFG:
    """The SDFG of a program.

    Its arguments are the inputs and outputs by buffer name (0-d ones as arrays of one element), the buffer `status`
    if the program has checks, and the run-time integers as int64 symbols.
    """
    return _Lowering(program).run()


@dataclass
class _Cursor:
    """Where the next state goes."""

    region: Region
    last: Any = None

    def follow(self, node: Any, assignments: dict[str, str] | None = None) -> None:
        if self.last is not None:
            self.region.add_edge(self.last, node, dace.InterstateEdge(assignments=assignments or {}))
        self.last = node


class _Lowering:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.sdfg = dace.SDFG(program.name)
        # The program's own, and scalars for conditions and sizes.
        self.buffers = dict(program.buffers)
        used = {*program.buffers, *program.integers}
        used |= {s.var for s in walk(program.body) if isinstance(s, Loop)}
        used |= {name for s in walk(program.body) if isinstance(s, Compute) for name, _ in s.params}
        self.names = Names(used)
        self.outside = arguments(program)
        self.schedule = Schedule(lifetimes(program))

    def run(self) -> dace.SDFG:
        for symbol in self.program.integers:
            self.sdfg.add_symbol(symbol, dace.int64)
        for buffer in self._used_buffers():
            self._add_buffer(buffer)
        start = self.sdfg.add_state("start", is_start_block=True)
        cursor = _Cursor(self.sdfg, start)
        for position, statement in enumerate(self.program.body):
            self.schedule.enter(position)
            self._statement(statement, cursor)
        self.sdfg.append_global_code(self.schedule.table() + '#include "memory.h"\n#include "sdfgad.h"\n')
        return self.sdfg

    def _used_buffers(self) -> list[Buffer]:
        used = set(self.outside)
        for statement in walk(self.program.body):
            used |= buffers_of(statement)
        return [buffer for name, buffer in self.program.buffers.items() if name in used]

    def _add_buffer(self, buffer: Buffer) -> None:
        self.buffers[buffer.name] = buffer
        add_buffer(self.sdfg, buffer, is_transient=buffer.name not in self.outside)

    # --- control flow

    def _statement(self, statement: Any, cursor: _Cursor) -> None:
        if isinstance(statement, Compute):
            self._compute(statement, cursor)
        elif isinstance(statement, Call):
            self._call(statement, cursor)
        elif isinstance(statement, Loop):
            self._loop(statement, cursor)
        else:
            self._branch(statement, cursor)

    def _loop(self, loop: Loop, cursor: _Cursor) -> None:
        var, start = loop.var, self._form(loop.start, cursor)
        if loop.backward:
            last = self._form(loop.start + loop.trips - 1, cursor)
            head = (f"{var} >= {start}", f"{var} = {last}", f"{var} = {var} - 1")
        else:
            head = (self._goes_on(loop, cursor), f"{var} = {start}", f"{var} = {var} + 1")
        if var not in self.sdfg.symbols:
            self.sdfg.add_symbol(var, dace.int64)
        region = LoopRegion(self.names.fresh(f"loop_{var}"), head[0], var, head[1], head[2])
        cursor.region.add_node(region, ensure_unique_name=True)
        cursor.follow(region)
        inner = _Cursor(region, region.add_state("begin", is_start_block=True))
        for statement in loop.body:
            self._statement(statement, inner)

    def _goes_on(self, loop: Loop, cursor: _Cursor) -> str:
        if not loop.is_open:
            return f"{loop.var} < {self._form(loop.start + loop.trips, cursor)}"
        # Not a symbol, which would be fixed before the loop: the body changes the scalar.
        (scalar,) = reads_of(loop)
        return f"{loop.var} < {scalar.buffer}"

    def _branch(self, branch: Branch, cursor: _Cursor) -> None:
        condition = self._scalar(branch.condition, BOOL, cursor)
        block = ConditionalBlock(self.names.fresh("branch"))
        cursor.region.add_node(block, ensure_unique_name=True)
        cursor.follow(block)
        for code, body in ((CodeBlock(condition), branch.then), (None, branch.orelse)):
            region = ControlFlowRegion(self.names.fresh("case"), sdfg=self.sdfg)
            block.add_branch(code, region)
            inner = _Cursor(region, region.add_state("begin", is_start_block=True))
            for statement in body:
                self._statement(statement, inner)
        # A state after the conditional, so that what follows has a plain predecessor.
        cursor.follow(cursor.region.add_state(self.names.fresh("joined")))

    def _form(self, form: Lin, cursor: _Cursor) -> str:
        """A linear form as DaCe text; what is not linear is computed first and assigned to a symbol."""
        parts: list[str] = []
        for atom, coefficient in form.terms:
            name = atom if isinstance(atom, str) else self._symbol(atom, cursor)
            parts.append(name if coefficient == 1 else f"{coefficient}*{name}")
        if form.const or not parts:
            parts.append(str(form.const))
        text = " + ".join(parts)
        return self._named(text, cursor) if _has_equal_factors(form) else text

    def _named(self, text: str, cursor: _Cursor) -> str:
        """A new symbol with the value of an expression."""
        symbol = self.names.fresh("size")
        self.sdfg.add_symbol(symbol, dace.int64)
        cursor.follow(cursor.region.add_state(self.names.fresh("sized")), {symbol: text})
        return symbol

    def _symbol(self, value: Expr, cursor: _Cursor) -> str:
        return self._named(self._scalar(value, INT, cursor), cursor)

    def _scalar(self, value: Expr, dtype: np.dtype[Any], cursor: _Cursor) -> str:
        """The name of a scalar container that holds a value."""
        if isinstance(value, Read) and not value.index and value.buffer not in self.outside:
            return value.buffer
        name = self.names.fresh("scalar")
        buffer = Buffer(name, (), dtype)
        self._add_buffer(buffer)
        self._compute(Compute((), Access(name), value), cursor)
        return name

    # --- one statement

    def _compute(self, statement: Compute, cursor: _Cursor) -> None:
        bounds = {name: self._form(extent, cursor) for name, extent in statement.params}
        kernel = kernel_of(statement, self.buffers)
        state = cursor.region.add_state(self.names.fresh(f"s_{statement.target.buffer}"))
        cursor.follow(state)
        self._state(state, statement, kernel, bounds)

    def _call(self, call: Call, cursor: _Cursor) -> None:
        """A library function as one tasklet on whole buffers."""
        state = cursor.region.add_state(self.names.fresh(f"s_{call.name}"))
        cursor.follow(state)
        info = _debug_info(call)
        inputs, outputs = [f"in{k}_" for k in range(len(call.inputs))], [f"out{k}_" for k in range(len(call.outputs))]
        connectors = zip((*call.inputs, *call.outputs), (*inputs, *outputs), strict=True)
        # DaCe passes single elements by value.
        texts = [("&" if is_single(self.buffers[w.buffer]) else "") + connector for w, connector in connectors]
        target = f"{texts.pop()[1:]} = " if LIBRARY[call.name].failure else ""
        texts = [f"sdfgad::own({text})" for text in texts]
        code = f"{target}sdfgad::{call.name}({', '.join([*texts, *map(str, call.sizes)])});"
        header = f'#include "{LIBRARY[call.name].header}"\n'
        tasklet = state.add_tasklet(
            f"t_{call.name}",
            dict.fromkeys(inputs),
            dict.fromkeys(outputs),
            self.schedule.mark(code),
            language=dtypes.Language.CPP,
            code_global=header,
            debuginfo=info,
        )
        tasklet.environments = {environment_name()}
        for whole, connector in zip(call.inputs, inputs, strict=True):
            memlet = self._memlet(Access(whole.buffer), True)
            state.add_edge(state.add_access(whole.buffer, debuginfo=info), None, tasklet, connector, memlet)
        for whole, connector in zip(call.outputs, outputs, strict=True):
            memlet = self._memlet(Access(whole.buffer), True)
            state.add_edge(tasklet, connector, state.add_access(whole.buffer, debuginfo=info), None, memlet)

    def _state(self, state: Any, statement: Compute, kernel: Kernel, bounds: Mapping[str, str]) -> None:
        info = _debug_info(statement)
        code = kernel.code.format_map({k: bounds[k] for k in kernel.inner}) if kernel.inner else kernel.code
        tasklet = state.add_tasklet(
            f"t_{statement.target.buffer}",
            dict.fromkeys(kernel.inputs),
            {kernel.output[0]: None},
            self.schedule.mark(code),
            language=dtypes.Language.CPP,
            debuginfo=info,
        )
        tasklet.environments = set(kernel.environments)
        buffers = sorted({access.buffer for access in kernel.accesses.values()})
        sources = {name: state.add_access(name, debuginfo=info) for name in buffers}
        target = state.add_access(statement.target.buffer, debuginfo=info)
        entry = exit_ = None
        if kernel.outer:
            schedule = dtypes.ScheduleType.CPU_Multicore if kernel.parallel else dtypes.ScheduleType.Sequential
            ranges = {name: f"0:{bounds[name]}" for name in kernel.outer}
            entry, exit_ = state.add_map(f"m_{statement.target.buffer}", ranges, schedule=schedule, debuginfo=info)
        for name, access in kernel.accesses.items():
            memlet = self._memlet(access, kernel.inputs[name])
            if entry is None:
                state.add_edge(sources[access.buffer], None, tasklet, name, memlet)
            else:
                state.add_edge(entry, f"OUT_{access.buffer}", tasklet, name, memlet)
        if entry is not None:
            self._enter(state, sources, entry, tasklet, bool(kernel.inputs))
        buffer = self.buffers[statement.target.buffer]
        element = only_element(buffer) if is_single(buffer) else statement.target
        memlet = self._memlet(element, kernel.output[1])
        if exit_ is None:
            state.add_edge(tasklet, kernel.output[0], target, None, memlet)
        else:
            exit_.add_in_connector("IN_out")
            exit_.add_out_connector("OUT_out")
            state.add_edge(tasklet, kernel.output[0], exit_, "IN_out", memlet)
            state.add_edge(exit_, "OUT_out", target, None, self._memlet(Access(buffer.name), True))

    def _enter(self, state: Any, sources: Mapping[str, Any], entry: Any, tasklet: Any, reads: bool) -> None:
        """Edges from what is read to the map: all of each buffer, which saves DaCe's search for the part."""
        for buffer, source in sources.items():
            entry.add_in_connector(f"IN_{buffer}")
            entry.add_out_connector(f"OUT_{buffer}")
            state.add_edge(source, None, entry, f"IN_{buffer}", self._memlet(Access(buffer), True))
        if not reads:
            state.add_nedge(entry, tasklet, dace.Memlet())

    def _memlet(self, access: Access, whole: bool) -> dace.Memlet:
        if whole:
            return dace.Memlet.from_array(access.buffer, self.sdfg.arrays[access.buffer])
        points = [symbolic_form(lin) for lin in access.index] or [0]
        return dace.Memlet(data=access.buffer, subset=subsets.Range([(p, p, 1) for p in points]))


def _has_equal_factors(form: Lin) -> bool:
    """Whether two terms have the same factor, as in ``n - i - j``.

    DaCe 2.0.0b1 finds the types of ranges from such bounds with constants that SymPy cannot order.
    """
    factors = [factor for _, factor in form.terms if factor != 1]
    return len(set(factors)) < len(factors)


def _debug_info(statement: Compute | Call) -> dtypes.DebugInfo:
    # DaCe would walk the Python stack for each node that is given none.
    if statement.where is None:
        return dtypes.DebugInfo(0)
    return dtypes.DebugInfo(statement.where.line, filename=statement.where.file)
