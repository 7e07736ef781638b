"""Forward substitution: scaled copies and outer products are computed where they are used, instead of being stored.

``t = alpha * A`` is as quick to read as `A`, and a matrix product takes the factor as its `alpha`;
``t[p, q] = u[p] * v[q]`` is quicker to compute than to load. So is ``t[p, q] = A[p, q] + u[p] * v[q]``, larger than the
cache, if few statements read it, each of them each element once.
"""

from __future__ import annotations

import math

from sdfgad.dependence.regions import is_whole
from sdfgad.ir.expr import Const, Expr, Op, Read, postorder, reads, rewrite
from sdfgad.ir.program import Compute, Program, Statement, rewrite_statement, walk, written
from sdfgad.schedule.products import matrix_product_of, product_of
from sdfgad.schedule.target import cpu

FACTORS = ("multiply", "negative")
MOST_FACTORS = 3
TERMS = (*FACTORS, "add", "subtract")
# An update has at most so many operands, as many elements or more, and at most so many statements that read it.
MOST_OPERANDS = 6
MOST_USERS = 6


def inline(program: Program) -> Program:
    """The program with such values in place of the reads of their buffers, where that makes the buffers unnecessary."""
    position = 0
    while position < len(program.body):
        statement = program.body[position]
        found = _inlined(program, position) if isinstance(statement, Compute) else None
        if found is None:
            position += 1
        else:
            program = found
    return program


def _inlined(program: Program, position: int) -> Program | None:
    """The program with the statement at a position substituted into its readers, or None if it must stay."""
    made = program.body[position]
    assert isinstance(made, Compute)
    before, rest = program.body[:position], program.body[position + 1 :]
    name = made.target.buffer
    if name in program.interface or not _is_cheap(program, made) or any(name in s.mentioned for s in before):
        return None
    users = [k for k, s in enumerate(rest) if name in s.mentioned]
    is_update = not are_few_factors(made.value)
    if not users or not all(_takes(program, made, rest[k], is_update) for k in users):
        return None
    if is_update and len(users) > MOST_USERS:
        return None
    if written(rest[: users[-1] + 1]) & {name, *(read.buffer for read in reads(made.value))}:
        return None
    changed = tuple(_replaced(s, made) if name in s.mentioned else s for s in rest)
    return program.with_body((*before, *changed))


def _is_cheap(program: Program, made: Compute) -> bool:
    """Whether a statement fills a matrix with few operands, at most one of them as large as it is."""
    rank = len(made.target.index)
    if rank < 2 or made.accumulate or made.value.dtype.kind != "f" or not is_whole(program.buffers, made):
        return False
    found = reads(made.value)
    if sum(len(r.index) >= rank for r in found) > 1 or made.value in found:
        return False
    return are_few_factors(made.value) or _is_update(made)


def _is_update(made: Compute) -> bool:
    """Whether a value is a large matrix with products of smaller arrays added to it."""
    nodes, found, rank = list(postorder(made.value)), reads(made.value), len(made.target.index)
    are_terms = all(isinstance(n, Read) or (isinstance(n, Op) and n.name in TERMS) for n in nodes)
    is_small = len(found) <= MOST_OPERANDS and len(nodes) <= 2 * MOST_OPERANDS
    matrix = [read for read in found if len(read.index) == rank]
    extents = [extent for _, extent in made.params]
    is_large = all(e.is_const for e in extents) and math.prod(e.const for e in extents) >= cpu().updated_elements
    # Along memory, as the matrix itself would be read.
    return are_terms and is_small and is_large and [read.index for read in matrix] == [made.target.index]


def are_few_factors(value: Expr) -> bool:
    """Whether a value is a product of few elements and constants."""
    nodes = list(postorder(value))
    are_factors = all(isinstance(n, (Const, Read)) or (isinstance(n, Op) and n.name in FACTORS) for n in nodes)
    return are_factors and 0 < len(reads(value)) <= MOST_FACTORS and len(nodes) <= 2 * MOST_FACTORS


def _takes(program: Program, made: Compute, user: Statement, is_update: bool) -> bool:
    """Whether a statement can read the substituted value: a matrix product must stay one."""
    if not isinstance(user, Compute) or not all(isinstance(s, Compute) for s in walk((user,))):
        return False
    if any(made.target.buffer in _of_index(node) for node in postorder(user.value) if isinstance(node, Read)):
        return False
    if user.target.buffer in {read.buffer for read in reads(made.value)}:
        return False
    changed = _replaced(user, made)
    assert isinstance(changed, Compute)
    if is_update:
        # A product with a vector goes over the matrix once, like a loop of ours.
        is_once = len(user.params) == len(made.params) and _mentions_once(user, made)
        return is_once and matrix_product_of(user, program.buffers) is None
    return (product_of(user, program.buffers) is None) == (product_of(changed, program.buffers) is None)


def _mentions_once(user: Compute, made: Compute) -> bool:
    """Whether a statement reads each element of a statement's target at most once."""
    found = {read.index for read in reads(user.value) if read.buffer == made.target.buffer}
    names = {str(lin) for lin in next(iter(found), ())}
    return len(found) == 1 and names == {name for name, _ in user.params}


def _of_index(read: Read) -> set[str]:
    """The buffers that an index is read from."""
    return {node.buffer for node in postorder(*read.children) if isinstance(node, Read)} if read.children else set()


def _replaced(statement: Statement, made: Compute) -> Statement:
    names = [str(lin) for lin in made.target.index]

    def named(node: Expr) -> Expr | None:
        if not isinstance(node, Read) or node.buffer != made.target.buffer:
            return None
        return rewrite(made.value, dict(zip(names, node.index, strict=True)))

    return rewrite_statement(statement, replace_node=named)
