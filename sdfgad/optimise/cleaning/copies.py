"""Copy propagation: reads of a copied or constant buffer read the original; what ends in a copy is computed there.

A copy back to the original, as the adjoint of ``total += …`` has it in each trip of a loop, changes nothing and goes.
"""

from __future__ import annotations

from collections.abc import Collection

from sdfgad.dependence.regions import is_whole
from sdfgad.ir.expr import Const, Expr, Int, Op, Read, rewrite, symbols_of
from sdfgad.ir.program import (
    Block,
    Call,
    Compute,
    Loop,
    Program,
    Statement,
    rewrite_statement,
    with_blocks,
    writes_of,
    written,
)
from sdfgad.ir.rename import renamed
from sdfgad.rules.algebra import is_const


def forward_copies(program: Program) -> Program:
    """The program after copy and constant propagation of whole buffers."""
    return program.with_body(Forward(program).block(program.body, Known()))


class Known:
    """The copies that hold at a place of the program: a buffer -> the assignment that filled it, of another buffer's
    elements or of a constant."""

    def __init__(self) -> None:
        self._copies: dict[str, Compute] = {}
        # The buffers that are copies of a buffer, or were.
        self._of: dict[str, set[str]] = {}

    def copy(self) -> Known:
        found = Known()
        found._copies = dict(self._copies)
        found._of = {source: set(names) for source, names in self._of.items()}
        return found

    def add(self, statement: Compute) -> None:
        self._copies[statement.target.buffer] = statement
        for source in _sources(statement.value):
            self._of.setdefault(source, set()).add(statement.target.buffer)

    def forget(self, changed: Collection[str]) -> None:
        """Removes what no longer holds where buffers have changed."""
        for name in changed:
            self._copies.pop(name, None)
            for other in self._of.pop(name, ()):
                if other in self._copies and name in _sources(self._copies[other].value):
                    del self._copies[other]

    def is_copy(self, name: str, source: str) -> bool:
        """Whether a buffer has all elements of another one, in their places: a reversed or reshaped one has not."""
        copy = self._copies.get(name)
        if copy is None or not isinstance(copy.value, Read):
            return False
        return copy.value.buffer == source and copy.value.index == copy.target.index

    def is_of(self, name: str, source: str) -> bool:
        """Whether a buffer is a copy of elements of another one, in whatever order."""
        copy = self._copies.get(name)
        return copy is not None and source in _sources(copy.value)

    def has_any(self, names: Collection[str]) -> bool:
        return not self._copies.keys().isdisjoint(names)

    def value(self, read: Read, changed: Collection[str]) -> Expr | None:
        """What an element is known to be, by elements of buffers other than `changed`; None if that is nothing else."""
        copy = self._copies.get(read.buffer)
        if copy is None or not _sources(copy.value).isdisjoint(changed):
            return None
        names = {str(lin): index for lin, index in zip(copy.target.index, read.index, strict=True)}
        return rewrite(copy.value, names)


class Forward:
    """Walks a program in order, with what each buffer is known to be a copy of."""

    def __init__(self, program: Program) -> None:
        self.buffers = program.buffers

    def block(self, block: Block, known: Known) -> Block:
        result: list[Statement] = []
        for statement in block:
            changed = self.statement(statement, known)
            if _adds_nothing(changed) or self.is_back(changed, known):
                continue
            self.learn(changed, known)
            result.append(changed)
        return tuple(result)

    def statement(self, statement: Statement, known: Known) -> Statement:
        if isinstance(statement, Call):
            return statement
        if isinstance(statement, Loop):
            known.forget(written(statement.body))
        return with_blocks(self.replaced(statement, known), lambda block: self.block(block, known.copy()))

    def learn(self, statement: Statement, known: Known) -> None:
        known.forget(statement.written)
        if isinstance(statement, Compute) and not statement.accumulate and self.is_known(statement):
            known.add(statement)

    def is_back(self, statement: Statement, known: Known) -> bool:
        """Whether a statement assigns to a buffer what has been copied from there, and is still the same."""
        if not isinstance(statement, Compute) or statement.accumulate or not isinstance(statement.value, Read):
            return False
        target, source = statement.target, statement.value
        is_same = self.buffers[target.buffer].dtype == self.buffers[source.buffer].dtype
        return is_same and source.index == target.index and known.is_copy(source.buffer, target.buffer)

    def is_known(self, statement: Compute) -> bool:
        """Whether an assignment fills a buffer with a copy of another one, with its own indices, or with a constant."""
        target, value = self.buffers[statement.target.buffer], statement.value
        if not is_whole(self.buffers, statement):
            return False
        if isinstance(value, Int):
            # Positions, as `arange` and `mgrid` have them.
            return symbols_of(value) <= {str(lin) for lin in statement.target.index} and not value.children
        if not isinstance(value, Read):
            return isinstance(value, Const)
        is_copy = value.index == statement.target.index and value.buffer != target.name
        return is_copy and self.buffers[value.buffer].shape == target.shape

    def replaced(self, statement: Statement, known: Known) -> Statement:
        """The statement with known reads replaced, but not in the statements nested in it."""
        if not known.has_any(statement.touched):
            return statement
        # What the statement itself writes is as it was in the copy only.
        changed = {access.buffer for access, _ in writes_of(statement)}

        def replaced(node: Expr) -> Expr | None:
            return known.value(node, changed) if isinstance(node, Read) else None

        return rewrite_statement(statement, replace_node=replaced)


def _sources(value: Expr) -> set[str]:
    return {value.buffer} if isinstance(value, Read) else set()


def _adds_nothing(statement: Statement) -> bool:
    is_sum = isinstance(statement, Compute) and statement.accumulate == "add" and not statement.fresh
    return is_sum and _is_zero(statement.value)  # type: ignore[union-attr]


def _is_zero(value: Expr) -> bool:
    if isinstance(value, Op) and value.name in ("negative", "cast"):
        return _is_zero(value.args[0])
    return is_const(value, 0)


# --- copies at the end


def make_in_place(program: Program) -> Program:
    """Copy elimination: where ``y = x`` is the first mention of `y` and the last one of `x`, `x` is computed in `y`."""
    copies = [s for s in program.body if isinstance(s, Compute) and _ends_in(program, s)]
    if not copies:
        return program
    names = dict[str, str]()
    # From the last one on: that in which the target ends, if it is copied itself.
    for copy in reversed(copies):
        assert isinstance(copy.value, Read)
        names[copy.value.buffer] = names.get(copy.target.buffer, copy.target.buffer)
    dropped = set(map(id, copies))
    return program.with_body(renamed(tuple(s for s in program.body if id(s) not in dropped), names))


def _ends_in(program: Program, copy: Compute) -> bool:
    source, target = copy.value, copy.target
    if copy.accumulate or not isinstance(source, Read) or source.buffer in program.interface:
        return False
    buffers = program.buffers
    like = buffers[source.buffer].shape == buffers[target.buffer].shape and source.index == target.index
    if not like or source.buffer == target.buffer or not is_whole(buffers, copy):
        return False
    if buffers[source.buffer].dtype != buffers[target.buffer].dtype:
        return False
    made, used = program.users.get(source.buffer, ()), program.users.get(target.buffer, ())
    is_last = bool(made) and made[-1] is copy
    return is_last and used[0] is copy and all(s is not copy for s in used[1:])
