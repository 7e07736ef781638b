"""Copy propagation: reads of a copied or constant buffer read the original; what ends in a copy is computed there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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

# Buffer -> a read of the same element elsewhere, or a constant: what each element is known to be.
Known = dict[str, tuple[Compute, Expr]]


def forward_copies(program: Program) -> Program:
    """The program after copy and constant propagation of whole buffers."""
    return program.with_body(Forward(program).block(program.body, {}))


class Forward:
    """Walks a program in order, with what each buffer is known to be a copy of."""

    def __init__(self, program: Program) -> None:
        self.buffers = program.buffers

    def block(self, block: Block, known: Known) -> Block:
        result: list[Statement] = []
        for statement in block:
            changed = self.statement(statement, known)
            if _adds_nothing(changed):
                continue
            self.learn(changed, known)
            result.append(changed)
        return tuple(result)

    def statement(self, statement: Statement, known: Known) -> Statement:
        if isinstance(statement, Call):
            return statement
        if isinstance(statement, Loop):
            _forget(known, written(statement.body))
        return with_blocks(self.replaced(statement, known), lambda block: self.block(block, dict(known)))

    def learn(self, statement: Statement, known: Known) -> None:
        _forget(known, written((statement,)))
        if isinstance(statement, Compute) and not statement.accumulate and self.is_known(statement):
            known[statement.target.buffer] = (statement, statement.value)

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
        # What the statement itself writes is as it was in the copy only.
        changed = {access.buffer for access, _ in writes_of(statement)}
        known = {name: item for name, item in known.items() if changed.isdisjoint(_sources(item[1]))}
        return rewrite_statement(statement, replace_node=_lookup(known)) if known else statement


def _lookup(known: Mapping[str, tuple[Compute, Expr]]) -> Callable[[Expr], Expr | None]:
    def look(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer not in known:
            return None
        copy, value = known[node.buffer]
        names = {str(lin): index for lin, index in zip(copy.target.index, node.index, strict=True)}
        return rewrite(value, names)

    return look


def _forget(known: Known, changed: set[str]) -> None:
    for name in list(known):
        if name in changed or not changed.isdisjoint(_sources(known[name][1])):
            del known[name]


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
    for statement in program.body:
        if isinstance(statement, Compute) and _ends_in(program, statement):
            source = statement.value
            assert isinstance(source, Read)
            body = tuple(s for s in program.body if s is not statement)
            program = program.with_body(renamed(body, {source.buffer: statement.target.buffer}))
    return program


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
    # A statement that has been renamed since is another one.
    made, used = program.users.get(source.buffer, ()), program.users.get(target.buffer, ())
    is_last = bool(made) and made[-1] is copy
    return is_last and used[0] is copy and all(s is not copy for s in used[1:])
