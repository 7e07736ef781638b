"""Points of a box: whether they may run in any order."""

from __future__ import annotations

from sdfgad.dependence.hazards import is_hazard, is_once
from sdfgad.dependence.sets import Domain
from sdfgad.ir.program import Compute, Statement, reads_of


def runs_in_any_order(statement: Statement) -> bool:
    """Whether the points of a box certainly do not see what others write."""
    assert isinstance(statement, Compute)
    target = statement.target
    if statement.accumulate is not None:
        return target.buffer not in {read.buffer for read in reads_of(statement)}
    own = [read for read in reads_of(statement) if read.buffer == target.buffer]
    if not is_once(Domain(), statement.params, target.index):
        return False
    is_plain = not any(read.buffer == target.buffer for form in target.index for atom, _ in form.terms
                       for read in getattr(atom, "reads", ()))  # fmt: skip
    return not own or (is_plain and not is_hazard(Domain(), statement.params, target, statement.value))
