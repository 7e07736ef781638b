"""Copy propagation of cyclic shifts: what reads a rolled copy of an array reads the array itself.

``np.roll`` is two copies, of the part that moves and of the one that comes round. Here they become one statement,
``y[p] = x[(p + 3) % 4]``, whose readers need no copy: their own indices wrap around. After differentiation the adjoint
of a reader adds to places that wrap around; it is turned, so that its points are these places: ``x_bar[(p + 3) % 4] +=
e(p)`` becomes ``x_bar[p] += e((p + 1) % 4)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import TypeGuard

from sdfgad.dependence.regions import is_whole
from sdfgad.dependence.uses import own_params
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, Read, Rewriter, reads, rewrite, symbols_in
from sdfgad.ir.folding import Ranges, division, folded, folded_expression
from sdfgad.ir.program import (
    Access,
    Block,
    Buffer,
    Compute,
    Program,
    Statement,
    computes,
    reads_of,
    transform,
    walk,
)
from sdfgad.optimise.blocks import everywhere
from sdfgad.optimise.cleaning.copies import Forward, Known
from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from sdfgad.optimise.names import names_of

# How many statements after its first part the second part of a copy is looked for.
WINDOW = 8


def forward_rotations(program: Program) -> Program:
    """The program in which reads of rolled copies read the original."""
    wanted = {name for name, buffer in program.buffers.items() if buffer.shape} - _needed_whole(program)
    while wanted:
        joining = _Joining(program.buffers, wanted)
        changed = program.with_body(everywhere(program.body, joining.block))
        if not joining.found:
            return program
        changed, found = _forwarded(changed, joining.found, wanted)
        # Where some read still needs a copy, two loops without remainders are better.
        kept = found & {statement.target.buffer for statement in computes(changed.body)}
        if not kept:
            return changed
        wanted -= kept
    return program


def _forwarded(program: Program, rotations: Set[str], wanted: Set[str]) -> tuple[Program, Set[str]]:
    """The program whose reads of copies, and of copies of these among `wanted`, read the original; and all copies."""
    forward = _ForwardRotations(program, rotations, wanted)
    body = forward.block(program.body, Known())
    program = replace(program, buffers=forward.buffers)
    program = program.with_body(transform(body, lambda statement: (_folded(statement),)))
    return remove_dead_code(program), forward.rotations


def _needed_whole(program: Program) -> set[str]:
    """The buffers that are outputs, or are read by products of matrices and by indices that are data."""
    found = {*program.outputs.values()}
    for statement in walk(program.body):
        is_product = isinstance(statement, Compute) and 0 < len(own_params(statement)) < len(statement.params)
        for read in reads_of(statement):
            if is_product or any(reads(Int(lin)) for lin in read.index):
                found.add(read.buffer)
    return found


# --- two copies as one


class _Joining:
    """Makes one statement of the two that copy a rolled array.

    Attributes:
        found: the buffers for which it has.
    """

    def __init__(self, buffers: Mapping[str, Buffer], wanted: Set[str]) -> None:
        self.buffers, self.wanted = buffers, wanted
        self.found: set[str] = set()

    def block(self, block: Block) -> Block:
        rest, result = list(block), list[Statement]()
        while rest:
            first = rest.pop(0)
            position, whole = self.pair(first, rest[:WINDOW])
            if whole is None:
                result.append(first)
            else:
                rest[position] = whole
                self.found.add(whole.target.buffer)
        return tuple(result)

    def pair(self, first: Statement, later: list[Statement]) -> tuple[int, Compute | None]:
        """The position of the other part of a copy, and both in one statement, if there is one."""
        if not _is_copy(first) or first.target.buffer not in self.wanted:
            return 0, None
        for position, other in enumerate(later):
            if _is_copy(other) and other.target.buffer == first.target.buffer:
                return position, _joined(first, other, self.buffers[first.target.buffer])
            if first.target.buffer in other.mentioned or not first.mentioned.isdisjoint(other.written):
                break
        return 0, None


def _is_copy(statement: Statement) -> TypeGuard[Compute]:
    if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
        return False
    return statement.value.buffer != statement.target.buffer


def _joined(a: Compute, b: Compute, buffer: Buffer) -> Compute | None:
    """One statement that copies what two of them do, if that is a whole array whose parts have changed places."""
    names = [name for name, _ in b.params]
    parts = [part for part in (_by_place(a, names, buffer), _by_place(b, names, buffer)) if part is not None]
    if len(parts) < 2 or parts[0][1].buffer != parts[1][1].buffer:
        return None
    ((box, source), (other_box, other)) = parts
    full = [(0, extent.const) for extent in buffer.shape]
    cut = [axis for axis, span in enumerate(full) if not box[axis] == other_box[axis] == span]
    moved = [axis for axis, (x, y) in enumerate(zip(source.index, other.index, strict=True)) if x != y]
    if len(cut) != 1 or len(moved) != 1:
        return None
    (axis,), (along,) = cut, moved
    lower, upper = sorted(((box[axis], read.index[along]) for box, read in parts), key=lambda part: part[0])
    (start, middle), (begin, end) = lower[0], upper[0]
    n, name = full[axis][1], Lin.symbol(names[axis])
    first = upper[1] - name + middle
    if (start, begin, end) != (0, middle, n) or lower[1] - upper[1] != Lin(n) or names[axis] in first.symbols:
        return None
    index = (*other.index[:along], first + _remainder(name + (n - middle), n), *other.index[along + 1 :])
    params = tuple(zip(names, buffer.shape, strict=True))
    target = Access(buffer.name, tuple(map(Lin.symbol, names)))
    return Compute(params, target, Read(other.buffer, index, other.dtype), where=b.where)


def _by_place(copy: Compute, names: list[str], buffer: Buffer) -> tuple[list[tuple[int, int]], Read] | None:
    """The box that a copy fills, and what it reads, by the place in it; None if it is no box in the order of axes."""
    if not len(copy.params) == len(names) == len(buffer.shape) or not all(e.is_const for e in buffer.shape):
        return None
    box, places = list[tuple[int, int]](), dict[str, Lin]()
    for (name, extent), lin, new in zip(copy.params, copy.target.index, names, strict=True):
        shift = lin - Lin.symbol(name)
        if not shift.is_const or not extent.is_const:
            return None
        box.append((shift.const, shift.const + extent.const))
        places[name] = Lin.symbol(new) - shift
    value = rewrite(copy.value, places)
    assert isinstance(value, Read)
    return box, value


def _remainder(form: Lin, n: int) -> Lin:
    return Lin.symbol(Op("remainder", (Int(form), Const(n, INT)), INT))


# --- reads of the original


class _ForwardRotations(Forward):
    """Propagates these copies, and copies of them.

    Attributes:
        buffers: those of the program, and more for values of statements that write what they read in other places, too.
    """

    def __init__(self, program: Program, rotations: Set[str], wanted: Set[str]) -> None:
        super().__init__(program)
        self.wanted = wanted
        self.buffers: dict[str, Buffer] = dict(program.buffers)
        self.rotations, self.names = set(rotations), names_of(program)

    def block(self, block: Block, known: Known) -> Block:
        return tuple(
            s
            for one in block
            for part in self.parts(one, known)
            for s in super(_ForwardRotations, self).block((part,), known)
        )

    def parts(self, statement: Statement, known: Known) -> Block:
        """A statement; or its value and a copy, if it writes what it reads a rolled copy of."""
        if not isinstance(statement, Compute) or statement.accumulate or not statement.params:
            return (statement,)
        if not any(known.is_of(read.buffer, statement.target.buffer) for read in reads(statement.value)):
            return (statement,)
        buffer = Buffer(
            self.names.fresh("rolled"), tuple(extent for _, extent in statement.params), statement.value.dtype
        )
        self.buffers[buffer.name] = buffer
        target = Access(buffer.name, tuple(Lin.symbol(name) for name, _ in statement.params))
        return replace(statement, target=target), replace(statement, value=target.read(buffer.dtype))

    def is_known(self, statement: Compute) -> bool:
        name, value = statement.target.buffer, statement.value
        if not isinstance(value, Read) or value.buffer == name or not is_whole(self.buffers, statement):
            return False
        if name in self.wanted and _wraps(value):
            self.rotations.add(name)
        return name in self.rotations


def _wraps(read: Read) -> bool:
    atoms = [atom for lin in read.index for atom, _ in lin.terms if not isinstance(atom, str)]
    return bool(atoms) and all(division(atom) is not None for atom in atoms)


# --- places that wrap around


def turn(program: Program) -> Program:
    """The program in which no statement over whole axes writes to places that wrap around."""
    return program.with_body(transform(program.body, lambda s: (_turned(s) if isinstance(s, Compute) else s,)))


def _turned(statement: Compute) -> Compute:
    extents = dict(statement.params)
    for axis, lin in enumerate(statement.target.index):
        for atom, c in lin.terms:
            found = None if isinstance(atom, str) else division(atom)
            if found is None or found[0] != "remainder" or c != 1:
                continue
            _, form, n = found
            names = [name for name in form.symbols if name in extents]
            others = (*statement.target.index[:axis], lin - Lin.symbol(atom), *statement.target.index[axis + 1 :])
            if len(names) != 1 or names[0] in symbols_in(others) or extents[names[0]] != Lin(n):
                continue
            shift = form - Lin.symbol(names[0])
            if shift.is_const:
                return _turned(_at(statement, {names[0]: _remainder(Lin.symbol(names[0]) + (-shift.const) % n, n)}))
    return statement


def _at(statement: Compute, symbols: Mapping[str, Lin]) -> Compute:
    """The statement with forms in place of its parameters, and simpler indices."""
    ranges = _ranges(statement)
    index = tuple(folded(lin.substitute(symbols, Rewriter(symbols)), ranges) for lin in statement.target.index)
    value = folded_expression(statement.value, symbols, ranges)
    return replace(statement, target=Access(statement.target.buffer, index), value=value)


def _folded(statement: Statement) -> Statement:
    return _at(statement, {}) if isinstance(statement, Compute) else statement


def _ranges(statement: Compute) -> Ranges:
    return {name: (0, extent.const - 1) for name, extent in statement.params if extent.is_const}
