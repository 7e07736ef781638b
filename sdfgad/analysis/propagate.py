"""Forward substitution: replaces stored indices, conditions and masks by their cheap expressions.

An index ``idx[i]`` or a condition ``s[0] > 1`` is stored in a scalar when it is evaluated, and a mask ``x > lo`` in an
array, because its operands might change before it is used. Where they do not, the buffer is not needed, and neither is
its residual: for a mask in a loop, a whole array for each trip.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict

from sdfgad.ir.expr import Expr, Lin, Op, Read, postorder, reads, rewrite
from sdfgad.ir.ops import OPERATIONS
from sdfgad.ir.program import (
    Block,
    Call,
    Compute,
    Program,
    Statement,
    buffers_of,
    rewrite_statement,
    walk,
    with_blocks,
    writes_of,
)

# A longer expression is not worth recomputing at each use.
MOST_NODES = 16
# Operations that are cheap, besides integer arithmetic, comparisons and choices.
CHEAP = ("cast", "wrap", "logical_not")


def propagate_scalars(program: Program) -> Program:
    """The program without the buffers that can be substituted by their expressions."""
    return program.with_body(_Propagation(program).block(program.body))


class _Propagation:
    """One walk over a program, which knows the buffers that are substituted so far, and their expressions."""

    def __init__(self, program: Program) -> None:
        statements = list(walk(program.body))
        writes = Counter(access.buffer for statement in statements for access, _ in writes_of(statement))
        self.constant = {name for name in program.inputs if name not in writes}
        self.written_once = {name for name, count in writes.items() if count == 1} - program.interface
        self.uses = Counter(name for statement in statements for name in _read_by(statement))
        # A library call takes whole buffers, so a buffer that one uses cannot be substituted.
        self.whole = {name for call in statements if isinstance(call, Call) for name in buffers_of(call)}
        self.known: dict[str, Compute] = {}

    def block(self, block: Block) -> Block:
        uses, result = _UsesInBlock(block), list[Statement]()
        for position, old in enumerate(block):
            statement = self.substituted(old)
            if self.is_propagatable(statement, position, uses):
                assert isinstance(statement, Compute)
                self.known[statement.target.buffer] = statement
            else:
                result.append(with_blocks(statement, self.block))
        return tuple(result)

    def is_propagatable(self, statement: Statement, position: int, uses: _UsesInBlock) -> bool:
        """Whether a buffer is used behind a statement in its block alone, with the value that it has there."""
        if not self.is_cheap(statement):
            return False
        assert isinstance(statement, Compute)
        buffer = statement.target.buffer
        if buffer in self.whole or uses.behind(position, buffer) != self.uses[buffer]:
            return False
        operands = {read.buffer for read in reads(statement.value)} - self.constant
        return not any(uses.is_written(one, position, uses.last(buffer)) for one in operands)

    def is_cheap(self, statement: Statement) -> bool:
        """Whether it is the only write of a whole buffer, with a cheap value of scalars and constant arrays."""
        if not isinstance(statement, Compute) or statement.accumulate:
            return False
        is_whole = statement.target.index == tuple(Lin.symbol(name) for name, _ in statement.params)
        if statement.target.buffer not in self.written_once or not is_whole or statement.value.dtype.kind in "fc":
            return False
        nodes = list(postorder(statement.value))
        is_cheap = len(nodes) <= MOST_NODES and all(map(_is_cheap, nodes))
        return is_cheap and all(read.buffer in self.constant or not read.index for read in reads(statement.value))

    def substituted(self, statement: Statement) -> Statement:
        """A statement itself with the expressions of buffers in their place."""
        if self.known.keys().isdisjoint(_read_by(statement)):
            return statement
        return rewrite_statement(statement, replace_node=self.named)

    def named(self, node: Expr) -> Expr | None:
        found = self.known.get(node.buffer) if isinstance(node, Read) else None
        if found is None or not isinstance(node, Read):
            return None
        return rewrite(found.value, dict(zip((name for name, _ in found.params), node.index, strict=True)))


class _UsesInBlock:
    """Where buffers are read and written in a block: for each the statements of the block, with those in them."""

    def __init__(self, block: Block) -> None:
        self._reads: dict[str, list[int]] = defaultdict(list)
        self._writes: dict[str, list[int]] = defaultdict(list)
        for position, statement in enumerate(block):
            for inner in walk((statement,)):
                for name in _read_by(inner):
                    self._reads[name].append(position)
            for name in statement.written:
                self._writes[name].append(position)

    def behind(self, position: int, buffer: str) -> int:
        """How many statements read a buffer behind a position."""
        places = self._reads[buffer]
        return len(places) - bisect_right(places, position)

    def last(self, buffer: str) -> int:
        return max(self._reads[buffer], default=-1)

    def is_written(self, buffer: str, after: int, up_to: int) -> bool:
        places = self._writes[buffer]
        return bisect_right(places, up_to) > bisect_right(places, after)


def _read_by(statement: Statement) -> set[str]:
    return {read.buffer for read in statement.read}


def _is_cheap(node: Expr) -> bool:
    """Whether a node is no operation, or one of those that sizes, indices and conditions consist of."""
    if not isinstance(node, Op) or node.name in CHEAP:
        return True
    operation = OPERATIONS[node.name]
    return operation.on_integers is not None or operation.is_comparison or operation.is_choice
