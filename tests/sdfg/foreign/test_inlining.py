"""Temporaries that give way to their values, and those that must not."""

import pytest

from sdfgad.ir.text import program_text
from sdfgad.sdfg.foreign.inlining import inlined
from tests.helpers_text import sample

KEPT = {
    "read twice": "for p < 20: t[p] = x[p] * 2.0\nfor p < 20: z[p] = t[p]\nfor p < 20: w[p] = t[p]",
    "read at two places": "for p < 20: t[p] = x[p] * 2.0\nfor p < 19: z[p] = t[p] + t[p + 1]",
    "needed more than once": "for p < 20: t[p] = x[p] * 2.0\nfor p < 20, c < 6: Z[p, c] = t[p]",
    "operands that change": "for p < 20: t[p] = w[p] * 2.0\nfor p < 20: w[p] = 1.0\nfor p < 20: z[p] = t[p]",
    "points that would meet": "for p < 19: t[p] = z[p + 1]\nfor p < 19: z[p] = t[p]",
    "sums": "for p < 20: t[p] = 0.0\nfor p < 20, c < 6: t[p] += X[p, c]\nfor p < 20: z[p] = t[p]",
    "in a loop": "for p < 20: t[p] = x[p]\nloop f < 3:\n    for p < 20: z[p] += t[p]",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays(name):
    program, _, _ = sample(KEPT[name])
    assert inlined(program.body, {"t"}) == program.body


def text_after(text):
    program, _, _ = sample(text)
    return program_text(program.with_body(inlined(program.body, {"t", "k"})))


def test_a_value_in_place_of_its_name():
    assert text_after("for p < 18: t[p + 1] = x[p] * 2.0\nfor c < 18: z[c] = t[c + 1] + y[c]") == (
        "for c < 18: z[c] = ((x[c] * 2.0) + y[c])"
    )


def test_sums_of_values():
    assert text_after("for p < 20: t[p] = x[p] * 2.0\nq = 0.0\nfor c < 20: q += t[c]") == (
        "q = 0.0\nfor c < 20: q += (x[c] * 2.0)"
    )


def test_updates_at_the_same_element():
    assert text_after("for p < 20: t[p] = z[p] * 2.0\nfor c < 20: z[c] = t[c]") == "for c < 20: z[c] = (z[c] * 2.0)"
