"""Bounds and conditions that the writer computes apart: read back in their place, or left if they may have changed."""

from dataclasses import replace

import pytest

from sdfgad.ir.text import program_text
from sdfgad.sdfg.reader import read
from sdfgad.sdfg.substitution import substituted
from sdfgad.sdfg.writer import write
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import sample


def body_text(program):
    return program_text(replace(program, buffers={}, inputs=(), outputs={}))


@pytest.mark.parametrize(
    "text",
    [
        "loop f < floor_divide(n + 3, 4):\n    z[f] = x[f]\n    w[f] = z[f]",
        "loop f < n:\n    loop g < minimum(n, f + 2):\n        z[g] += x[f]",
        "loop f < n:\n    for p < absolute(n - f): z[p] = x[p] * y[f]",
        "loop f < 4:\n    loop parallel g < floor_divide(f, 2):\n        t[g] = x[g]\n        z[g] = t[g] * y[f]",
        "k = 7\nloop f < minimum(k, n):\n    z[f] = x[f]\n    w[f] = y[f]",
    ],
    ids=["loop", "inner loop", "box", "parallel", "data"],
)
def test_bounds_come_back(text):
    program, arrays, _ = sample(text, n=5)
    again = read(write(program))
    assert "value" not in program_text(again)
    assert_same(outputs(again, arrays, {"n": 5}), outputs(program, arrays, {"n": 5}), text)


CASES = {
    "loop": ("k = minimum(n, 4)\nloop f < k:\n    z[f] = x[f]", "loop f < minimum(n, 4):\n    z[f] = x[f]"),
    "box": ("k = minimum(n, 4)\nfor p < k: z[p] = x[p]", "for p < minimum(n, 4): z[p] = x[p]"),
    "branch": ("k = minimum(n, 4)\nif k > 2:\n    z[0] = x[0]", "if (minimum(n, 4) > 2):\n    z[0] = x[0]"),
    "two uses": (
        "k = minimum(n, 4)\nloop f < k:\n    z[f] = x[f]\nloop g < k:\n    w[g] = x[g]",
        "loop f < minimum(n, 4):\n    z[f] = x[f]\nloop g < minimum(n, 4):\n    w[g] = x[g]",
    ),
    "assigned twice": (
        "k = minimum(n, 4)\nloop f < k:\n    z[f] = x[f]\nk = minimum(n, 2)\nloop g < k:\n    w[g] = x[g]",
        "loop f < minimum(n, 4):\n    z[f] = x[f]\nloop g < minimum(n, 2):\n    w[g] = x[g]",
    ),
}
# The bound's value may have changed, or is needed where it is not known what has happened since.
LEFT = {
    "what it reads has changed": "m = 3\nk = minimum(m, 4)\nm = 1\nloop f < k:\n    z[f] = x[f]",
    "in a body": "k = minimum(n, 4)\nloop f < n:\n    for p < k: z[p] = x[f]",
    "it is only added to": "k = 2\nk += n\nloop f < k:\n    z[f] = x[f]",
    "changed by a branch": "k = 2\nif n > 3:\n    k = 1\nloop f < k:\n    z[f] = x[f]",
    "open": "k = 3\nloop f < k (still):\n    if x[f] > 100.0:\n        k = 5\n    z[f] = x[f]",
    "a bound computed from itself": "k = 2\nk = k * 3\nloop f < k:\n    z[f] = x[f]",
    "the statement changes it": "i[0] = n\nk = i[0]\nfor p < k: i[p] = 2\nfor p < 20: z[p] = x[i[p]]",
}


@pytest.mark.parametrize("name", CASES)
def test_scalars_give_way_to_their_values(name):
    program, arrays, _ = sample(CASES[name][0], n=5)
    again = program.with_body(substituted(program.body, {"k"}))
    assert body_text(again).strip() == CASES[name][1]
    assert_same(outputs(again, arrays, {"n": 5}), outputs(program, arrays, {"n": 5}), name)


@pytest.mark.parametrize("name", LEFT)
def test_scalars_whose_values_may_have_changed_stay(name):
    program, arrays, _ = sample(LEFT[name], n=5)
    again = program.with_body(substituted(program.body, {"k"}))
    assert body_text(again) == body_text(program)
    assert_same(outputs(again, arrays, {"n": 5}), outputs(program, arrays, {"n": 5}), name)
