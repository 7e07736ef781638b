"""Storage of strips by thread: which arrays it is for, and that nothing else is computed."""

import numpy as np
import pytest

import sdfgad
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_sdfg, source_of_optimised
from sdfgad.sdfg.sealed import SealedOutline, sealed_in, write_sealed
from sdfgad.targets.cpu.nests import nest_of
from sdfgad.targets.cpu.strip_slots import strips_of
from tests.helpers import with_target
from tests.helpers_compiled import threads
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of

# Eight strips of 80 lanes: a forward sweep with a tape, and a reverse sweep that reads it.
SWEEPS = """
loop parallel s < 8:
    for p < 80: x[p + 80*s] = given[p + 80*s]
    loop t < 5:
        for p < 80: tape[t, p + 80*s] = x[p + 80*s]
        for p < 80: x[p + 80*s] = sin(x[p + 80*s])
    for p < 80: bar[p + 80*s] = 1.0
    loop backwards t < 5:
        loop parallel f < 10:
            for p < 8: bar[p + 8*f + 80*s] = bar[p + 8*f + 80*s] * cos(tape[t, p + 8*f + 80*s])
    for p < 80: result[p + 80*s] = bar[p + 80*s]
"""
SHAPES = {"given": (640,), "x": (640,), "bar": (640,), "result": (640,), "tape": (5, 640)}


@pytest.fixture(autouse=True)
def a_little_work_is_worth_threads(monkeypatch):
    # And arrays of this size are no local variables.
    with_target(monkeypatch, parallel_work=4096, local_bytes=256)


def of_sweeps(text=SWEEPS):
    return program_of(text, SHAPES, ["given"], ["result"])


def strips(text, names=("x", "bar", "tape")):
    program = of_sweeps(text)
    return strips_of(program.body[0], names, program.buffers)


def test_what_is_touched_in_the_strips_of_trips():
    assert strips(SWEEPS) == {"x": (0, 80), "bar": (0, 80), "tape": (1, 80)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The neighbour's strip, at either end.
        ("cos(tape[t, p + 8*f + 80*s])", "cos(tape[t, p + 8*f + 80*s + 1])"),
        ("cos(tape[t, p + 8*f + 80*s])", "cos(tape[t, p + 8*f + 80*s - 1])"),
        ("loop parallel f < 10", "loop parallel f < 11"),
        # Other strides, and the same place in all trips.
        ("cos(tape[t, p + 8*f + 80*s])", "cos(tape[t, p + 8*f + 40*s])"),
        ("cos(tape[t, p + 8*f + 80*s])", "cos(tape[t, p])"),
        ("for p < 80: tape[t, p + 80*s]", "for p < 80: tape[s, p + 80*s]"),
        ("for p < 80: tape[t, p + 80*s]", "for p < 80: tape[t, 639 - p - 80*s]"),
    ],
)
def test_what_is_touched_elsewhere_has_no_slots(old, new):
    assert old in SWEEPS
    assert "tape" not in strips(SWEEPS.replace(old, new))


def code(text, alone):
    program = of_sweeps(text)
    return nest_of(program.body, "nest", program.buffers, program.buffers, alone=alone).code


def test_only_what_nothing_else_mentions_has_slots():
    text = code(SWEEPS, {"tape"})
    assert "b_tape_[(t) * 640 + (p + 80 * slot_)]" in text
    assert "b_x_[(p + 80 * s)]" in text
    assert "slot" not in code(SWEEPS, ())


def test_what_the_runs_of_a_loop_hand_on_has_no_slots():
    again = "loop again < 3:" + SWEEPS.replace("\n", "\n    ")
    assert "_part(" in code(again, {"tape", "x", "bar"})
    assert "slot" not in code(again, {"tape", "x", "bar"})


def test_what_other_statements_mention_is_not_alone():
    program = of_sweeps(SWEEPS + "for p < 640: result[p] += bar[p]\n")
    graph = write_sealed(program)
    first, second = SealedOutline(graph, sealed_in(graph.start_block)).pieces
    assert (first.alone, second.alone) == ({"x", "tape"}, frozenset())


@pytest.mark.parametrize("number", [1, 2, 3, 8, 20])
def test_slots_change_nothing(number):
    program = of_sweeps()
    assert "tape_[(t) * 640 + (p + 80 * slot_)]" in source_of_optimised(program).code
    x = np.random.default_rng(4).uniform(0, 1, 640)
    result = np.full(640, np.nan)
    with threads(number):
        Executable(compile_sdfg(write_sealed(program)))({"given": x, "result": result}, {})
    assert_same({"result": result}, outputs(program, {"given": x}), "in slots")


def path(z, spot, rate, volatility):
    s, total = np.full(z.shape[0], spot), np.zeros(z.shape[0])
    for k in range(z.shape[1]):
        s = s * np.exp(rate + volatility * z[:, k])
        total += np.where(s > 1.0, s * s, s)
    return np.mean(total)


@pytest.mark.parametrize("number", [1, 2, 100])
def test_gradients_of_paths(number):
    z = np.random.default_rng(7).normal(size=(6400, 5))
    with threads(number):
        value, (spot, rate, volatility) = sdfgad.value_and_grad(path, argnums=(1, 2, 3))(z, 0.9, 0.01, 0.2)
    step = 1e-6
    assert value == pytest.approx(path(z, 0.9, 0.01, 0.2), rel=1e-13)
    for k, found in enumerate((spot, rate, volatility)):
        up, down = [0.9, 0.01, 0.2], [0.9, 0.01, 0.2]
        up[k] += step
        down[k] -= step
        assert found == pytest.approx((path(z, *up) - path(z, *down)) / (2 * step), rel=1e-6)
