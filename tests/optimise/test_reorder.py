"""Values are computed in the order in which they are read, where a reshape is between the two."""

import sys

import numpy as np
import pytest

from sdfgad.ir.text import program_text
from sdfgad.optimise.reorder import reorder
from tests.helpers_passes import assert_becomes, assert_stays, check_function, check_passes
from tests.helpers_text import sample

module = sys.modules[reorder.__module__]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 20)


def test_what_is_read_by_other_digits_is_computed_there():
    assert_becomes(
        reorder,
        """
        for p < 2, h < 5, e < 2: a[10*p + 2*h + e] = (x[2*p + 4*h + e] * X[p, h])
        for c < 10: z[c] = (a[c] + a[c + 10])
        """,
        """
        for c_1 < 5, c_2 < 2: z[2*c_1 + c_2] = ((x[4*c_1 + c_2] * X[0, c_1]) + (x[4*c_1 + c_2 + 2] * X[1, c_1]))
        """,
    )


def test_rows_that_share_what_is_computed_are_written_out():
    assert_becomes(
        reorder,
        """
        for p < 2, h < 5, e < 2: a[10*p + 2*h + e] = x[2*p + 4*h + e] * 2.0
        for g < 2, c < 10: z[10*g + c] = (X[g, 0] * a[c]) - a[c + 10]
        """,
        """
        for c_1 < 5, c_2 < 2: z[2*c_1 + c_2] = ((X[0, 0] * (x[4*c_1 + c_2] * 2.0)) - (x[4*c_1 + c_2 + 2] * 2.0))
        for c_1 < 5, c_2 < 2: z[2*c_1 + c_2 + 10] = ((X[1, 0] * (x[4*c_1 + c_2] * 2.0)) - (x[4*c_1 + c_2 + 2] * 2.0))
        """,
    )


PASS = """
    for p < 20: {0}[p] = x[p]
    for c < 10, g < 2: b[c + 10*g] = ({0}[c] * X[0, g]) + ({0}[c + 10] * X[1, g])
    for p < 2, h < 5, e < 2: {1}[2*p + 4*h + e] = b[10*p + 2*h + e] * X[p, h]
    """


def test_what_is_overwritten_in_another_order_than_it_is_read_in_is_another_buffer():
    program, arrays, _ = sample(PASS.format("z", "z"))
    changed = check_passes(program, arrays, passes=[reorder])
    assert program_text(changed).replace("z_1", "t") == program_text(reorder(sample(PASS.format("t", "z"))[0]))
    assert "b[" not in program_text(changed)


def test_a_copy_in_another_order_is_made_at_once():
    assert_becomes(
        reorder,
        """
        for p < 2, c < 10: a[10*p + c] = x[10*p + c] * y[c]
        for p < 2, h < 5, e < 2: z[2*p + 4*h + e] = a[10*p + 2*h + e]
        """,
        """
        for p < 2, h < 5, e < 2: z[e + 4*h + 2*p] = (x[e + 2*h + 10*p] * y[e + 2*h])
        """,
    )


MADE = "for p < 2, h < 10: a[10*p + h] = x[p + 2*h] * y[h]\n"
READ = "for c < 10: z[c] = a[c] + a[c + 10]\n"
STAYS = {
    "each element read often": MADE + "for c < 10, h < 6: Z[c, h] = a[c] + a[c + 10]\n",
    "one element read by several points": MADE + "for c < 19: z[c] = a[c] + a[c + 1]\n",
    "read in the same order": MADE + "for p < 2, h < 10: z[10*p + h] = a[10*p + h] + 1.0\n",
    "read without digits": "for p < 20: a[p] = x[19 - p] * y[p]\nfor p < 10: z[p] = a[2*p] + a[2*p + 1]\n",
    "read in a loop": MADE + "loop j < 3:\n    for c < 10: z[c] = a[c] + a[c + 10]\n",
    "a part": "for p < 2, h < 5: a[10*p + h] = x[p + 2*h] * y[h]\n" + READ,
    "a sum": "for p < 2, h < 10: a[10*p + h] = x[p + 2*h]\nfor p < 20: a[p] += y[p]\n" + READ,
    "a function": "for p < 2, h < 10: a[10*p + h] = exp(x[p + 2*h])\n" + READ,
    "an output": "for p < 2, h < 10: w[10*p + h] = x[p + 2*h] * y[h]\nfor c < 10: z[c] = w[c] + w[c + 10]\n",
    "an operand that changes": """
        for p < 20: b[p] = x[p]
        for p < 2, h < 10: a[10*p + h] = b[p + 2*h] * y[h]
        b[3] = 0.0
        for c < 10: z[c] = a[c] + a[c + 10]
        """,
    "two readers of other elements": MADE + READ + "for c < 10: w[c] = a[2*c]\n",
    "digits that do not fit": MADE + "for p < 5, h < 4: z[4*p + h] = a[4*p + h] + 1.0\n",
    "what is read is overwritten in part": """
        for p < 20: z[p] = x[p]
        for p < 2, h < 10: a[10*p + h] = z[p + 2*h] * y[h]
        for c < 10: z[c] = a[c] + a[c + 10]
        """,
    "what is read was overwritten in part": """
        for p < 20: z[p] = x[p]
        z[3] = 0.0
        for p < 2, h < 10: a[10*p + h] = z[p + 2*h] * y[h]
        for p < 10, g < 2: z[2*p + g] = a[p + 10*g]
        """,
    "what is read is added to": """
        for p < 20: z[p] = x[p]
        for p < 2, h < 10: a[10*p + h] = z[p + 2*h] * y[h]
        for p < 10, g < 2: z[2*p + g] += a[p + 10*g]
        """,
}


@pytest.mark.parametrize("name", STAYS)
def test_other_values_stay(name):
    assert_stays(reorder, STAYS[name])


def test_small_values_stay(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 21)
    assert_stays(reorder, MADE + READ)


def test_long_values_stay(monkeypatch):
    monkeypatch.setattr(module, "MOST", 5)
    assert_stays(reorder, MADE + READ)


def butterflies(x, w):
    y = x * 1.0
    for i in range(3):
        done, left = 2**i, 2 ** (2 - i)
        permuted = np.transpose(np.reshape(y, (done, 2, left)), axes=(1, 0, 2))
        twisted = np.reshape(permuted, (8,)) * np.reshape(np.repeat(w[i, :, :done], left, axis=1), (8,))
        y[:] = np.reshape(w[3, :, :2] @ np.reshape(twisted, (2, 4)), (8,))
    return y


@pytest.mark.parametrize("least", [4, 8])
def test_passes_of_a_transform(monkeypatch, least, rng):
    monkeypatch.setattr(module, "LEAST", least)
    check_function(butterflies, (rng.normal(size=8) + 1j * rng.normal(size=8), rng.normal(size=(4, 2, 4)) + 0j))
