"""Every elementary operation against JAX, in both precisions; kinks have the values that the design fixes."""

import functools
import math
import re
import types

import jax
import numpy as np
import pytest
from scipy import special

import sdfgad
from sdfgad.rules.elementary import ELEMENTARY
from tests.helpers import assert_close, jax_vjp, module_from

ANY, POSITIVE, UNIT = (-2.0, 2.0), (0.3, 3.0), (-0.8, 0.8)
BETWEEN_INTEGERS = (0.1, 0.9)

SPECIAL = {
    **dict.fromkeys(("erf", "erfc", "expit", "log_expit", "i0"), ANY),
    **dict.fromkeys(("gamma", "gammaln", "digamma"), POSITIVE),
    **dict.fromkeys(("erfinv",), UNIT),
    "logit": BETWEEN_INTEGERS,
}
SPECIAL_OF_TWO = {"xlogy": (ANY, POSITIVE), "xlog1py": (ANY, POSITIVE)}
# They are tested in test_special.py.
SPECIAL_APART = {
    *(
        "erfcx",
        "erfcinv",
        "log_ndtr",
        "i1",
        "i0e",
        "i1e",
        "j0",
        "j1",
        "bessel_j",
        "bessel_j_quotient",
        "bessel_i_quotient",
        "bessel_ie_quotient",
        "sinc_derivative",
        "bessel_jv",
        "bessel_y",
        "bessel_i",
        "bessel_k",
        "trigamma",
        "polygamma_of",
    ),
    *("beta", "betaln", "gammainc", "gammaincc", "gamma_density", "betainc", "betaincc", "beta_density", "stdtr"),
    # in test_special_integrals.py
    *("bessel_ie", "bessel_ke", *(f"spherical_{kind}" for kind in "jyik"), "exp1", "expi", "expn_of", "erfi", "dawsn"),
    *("dawsn_slope", "hurwitz_zeta", "lambert_w", "airy_ai", "airy_ai_slope", "airy_bi", "airy_bi_slope", "owens_t"),
    *("gammaincinv", "gammainccinv", "betaincinv", "betainccinv", "hyp0f1", "hyp1f1"),
}
# They are tested where they are used: in Python's and NumPy's functions.
APART = {
    "cast",
    "held",
    "ieee_remainder",
    "later_if_greater",
    "later_if_less",
    "nextafter",
    "root_of_squares",
    "round_decimals",
    "spacing",
}

UNARY = {
    **SPECIAL,
    **dict.fromkeys(("sinc", "degrees", "radians", "conjugate"), ANY),
    **dict.fromkeys(("negative", "positive", "square", "exp", "exp2", "expm1", "deg2rad", "rad2deg"), ANY),
    **dict.fromkeys(("sin", "cos", "arctan", "sinh", "cosh", "tanh", "arcsinh"), ANY),
    **dict.fromkeys(("sqrt", "cbrt", "log", "log2", "log10", "log1p", "reciprocal"), POSITIVE),
    **dict.fromkeys(("arcsin", "arccos", "arctanh", "tan"), UNIT),
    **dict.fromkeys(("floor", "ceil", "trunc", "rint"), (1.6, 1.9)),
    **dict.fromkeys(("absolute", "fabs", "sign"), (-2.0, -0.5)),
    "arccosh": (1.3, 3.0),
}
BINARY = {
    **SPECIAL_OF_TWO,
    "logaddexp2": (ANY, ANY),
    "float_power": (POSITIVE, POSITIVE),
    **dict.fromkeys(("add", "subtract", "multiply", "hypot", "arctan2", "logaddexp"), (ANY, ANY)),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), (ANY, ANY)),
    **dict.fromkeys(("divide", "power"), (POSITIVE, POSITIVE)),
    **dict.fromkeys(("remainder", "fmod", "floor_divide"), ((5.2, 5.8), (1.1, 1.2))),
    "copysign": (POSITIVE, (-2.0, -0.5)),
    "heaviside": ((-2.0, -0.5), ANY),
}
OPERATORS = {
    "np.modf(x)[0]": (1.1, 1.9),
    "np.ldexp(x, 3) + np.ldexp(x, -2)": ANY,
    "-x + 3.0": ANY,
    "+x - 0.5": ANY,
    "2.0 / x": POSITIVE,
    "x / 4": ANY,
    "x ** 2": ANY,
    "x ** 3": ANY,
    "x ** 4": ANY,
    "x ** 5": ANY,
    "x ** 1": ANY,
    "x ** -1": POSITIVE,
    "x ** -2": POSITIVE,
    "x ** 0.5": POSITIVE,
    "x ** 2.5": POSITIVE,
    "2.0 ** x": ANY,
    "abs(x)": (-2.0, -0.5),
    "x % 0.7": (0.8, 1.3),
    "x * x": ANY,
    "x * x * x - x / x": POSITIVE,
    "np.sin(x) * np.sin(x) + np.cos(x) ** 2": ANY,
    "np.where(x > 0.0, x * x, np.exp(x))": ANY,
    "np.where((x > -0.5) & (x < 0.5), x, 2.0 * x)": ANY,
    "np.clip(x, -0.5, 0.5)": ANY,
    "np.maximum(x, 0.1) * np.minimum(x, 0.3)": ANY,
}
NAMES = [*UNARY, *BINARY, *OPERATORS]


