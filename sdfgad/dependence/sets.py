"""Presburger sets: exact emptiness, implication and bounds of integer linear constraints, computed by isl.

A `Domain` is a conjunction of constraints ``form >= 0``. Atoms that are quotients, remainders, minima and maxima of
linear forms are encoded exactly; any other expression becomes an unconstrained integer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import islpy as isl

from sdfgad.ir.expr import Atom, Expr, IntLike, Lin, Op, as_linear


class Encoder:
    """Translates forms into isl's syntax: names their atoms, and collects constraints on those that are expressions.

    Attributes:
        names: atom -> its name.
        facts: constraints on the names.
        determined: the names of the expressions whose values follow from the facts and the values of symbols.
    """

    def __init__(self) -> None:
        self.names: dict[Atom, str] = {}
        self.facts: list[str] = []
        self.determined: list[str] = []

    def text(self, form: IntLike) -> str:
        form = Lin.of(form)
        return " + ".join([str(form.const), *(f"{c}*{self.name(a)}" for a, c in form.terms)])

    def name(self, atom: Atom) -> str:
        if atom not in self.names:
            if isinstance(atom, str):
                self.names[atom] = atom
            else:
                self.names[atom] = f"e{len(self.names)}_"
                self._add_facts(atom, self.names[atom])
        return self.names[atom]

    def _add_facts(self, atom: Expr, name: str) -> None:
        if not isinstance(atom, Op) or len(atom.args) != 2:
            return
        a, b = (as_linear(arg) for arg in atom.args)
        if atom.name in ("floor_divide", "remainder") and b.is_const and b.const > 0:
            # Not by isl's own division: isl's dataflow analysis is wrong with it.
            text, m = self.text(a), b.const
            if atom.name == "floor_divide":
                self.facts.append(f"0 <= {text} - {m}*{name} < {m}")
            else:
                quotient = self.name(Op("floor_divide", atom.args, atom.dtype))
                self.facts.append(f"{name} = {text} - {m}*{quotient}")
            self.determined.append(name)
        elif atom.name in ("maximum", "minimum"):
            x, y = self.text(a), self.text(b)
            sign = ">=" if atom.name == "maximum" else "<="
            self.facts.append(f"{name} {sign} {x} and {name} {sign} {y} and ({name} = {x} or {name} = {y})")
            self.determined.append(name)
        elif atom.name == "wrap" and b.is_const:
            self.facts.append(f"0 <= {name} < {b.const}")


@dataclass(frozen=True)
class Domain:
    """The integer points at which all `forms` are >= 0."""

    forms: tuple[Lin, ...] = ()

    def with_form(self, *forms: IntLike) -> Domain:
        """The points of this domain at which `forms` are >= 0 as well."""
        new = dict.fromkeys(Lin.of(form) for form in forms)
        return Domain(self.forms + tuple(form for form in new if form not in self.forms))

    def with_range(self, symbol: str, extent: IntLike) -> Domain:
        """This domain and ``0 <= symbol < extent``."""
        s = Lin.symbol(symbol)
        return self.with_form(s, Lin.of(extent) - s - 1)

    def implies(self, form: IntLike, context: isl.Set | None = None) -> bool:
        """Whether `form` >= 0 at every point of the domain whose parameters are in `context`."""
        form = Lin.of(form)
        if form.is_const:
            return form.const >= 0
        if _is_empty((*self.forms, -form - 1)):
            return True
        if context is None:
            return False
        return bool((self.parameters_violating(form, _names(context)) & context).is_empty())

    def implies_zero(self, form: IntLike) -> bool:
        form = Lin.of(form)
        return (not form.terms and form.const == 0) or (self.implies(form) and self.implies(-form))

    @property
    def is_empty(self) -> bool:
        return _is_empty(self.forms)

    def maximum(self, form: IntLike, context: isl.Set | None = None) -> int | None:
        """The largest value of `form`, or None if it is unbounded; -1 if what bounds it has no point."""
        form = Lin.of(form)
        if form.is_const:
            return form.const
        parameters = _names(context)
        bound, forms = Lin.symbol("v_"), _connected(self.forms, _variables(form).union(parameters))
        points = project_onto(_set((*forms, form - bound, bound - form)), ("v_", *parameters))
        if context is not None:
            points = points & context
        if points.is_empty():
            return -1
        values = project_onto(points, ("v_",)).move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, 1)
        largest = values.dim_max_val(0)
        return int(largest.to_python()) if largest.is_int() else None

    def parameters(self, symbols: tuple[str, ...]) -> isl.Set:
        """The values of the symbols `symbols` for which the domain has a point."""
        return project_onto(_set(self.forms), symbols)

    def parameters_violating(self, form: IntLike, symbols: tuple[str, ...]) -> isl.Set:
        """The values of the symbols `symbols` for which some point of the domain has `form` < 0."""
        bad = _set((*self.forms, -Lin.of(form) - 1))
        return project_onto(bad, symbols)


def _connected(forms: tuple[Lin, ...], variables: frozenset[Atom]) -> tuple[Lin, ...]:
    """Slicing of constraints: those of some variables, of variables that share constraints with these, and so on."""
    left, reached = [(one, _variables(one)) for one in forms], set(variables)
    while True:
        found = [own for _, own in left if not own.isdisjoint(reached) and not own <= reached]
        if not found:
            return tuple(one for one, own in left if not own.isdisjoint(reached))
        reached.update(*found)


@lru_cache(maxsize=100_000)
def _variables(form: Lin) -> frozenset[Atom]:
    """The symbols and values of a form, and those of which the latter are computed."""
    found = set[Atom]()
    for atom, _ in form.terms:
        found.add(atom)
        if isinstance(atom, Op):
            found.update(*(_variables(as_linear(arg)) for arg in atom.args))
    return frozenset(found)


def project_onto(points: isl.Set, symbols: tuple[str, ...]) -> isl.Set:
    for position in reversed(range(points.dim(isl.dim_type.param))):
        if points.get_dim_name(isl.dim_type.param, position) not in symbols:
            points = points.project_out(isl.dim_type.param, position, 1)
    return points


def _names(context: isl.Set | None) -> tuple[str, ...]:
    if context is None:
        return ()
    kind = isl.dim_type.param
    return tuple(str(context.get_dim_name(kind, position)) for position in range(context.dim(kind)))


def _set(forms: tuple[Lin, ...]) -> isl.Set:
    encoder = Encoder()
    conditions = [f"{encoder.text(form)} >= 0" for form in forms] + encoder.facts
    return isl.Set(f"[{', '.join(encoder.names.values())}] -> {{ : {' and '.join(conditions) or '0 = 0'} }}")


@lru_cache(maxsize=100_000)
def _is_empty(forms: tuple[Lin, ...]) -> bool:
    if any(form.is_const and form.const < 0 for form in forms):
        return True
    numbered = _numbered(forms)
    return bool(_set(forms).is_empty()) if numbered is None else _is_empty_affine(numbered)


# A form's constant and, for each of its terms, the coefficient and the number of the symbol.
Numbered = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]


def _numbered(forms: tuple[Lin, ...]) -> Numbered | None:
    """Affine forms with numbers for symbols, in the order of their appearance; None if some are not affine.

    Whether there is a point does not depend on names, of which unrolled loops have new ones in each trip.
    """
    numbers: dict[Atom, int] = {}
    for form in forms:
        for atom, _ in form.terms:
            if not isinstance(atom, str):
                return None
            numbers.setdefault(atom, len(numbers))
    return tuple((form.const, tuple((c, numbers[atom]) for atom, c in form.terms)) for form in forms if form.terms)


@lru_cache(maxsize=100_000)
def _is_empty_affine(forms: Numbered) -> bool:
    named = (Lin(const, tuple((f"s{number}", c) for c, number in terms)) for const, terms in forms)
    return bool(_set(tuple(named)).is_empty())
