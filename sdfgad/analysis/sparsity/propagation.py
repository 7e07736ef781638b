"""Sparsity pattern propagation: abstract interpretation of a program by index sets.

An element's abstract value is the set of the elements of an input on which it depends in a differentiable way. Floating
values are not computed: a branch whose condition depends on them is taken both ways, and an index may be any one of its
axis. So the pattern holds for all values of floating inputs, and may have more entries than the Jacobian at some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sdfgad.analysis.sparsity.calls import effects_of_call, results_of
from sdfgad.analysis.sparsity.deciding import Deciding
from sdfgad.analysis.sparsity.effects import Array, Box, Effect, Operands, Setting, effect_of
from sdfgad.analysis.sparsity.folding import folded
from sdfgad.analysis.sparsity.rows import Matrix, Rows
from sdfgad.analysis.sparsity.state import State
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.evaluate import evaluated
from sdfgad.ir.program import Block, Branch, Call, Compute, Loop, Program

# The elements of the relations that are kept for further trips of loops.
MOST_KEPT = 1 << 24
UFUNCS = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum}
DATA_LOOP = "how often this loop runs depends on data, and so does the sparsity pattern of the Jacobian"
DATA_LOOP_TODO = (
    "Pass a pattern, jacobian(f, sparsity=pattern), or let the loop run a number of times that integer arguments "
    "determine."
)


def sparsity_pattern(
    program: Program,
    wrt: str,
    output: str,
    operands: Operands,
    integers: Mapping[str, int],
    arrays: Mapping[str, Array],
) -> Matrix:
    """The dependence of each element of a buffer on those of an input: a Boolean sparse matrix (elements, elements).

    Args:
        operands: the operands by which an operation may have a derivative that is not zero everywhere.
        integers: the values of the program's run-time integers.
        arrays: the inputs of integers and booleans, by buffer.

    Raises:
        UnsupportedProgram: how often a loop runs depends on data.
    """
    run = _Propagation(program, wrt, operands, integers, arrays)
    run.block(program.body)
    return run.rows_of(output).settled()


class _Propagation:
    """One run of a program."""

    def __init__(
        self, program: Program, wrt: str, operands: Operands, integers: Mapping[str, int], arrays: Mapping[str, Array]
    ) -> None:
        self.symbols: dict[str, int] = dict(integers)
        self.state = State({}, arrays, frozenset(program.inputs) - arrays.keys())
        self.setting = Setting(program.buffers, operands, self.symbols, self.state.known)
        self.deciding = Deciding(frozenset(program.inputs))
        self.columns = self.setting.size(wrt)
        self.state.rows[wrt] = Rows.identity(self.columns)
        self.kept: dict[Any, Effect | None] = {}
        self.room = MOST_KEPT

    def rows_of(self, name: str) -> Rows:
        if name not in self.state.rows:
            self.state.rows[name] = Rows.empty(self.setting.size(name), self.columns)
        return self.state.rows[name]

    def block(self, block: Block) -> None:
        for statement in block:
            if isinstance(statement, Compute):
                self.compute(statement)
            elif isinstance(statement, Call):
                self.call(statement)
            elif isinstance(statement, Branch):
                self.branch(statement)
            elif statements := folded(statement, self.setting):
                self.block(statements)
            else:
                self.loop(statement)

    # --- loops and branches

    def loop(self, loop: Loop) -> None:
        """Trip by trip, until no further trip changes anything."""
        start, trips, trip = self.setting.form(loop.start), self.trips(loop), 0
        is_steady = not loop.is_open and loop.var not in self.deciding.symbols(loop.body)
        while trip < trips:
            if start is None:
                raise UnsupportedProgram(DATA_LOOP, loop.where, DATA_LOOP_TODO)
            self.symbols[loop.var] = start + (trips - 1 - trip if loop.backward else trip)
            before = self.state.part(loop.written) if is_steady else None
            self.block(loop.body)
            trip += 1
            if before is not None and self.state.is_like(loop.written, before):
                break
            trips = self.trips(loop) if loop.is_open else trips
        self.symbols.pop(loop.var, None)

    def trips(self, loop: Loop) -> int:
        """Raises: UnsupportedProgram, where it depends on data how often the loop runs."""
        trips = self.setting.form(loop.trips)
        if trips is None:
            raise UnsupportedProgram(DATA_LOOP, loop.where, DATA_LOOP_TODO)
        return trips

    def branch(self, branch: Branch) -> None:
        """Both sides, unless integers decide."""
        holds = evaluated(branch.condition, self.symbols, self.state.known)
        if holds is not None:
            self.block(branch.then if holds else branch.orelse)
            return
        before = self.state.part(branch.written)
        self.block(branch.then)
        then = self.state.part(branch.written)
        self.state.restore(branch.written, before)
        self.block(branch.orelse)
        self.state.join(branch.written, then)

    # --- statements

    def compute(self, statement: Compute) -> None:
        if statement.value.dtype.kind not in "fc":
            self.count(statement)
            return
        effect = self.effect(statement)
        if effect is not None:
            self.apply(effect)

    def effect(self, statement: Compute) -> Effect | None:
        """The effect of a statement, which is kept if only integers that do not change decide it."""
        key = self.deciding.key(statement, self.symbols)
        if key is not None and key in self.kept:
            return self.kept[key]
        effect = effect_of(statement, self.setting)
        size = 0 if effect is None else effect.size
        if key is not None and size <= self.room:
            self.kept[key] = effect
            self.room -= size
        return effect

    def apply(self, effect: Effect) -> None:
        target, found = self.rows_of(effect.buffer), None
        for link in effect.links:
            if link.buffer in self.state.rows:
                part = link.of(self.state.rows[link.buffer])
                found = part if found is None else found + part
        if found is None and effect.keeps:
            return
        if found is None:
            found = Rows.empty(effect.rows.size, self.columns).base
        target.put(effect.rows, found + target.take(effect.rows) if effect.keeps else found)

    def call(self, call: Call) -> None:
        results = results_of(call, self.state.known)
        for effect in effects_of_call(call, self.setting):
            self.state.forget(effect.buffer)
            self.apply(effect)
        for whole, value in zip(call.outputs, results, strict=False):
            self.state.learn(whole.buffer, value.astype(whole.dtype))

    def count(self, statement: Compute) -> None:
        """A statement about integers or booleans, which is run if they are known."""
        box, name = Box(self.setting, statement), statement.target.buffer
        if box.is_empty:
            return
        before, value = self.elements(statement, box), box.value(statement.value)
        if before is None or value is None or not box.is_exact or statement.fresh:
            self.state.forget(name)
            return
        places, values = (np.ravel(one) for one in np.broadcast_arrays(box.target, value))
        after, is_inside = before.ravel().copy(), places >= 0
        places, values = places[is_inside], values[is_inside].astype(before.dtype)
        if statement.accumulate is None:
            after[places] = values
        else:
            UFUNCS[statement.accumulate].at(after, places, values)
        self.state.learn(name, after.reshape(before.shape))

    def elements(self, statement: Compute, box: Box) -> Array | None:
        """What the target holds before, as far as that matters; None if that depends on data."""
        name = statement.target.buffer
        if name in self.state.known:
            return self.state.known[name]
        is_set = statement.assigns and np.unique(box.target[box.target >= 0]).size == self.setting.size(name)
        if name in self.state.lost and not is_set:
            return None
        return np.zeros(self.setting.shape(name), self.setting.buffers[name].dtype)
