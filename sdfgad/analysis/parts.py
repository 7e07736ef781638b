"""Whether statements read of a buffer only what statements before them have assigned, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdfgad.ir.accesses import Bound, Use, interval, uses_of
from sdfgad.ir.linear import Lin
from sdfgad.ir.program import Compute, Loop, Statement

# An interval for each axis, both ends included.
Box = tuple[tuple[int, int], ...]
MOST_PARTS = 16


def reads_what_is_made(statements: Sequence[Statement], name: str) -> bool:
    """Whether all that statements read of a buffer, or add to, lies in boxes that they have assigned before.

    Its indices may be off by numbers that stay the same, but by the same ones everywhere.
    """
    made: list[Box] = []
    fixed: set[tuple[Lin, ...]] = set()
    for use in _in_order(statements, name, ()):
        found = None if use is None else _box(use)
        if use is None or found is None or len(made) > MOST_PARTS:
            return False
        fixed.add(found[0])
        if use.kind != "write" and _rest(found[1], made):
            return False
        if use.kind == "write" and _is_dense(use):
            made.append(found[1])
    return len(fixed) == 1


def _in_order(statements: Sequence[Statement], name: str, bound: Bound) -> Iterator[Use | None]:
    """The uses of a buffer, reads of a statement before what it writes; None for one that may or may not happen.

    What a trip of a parallel loop reads no other trip writes: where a statement before has assigned it, in this trip.
    """
    for statement in statements:
        if name not in statement.mentioned:
            continue
        if isinstance(statement, Loop) and statement.is_parallel and statement.start == Lin(0):
            yield from _in_order(statement.body, name, (*bound, (statement.var, statement.trips)))
        elif isinstance(statement, Compute) and statement.accumulate in (None, "add") and not statement.fresh:
            uses = [use for use in uses_of(statement) if use.buffer == name]
            for use in sorted(uses, key=lambda use: use.kind != "read"):
                yield Use(name, use.index, (*bound, *use.bound), use.kind)
        else:
            yield None


def _box(use: Use) -> tuple[tuple[Lin, ...], Box] | None:
    """What the indices have in common for all points, and the box that the rest lies in."""
    spans = [interval(lin, dict(use.bound)) for lin in use.index]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return None
    return tuple(span[0] for span in known), tuple((low, high) for _, low, high in known)


def _is_dense(use: Use) -> bool:
    """Whether a use is of all elements of its box: each axis has a counter of its own, or none."""
    names: list[str] = []
    for lin in use.index:
        own = [str(atom) for atom, _ in lin.terms if atom in use.names]
        if len(own) > 1 or any(abs(lin.coefficient(name)) != 1 for name in own):
            return False
        names += own
    return len(set(names)) == len(names)


def _rest(box: Box, made: list[Box]) -> list[Box]:
    """Boxes that make up what is not made of a box."""
    rest = [box]
    for one in made:
        rest = [piece for old in rest for piece in _without(old, one)]
    return rest


def _without(box: Box, other: Box) -> Iterator[Box]:
    left = list(box)
    for axis, ((low, high), (first, last)) in enumerate(zip(box, other, strict=True)):
        if last < low or high < first:
            yield tuple(left)
            return
        if low < first:
            yield (*left[:axis], (low, first - 1), *left[axis + 1 :])
        if last < high:
            yield (*left[:axis], (last + 1, high), *left[axis + 1 :])
        left[axis] = (max(low, first), min(high, last))
