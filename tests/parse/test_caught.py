"""What a branch on data raises goes to the handler of the `try` around it, where the program says which one that is."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises
from tests.helpers_ir import assert_value_and_slope

POINTS = [np.array(x) for x in ([0.3, 0.6, 0.2, 0.9], [1.2, 2.0, 0.1, 0.4], [0.2, 4.0, 1.3, 0.2])]


def with_a_return(x):
    try:
        s = np.exp(x[0])
        if s > 2.0:
            raise OverflowError("use the other formula")
        return s * x[1]
    except OverflowError:
        pass
    return x[0] * x[1] ** 3


def out_of_loops(x):
    total = 0.0
    for k in range(4):
        try:
            y = x[k] * 2.0
            for _ in range(3):
                y = y * y
                if y > 5.0:
                    raise ValueError
            z = y + 1.0
        except (ValueError, KeyError):
            z = -x[k]
            if x[k] > 3.0:
                break
        else:
            z = z * 3.0
        total += z
    return total


def with_continue(x):
    total = 0.0
    for k in range(4):
        try:
            if x[k] > 1.0:
                raise ArithmeticError()
            total += x[k] ** 2
        except Exception:
            continue
        total += 1.0
    return total


def both(x):
    """What is certain while parsing goes to the same handler."""
    try:
        if x[0] > 1.0:
            raise KeyError
        y = {"a": x[1]}["b"]
    except KeyError:
        y = x[2] ** 2
    return y


@pytest.mark.parametrize("program", [with_a_return, out_of_loops, with_continue, both])
def test_like_python(program):
    for x in POINTS:
        assert_value_and_slope(program, x)


def test_in_compiled_code():
    g = sdfgad.value_and_grad(out_of_loops)
    for x in POINTS:
        value, gradient = g(x)
        ends = [(out_of_loops(x + 1e-6 * e) - out_of_loops(x - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
        np.testing.assert_allclose(value, out_of_loops(x), rtol=1e-13)
        np.testing.assert_allclose(gradient, ends, rtol=1e-6)


def leaves(x):
    try:
        if x[0] > 1.0:
            raise SystemExit
        y = x[1]
    except Exception:
        y = x[2]
    return y


class Stop(BaseException):
    """What leaves a program past its handlers of exceptions."""


def stops(x):
    try:
        if x[0] > 1.0:
            raise Stop
        y = x[1]
    except Exception:
        y = x[2]
    return y


@pytest.mark.parametrize(("program", "what"), [(leaves, "SystemExit"), (stops, "Stop")])
def test_what_an_exception_handler_does_not_catch(program, what):
    g = sdfgad.value_and_grad(program)
    assert g(POINTS[0])[0] == POINTS[0][1]
    with pytest.raises(ProgramRaises, match=what):
        g(POINTS[1])


def checked(x):
    try:
        if (np.asarray(x) < 0).any():
            raise ValueError("negative")
    except NameError:
        if x < 0:
            raise ValueError("negative") from None
    return np.sum(x * x)


def test_another_handler_leaves_it_an_error():
    g = sdfgad.value_and_grad(checked)
    np.testing.assert_allclose(g(POINTS[0])[1], 2 * POINTS[0])
    with pytest.raises(ProgramRaises, match="negative"):
        g(-POINTS[0])


def raised_again(x):
    total = 0.0
    for k in range(4):
        try:
            if x[k] > 3.0:
                raise ValueError
            total += x[k] * 2.0
        except ValueError:
            total = 0.0
            raise
    return total


def test_a_handler_that_raises_it_again():
    g = sdfgad.value_and_grad(raised_again)
    np.testing.assert_array_equal(g(POINTS[0])[1], np.full(4, 2.0))
    with pytest.raises(ProgramRaises, match="ValueError"):
        g(POINTS[2])
