"""Forward substitution of temporaries: DaCe's parser makes an array of each operation, ``t = a + b; c = 2 * t``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from sdfgad.dependence.hazards import is_hazard
from sdfgad.dependence.sets import Domain
from sdfgad.ir.expr import Expr, Lin, Read, Rewriter
from sdfgad.ir.program import Block, Compute, rewrite_statement, walk, with_blocks, writes_of

# An expression that reads more is left in parts.
MOST_READS = 24


def inlined(body: Block, temporaries: Collection[str]) -> Block:
    """A block in which a temporary that one statement computes and one other one reads gives way to its value.

    Each value is computed as often as before, and in the same way.
    """
    written = Counter(access.buffer for s in walk(body) for access, _ in writes_of(s))
    read = Counter(name for s in walk(body) for name in {one.buffer for one in s.read})
    names = {name for name in temporaries if written[name] == read[name] == 1}
    return _block(body, frozenset(names))


@dataclass(frozen=True)
class _Pending:
    """A temporary's statement, at a place of the block that is being made."""

    position: int
    statement: Compute


def _block(block: Block, names: frozenset[str]) -> Block:
    found: list[Block] = []
    pending: dict[str, _Pending] = {}
    for one in block:
        statement = with_blocks(one, lambda inner: _block(inner, names))
        if isinstance(statement, Compute):
            for name in [read.buffer for read in statement.read if read.buffer in pending]:
                after = _with_value(statement, pending[name].statement)
                if after is not None:
                    found[pending.pop(name).position] = ()
                    statement = after
        changed = statement.written
        pending = {
            name: held
            for name, held in pending.items()
            if name not in statement.mentioned and not any(read.buffer in changed for read in held.statement.read)
        }
        if isinstance(statement, Compute) and statement.target.buffer in names and _is_plain(statement):
            pending[statement.target.buffer] = _Pending(len(found), statement)
        found.append((statement,))
    return tuple(statement for part in found for statement in part)


def _is_plain(statement: Compute) -> bool:
    """Whether each parameter is an index of the target, but for a shift."""
    params, index = [name for name, _ in statement.params], statement.target.index
    is_shift = [(form - Lin.symbol(name)).is_const for name, form in zip(params, index, strict=False)]
    return statement.accumulate is None and len(params) == len(index) and all(is_shift)


def _with_value(statement: Compute, temporary: Compute) -> Compute | None:
    """A statement with a temporary's value in place of its only read; None where it would be computed again."""
    reads = [read for read in statement.read if read.buffer == temporary.target.buffer]
    wide = {name for name, extent in statement.params if extent != Lin(1)}
    if len(reads) != 1 or not all(form.is_affine for form in reads[0].index) or not wide <= reads[0].symbols:
        return None
    if len(statement.read) + len(temporary.read) > MOST_READS or reads[0] not in statement.value.reads:
        return None
    shifts = zip(temporary.params, temporary.target.index, reads[0].index, strict=True)
    symbols = {name: index - (form - Lin.symbol(name)) for (name, _), form, index in shifts}
    value = Rewriter(symbols)(temporary.value)

    def placed(node: Expr) -> Expr | None:
        return value if isinstance(node, Read) and node is reads[0] else None

    after = rewrite_statement(statement, replace_node=placed)
    if any(read.buffer == statement.target.buffer for read in temporary.read) and not _may_run(after):
        return None
    return replace(after, where=statement.where)


def _may_run(statement: Compute) -> bool:
    """Whether the points of a statement may still run in any order."""
    if statement.accumulate is not None:
        return False
    return not is_hazard(Domain(), statement.params, statement.target, statement.value)
