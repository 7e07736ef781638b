"""Nests of long loops with plain arithmetic take the longest vectors."""

import pytest

from sdfgad.schedule.vector_width import is_wide
from sdfgad.targets.cpu.nests import nest_of
from tests.helpers_text import program_of

STENCIL = """
    loop t < 5:
        for p < 300: b[p + 1] = (a[p] + a[p + 1] + a[p + 2]) * 0.5
        loop parallel f < 300:
            a[f + 1] = -b[f] + b[f + 2]
        for p < 2: a[p] = 0.0
"""
OTHERS = {
    "a division": "for p < 300: b[p] = (a[p] + a[p + 1] + a[p + 2]) / c[p]",
    "a function": "for p < 300: b[p] = a[p] + a[p + 1] + a[p + 2] * exp(c[p])",
    "a sum": "for p < 300: s += (a[p] + a[p + 1]) * b[p] * c[p]",
    "a copy": "for p < 300: b[p] = a[p + 2]",
    "trips that are not many": "for p < 100: b[p] = (a[p] + a[p + 1] + a[p + 2]) * 0.5",
    "trips whose number is not known": "for p < n: b[p] = (a[p] + a[p + 1] + a[p + 2]) * 0.5",
    "whole numbers": "for p < 300: i[p] = (k[p] + k[p + 1]) * (k[p + 2] + k[p])",
}


def sample(text):
    shapes = dict.fromkeys("abcik", (302,)) | {"s": ()}
    return program_of(text, shapes, "ack", "bsi", {"n": 3}, dict.fromkeys("ik", "int64"))


def test_a_stencil_is_wide():
    program = sample(STENCIL)
    assert is_wide(program.body)
    nest = nest_of((program.body[0],), "nest", program.buffers, program.buffers)
    assert "SDFGAD_WIDE static void nest(" in nest.code


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_not(name):
    program = sample(OTHERS[name])
    assert not is_wide(program.body)
    if name != "a function":  # For that there is another reason.
        assert "SDFGAD_WIDE" not in nest_of((program.body[0],), "nest", program.buffers, program.buffers).code
