"""Random numbers drawn inside of programs: by NumPy's own generators, once at each call, in the program's order."""

import random

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises, UnsupportedProgram
from tests.helpers import assert_close, module_from
from tests.helpers_ir import parsed

HEAD = "import random\nimport numpy as np\nRNG = np.random.default_rng(11)\ndef program(x, s, n, rng):\n"
X = np.linspace(0.4, 1.6, 5)

RIGHT = {
    "legacy functions": "a = np.random.rand(5) + np.random.randn(5)\nreturn np.sum(a * x) + np.random.random() * s",
    "a seed": "np.random.seed(3)\nreturn np.sum(np.random.standard_normal(5) * x) * s + np.random.rand()",
    "a seeded generator": "g = np.random.default_rng(7)\nreturn np.sum(g.normal(size=x.shape) * x * s)",
    "RandomState": "g = np.random.RandomState(7)\nreturn np.sum(g.randn(5) * x * s) + g.rand()",
    "a generator of bits": "g = np.random.Generator(np.random.PCG64(5))\nreturn np.sum(g.random(5) * x * s)",
    "a generator from outside": "return np.sum(RNG.random(5) * x * s)",
    "an argument": "z = rng.normal(size=5)\nz += x\nreturn np.sum(z * z * s) + rng.exponential()",
    "parameters": "m = rng.normal(x, s) + rng.uniform(x, 2.0 + x) + rng.exponential(s, size=5)\nreturn np.sum(m * m)",
    "legacy parameters": "m = np.random.normal(x, s) + np.random.uniform(0.1, s, 5)\nreturn np.sum(np.exp(m) * x)",
    "lognormal": "return np.sum(rng.lognormal(x, s))",
    "indices": "k = rng.integers(0, 5, size=3)\nreturn np.sum(x[k] * rng.permutation(x)[:3] * s)",
    "a choice": "return np.sum(rng.choice(x, 4) ** 2 * s) + np.sum(np.random.choice(x, 3, replace=False)) * s",
    "by weights": "w = np.exp(x) / np.sum(np.exp(x))\nfor t in range(3):\n    x = rng.choice(x * s, 5, p=w)\n"
    "return np.sum(x ** 2) + np.outer(x, x)[np.random.choice(5, 2, True, w)].sum() + x[np.random.choice(5, p=w)] * s",
    "a loop": "y = x * s\nfor k in range(4):\n    y = y * rng.random(5) + np.random.rand()\nreturn np.sum(y * y)",
    "a loop over n": "y = x * s\nfor k in range(n):\n    for j in range(k):\n        y = y + 0.1 * rng.random() * y\n"
    "    y = y + rng.normal(size=5)\nreturn np.sum(y * y)",
    "in a helper": "def noisy(v):\n    return v + rng.normal(size=v.shape)\nreturn np.sum(noisy(noisy(x)) ** 2 * s)",
    "Python's": "return np.sum(x) * random.gauss(0.0, 1.0) * s + random.random()",
    "a known branch": "if n > 2:\n    x = x * rng.random(5)\nreturn np.sum(x * s)",
    "a branch on data": "if s > 0.5:\n    s = s * np.random.rand()\nreturn s * np.sum(x) + rng.random()",
    "an expression": "return np.sum(x) * s * (np.random.rand() if s > 0.5 else s)",
    "after a return": "if s > 0.9:\n    return s * x[0]\nreturn s * rng.random() * np.sum(x)",
    "drawn and not used": "rng.normal(size=3)\nreturn np.sum(x * rng.random(5) * s)",
}
MAY_DRAW = "branch or loop of which it is known only at run time"
REFUSED = {
    "a branch on what has been drawn": (
        "if rng.random() > 0.5:\n    s = s * np.random.rand()\nreturn s * np.sum(x)",
        "s = s *",
        MAY_DRAW,
    ),
    "a while loop": ("while s < 3.0:\n    s = s + 1.0 + rng.random()\nreturn s", "s = s + 1", MAY_DRAW),
    "a loop with a break": (
        "for k in range(9):\n    s = s + rng.random()\n    if s > 3.0:\n        break\nreturn s",
        "s = s + rng",
        MAY_DRAW,
    ),
    "a parameter": ("return np.sum(rng.gamma(x))", "return", "a parameter that is known only at run time"),
    "weights without replacement": (
        "return np.sum(rng.choice(x, 2, replace=False, p=x / np.sum(x)))",
        "return",
        "by weights that are data, without replacement",
    ),
    "shuffle": ("y = x * s\nrng.shuffle(y)\nreturn y[0]", "rng.shuffle", "is not supported inside of the function"),
    "a state": ("np.random.get_state()\nreturn s", "np.random", "is not supported inside of the function"),
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder)


