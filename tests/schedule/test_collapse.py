"""Parallel loops that go along memory together are one loop."""

import numpy as np
import pytest

from sdfgad.ir.program import Loop
from sdfgad.schedule.collapse import collapsed
from tests.helpers_compiled import run_packed
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of

SHAPES = {"x": (7, 5), "y": (7, 5), "z": (7, 5), "w": (7, 6), "r": (5,), "q": (7, 5), "d": (3, 7, 5)}


def nest(body, inner="loop parallel j < 5:", outer="loop parallel i < 7:"):
    lines = [outer, f"    {inner}", *(f"        {line}" for line in body)]
    inputs, outputs = ([name for name in names if f"{name}[" in "".join(body)] for names in ("xywrd", "zq"))
    return program_of("\n".join(lines), {name: SHAPES[name] for name in [*inputs, *outputs]}, inputs, outputs)


def is_one(program):
    (loop,) = program.body
    made = collapsed(loop, program.buffers)
    return not any(isinstance(s, Loop) for s in made.body)


ALONG = {
    "element by element": ["z[i, j] = x[i, j] * y[i, j] + r[2]"],
    "several": ["z[i, j] = x[i, j] * 2.0", "q[i, j] = z[i, j] + d[1, i, j]"],
    "a choice": ["z[i, j] = select(x[i, j] > 0.0, y[i, j], 0.0)"],
}
ACROSS = {
    "transposed": ["z[i, j] = x[j, i]"],
    "a row for all": ["z[i, j] = x[i, j] * r[j]"],
    "longer rows": ["z[i, j] = x[i, j] * w[i, j]"],
    "a counter as a number": ["z[i, j] = x[i, j] * (i + 1)"],
    "the other way": ["z[i, 4 - j] = x[i, j]"],
}


@pytest.mark.parametrize("body", ALONG.values(), ids=ALONG)
def test_one_loop(body):
    assert is_one(nest(body))


@pytest.mark.parametrize("body", ACROSS.values(), ids=ACROSS)
def test_two_loops(body):
    assert not is_one(nest(body))


def test_part_of_the_rows_and_loops_in_order():
    body = ALONG["element by element"]
    assert not is_one(nest(body, "loop parallel j < 4:"))
    assert not is_one(nest(body, "loop j < 5:"))
    assert not is_one(nest(body, outer="loop i < 7:"))
    assert is_one(nest(body, outer="loop parallel i < 6:"))


def test_three_loops():
    text = """
loop parallel i < 7:
    loop parallel j < 5:
        loop parallel k < 4:
            v[i, j, k] = u[i, j, k] * 2.0
"""
    program = program_of(text, {"u": (7, 5, 4), "v": (7, 5, 4)}, ("u",), ("v",))
    assert collapsed(program.body[0], program.buffers).trips.const == 7 * 5 * 4


def test_compiled_results():
    bodies = [*ALONG.values(), *(body for name, body in ACROSS.items() if name != "transposed")]
    rng, cases = np.random.default_rng(0), []
    for body in bodies:
        program = nest(body)
        cases.append((program, {name: rng.normal(size=SHAPES[name]) for name in program.inputs}, {}))
    for (program, arrays, _), found in zip(cases, run_packed(cases), strict=True):
        assert_same(found, outputs(program, arrays), "compiled")
