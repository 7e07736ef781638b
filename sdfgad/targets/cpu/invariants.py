"""Loop-invariant code motion of index quotients: what places in a tape begin with is computed before an innermost loop.

In ``for i < n - k: tape[i + floor_divide(k * (2 * n + 1 - k), 2)] = v[i]`` g++ would take the quotient's branches into
the loop, and then not vectorise it.
"""

from __future__ import annotations

from collections.abc import Collection

from sdfgad.ir.expr import Expr, symbols_of
from sdfgad.ir.program import Block, Compute, reads_of


def invariant_quotients(block: Block, varying: Collection[str]) -> list[Expr]:
    """The expressions of integers in the indices of statements that depend on no varying symbol, and on no array."""
    computes = [statement for statement in block if isinstance(statement, Compute)]
    indices = [index for s in computes for index in (s.target.index, *(read.index for read in reads_of(s)))]
    atoms = [atom for index in indices for lin in index for atom, _ in lin.terms if isinstance(atom, Expr)]
    return [a for a in dict.fromkeys(atoms) if not a.reads and symbols_of(a).isdisjoint(varying)]