# Tested in test_complex.py.
COMPLEX_ONLY = ("real", "imag", "complex")


def text_of(k, name):
    """The right-hand side of row k."""
    if name in UNARY:
        return f"{home_of(name)}.{name}(x[{k}])"
    if name in BINARY:
        return f"{home_of(name)}.{name}(x[{k}], y[{k}])"
    return re.sub(r"\bx\b", f"x[{k}]", name)


def home_of(name):
    return "special" if name in SPECIAL or name in SPECIAL_OF_TWO else "np"


def source():
    rows = [f"    out[{k}] = {text_of(k, name)}" for k, name in enumerate(NAMES)]
    return "\n".join(
        [
            "import numpy as np",
            "from scipy import special",
            "def program(x, y):",
            "    out = np.empty_like(x)",
            *rows,
            "    return out",
        ]
    )


def inputs(dtype):
    rng = np.random.default_rng(1)
    domains = [(UNARY | OPERATORS).get(name) or BINARY[name][0] for name in NAMES]
    second = [BINARY[name][1] if name in BINARY else ANY for name in NAMES]
    return tuple(np.stack([rng.uniform(*domain, 6) for domain in d]).astype(dtype) for d in (domains, second))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return module_from(source(), tmp_path_factory.mktemp("elementary")).program


def reference(name):
    body = text_of(0, name)
    special_of_jax = types.SimpleNamespace(**vars(jax.scipy.special), log_expit=jax.nn.log_sigmoid)
    return eval(f"lambda x, y: {body}", {"np": jax.numpy, "special": special_of_jax})


def test_every_rule_is_tested():
    assert set(ELEMENTARY) - APART - SPECIAL_APART - {"fractional", "ldexp", *COMPLEX_ONLY} == set(UNARY) | set(BINARY)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_gradients(program, dtype, tolerance):
    x, y = inputs(dtype)
    cotangent = np.random.default_rng(2).standard_normal(x.shape).astype(dtype)
    g = sdfgad.differentiate(program)
    found = g.vjp(x, y, cotangent=cotangent)
    assert all(found[name].dtype == dtype for name in "xy")
    for k, name in enumerate(NAMES):
        expected = jax_vjp(reference(name), (x[k : k + 1], y[k : k + 1]), cotangent[k])
        assert_close(found["x"][k], expected[0][0], tolerance, f"{name} by its first operand")
        assert_close(found["y"][k], expected[1][0], tolerance, f"{name} by its second operand")


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-14), (np.float32, 1e-6)])
def test_values(program, dtype, tolerance):
    x, y = inputs(dtype)
    found, expected = sdfgad.differentiate(program).value(x, y), program(x, y)
    assert found.dtype == dtype
    for k, name in enumerate(NAMES):
        assert_close(found[k], expected[k], tolerance, name)


# --- kinks


def kinks(x, y):
    out = np.zeros((13, 2))
    out[0] = np.maximum(x[0], y[0])
    out[1] = np.minimum(x[1], y[1])
    out[2] = np.fmax(x[2], y[2])
    out[3] = np.fmin(x[3], y[3])
    out[4] = np.abs(x[4])
    out[5] = np.fabs(x[5])
    out[6] = np.clip(x[6], -1.0, 1.0)
    out[7] = np.where(x[7] > 0.0, np.sqrt(x[7]), 0.0)
    out[8] = np.where(x[8] > 0.0, np.log(x[8]) / x[8], 3.0 * x[8])
    out[9] = x[9] ** y[9]
    out[10] = x[10] ** y[10]
    out[11] = np.maximum(x[11], x[11])
    out[12] = np.sign(x[12]) + np.floor(x[12])
    return out


