"""The exact test agrees with enumeration: pairs of points meet where, and only where, the set says so."""

import itertools

import numpy as np
import pytest

from sdfgad.dependence.aliasing import are_disjoint, is_same_trip
from sdfgad.dependence.exact import meeting
from sdfgad.dependence.order import are_independent
from sdfgad.dependence.uses import UNKNOWN, Use
from sdfgad.ir.expr import INT, Const, Int, Lin, Op, Read


def lin(const=0, **terms):
    return sum((Lin.symbol(name).scaled(c) for name, c in terms.items()), Lin(const))


def divided(form, divisor, kind="floor_divide"):
    return Lin.symbol(Op(kind, (Int(form), Const(divisor, INT)), INT))


def points(use, symbols):
    """All values of a use's counters, as dicts with the symbols around."""
    found = [dict(symbols)]
    for name, extent in use.bound:
        found = [{**one, name: k} for one in found for k in range(value(extent, one))]
    return found


def value(form, symbols):
    total = form.const
    for atom, coefficient in form.terms:
        if isinstance(atom, str):
            total += coefficient * symbols[atom]
        else:
            dividend, divisor = value(atom.args[0].value, symbols), atom.args[1].value
            total += coefficient * (dividend // divisor if atom.name == "floor_divide" else dividend % divisor)
    return total


def element(use, symbols):
    return tuple(value(form, symbols) for form in use.index)


def random_use(rng, names):
    """A use with two counters, of which the second one's extent may depend on the first, and an outer symbol `n`."""
    first, second = names
    slope = int(rng.integers(-1, 2))
    extents = [Lin(int(rng.integers(1, 5))), lin(int(rng.integers(0, 5)), **({first: slope} if slope else {}))]
    index = []
    for _ in range(int(rng.integers(1, 3))):
        form = lin(int(rng.integers(-2, 4)), **{name: int(rng.integers(-2, 4)) for name in (first, second, "n")})
        kind = str(rng.choice(["plain", "plain", "floor_divide", "remainder"]))
        index.append(form if kind == "plain" else divided(form, int(rng.integers(2, 4)), kind))
    return Use("z", tuple(index), tuple(zip(names, extents, strict=True)), "write")


@pytest.mark.parametrize("seed", range(300))
def test_answers_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    a, b = random_use(rng, ("p", "q")), random_use(rng, ("g", "h"))
    if len(a.index) != len(b.index):
        b = Use(b.buffer, (*b.index, *a.index)[: len(a.index)], b.bound, b.kind)
        b = Use(b.buffer, tuple(form.substitute({"p": lin(g=1), "q": lin(h=1)}) for form in b.index), b.bound, b.kind)
        if any({"p", "q"} & form.symbols for form in b.index):
            return  # Within a quotient: another pair will do.
    met, trips = False, set()
    for n in range(-2, 4):
        for x, y in itertools.product(points(a, {"n": n}), points(b, {"n": n})):
            if element(a, x) == element(b, y):
                met = True
                trips.add(x["p"] == y["g"])
    # One-sided: yes is certain. Symbols may have any value, also others than those that are tried here.
    assert not (are_disjoint(a, b) and met)
    assert not (is_same_trip(a, b, "p", "g") and False in trips)
    # With affine indices and without symbols around, it is exact.
    if all("n" not in form.symbols for form in (*a.index, *b.index)):
        assert are_disjoint(a, b) is not met
        assert is_same_trip(a, b, "p", "g") is (False not in trips)


def test_triangles_are_apart():
    # A[i, j] for j < i is below the diagonal, A[j, i] above it; i is a counter around both.
    below = Use("A", (lin(i=1), lin(j=1)), (("j", lin(i=1)),), "write")
    above = Use("A", (lin(k=1), lin(i=1)), (("k", lin(i=1)),), "write")
    assert are_disjoint(below, above)
    assert not are_disjoint(below, Use("A", (lin(i=1), lin(k=1)), (("k", lin(i=1)),), "write"))


def test_what_reads_data_may_be_anything():
    k = Lin.symbol(Read("k", (lin(p=1),), INT))
    scattered = Use("z", (k,), (("p", Lin(5)),), "write")
    assert meeting(scattered, scattered) is None
    assert not are_independent([scattered], "p")
    # Another axis may tell.
    rows = Use("z", (k, lin(p=1)), (("p", Lin(5)),), "write")
    assert are_independent([rows], "p")


def test_loops_of_unknown_length():
    a = Use("z", (lin(p=1),), (("p", UNKNOWN),), "write")
    assert not are_disjoint(a, Use("z", (Lin(100),), (), "read"))
    assert are_independent([a], "p")


def test_equal_names_of_different_symbols_are_not_compared():
    inside = Use("z", (lin(p=1),), (("p", Lin(3)),), "write")
    around = Use("z", (lin(5, p=1),), (), "read")
    assert meeting(inside, around) is None
