"""Loops that keep a step or drop it, and what is updated in place after them."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram, UpdateOfCopy
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

HEAD = """
import numpy as np

def step(y, h):
    return y + h * np.sin(y)

class Run:
    last = None

def program(x, T):
    t, h, log = 0.0, 0.4, []
    run = Run()
    {before}
    while t < T:
        {first}
        yn = step(y, h)
        error = np.max(np.abs(step(step(y, h / 2), h / 2) - yn))
        if error < 0.02:
            {kept}
            t += h
        h *= 0.8
    {after}
    return {result}
"""
PLAIN = {
    "before": "y = x.copy()",
    "first": "pass",
    "kept": "y = yn",
    "after": "y[0] += 1.0",
    "result": "y * np.sum(y)",
}
UNDERSTOOD = {
    "updated after it": {},
    "a computed start": {"before": "y = x * 2.0"},
    "copied after it": {"before": "y = x", "after": "y = y.copy()\n    y[0] += 1.0"},
    "copied in each trip": {"first": "y = y.copy()\n        y[0] += 0.1"},
    "updated twice": {"after": "y[0] += 1.0\n    y *= y[1]"},
    "updated by a view": {"after": "v = y[1:]\n    v *= T"},
    "updated in each trip": {"first": "y[0] += 0.1"},
    "another value of the step is used": {
        "kept": "y, e = yn, np.sum(yn)",
        "before": "y, e = x.copy(), 0.0",
        "result": "y * e",
    },
    "a view of what is not read again": {"before": "Y = x * np.ones((2, 3))\n    y = Y[0]"},
}
REFUSED = {
    "the step is read after it": {"before": "y = yn = x * 2.0", "result": "y * np.sum(yn)"},
    "two names": {"before": "y = z = x * 1.0", "kept": "z = y = yn", "result": "y * np.sum(z)"},
    "a view of what is read again": {"before": "Y = x * np.ones((2, 3))\n    y = Y[0]", "result": "y * np.sum(Y)"},
    "a function reads the step": {"before": "y = yn = x * 2.0\n    f = lambda: np.sum(yn)", "result": "y * f()"},
    "an object holds the step": {
        "before": "y = run.last = x * 1.0",
        "first": "run.last = y",
        "result": "y * np.sum(run.last)",
    },
    "a tuple holds it twice": {
        "before": "y = x * 1.0\n    both = (y, y)",
        "kept": "y = yn\n            both = (yn, yn)",
        "after": "u, v = both\n    u[0] += 1.0",
        "result": "u * np.sum(v)",
    },
    "the argument": {"before": "y = x"},
}


def program_of(tmp_path, **changes):
    return module_from(HEAD.format(**(PLAIN | changes)), tmp_path).program


def arguments():
    return np.array([0.3, 0.8, 0.5]), 1.0


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_updates_after_a_loop_are_those_of_numpy(name, tmp_path):
    program = program_of(tmp_path, **UNDERSTOOD[name])
    assert_value_and_slope(program, *arguments())


@pytest.mark.parametrize("name", REFUSED)
def test_an_array_that_others_hold_is_not_updated(name, tmp_path):
    with pytest.raises(
        UnsupportedProgram, match=r"chosen or re-bound at run time is updated in place|re-bound|changed"
    ):
        parsed(program_of(tmp_path, **REFUSED[name]), *arguments())


def test_the_message_says_what_to_write(tmp_path):
    message = (
        r"updated in place through this name and may be that of .*`x` \(an argument\)\n"
        r".*y\[0\] \+= 1\.0\n.*`y = y\.copy\(\)` before it"
    )
    with pytest.raises(UpdateOfCopy, match=message):
        parsed(program_of(tmp_path, before="y = x"), *arguments())


def test_a_compiled_gradient(tmp_path):
    program = program_of(tmp_path, result="np.sum(y) * y[0]")
    sdfgad.check_grads(program, *arguments())
    assert sdfgad.differentiate(program, wrt="x").value(*arguments()) == pytest.approx(program(*arguments()), rel=1e-12)
