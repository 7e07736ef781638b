"""Nested counters replace quotients and remainders."""

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.optimise.cleaning.unravel import divisions, unravel
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import sample


def test_a_reshape():
    assert_becomes(
        unravel,
        "for p < 20: z[p] = X[p // 5, p % 5]",
        "for p_1 < 4, p_2 < 5: z[5*p_1 + p_2] = X[p_1, p_2]",
    )


def test_neighbours_share_the_loops():
    """Those over as many points that use the same arrays, directly or through each other; sums stay."""
    assert_becomes(
        unravel,
        "for p < 20: w[p] = x[p]\nfor p < 20: z[p] = X[p // 5, p % 5]\nfor p < 20: w[p] = w[p] * z[p]\n"
        "for p < 20: a[0] += z[p]\nfor p < 10: z[p] = 1.0\nfor p < 20: a[p] = 2.0",
        "for p_5 < 4, p_6 < 5: w[5*p_5 + p_6] = x[5*p_5 + p_6]\nfor p_1 < 4, p_2 < 5: z[5*p_1 + p_2] = X[p_1, p_2]\n"
        "for p_3 < 4, p_4 < 5: w[5*p_3 + p_4] = (w[5*p_3 + p_4] * z[5*p_3 + p_4])\n"
        "for p < 20: a[0] += z[p]\nfor p < 10: z[p] = 1.0\nfor p < 20: a[p] = 2.0",
    )


def test_several_digits():
    assert_becomes(
        unravel,
        "for p < 12, c < 2: Z[6*((p // 2) % 3) + 2*(p // 6) + p % 2, c] = X[p, c]",
        "for p_1 < 2, p_2 < 3, p_3 < 2, c < 2: Z[2*p_1 + 6*p_2 + p_3, c] = X[6*p_1 + 2*p_2 + p_3, c]",
    )


def test_digits_that_show_after_others():
    found = unravel(sample("for p < 16: z[p] = x[(8*(p % 4) + 4*((p // 4) % 2)) // 16 + p]")[0])
    assert not divisions(found.body[0])


def test_parameters_of_one_value():
    assert_becomes(
        unravel,
        "for p < 20, c < 1, d < 1: z[p + c] = sum of X[p, (c + d) % 6]",
        "for p < 20: z[p] = X[p, 0]",
    )
    assert_stays(unravel, "for p < 20, c < 1: Z[p, c] = X[p, 0]")


STAYS = {
    "no divisor of the extent": "for p < 18: z[p] = x[p // 4]",
    "none of each other": "for p < 12: z[p] = x[p // 4] + y[p // 6]",
    "an unknown extent": "for p < n: z[p] = x[p // 4]",
    "another divisor": "for p < 20: z[p] = x[p // k]",
    "something read": "for p < 20: z[p] = x[i[p] // 4]",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    text = ("k = 3\n" if " k]" in STAYS[name] else "") + STAYS[name]
    assert_stays(unravel, text, **({"n": 9} if "< n" in text else {}))


@pytest.mark.parametrize("seed", range(40))
def test_random_indices(seed):
    rng = np.random.default_rng(seed)

    def index():
        low, high = rng.choice([1, 2, 3, 4, 6], 2)
        form = str(rng.choice([f"p // {low}", f"p % {low}", f"(p // {low}) % {high}", f"(2*p + c) // {low}"]))
        return f"({form}) % 20" if "2*p" in form else form

    kind = str(rng.choice(["=", "+="]))
    text = f"for p < 20: z[p] = 0.0\nfor p < 12, c < 2: z[{index()}] += x[{index()}] * y[{index()}] + c"
    text += f"\nfor p < 12: w[p] = 1.0\nfor p < 12: w[p] {kind} x[{index().replace('c', '1')}]"
    text = text.replace("w[p] = x", "w[11 - p] = x")
    program, arrays, integers = sample(text)
    check_passes(program, arrays, integers, passes=[unravel])


def reshaped(x, y):
    z = np.reshape(x, (2, 3, 4)) * np.reshape(y, (2, 3, 4))
    t = np.reshape(np.transpose(z, (1, 0, 2)), (24,))
    return np.reshape(t * x, (4, 6)) @ np.reshape(y, (6, 4))


def test_gradients(rng):
    found = check_function(reshaped, tuple(rng.uniform(0.2, 0.9, (2, 24))))
    assert not any("//" in program_text(program) or "divide" in program_text(program) for program in found)
