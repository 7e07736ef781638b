"""Redundant-check elimination: removes checks that an earlier check of the same block implies.

After ``for p: status max= 0 if 0 <= i[p] < n else 7`` the check ``for q: status max= 0 if 0 <= i[q] < n else 6`` cannot
raise `status` any further, unless `i` changes in between.
"""

from __future__ import annotations

from sdfgad.ir.expr import Const, Expr, Int, Lin, Op, rewrite
from sdfgad.ir.program import Block, Compute, Program, Statement, reads_of, written
from sdfgad.optimise.blocks import everywhere

# The extents of a check's box, its target and its condition, with its parameters by their places.
Check = tuple[tuple[Lin, ...], str, Expr]


def remove_implied(program: Program) -> Program:
    """The program without such checks."""
    return program.with_body(everywhere(program.body, _without))


def _without(block: Block) -> Block:
    known: dict[Check, tuple[int, set[str]]] = {}
    left: list[Statement] = []
    for statement in block:
        found = _check(statement) if isinstance(statement, Compute) else None
        if found is not None and found[0] in known and known[found[0]][0] >= found[1]:
            continue
        changed = written((statement,))
        if found is not None:
            # This one only raises what it writes.
            changed -= {found[0][1]}
        known = {check: seen for check, seen in known.items() if not (seen[1] | {check[1]}) & changed}
        if found is not None:
            known[found[0]] = found[1], {read.buffer for read in reads_of(statement)}
        left.append(statement)
    return tuple(left)


def _check(statement: Compute) -> tuple[Check, int] | None:
    """The check in a normal form, and the number that it reports if it fails."""
    value = statement.value
    if statement.accumulate != "maximum" or statement.fresh or statement.target.index:
        return None
    if not isinstance(value, Op) or value.name != "select":
        return None
    condition, good = value.args[:2]
    least, most = map(_constant, value.args[1:])
    if least is None or most is None or least > most:
        return None
    if statement.target.buffer in {read.buffer for read in reads_of(statement)}:
        return None
    places = {name: Lin.symbol(f"{k}.") for k, (name, _) in enumerate(statement.params)}
    extents = tuple(extent.substitute(places) for _, extent in statement.params)
    good_too = Op("select", (rewrite(condition, places), good, good), value.dtype)
    return (extents, statement.target.buffer, good_too), most


def _constant(value: Expr) -> int | None:
    if isinstance(value, Const):
        return int(value.value) if value.dtype.kind == "i" else None
    return value.value.const if isinstance(value, Int) and value.value.is_const else None
