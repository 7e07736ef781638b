"""Programs that measure how long they take, and print it; what computes with such times is refused."""

import time
from time import perf_counter

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import OutputError, UnsupportedProgram
from tests.helpers import line_of

X = np.array([0.5, 1.0, 2.0])


def timed(x):
    start, total = time.time(), 0.0
    for i in range(4):
        begin = perf_counter()
        x = np.sin(x) * 1.1
        total += perf_counter() - begin
        if i == 3:
            print(f"step {i}: {time.time() - start:.2f}", "%d took %.2f s" % (i, total))  # noqa: UP031
    elapsed = round(1e3 * (time.time() - start), 2)
    print("{:.2f} ms".format(elapsed), str(elapsed))  # noqa: UP032
    shares = [0.0] * 3
    for k in range(3):
        shares[k] = np.sum(x[k:])
    # A number of NumPy's makes arrays of lists.
    shares = shares / np.sum(shares)
    return np.sum(shares**2 * ([1.0, 2.0, 3.0] - x[0])), elapsed


def counted(x):
    start = time.time()
    return np.sum(x) * (time.time() - start)


def waiting(x):
    start = time.monotonic()
    while time.monotonic() - start < 1.0:
        x = x * 2.0
    return np.sum(x)


def decided_by_time(x):
    start = time.time()
    return np.sum(x) if time.time() - start else x[0]


def repeated(x):
    shares = [0.0] * 3
    shares[0] = np.sum(x)
    return shares * np.sum(x)


@pytest.mark.filterwarnings("ignore:print is ignored")
def test_times_that_are_printed_or_returned_beside_the_result():
    g = sdfgad.differentiate(timed, wrt="x", output="return[0]")
    value, gradient = g.value_and_grad(X)
    assert np.isclose(value, timed(X)[0], rtol=1e-13)
    step = 1e-6
    differences = [(timed(X + step * e)[0] - timed(X - step * e)[0]) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-7)


@pytest.mark.parametrize(
    ("program", "message", "line"),
    [
        (counted, "return is a time that a clock tells, not an array or number", "return np.sum(x) * (time"),
        (waiting, "a time that a clock tells is compared: it differs from run to run", "while time.monotonic()"),
        (
            decided_by_time,
            "a time that a clock tells is a condition: it differs from run to run",
            "return np.sum(x) if time",
        ),
        (repeated, "a list is not a number or an array", "return shares * np.sum(x)"),
    ],
)
def test_what_depends_on_a_time_is_refused(program, message, line):
    with pytest.raises((UnsupportedProgram, OutputError), match=message) as caught:
        sdfgad.differentiate(program)(X)
    assert line_of(program, line) in str(caught.value)
