"""Forms stay equal, and those of reshaped arrays become simple."""

import itertools

import numpy as np
import pytest

from sdfgad.ir.expr import INT, Const, Int, Lin, Op, as_linear
from sdfgad.ir.folding import folded

P, Q, R = (Lin.symbol(name) for name in "pqr")
RANGES = {"p": (0, 2), "q": (0, 15)}


def divided(name, form, divisor):
    return as_linear(Op(name, (Int(form), Const(divisor, INT)), INT))


def quotient(form, divisor):
    return divided("floor_divide", form, divisor)


def remainder(form, divisor):
    return divided("remainder", form, divisor)


SIMPLE = {
    "within": (quotient(P.scaled(16) + Q, 16), P),
    "rest": (remainder(P.scaled(16) + Q, 16), Q),
    "below": (remainder(Q - 16, 16), Q),
    "negative": (quotient(Q - 16, 16), Lin(-1)),
    "constant": (quotient(Q + 35, 16), quotient(Q + 3, 16) + 2),
    "unknown": (quotient(R + Q, 16), quotient(R + Q, 16)),
    "both": (remainder(R, 5) + quotient(R, 5).scaled(5), R),
    "radix": (quotient(R, 64).scaled(64) + remainder(quotient(R, 16), 4).scaled(16) + remainder(R, 16), R),
    "twice": (quotient(R, 5).scaled(10) + remainder(R, 5).scaled(2) + 7, R.scaled(2) + 7),
    "unequal": (quotient(R, 5).scaled(4) + remainder(R, 5), quotient(R, 5).scaled(4) + remainder(R, 5)),
    "nested": (quotient(quotient(R, 3), 4), quotient(R, 12)),
    "common": (quotient(R.scaled(16) + Q, 64), quotient(R, 4)),
    "in a remainder": (remainder(remainder(Q + 3, 16) + 13, 16), Q),
    "in a remainder of more": (remainder(remainder(R + 3, 32).scaled(2) + 5, 16), remainder(R + 5, 8).scaled(2) + 1),
    "in another one": (remainder(remainder(R, 6), 4), remainder(remainder(R, 6), 4)),
    "common rest": (remainder(R.scaled(16) + Q, 64), remainder(R, 4).scaled(16) + Q),
    "reshaped": (
        quotient(R.scaled(20) + P, 120).scaled(120)
        + remainder(R.scaled(10) + quotient(P, 2), 60).scaled(2)
        + remainder(P, 2),
        R.scaled(20) + P,
    ),
    "outside": (quotient(Q, 16) + quotient(Q, 8), quotient(Q, 8)),
    "by data": (quotient(R, 3) + as_linear(Op("floor_divide", (Int(P), Int(Q)), INT)), None),
}


@pytest.mark.parametrize("case", SIMPLE)
def test_simple(case):
    form, expected = SIMPLE[case]
    assert folded(form, RANGES) == (form if expected is None else expected)


def value(form, env):
    total = form.const
    for atom, coefficient in form.terms:
        total += coefficient * (env[atom] if isinstance(atom, str) else apply(atom, env))
    return total


def apply(atom, env):
    dividend, divisor = (value(as_linear(arg), env) for arg in atom.args)
    return dividend // divisor if atom.name == "floor_divide" else dividend % divisor


def random_form(rng, depth):
    form = Lin(int(rng.integers(-40, 40)))
    for symbol in (P, Q, R):
        form = form + symbol.scaled(int(rng.choice([0, 1, 2, 4, 16, -8])))
    for _ in range(int(rng.integers(0, 3)) if depth else 0):
        inner = divided(
            rng.choice(["floor_divide", "remainder"]), random_form(rng, depth - 1), int(rng.choice([2, 4, 16]))
        )
        form = form + inner.scaled(int(rng.choice([1, 2, 4, 8, -16])))
    return form


def test_equal():
    rng = np.random.default_rng(3)
    points = [
        dict(zip("pqr", point, strict=True)) for point in itertools.product(range(3), range(0, 16, 3), (-50, -3, 0, 77))
    ]
    forms = [random_form(rng, 3) for _ in range(300)]
    results = [folded(form, RANGES) for form in forms]
    for form, result in zip(forms, results, strict=True):
        assert [value(form, env) for env in points] == [value(result, env) for env in points], form
    assert sum(form != result for form, result in zip(forms, results, strict=True)) > 50
