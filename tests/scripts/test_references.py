"""What the sweep compares with: differences that count, and those that roundings explain."""

import numpy as np
import pytest

import npbench_suite
from scripts.fuzzing.interpreter import TooLong, interpreted
from scripts.references import distance, wrong_gradient, wrong_value

ENTRY = npbench_suite.load("trmm")
ARGS = ENTRY.arguments_with({"M": 3, "N": 4})


def gradients():
    value, found = interpreted(ENTRY.program, ARGS, ENTRY.output, ENTRY.arrays, np.ones((3, 4)))
    return value, {name: found[name] for name in ENTRY.arrays}


def test_what_is_right_is_not_said_to_be_wrong():
    value, found = gradients()
    assert wrong_value(ENTRY, ARGS, value) == ""
    assert wrong_gradient(ENTRY, ARGS, np.ones((3, 4)), found) == ""


def test_what_is_wrong_is_said():
    value, found = gradients()
    assert wrong_value(ENTRY, ARGS, value + 1e-6).startswith("the value differs from NumPy's by ")
    found[ENTRY.arrays[0]] = found[ENTRY.arrays[0]] + 1e-4
    assert wrong_gradient(ENTRY, ARGS, np.ones((3, 4)), found).startswith("the gradient differs from the interpreter's")


def test_the_interpreter_gives_up():
    with pytest.raises(TooLong):
        interpreted(ENTRY.program, ARGS, ENTRY.output, ENTRY.arrays, np.ones((3, 4)), 10)


@pytest.mark.parametrize(
    ("found", "expected", "size"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([0.0, 1e-3], [0.0, 0.0], 1e-3),
        ([1e6], [1e6 + 2.0], 1e-6),
        ([np.nan, np.inf], [np.nan, np.inf], 0.0),
        ([np.nan], [1.0], np.inf),
        ([np.inf], [-np.inf], np.inf),
        ([1.0, 2.0], [1.0], np.inf),
        ([], [], 0.0),
    ],
)
def test_distances(found, expected, size):
    assert distance(np.array(found), np.array(expected)) == pytest.approx(size, rel=1e-3)