def seeded(module):
    np.random.seed(5)
    random.seed(5)
    module.RNG.bit_generator.state = np.random.default_rng(11).bit_generator.state
    return X, 0.7, 3, np.random.default_rng(8)


def slopes(module, skipped, step=1e-6):
    """The gradient by central differences, each run with the same numbers, after so many calls."""

    def value(x, s):
        _, _, n, rng = seeded(module)
        for _ in range(skipped):
            module.program(X, 0.7, n, rng)
        return module.program(x, s, n, rng)

    moved = [step * row for row in np.eye(X.size)]
    by_x = np.array([(value(X + d, 0.7) - value(X - d, 0.7)) / (2 * step) for d in moved])
    return by_x, (value(X, 0.7 + step) - value(X, 0.7 - step)) / (2 * step)


@pytest.mark.parametrize("name", RIGHT)
def test_as_numpy_draws(name, tmp_path):
    """Values, gradients and the states afterwards, in three calls of different kinds."""
    module = program_of(RIGHT[name], tmp_path)
    arguments = seeded(module)
    expected = [module.program(*arguments) for _ in range(3)]
    after = np.random.random(), random.random(), arguments[-1].random()
    g = sdfgad.differentiate(module.program, wrt=("x", "s"))
    arguments = seeded(module)
    value = g.value(*arguments)
    second, gradient = g.value_and_grad(*arguments)
    third = g(*arguments)
    assert after == (np.random.random(), random.random(), arguments[-1].random())
    assert_close(value, expected[0])
    assert_close(second, expected[1])
    for found, skipped in ((gradient, 1), (third, 2)):
        for one, slope in zip(found, slopes(module, skipped), strict=True):
            assert_close(one, slope, 1e-6)


def test_branches_that_each_call_decides(tmp_path):
    """Only the side that a call takes draws, whichever program runs."""
    module = program_of(RIGHT["a branch on data"], tmp_path)
    x, _, n, rng = seeded(module)
    sides = (0.7, 0.3, 0.7, 0.3, 0.6)
    expected = [module.program(x, s, n, rng) for s in sides]
    after = np.random.random(), rng.random()
    g = sdfgad.differentiate(module.program, wrt=("x", "s"))
    x, _, n, rng = seeded(module)
    for s, value in zip(sides, expected, strict=True):
        assert_close(g.value(x, s, n, rng), value)
    assert after == (np.random.random(), rng.random())


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    body, line, what = REFUSED[name]
    module = program_of(body, tmp_path)
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(module.program, *seeded(module))
    assert caught.value.where.text.startswith(line)
    assert caught.value.todo


def test_fresh_numbers_at_each_call(tmp_path):
    module = program_of("g = np.random.default_rng()\nreturn np.sum(g.random(5) * x * s)", tmp_path)
    g = sdfgad.differentiate(module.program, wrt="x")
    assert not np.array_equal(g(*seeded(module)), g(*seeded(module)))


def test_check_grads(tmp_path):
    module = program_of(RIGHT["an argument"], tmp_path)
    sdfgad.check_grads(module.program, *seeded(module), wrt=("x", "s"))


def test_weights_that_are_none_raise():
    g = sdfgad.differentiate(lambda x: np.sum(np.random.choice(x, 3, p=x)))
    assert np.isfinite(g.value(np.array([0.25, 0.5, 0.25])))
    for weights, message in (([0.5, 0.5, 0.5], "do not sum to 1"), ([1.5, -0.5, 0.0], "are not non-negative")):
        with pytest.raises(ProgramRaises, match=message):
            g.value(np.array(weights))
