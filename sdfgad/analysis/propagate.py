"""Forward substitution: replaces stored indices, conditions and masks by their cheap expressions.

An index ``idx[i]`` or a condition ``s[0] > 1`` is stored in a scalar when it is evaluated, and a mask ``x > lo`` in an
array, because its operands might change before it is used. Where they do not, the buffer is not needed, and neither is
its residual: for a mask in a loop, a whole array for each trip.
"""

from __future__ import annotations

from collections import Counter

from sdfgad.ir.expr import Expr, Lin, Op, Read, postorder, reads, rewrite
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import (
    Block,
    Call,
    Compute,
    Program,
    Statement,
    buffers_of,
    reads_of,
    rewrite_statement,
    transform,
    walk,
    with_blocks,
    writes_of,
    written,
)

# A longer expression is not worth recomputing at each use.
MOST_NODES = 16
# Operations that are cheap, besides integer arithmetic, comparisons and choices.
CHEAP = ("cast", "wrap", "logical_not")


def propagate_scalars(program: Program) -> Program:
    """The program without the buffers that can be substituted by their expressions."""
    written = Counter(access.buffer for statement in walk(program.body) for access, _ in writes_of(statement))
    constant = {name for name in program.inputs if name not in written}
    written_once = {name for name, count in written.items() if count == 1} - program.interface
    return program.with_body(_block(program.body, constant, written_once, _uses(program.body)))


def _uses(block: Block) -> Counter[str]:
    return Counter(name for s in walk(block) for name in {r.buffer for r in reads_of(s)})


def _block(block: Block, constant: set[str], written_once: set[str], total_uses: Counter[str]) -> Block:
    rest, result = list(block), list[Statement]()
    while rest:
        statement = rest.pop(0)
        if _is_propagatable(statement, constant, written_once):
            assert isinstance(statement, Compute)
            buffer = statement.target.buffer
            if _uses(tuple(rest))[buffer] == total_uses[buffer] and not _is_clobbered(statement, rest, constant):
                rest = list(_substituted(tuple(rest), statement))
                continue
        result.append(with_blocks(statement, lambda inner: _block(inner, constant, written_once, total_uses)))
    return tuple(result)


def _is_propagatable(statement: Statement, constant: set[str], written_once: set[str]) -> bool:
    """Whether a statement is the only write of a whole buffer, with a cheap value of scalars and constant arrays."""
    if not isinstance(statement, Compute) or statement.accumulate or statement.target.buffer not in written_once:
        return False
    is_whole = statement.target.index == tuple(Lin.symbol(name) for name, _ in statement.params)
    if not is_whole or statement.value.dtype.kind in "fc":
        return False
    nodes = list(postorder(statement.value))
    is_cheap = len(nodes) <= MOST_NODES and all(map(_is_cheap, nodes))
    return is_cheap and all(read.buffer in constant or not read.index for read in reads(statement.value))


def _is_cheap(node: Expr) -> bool:
    """Whether a node is no operation, or one of those that sizes, indices and conditions consist of."""
    if not isinstance(node, Op) or node.name in CHEAP:
        return True
    operation = OPERATIONS[node.name]
    return operation.on_integers is not None or operation.is_comparison or operation.is_choice


def _is_clobbered(statement: Compute, rest: list[Statement], constant: set[str]) -> bool:
    """Whether an operand of the value is written before the last use of the buffer in `rest`.

    A library call takes whole buffers, so a buffer that one uses cannot be substituted either.
    """
    if any(isinstance(s, Call) and statement.target.buffer in buffers_of(s) for s in walk(tuple(rest))):
        return True
    operands = {read.buffer for read in reads(statement.value)} - constant
    if not operands:
        return False
    last = max((k for k, s in enumerate(rest) if _uses((s,))[statement.target.buffer]), default=-1)
    return not operands.isdisjoint(written(tuple(rest[: last + 1])))


def _substituted(block: Block, statement: Compute) -> Block:
    names = [name for name, _ in statement.params]

    def named(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer != statement.target.buffer:
            return None
        return rewrite(statement.value, dict(zip(names, node.index, strict=True)))

    return transform(block, lambda s: (rewrite_statement(s, replace_node=named),))
