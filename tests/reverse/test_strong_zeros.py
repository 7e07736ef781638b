"""What a choice left out contributes exactly zero, also across products that earlier statements made."""

import numpy as np
import pytest

import sdfgad
from sdfgad.reverse.strong_zeros import strong_zeros_of
from tests.helpers import module_from
from tests.helpers_ir import parsed

# Statements that make `y` of x and w; x[0] is at a singularity that the choice leaves out. The same expression without
# a singularity, at x[1:], has the gradient that central differences find.
CASES = {
    "product": (0.0, "t = np.log(x)\ns = t * x\ny = np.where(x > 0, s, 0.0)"),
    "chain": (0.0, "t = 1.0 / x\ns = t * w\nr = s * s\nq = np.sin(r) * t\ny = np.where(x != 0, q, w)"),
    "square": (0.0, "t = np.log(x)\ns = t ** 2\ny = np.where(x > 0, s, 0.0)"),
    "overflow": (800.0, "t = np.exp(x)\ns = t * w\nr = np.cos(s) * 1e-3\ny = np.where(x < 100, r, w)"),
    "negative": (-1.0, "t = np.sqrt(x)\ns = t * w\nr = s * t\ny = np.where(x >= 0, r, 0.0)"),
    "mask": (0.0, "t = np.log(x)\ns = t * w\ns[x <= 0] = 0.0\ny = s * w"),
    "update": (0.0, "t = 1.0 / x\nt *= w\nt *= t\ny = np.where(x > 0, t, x)"),
    "branch": (
        0.0,
        "t = np.log(x)\ns = t * w\ny = x * 1.0\nfor i in range(3):\n    if x[i] > 0:\n        y[i] = s[i] * s[i]",
    ),
    "sums": (
        0.0,
        "t = np.log(x)[:, None] * np.ones(2)\ns = np.sum(t * w[:, None] * 2.0, axis=1)\ny = np.where(x > 0, s, 0.0)",
    ),
    "scalar": (
        0.0,
        "t = np.log(x)\ny = x * 1.0\nfor i in range(3):\n    s = t[i] * w[i]\n    y[i] = s if x[i] > 0 else 0.0",
    ),
    "helper": (0.0, "t = xlogx(x)\nu = t * w\ny = np.where(x > 0, u, 0.0)"),
    "power": (0.0, "t = x ** -1.5\ns = t * w\ny = np.where(x > 0, s, 0.0)"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    lines = ["import numpy as np", "def xlogx(x):", "    t = np.log(x)", "    return t * x", "def program(xs, w):"]
    lines += [f"    total = np.zeros(({len(CASES)}, 3))"]
    for k, (_, body) in enumerate(CASES.values()):
        lines += [f"    x = xs[{k}]", *(f"    {line}" for line in body.splitlines()), f"    total[{k}] = y"]
    return module_from("\n".join([*lines, "    return total"]), tmp_path_factory.mktemp("zeros")).program


def test_what_was_not_chosen_contributes_exactly_zero(program):
    rng = np.random.default_rng(6)
    xs = np.array([[at, *rng.uniform(0.5, 2.0, 2)] for at, _ in CASES.values()])
    w = rng.uniform(0.5, 1.5, 3)
    cotangent = rng.uniform(0.5, 1.5, xs.shape)
    by_x, by_w = sdfgad.differentiate(program, wrt=("xs", "w")).vjp(xs, w, cotangent=cotangent)
    regular, first = xs.copy(), np.zeros_like(xs)
    for k, (label, (at, _)) in enumerate(CASES.items()):
        # What is chosen instead: x itself in some, w in some, else a number.
        first[k, 0] = cotangent[k, 0] if label in ("update", "branch") else 0.0
        assert by_x[k, 0] == first[k, 0], (label, at)
    with np.errstate(all="ignore"):
        step = 1e-6
        for move in (rng.standard_normal(xs.shape), rng.standard_normal(xs.shape)):
            move[:, 0] = 0.0
            ends = [np.sum(cotangent * program(regular + s * move, w)) for s in (step, -step)]
            np.testing.assert_allclose(np.sum(by_x * move), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
            ends = [np.sum(cotangent * program(xs, w + s * move[0])) for s in (step, -step)]
            np.testing.assert_allclose(by_w @ move[0], (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


def test_what_was_chosen_stays_infinite_or_no_number():
    def program(x):
        t = np.log(x)
        s = t * x
        return np.sum(np.where(x >= 0, s, 0.0))

    with np.errstate(all="ignore"):
        found = sdfgad.differentiate(program, wrt="x")(np.array([0.0, 1.0, -1.0]))
    assert not np.isfinite(found[0])
    assert found[1:].tolist() == [1.0, 0.0]


def test_programs_without_choices_test_nothing():
    def smooth(x):
        t = np.log(x)
        s = t * x
        return np.sum(s * t)

    def finite(x):
        t = np.sin(x)
        s = t * x
        return np.sum(np.where(x > 0, s, 0.0))

    def updated(x):
        t = np.sum(x * x) + x * x
        t[t > 0] = t[t > 0] ** -1.5
        return np.sum(t * x)

    for function in (smooth, finite, updated):
        primal = parsed(function, np.ones(3))
        zeros = strong_zeros_of(primal.program)
        kept = zeros.unchosen & {n for n in primal.program.buffers if n in zeros.unbounded}
        assert not kept, function.__name__


def test_a_condition_makes_sure_of_its_own_side():
    def safe(x):
        t = np.where(x > 0, 1.0 / x, x)
        s = np.where(x != 0, 1.0 / x, x)
        return np.sum(t * s + np.sqrt(x * x + 1.0))

    def unsafe(x):
        return np.sum(np.where(x > 0, x, 1.0 / x))

    assert not strong_zeros_of(parsed(safe, np.ones(3)).program).unbounded
    assert strong_zeros_of(parsed(unsafe, np.ones(3)).program).unbounded
