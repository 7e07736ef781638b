"""The module math, and Python's own functions, of Python floats, NumPy's scalars and arrays."""

import math

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import module_from

SCALARS = [
    *(f"math.{name}(s)" for name in ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p")),
    *(f"math.{name}(s)" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh")),
    *(f"math.{name}(s)" for name in ("atanh", "erf", "erfc", "gamma", "lgamma", "fabs", "degrees", "radians", "ulp")),
    *(f"math.{name}(t)" for name in ("acosh", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite")),
    *(f"math.{name}(t, s)" for name in ("pow", "fmod", "remainder", "copysign", "atan2", "hypot", "isclose", "log")),
    "math.hypot(s, t, 3.0)",
    "math.hypot(-s)",
    "math.dist((s, t), (1.0, 2.0))",
    "math.dist(x, [s, t, 0.0])",
    "math.fsum([s, t, s * t]) + math.fsum(x)",
    "math.prod([s, t, 3, s]) + math.prod(x)",
    "math.modf(-t)[0] + 2.0 * math.modf(t)[1]",
    "math.ldexp(s, 3)",
    "math.nextafter(1.0, s)",
    "math.isclose(t, s, rel_tol=0.9)",
    "s * math.comb(5, 2) * math.factorial(4) * math.gcd(12, 18) * math.perm(4, 2) * math.isqrt(17)",
    "s * math.comb(n, 2) * math.factorial(n) + math.gcd(n, 12) * t + math.lcm(n, 4)",
    "s * math.pi * math.e * math.tau",
    "s if s < math.inf else math.nan",
    "x[math.floor(t) - 2] * s",
    "round(t * 1.005, 2) + t",
    "round(t, 1)",
    "round(t * 123.0, -1)",
    "round(t) * s",
    "round(x[2]) * s + round(x[0], 1)",
    "round(n) * s",
    "abs(-s) * abs(n - 9)",
    "abs(x)[1]",
    "pow(s, t) + pow(s, 2) + pow(2, s)",
    "divmod(t, s)[0] + divmod(t, s)[1]",
    "divmod(x, s)[1][2] + divmod(n, 2)[1]",
    "float(x[0]) + float(n) * s + float('1.5')",
    "int(t * 10.0) * s + int('3')",
    "s * int(x[2])",
    "bool(s) * t + bool(n - n)",
    "np.float64(s) + np.int32(t) * s + np.bool_(s)",
    "sum([s, t, s * t], 2.0) + sum(x) + sum(x, 1.5) + sum((s, 1))",
    "sum(v * v for v in x)",
    "max(s, t) * min(s, 0.2, t) + max([s, t]) + min((t, s))",
    "max(x) * min(x)",
    "max([], default=s) + max([t], default=s) + min(x, default=0.0)",
    "max(v * s for v in x)",
    "(s if any(v > 2.0 for v in x) else t) + (s if all([s > 0.0, t > 0.0, n > 1]) else 5.0)",
    "(s if any(x > 9.0) else t) + (s if all(x > 0.0) else t) + (s if any([False, 1]) else t)",
]


def program_of(texts, folder):
    rows = [f"    out[{k}] = {text}" for k, text in enumerate(texts)]
    head = ["import math", "import numpy as np", "def program(x, s, t, n):", f"    out = np.zeros({len(texts)})"]
    return module_from("\n".join([*head, *rows, "    return out"]), folder).program


def test_values_and_derivatives(tmp_path):
    """Python's values, and derivatives against central differences."""
    program, args = program_of(SCALARS, tmp_path), (np.array([0.7, 1.3, 2.8]), 0.5625, 2.71875, 5)
    g, expected = sdfgad.differentiate(program), program(*args)
    found = g.value(*args)
    wrong = [
        f"{t}: {f}, not {e}"
        for t, f, e in zip(SCALARS, found, expected, strict=True)
        if abs(f - e) > 4e-16 * abs(e) * 8
    ]
    assert not wrong, "\n".join(wrong)
    x, s, t, n = args
    step = 1e-6
    for row, text in enumerate(SCALARS):
        gradient = g.vjp(*args, cotangent=np.eye(len(SCALARS))[row])
        by_s = (program(x, s + step, t, n) - program(x, s - step, t, n))[row] / (2 * step)
        by_t = (program(x, s, t + step, n) - program(x, s, t - step, n))[row] / (2 * step)
        by_x = [(program(x + d, s, t, n) - program(x - d, s, t, n))[row] / (2 * step) for d in np.eye(3) * step]
        mine = [*gradient["x"], gradient["s"], gradient["t"]]
        np.testing.assert_allclose(
            mine, [*by_x, by_s, by_t], rtol=2e-6, atol=2e-5 if "123" in text else 1e-6, err_msg=text
        )


EDGES = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 2.675, 0.125, 1e22, 5e-324, 1234.5, 15.0, 25.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("digits", [0, 1, 2, -1, -2])
def test_round_is_pythons(digits):
    g = sdfgad.differentiate(lambda s: round(s, digits), allow_unused=True)
    for s in EDGES:
        assert repr(float(g.value(s))) == repr(round(s, digits))


def first_of(a, b):
    return max(a, b) + 10.0 * min(a, b)


@pytest.mark.parametrize(("a", "b"), [(1.0, math.nan), (math.nan, 1.0), (2.0, 3.0)])
def test_max_and_min_keep_the_first_unless_another_is_larger(a, b):
    np.testing.assert_equal(float(sdfgad.differentiate(first_of).value(a, b)), first_of(a, b))


def test_tie_of_max_is_shared():
    found = sdfgad.differentiate(first_of)(2.0, 2.0)
    assert (found["a"], found["b"]) == (5.5, 5.5)


def test_math_is_in_double_precision():
    def program(x):
        return math.sqrt(x[0]) * x

    x = np.array([2.0, 3.0], np.float32)
    value = sdfgad.differentiate(program).value(x)
    np.testing.assert_array_equal(value, program(x), strict=True)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (lambda x: np.sum(x) * math.factorial(x[0]), "math.factorial of a number that is known only at run time"),
        (lambda x: np.sum(x) * float(x), "only an array without axes"),
        (lambda x: np.sum(x) * math.sqrt(x), "only an array without axes"),
        (lambda x: np.sum(max(x, x)), "ambiguous"),
        (lambda x: np.sum(x) * math.frexp(x[0])[0], "math.frexp"),
    ],
)
def test_refusals(program, what):
    with pytest.raises(UnsupportedProgram, match=what):
        sdfgad.differentiate(program)(np.ones(2))
