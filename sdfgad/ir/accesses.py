"""Access analysis: which elements statements read and write, and whether two accesses may alias across trips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sdfgad.ir.expr import Expr, Lin, Rewriter, reads
from sdfgad.ir.mixed_radix import radix_of, writes_same_elements
from sdfgad.ir.program import Branch, Buffer, Compute, Loop, Params, Statement, boxed_reads, writes_of

Bound = tuple[tuple[str, Lin], ...]


@dataclass(frozen=True)
class Use:
    """A statement's access to elements of a buffer.

    Attributes:
        bound: the counters and parameters bound within the statement, with their extents; they start at 0. The
            extent is `UNKNOWN` for a loop with another start or an open loop.
        kind: "read", "write", or "add" for an accumulation that commutes with others.
        is_once: whether the access is injective: no two points of the box access the same element.
    """

    buffer: str
    index: tuple[Lin, ...]
    bound: Bound
    kind: str
    is_once: bool = False

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.bound)


UNKNOWN = Lin(-1)


@lru_cache(maxsize=50_000)
def uses_of(statement: Statement) -> tuple[Use, ...]:
    """The accesses of a statement and of all statements nested in it."""
    return tuple(_uses(statement, ()))


def _uses(statement: Statement, bound: Bound) -> Iterator[Use]:
    for read, params in boxed_reads(statement):
        yield Use(read.buffer, read.index, (*bound, *params), "read")
    for access, params in writes_of(statement):
        is_sum = isinstance(statement, Compute) and statement.accumulate == "add" and not statement.fresh
        is_once = not bound and isinstance(statement, Compute) and statement.accumulate is None
        yield Use(access.buffer, access.index, (*bound, *params), "add" if is_sum else "write", is_once)
    if isinstance(statement, Loop):
        extent = statement.trips if statement.start == Lin(0) and not statement.is_open else UNKNOWN
        for nested in statement.body:
            yield from _uses(nested, (*bound, (statement.var, extent)))
    elif isinstance(statement, Branch):
        for nested in (*statement.then, *statement.orelse):
            yield from _uses(nested, bound)


def conflict(a: Use, b: Use) -> bool:
    """Whether two uses conflict where they access the same element: unless both read or both add."""
    return a.buffer == b.buffer and not (a.kind == b.kind and a.kind in ("read", "add"))


def is_same_trip(a: Use, b: Use, of_a: str, of_b: str) -> bool:
    """Whether the uses alias only within one trip: where the counters `of_a` of `a` and `of_b` of `b` are equal."""
    if any(_axis_fixes_trip(x, y, a, b, of_a, of_b) for x, y in zip(a.index, b.index, strict=True)):
        return True
    return (a.is_once or b.is_once) and _touch_alike(a, b, of_a, of_b)


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


def interval(form: Lin, bound: dict[str, Lin]) -> tuple[Lin, int, int] | None:
    """Interval analysis: a form's invariant part, and the least and greatest value of the rest; None if unknown."""
    fixed, low, high = Lin(0), form.const, form.const
    for atom, coefficient in form.terms:
        if isinstance(atom, Expr):
            return None
        if atom not in bound:
            fixed = fixed + Lin.symbol(atom).scaled(coefficient)
            continue
        extent = bound[atom]
        if not extent.is_const or extent.const < 1:
            return None
        span = coefficient * (extent.const - 1)
        low, high = low + min(span, 0), high + max(span, 0)
    return fixed, low, high


def selects(use: Use, counter: str) -> bool:
    """Whether different values of a counter certainly select different elements."""
    return is_same_trip(use, use, counter, counter)


def mentions(use: Use, counter: str) -> bool:
    return any(counter in lin.symbols for lin in use.index)


def own_params(statement: Compute) -> Params:
    """The parameters in the target's index, in the order of its axes; the others are summed over."""
    axes = {name: axis for axis, lin in enumerate(statement.target.index) for name in lin.symbols}
    named = [(name, extent) for name, extent in statement.params if name in axes]
    return tuple(sorted(named, key=lambda item: axes[item[0]]))


def commute(a: Statement, b: Statement) -> bool:
    """Whether two adjacent statements may be exchanged: no conflicting uses may alias."""
    if a.mentioned.isdisjoint(b.mentioned):
        return True
    return not any(conflict(x, y) and not are_disjoint(x, y) for x in uses_of(a) for y in uses_of(b))


def is_whole(buffers: Mapping[str, Buffer], statement: Compute) -> bool:
    """Whether a statement writes every element of its target: its index is the own parameters, over the whole shape."""
    own, shape = own_params(statement), buffers[statement.target.buffer].shape
    in_order = statement.target.index == tuple(Lin.symbol(name) for name, _ in own)
    return in_order and tuple(extent for _, extent in own) == shape


def fills_target(buffers: Mapping[str, Buffer], statement: Compute) -> bool:
    """As `is_whole`, but axes of extent 1 may have the index 0 instead of a parameter."""
    shape = buffers[statement.target.buffer].shape
    axes = zip(statement.target.index, shape, strict=True)
    long = [(lin, extent) for lin, extent in axes if (lin, extent) != (Lin(0), Lin(1))]
    own = own_params(statement)
    return long == [(Lin.symbol(name), extent) for name, extent in own]


def is_same_region(a: Compute, b: Compute) -> bool:
    """Whether two statements certainly write the same set of elements, each of them once per summed point."""
    return _is_same_box(a, b) or writes_same_elements(a, b)


def _is_same_box(a: Compute, b: Compute) -> bool:
    own_a, own_b = own_params(a), own_params(b)
    if len(own_a) != len(own_b) or len(own_a) < len(a.params):
        return False
    names = {y: Lin.symbol(x) for (x, _), (y, _) in zip(own_a, own_b, strict=True)}
    extents = tuple(extent for _, extent in own_b)
    lins = (*b.target.index, *extents)
    if not all(lin.is_affine for lin in lins):
        return False
    # Variable capture: a free symbol of `b` must not have the name of a parameter of `a`.
    if ({atom for lin in lins for atom, _ in lin.terms} - names.keys()) & {name for name, _ in own_a}:
        return False
    found = tuple(lin.substitute(names) for lin in lins)
    return found == (*a.target.index, *(extent for _, extent in own_a))


def mentioned_by(statement: Statement, buffer: str) -> bool:
    return buffer in statement.mentioned
