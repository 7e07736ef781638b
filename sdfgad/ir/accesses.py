"""What statements touch, and whether the trips of a loop around two of them would meet at an element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sdfgad.ir.expr import Expr, Lin, Rewriter, reads
from sdfgad.ir.mixed_radix import is_same_place, radix_of
from sdfgad.ir.program import Branch, Buffer, Compute, Loop, Params, Statement, boxed_reads, writes_of

Bound = tuple[tuple[str, Lin], ...]


@dataclass(frozen=True)
class Use:
    """A statement's access to elements of a buffer.

    Attributes:
        bound: the counters and parameters that vary within the statement, with their extents, all starting at 0
            or, for a loop with another start, unknown (an extent of -1).
        kind: "read", "write", or "add" for an accumulation that commutes with others.
        is_once: whether no two points of the box touch the same element.
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
    """All that a statement and what is nested in it touch."""
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
    """Whether the order of two uses matters if they meet at an element."""
    return a.buffer == b.buffer and not (a.kind == b.kind and a.kind in ("read", "add"))


def is_same_trip(a: Use, b: Use, of_a: str, of_b: str) -> bool:
    """Whether the uses meet only where the counter `of_a` of the one has the value that `of_b` has for the other."""
    if any(_tells(x, y, a, b, of_a, of_b) for x, y in zip(a.index, b.index, strict=True)):
        return True
    return (a.is_once or b.is_once) and _are_alike(a, b, of_a, of_b)


def _are_alike(a: Use, b: Use, of_a: str, of_b: str) -> bool:
    """Whether the points of two boxes touch the same elements in the same way."""
    if [extent for _, extent in a.bound] != [extent for _, extent in b.bound]:
        return False
    names = {y: x for (x, _), (y, _) in zip(a.bound, b.bound, strict=True)}
    if names.get(of_b) != of_a or any(
        reads(atom) for lin in b.index for atom, _ in lin.terms if isinstance(atom, Expr)
    ):
        return False
    rewriter = Rewriter({old: Lin.symbol(new) for old, new in names.items()}, None)
    return rewriter.index(b.index) == a.index


def _tells(x: Lin, y: Lin, a: Use, b: Use, of_a: str, of_b: str) -> bool:
    if not x.coefficient(of_a) or x.coefficient(of_a) != y.coefficient(of_b):
        return False
    rest = x - Lin.symbol(of_a).scaled(x.coefficient(of_a))
    if rest == y - Lin.symbol(of_b).scaled(y.coefficient(of_b)) and _is_fixed(rest, a.names | b.names):
        return True
    return of_a in a.names and of_b in b.names and _have_same_digits(x, y, a, b)


def _have_same_digits(x: Lin, y: Lin, a: Use, b: Use) -> bool:
    """Whether two forms are equal only where the counters of equal weight in them are."""
    mine, theirs = radix_of(x, dict(a.bound)), radix_of(y, dict(b.bound))
    return mine is not None and mine == theirs and _is_fixed(mine.fixed, frozenset())


def _is_fixed(form: Lin, varying: frozenset[str]) -> bool:
    """Whether a form is one number for all that runs: no counter of theirs, and nothing that is read."""
    return form.is_affine and form.symbols.isdisjoint(varying)


def are_apart(a: Use, b: Use) -> bool:
    """Whether the uses certainly never meet at an element."""
    return any(_are_apart(x, y, a, b) for x, y in zip(a.index, b.index, strict=True))


def _are_apart(x: Lin, y: Lin, a: Use, b: Use) -> bool:
    if _are_in_other_intervals(x, y, a, b):
        return True
    steps = {abs(coefficient) for _, coefficient in (*x.terms, *y.terms)} - {1}
    return any(_have_other_rests(x, y, a, b, step) for step in steps)


def _are_in_other_intervals(x: Lin, y: Lin, a: Use, b: Use) -> bool:
    first, second = interval(x, dict(a.bound)), interval(y, dict(b.bound))
    if first is None or second is None or first[0] != second[0]:
        return False
    return first[2] < second[1] or second[2] < first[1]


def _have_other_rests(x: Lin, y: Lin, a: Use, b: Use, step: int) -> bool:
    """Whether two forms certainly leave different rests when divided by a step."""
    (low, high), (least, most) = _rests(x, a, step), _rests(y, b, step)
    return high < least or most < low


def _rests(form: Lin, use: Use, step: int) -> tuple[int, int]:
    """The least and the greatest rest that a form may leave, not always the tightest."""
    rest = Lin(form.const, tuple((atom, c) for atom, c in form.terms if c % step))
    span = interval(rest, dict(use.bound))
    if span is None or span[0] != Lin(0) or span[1] // step != span[2] // step:
        return 0, step - 1
    return span[1] % step, span[2] % step


def interval(form: Lin, bound: dict[str, Lin]) -> tuple[Lin, int, int] | None:
    """A form as a fixed part, and the least and the greatest value of the rest; None if that is not known."""
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
    """Whether different values of a counter certainly give different elements."""
    return is_same_trip(use, use, counter, counter)


def mentions(use: Use, counter: str) -> bool:
    return any(counter in lin.symbols for lin in use.index)


def own_params(statement: Compute) -> Params:
    """The parameters that select the target, in the order of its axes."""
    axes = {name: axis for axis, lin in enumerate(statement.target.index) for name in lin.symbols}
    named = [(name, extent) for name, extent in statement.params if name in axes]
    return tuple(sorted(named, key=lambda item: axes[item[0]]))


def commute(a: Statement, b: Statement) -> bool:
    """Whether two statements may change places."""
    if a.mentioned.isdisjoint(b.mentioned):
        return True
    return not any(conflict(x, y) and not are_apart(x, y) for x in uses_of(a) for y in uses_of(b))


def is_whole(buffers: Mapping[str, Buffer], statement: Compute) -> bool:
    """Whether a statement writes every element of its target."""
    own, shape = own_params(statement), buffers[statement.target.buffer].shape
    in_order = statement.target.index == tuple(Lin.symbol(name) for name, _ in own)
    return in_order and tuple(extent for _, extent in own) == shape


def is_filled(buffers: Mapping[str, Buffer], statement: Compute) -> bool:
    """The same, where the statement need not have parameters for axes of one element."""
    shape = buffers[statement.target.buffer].shape
    axes = zip(statement.target.index, shape, strict=True)
    long = [(lin, extent) for lin, extent in axes if (lin, extent) != (Lin(0), Lin(1))]
    own = own_params(statement)
    return long == [(Lin.symbol(name), extent) for name, extent in own]


def is_same_region(a: Compute, b: Compute) -> bool:
    """Whether two statements certainly write the same elements, each one of them once or summing over the rest."""
    return _is_same_box(a, b) or is_same_place(a, b)


def _is_same_box(a: Compute, b: Compute) -> bool:
    own_a, own_b = own_params(a), own_params(b)
    if len(own_a) != len(own_b) or len(own_a) < len(a.params):
        return False
    names = {y: Lin.symbol(x) for (x, _), (y, _) in zip(own_a, own_b, strict=True)}
    extents = tuple(extent for _, extent in own_b)
    lins = (*b.target.index, *extents)
    if not all(lin.is_affine for lin in lins):
        return False
    # A counter that only the extents of the one mention is another one than a counter of that name of the other.
    if ({atom for lin in lins for atom, _ in lin.terms} - names.keys()) & {name for name, _ in own_a}:
        return False
    found = tuple(lin.substitute(names) for lin in lins)
    return found == (*a.target.index, *(extent for _, extent in own_a))


def mentioned_by(statement: Statement, buffer: str) -> bool:
    return buffer in statement.mentioned
