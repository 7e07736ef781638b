"""Alias analysis: whether two accesses can meet, and whether only within one trip of a loop.

Affine shortcuts decide most questions; the exact test the others.
"""

from __future__ import annotations

from sdfgad.dependence.exact import meeting, there
from sdfgad.dependence.intervals import interval
from sdfgad.dependence.mixed_radix import radix_of
from sdfgad.dependence.uses import Use
from sdfgad.ir.expr import Expr, Lin, Rewriter, reads


def is_same_trip(a: Use, b: Use, of_a: str, of_b: str) -> bool:
    """Whether the uses never meet, or only where the counters `of_a` of `a` and `of_b` of `b` are equal."""
    if any(_axis_fixes_trip(x, y, a, b, of_a, of_b) for x, y in zip(a.index, b.index, strict=True)):
        return True
    if ((a.is_once or b.is_once) and _touch_alike(a, b, of_a, of_b)) or _are_apart(a, b):
        return True
    pairs = meeting(a, b) if of_a in a.names and of_b in b.names else None
    later = Lin.symbol(of_a) - Lin.symbol(there(of_b))
    return pairs is not None and all(pairs.with_form(order - 1).is_empty for order in (later, -later))


def _touch_alike(a: Use, b: Use, of_a: str, of_b: str) -> bool:
    """Whether both uses have the same extents and, up to renaming (alpha equivalence), the same index."""
    if [extent for _, extent in a.bound] != [extent for _, extent in b.bound]:
        return False
    names = {y: x for (x, _), (y, _) in zip(a.bound, b.bound, strict=True)}
    if names.get(of_b) != of_a or any(
        reads(atom) for lin in b.index for atom, _ in lin.terms if isinstance(atom, Expr)
    ):
        return False
    rewriter = Rewriter({old: Lin.symbol(new) for old, new in names.items()}, None)
    return rewriter.index(b.index) == a.index


def _axis_fixes_trip(x: Lin, y: Lin, a: Use, b: Use, of_a: str, of_b: str) -> bool:
    if not x.coefficient(of_a) or x.coefficient(of_a) != y.coefficient(of_b):
        return False
    rest = x - Lin.symbol(of_a).scaled(x.coefficient(of_a))
    if rest == y - Lin.symbol(of_b).scaled(y.coefficient(of_b)) and _is_invariant(rest, a.names | b.names):
        return True
    return of_a in a.names and of_b in b.names and _have_same_digits(x, y, a, b)


def _have_same_digits(x: Lin, y: Lin, a: Use, b: Use) -> bool:
    """Whether the mixed-radix digits agree: the forms are equal only where counters of equal weight are equal."""
    radix_a, radix_b = radix_of(x, dict(a.bound)), radix_of(y, dict(b.bound))
    return radix_a is not None and radix_a == radix_b and _is_invariant(radix_a.fixed, frozenset())


def _is_invariant(form: Lin, varying: frozenset[str]) -> bool:
    """Whether a form is loop-invariant: it has no symbol in `varying` and no expression that reads data."""
    return form.is_affine and form.symbols.isdisjoint(varying)


def are_disjoint(a: Use, b: Use) -> bool:
    """Whether the uses certainly access disjoint sets of elements."""
    if len(a.index) != len(b.index):
        # Generated code has an array of one element as a number, which a library takes as an array.
        return False
    if _are_apart(a, b):
        return True
    pairs = meeting(a, b)
    return pairs is not None and pairs.is_empty


def _are_apart(a: Use, b: Use) -> bool:
    """Whether along some axis the intervals of the uses, or the residues of their indices, are disjoint."""
    return any(_are_disjoint_along_axis(x, y, a, b) for x, y in zip(a.index, b.index, strict=True))


def _are_disjoint_along_axis(x: Lin, y: Lin, a: Use, b: Use) -> bool:
    if _have_disjoint_intervals(x, y, a, b):
        return True
    steps = {abs(coefficient) for _, coefficient in (*x.terms, *y.terms)} - {1}
    return any(_have_disjoint_residues(x, y, a, b, step) for step in steps)


def _have_disjoint_intervals(x: Lin, y: Lin, a: Use, b: Use) -> bool:
    first, second = interval(x, dict(a.bound)), interval(y, dict(b.bound))
    if first is None or second is None or first[0] != second[0]:
        return False
    return first[2] < second[1] or second[2] < first[1]


def _have_disjoint_residues(x: Lin, y: Lin, a: Use, b: Use, step: int) -> bool:
    """Whether two forms certainly have different residues modulo `step`."""
    (low, high), (least, most) = _residues(x, a, step), _residues(y, b, step)
    return high < least or most < low


def _residues(form: Lin, use: Use, step: int) -> tuple[int, int]:
    """Bounds of a form's residue modulo `step`, not always tight."""
    rest = Lin(form.const, tuple((atom, c) for atom, c in form.terms if c % step))
    span = interval(rest, dict(use.bound))
    if span is None or span[0] != Lin(0) or span[1] // step != span[2] // step:
        return 0, step - 1
    return span[1] % step, span[2] % step


def selects(use: Use, counter: str) -> bool:
    """Whether different values of a counter certainly select different elements."""
    return is_same_trip(use, use, counter, counter)
