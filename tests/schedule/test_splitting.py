"""Loops whose indices wrap around run in parts in which they do not."""

import numpy as np

from sdfgad.schedule.splitting import split, split_points
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of

SHAPES = {"x": (20,), "y": (20,), "z": (20,), "s": ()}


def loop_of(line, head="loop parallel i < 20:"):
    program = program_of(f"{head}\n    {line}", SHAPES, ["x", "y"], ["z"])
    return program, program.body[0]


def compare(program, parts):
    arrays = {name: np.random.default_rng(0).random(20) for name in ("x", "y")}
    assert_same(outputs(program.with_body(tuple(parts)), arrays), outputs(program, arrays), "in parts")


def ends(parts):
    return [(part.start.const, part.start.const + part.trips.const) for part in parts]


def test_a_loop_in_parts():
    program, loop = loop_of("z[i] = x[remainder(i + 3, 20)] - x[remainder(i + 19, 20)]")
    parts = split(loop)
    assert ends(parts) == [(0, 1), (1, 17), (17, 20)]
    assert "remainder" not in "".join(map(str, parts))
    compare(program, parts)


def test_loops_that_stay_whole():
    for line in ("z[i] = x[i]", "z[i] = x[remainder(7*i, 20)]", "z[i] = x[remainder(i, 2)]"):
        _, loop = loop_of(line)
        assert split(loop) == [loop]
    _, loop = loop_of("z[i] = x[remainder(i + 3, 20)]", "loop i < 20:")
    assert split(loop) == [loop]


def test_a_statement_in_parts():
    for text in ("for p < 20: z[p] = x[remainder(p + 3, 20)] * y[p]", "for p < 20: s = sum of x[remainder(p + 3, 20)]"):
        program = program_of(text, SHAPES, ["x", "y"], ["z" if "z" in text else "s"])
        parts = split_points(program.body[0], "p")
        assert len(parts) == 2
        assert "remainder" not in "".join(map(str, parts))
        compare(program, parts)