KINKS = [
    # x, y, by x, by y; both columns
    ([1.0, 2.0], [1.0, 3.0], [0.5, 0.0], [0.5, 1.0]),
    ([1.0, 2.0], [1.0, 3.0], [0.5, 1.0], [0.5, 0.0]),
    ([1.0, 2.0], [1.0, 3.0], [0.5, 0.0], [0.5, 1.0]),
    ([1.0, 2.0], [1.0, 3.0], [0.5, 1.0], [0.5, 0.0]),
    ([0.0, -0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
    ([0.0, -3.0], [0.0, 0.0], [0.0, -1.0], [0.0, 0.0]),
    ([-1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]),
    ([0.0, -1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
    ([0.0, -1.0], [0.0, 0.0], [3.0, 3.0], [0.0, 0.0]),
    ([0.0, 0.0], [2.0, 1.0], [0.0, 1.0], [0.0, 0.0]),
    ([0.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, np.log(2.0)]),
    ([1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]),
    ([0.5, -1.5], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
]


@functools.cache
def kink_gradients():
    x, y = (np.array([row[k] for row in KINKS]) for k in (0, 1))
    return sdfgad.differentiate(kinks, reduce="sum")(x, y)


@pytest.mark.parametrize("row", range(len(KINKS)))
def test_kinks(row):
    found = kink_gradients()
    np.testing.assert_array_equal(found["x"][row], KINKS[row][2])
    np.testing.assert_array_equal(found["y"][row], KINKS[row][3])


def beside_nan(x, y):
    return np.sum(np.fmax(x, y) * np.array([1.0, 2.0, 3.0])) + np.sum(np.fmin(x, np.nan) * x) + np.fmax.reduce(x)


def test_fmax_and_fmin_pass_all_to_the_number_beside_nan():
    """One whose other operand is NaN was constant."""
    x, y = np.array([0.5, 2.0, 0.7]), np.array([np.nan, 1.0, 0.9])
    dx, dy = sdfgad.differentiate(beside_nan, wrt=("x", "y"))(x, y)
    np.testing.assert_allclose(dx, [1.0 + 1.0, 2.0 + 4.0 + 1.0, 1.4])
    np.testing.assert_allclose(dy, [0.0, 0.0, 3.0])
    dx, dy = sdfgad.differentiate(beside_nan, wrt=("x", "y"))(y[::-1].copy(), x)
    np.testing.assert_allclose(dy, [0.0, 2.0, 3.0])


CURVED = {
    "logaddexp": (lambda x: np.logaddexp(x[0], x[1]), 0.4, 0.4, [[0.25, -0.25], [-0.25, 0.25]]),
    "logaddexp2": (lambda x: np.logaddexp2(x[0], x[1]) / np.log(2.0), 0.4, 0.4, [[0.25, -0.25], [-0.25, 0.25]]),
    "far": (lambda x: np.logaddexp(x[0], x[1]), -900.0, 900.0, [[0.0, 0.0], [0.0, 0.0]]),
    "exponent 0": (lambda x: x[0] ** x[1], 2.0, 0.0, [[0.0, 0.5], [0.5, np.log(2.0) ** 2]]),
    "float_power": (lambda x: np.float_power(x[0], x[1]), 2.0, 0.0, [[0.0, 0.5], [0.5, np.log(2.0) ** 2]]),
    "x log y": (lambda x: special.xlogy(x[0], x[1]), 0.0, 2.0, [[0.0, 0.5], [0.5, 0.0]]),
    "x log1p y": (lambda x: special.xlog1py(x[0], x[1]), 0.0, 1.0, [[0.0, 0.5], [0.5, 0.0]]),
    "length": (lambda x: math.hypot(x[0], x[1], 2.0), 0.0, 0.0, [[0.5, 0.0], [0.0, 0.5]]),
    "distance": (lambda x: math.dist([x[0], x[1], 1.0], [0.0, 0.0, 3.0]), 0.0, 0.0, [[0.5, 0.0], [0.0, 0.5]]),
}


def all_curved(x):
    return np.stack([curved(x[k]) for k, (curved, *_) in enumerate(CURVED.values())])


def test_second_derivatives_where_first_ones_are_chosen_by_equality():
    """A limit that stood as a constant where operands are equal, or zero, had no derivative of its own."""
    x = np.array([[u, v] for _, u, v, _ in CURVED.values()])
    gradient = sdfgad.differentiate(all_curved, reduce="sum")
    found = sdfgad.jacobian(lambda x: gradient(x))(x)
    for k, (name, (*_, expected)) in enumerate(CURVED.items()):
        np.testing.assert_allclose(found[k, :, k], expected, atol=1e-14, err_msg=name)


def test_gradient_of_zero_times_infinity_is_never_nan():
    found = kink_gradients()
    assert np.isfinite(found["x"]).all()
    assert np.isfinite(found["y"]).all()


def extrema(a, b):
    total = np.zeros(6)
    total[0] = np.max(a)
    total[1] = np.min(a)
    total[2] = max(a[0], b)
    total[3] = min(b, a[0], a[1])
    total[4:] = np.max(np.reshape(a, (2, 3)), axis=1)
    return total


@pytest.mark.parametrize(
    ("row", "by_a", "by_b"),
    [
        (0, [0, 0, 1 / 3, 0, 1 / 3, 1 / 3], 0),
        (1, [0.5, 0.5, 0, 0, 0, 0], 0),
        (2, [0.5, 0, 0, 0, 0, 0], 0.5),
        (4, [0, 0, 1, 0, 0, 0], 0),
        (5, [0, 0, 0, 0, 0.5, 0.5], 0),
    ],
)
def test_ties_of_extrema_share_evenly(row, by_a, by_b):
    a, b = np.array([1.0, 1.0, 4.0, 2.0, 4.0, 4.0]), 1.0
    found = sdfgad.differentiate(extrema).vjp(a, b, cotangent=np.eye(6)[row])
    np.testing.assert_allclose(found["a"], by_a, rtol=1e-15)
    assert found["b"] == by_b
