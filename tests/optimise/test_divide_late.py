"""Sums of quotients of quotients by one number are divided once; zeros and infinities stay what they are."""

import numpy as np
import pytest

from sdfgad.optimise.divide_late import divide_late
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import sample

ADJOINT = """
    r = 1.5
    s = q_of
    loop parallel p < 20:
        r += select((y[p] == 0.0), 0.0, -(select((y[p] == 0.0), 0.0, (y[p] / s)) * (x[p] / s)))
        z[p] = (x[p] / s)
    q = r
    """.replace("q_of", "x[3]")


def test_the_sum_is_divided():
    assert_becomes(
        divide_late,
        ADJOINT,
        """
        r = 1.5
        s = x[3]
        dividend = 0.0
        loop parallel p < 20:
            dividend += select((y[p] == 0.0), 0.0, -(x[p] * select((y[p] == 0.0), 0.0, (y[p] / s))))
            z[p] = (x[p] / s)
        r += select((dividend == 0.0), 0.0, (dividend / s))
        q = r
        """,
    )


def test_rows_with_divisors_of_their_own():
    assert_becomes(
        divide_late,
        """
        loop parallel f < 20:
            r = 0.0
            loop parallel g < 20:
                r += select((x[g] == 0.0), 0.0, ((x[g] / y[f]) * (x[g] / y[f])))
            z[f] = r
        """,
        """
        loop parallel f < 20:
            r = 0.0
            dividend = 0.0
            loop parallel g < 20:
                dividend += select((x[g] == 0.0), 0.0, (x[g] * (x[g] / y[f])))
            r += select((dividend == 0.0), 0.0, (dividend / y[f]))
            z[f] = r
        """,
    )


@pytest.mark.parametrize(
    "text",
    [
        # One division only: nothing tells a sum of 0 from one of no terms, if the divisor is 0.
        ADJOINT.replace("* (x[p] / s)", "* x[p]"),
        ADJOINT.replace("(y[p] / s)", "y[p]"),
        # Terms that are 0 for no choice, another divisor, one that moves, and one that the loop changes.
        "s = x[1]\nr = 0.0\nloop parallel p < 20:\n    r += ((y[p] / s) * (x[p] / s))\nq = r",
        ADJOINT.replace("(y[p] / s)", "(y[p] / x[0])"),
        ADJOINT.replace("/ s", "/ y[p]"),
        ADJOINT.replace("/ s", "/ z[0]")
        .replace("z[p] =", "z[p] +=")
        .replace("    r = 1.5", "    z[0] = 2.0\n    r = 1.5"),
        # What is 0 for another reason is multiplied by what is no number.
        ADJOINT.replace("* (x[p] / s)", "* select((x[p] == 0.0), 0.0, (x[p] / s))"),
        # The sum is asked for, no sum of all trips, or not in any order.
        ADJOINT.replace("z[p] = (x[p] / s)", "z[p] = r").replace("parallel ", ""),
        ADJOINT.replace("r +=", "w[p] +=").replace("r = 1.5", "r = 1.5\n    for c < 20: w[c] = 0.0"),
        ADJOINT.replace("parallel ", ""),
        ADJOINT.replace("p < 20", "p < 4").replace("    q = r", "    for c < 16: z[c + 4] = 0.0\n    q = r"),
    ],
)
def test_all_else_stays(text):
    assert_stays(divide_late, text)


@pytest.mark.parametrize("divisor", [0.0, -0.0, np.inf, np.nan, 1e-310])
@pytest.mark.parametrize("cotangent", ["none", "some", "all"])
def test_divisors_of_no_size(divisor, cotangent):
    program, arrays, _ = sample(ADJOINT)
    arrays["x"][3] = divisor
    arrays["y"][3] = 0
    if cotangent != "all":
        arrays["y"][: 20 if cotangent == "none" else 10] = 0
    with np.errstate(all="ignore"):
        check_passes(program, arrays, passes=[divide_late])


def normalised(x):
    weights = np.exp(x)
    return weights / np.sum(weights, axis=-1, keepdims=True)


def test_quotients_by_the_sums_of_rows():
    check_function(normalised, (np.random.default_rng(3).normal(size=(3, 9)),))
