"""Contraction order: how to multiply and sum the factors of a sum of products with the fewest operations.

``y[i] += a[i, j] * b[j, k]`` over all i, j and k is ``y[i] += a[i, j] * t[j]`` with ``t[j] += b[j, k]``. A sum may have
guards, linear forms that are >= 0 where it has a term; a partial sum has an element exactly for those values of its
variables for which there is a term.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from sdfgad.ir.expr import Lin

# Ways to group more factors are too many; points of more guards are not counted.
MOST_FACTORS, MOST_POINTS = 6, 1 << 20
# The least value and the one after the greatest.
Span = tuple[int, int]
Names = frozenset[str]


@dataclass(frozen=True)
class Domain:
    """The points of a box at which some linear forms are >= 0.

    Attributes:
        box: variable -> the interval of its values.
        forms: forms of at least two variables each, no two of which share a variable.
    """

    box: Mapping[str, Span]
    forms: tuple[Lin, ...] = ()

    @staticmethod
    def of(extents: Mapping[str, int], guards: tuple[Lin, ...]) -> Domain | None:
        """The domain of guards; None if these are not of this kind, or leave no point."""
        box: dict[str, Span] = {name: (0, extent) for name, extent in extents.items()}
        several: list[Lin] = []
        for form in guards:
            names = _names(form)
            if not names <= box.keys() or not form.is_affine:
                return None
            if len(names) > 1:
                several.append(form)
            elif names:
                (name,) = names
                box[name] = _cut(box[name], form.coefficient(name), form.const)
            elif form.const < 0:
                return None
        mentioned = [name for form in several for name in _names(form)]
        if len(mentioned) > len(set(mentioned)) or any(low >= high for low, high in box.values()):
            return None
        found = Domain(box, tuple(several))
        return found if found.points(frozenset(box)) else None

    def onto(self, names: Names) -> dict[str, Span] | None:
        """The projection of the domain onto some variables, if it is a box; else None."""
        found = {name: span for name, span in self.box.items() if name in names}
        for form in self.forms:
            inside = _names(form) & names
            if len(inside) > 1:
                return None
            for name in inside:
                found[name] = _cut(found[name], form.coefficient(name), self._most(form, name))
        return found

    def _most(self, form: Lin, but: str) -> int:
        """The greatest value of the rest of a form, without one of its variables."""
        ends = ((c * self.box[name][0], c * (self.box[name][1] - 1)) for name, c in _terms(form) if name != but)
        return form.const + sum(map(max, ends))

    def points(self, names: Names) -> int:
        """The number of points of the projection onto some variables: all of those in a form, or at most one."""
        forms = [form for form in self.forms if _names(form) <= names]
        free = names - {name for form in forms for name in _names(form)}
        box = Domain(self.box, tuple(form for form in self.forms if form not in forms)).onto(free) or {}
        return size_of(box) * math.prod(map(self._holding, forms))

    def _holding(self, form: Lin) -> int:
        """How many points satisfy a form, counted over its last variable for all values of the others at once."""
        *names, last = sorted(_names(form))
        spans = [self.box[name] for name in names]
        if math.prod(high - low for low, high in spans) > MOST_POINTS:
            return 0
        values = [np.arange(*self.box[name]) * form.coefficient(name) for name in names]
        rest = sum(np.ix_(*values)) + form.const
        coefficient, (low, high) = form.coefficient(last), self.box[last]
        if coefficient > 0:
            counts = high - np.maximum(low, -(rest // coefficient))
        else:
            counts = np.minimum(high, rest // -coefficient + 1) - low
        return int(np.maximum(counts, 0).sum())


def size_of(box: Mapping[str, Span]) -> int:
    return math.prod(high - low for low, high in box.values())


def _terms(form: Lin) -> list[tuple[str, int]]:
    return [(atom, coefficient) for atom, coefficient in form.terms if isinstance(atom, str)]


def _names(form: Lin) -> Names:
    return frozenset(name for name, _ in _terms(form))


def _cut(span: Span, coefficient: int, rest: int) -> Span:
    """The values of a variable at which ``coefficient * variable + rest`` is >= 0."""
    low, high = span
    if coefficient > 0:
        return max(low, -(rest // coefficient)), high
    return low, min(high, rest // -coefficient + 1)


@dataclass(frozen=True)
class Step:
    """One partial sum of products.

    Attributes:
        parts: its factors: the numbers of given ones, or steps that are computed before.
        over: the variables that it runs over.
        kept: those that its result has as axes.
        cost: the operations that it takes, with those of all the steps before.
        extra: the elements of its own result and of those of the steps before.
    """

    parts: tuple[int | Step, ...]
    over: Names
    kept: Names
    cost: int
    extra: int

    @property
    def before(self) -> tuple[Step, ...]:
        return tuple(part for part in self.parts if isinstance(part, Step))


@dataclass(frozen=True)
class Order:
    """A search for the cheapest order.

    Attributes:
        domain: where the sum has a term.
        factors: the variables that each factor depends on.
        kept: the variables of the result, and others that must not be summed over earlier.
    """

    domain: Domain
    factors: tuple[Names, ...]
    kept: Names
    _known: dict[frozenset[int], Step | None] = field(default_factory=dict)

    @cached_property
    def best(self) -> Step | None:
        """The last step of the cheapest order; None if there are too many factors to search."""
        return self._step(frozenset(range(len(self.factors)))) if len(self.factors) <= MOST_FACTORS else None

    def _step(self, some: frozenset[int]) -> Step | None:
        """The best way to multiply some of the factors, and to sum over what no other one depends on."""
        if some not in self._known:
            self._known[some] = self._found(some)
        return self._known[some]

    def _found(self, some: frozenset[int]) -> Step | None:
        is_last = len(some) == len(self.factors)
        kept = self.kept if is_last else self._kept(some)
        ways = (self._joined(parts, kept, is_last) for parts in self._ways(some))
        return min(filter(None, ways), key=lambda step: (step.cost, step.extra), default=None)

    def _kept(self, some: frozenset[int]) -> Names:
        own = frozenset[str]().union(*(self.factors[k] for k in some))
        others = self.kept.union(*(names for k, names in enumerate(self.factors) if k not in some))
        return own & others.union(*map(_names, self.domain.forms))

    def _ways(self, some: frozenset[int]) -> Iterator[tuple[int | Step, ...]]:
        """All partitions of some factors into groups, each a factor itself or a partial sum."""
        for groups in _partitions(sorted(some)):
            if len(groups) == 1 and len(some) > 1:
                continue
            yield from product(*(self._choices(group, is_alone=len(groups) == 1) for group in groups))

    def _choices(self, group: list[int], is_alone: bool) -> list[int | Step]:
        found: list[int | Step] = [group[0]] if len(group) == 1 else []
        is_less = len(group) > 1 or self._kept(frozenset(group)) < self.factors[group[0]]
        step = self._step(frozenset(group)) if is_less and not is_alone else None
        return [*found, step] if step is not None else found

    def _joined(self, parts: tuple[int | Step, ...], kept: Names, is_last: bool) -> Step | None:
        before = [part for part in parts if isinstance(part, Step)]
        over = frozenset[str]().union(*(self.factors[p] if isinstance(p, int) else p.kept for p in parts))
        over = over | kept if is_last else over
        box = self.domain.onto(over)
        if box is None and not is_last:
            return None
        points = self.domain.points(over) if is_last else size_of(box or {})
        result = 0 if is_last else size_of(self.domain.onto(kept) or {})
        cost = points * len(parts) + result + sum(step.cost for step in before)
        return Step(parts, over, kept, cost, result + sum(step.extra for step in before))


def _partitions(numbers: list[int]) -> Iterator[list[list[int]]]:
    """All ways to put numbers into groups."""
    if not numbers:
        yield []
        return
    first, *rest = numbers
    for groups in _partitions(rest):
        yield [[first], *groups]
        for k, group in enumerate(groups):
            yield [*groups[:k], [first, *group], *groups[k + 1 :]]
