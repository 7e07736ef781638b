"""A cotangent of exactly 0 stays 0 through a derivative that is infinite or no number."""

import re

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import Const, Op, Read, postorder
from sdfgad.rules.elementary import SINGULAR
from sdfgad.rules.expression import pullback
from tests.helpers import module_from

# Where each operation has a value, or one that is not used, but no finite derivative.
AT = {
    "np.sqrt(x)": 0.0,
    "np.cbrt(x)": 0.0,
    "np.log(x)": 0.0,
    "np.log2(x)": 0.0,
    "np.log10(x)": 0.0,
    "np.log1p(x)": -1.0,
    "1.0 / x": 0.0,
    "x / (x - x)": 2.0,
    "np.reciprocal(x)": 0.0,
    "x ** 0.5": 0.0,
    "x ** 0.3": 0.0,
    "x ** -2": 0.0,
    "x ** y": 0.0,
    "y ** x": -np.inf,
    "np.float_power(x, 0.7)": 0.0,
    "np.arcsin(x)": 1.0,
    "np.arccos(x)": -1.0,
    "np.arccosh(x)": 1.0,
    "np.arctanh(x)": -1.0,
    "np.hypot(x, x)": 0.0,
    "np.arctan2(x, x)": 0.0,
    "np.exp(x)": 800.0,
    "np.exp2(x)": 2000.0,
    "np.expm1(x)": 800.0,
    "np.sinh(x)": -800.0,
    "np.cosh(x)": 800.0,
    "np.log(1.0 + np.exp(x))": 800.0,
    "x % (x - x)": 1.0,
    "np.fmod(x, x - x)": 1.0,
    "special.gammaln(x)": 0.0,
    "special.gamma(x)": 0.0,
    "special.psi(x)": 0.0,
    "special.erfinv(x)": 1.0,
    "special.logit(x)": 1.0,
    "special.xlogy(x, x)": 0.0,
    "special.xlog1py(x, x)": -1.0,
    "special.i0(x)": 800.0,
}


@pytest.fixture(scope="module")
def gradients(tmp_path_factory):
    rows = [re.sub(r"\bx\b", f"x[{k}]", text) for k, text in enumerate(AT)]
    across = [f"    t = {row}\n    out[{k}] = np.where(keep, t, y)" for k, row in enumerate(rows)]
    within = [f"    out[{k + len(AT)}] = np.where(keep, {row}, y)" for k, row in enumerate(rows)]
    head = ["import numpy as np", "from scipy import special", "def program(x, y, keep):"]
    text = "\n".join([*head, f"    out = np.zeros(({2 * len(AT)}, 2))", *across, *within, "    return out"])
    program = module_from(text, tmp_path_factory.mktemp("zeros")).program
    x = np.array([[at, 0.5] for at in AT.values()])
    g = sdfgad.differentiate(program, reduce="sum", wrt=("x", "y"))
    return g(x, np.array([3.0, 3.0]), np.array([False, False]))


def test_unused_values_have_no_gradient(gradients):
    for text, row in zip(AT, gradients[0], strict=True):
        assert row.tolist() == [0.0, 0.0], text
    assert gradients[1].tolist() == [2.0 * len(AT)] * 2


def test_in_place_and_through_several_steps():
    def program(x):
        t = x * 1.0
        t = np.sqrt(t)
        t = np.log(t)
        y = np.zeros(3)
        for k in range(3):
            if x[k] > 0.0:
                y[k] = t[k]
        return np.sum(y)

    found = sdfgad.grad(program)(np.array([0.0, -1.0, 4.0]))
    np.testing.assert_allclose(found, [0.0, 0.0, 0.125])


def test_true_infinities_are_kept():
    found = sdfgad.grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 4.0]))
    assert found.tolist() == [np.inf, 0.25]


F64 = np.dtype(np.float64)
X, T = Read("x", (), F64), Read("t", (), F64)


def comparisons_with_zero(value):
    ((_, cotangent),) = pullback(value, T, frozenset({"x"}), None)
    return [
        node for node in postorder(cotangent) if isinstance(node, Op) and node.name == "vanishes" and T in node.args
    ]


@pytest.mark.parametrize(("name", "constant"), [("divide", 2.0), ("power", 3.0), ("hypot", 1.0), ("remainder", 0.5)])
def test_a_constant_that_keeps_the_derivative_finite_needs_no_test(name, constant):
    assert name in SINGULAR
    assert comparisons_with_zero(Op(name, (X, Const(constant, F64)), F64)) == []
    assert comparisons_with_zero(Op(name, (Const(constant, F64), X), F64)) != [] or name == "hypot"


@pytest.mark.parametrize("exponent", [0.5, -1.0, -2.0])
def test_small_exponents_need_a_test(exponent):
    assert comparisons_with_zero(Op("power", (X, Const(exponent, F64)), F64)) != []


@pytest.mark.parametrize("name", ["sin", "negative", "square", "absolute"])
def test_finite_derivatives_need_none(name):
    assert comparisons_with_zero(Op(name, (X,), F64)) == []
