"""scipy.linalg.lapack.dgtsv, and the integrators of scipy.integrate that are refused."""

import numpy as np
import pytest
from scipy import integrate
from scipy.linalg import lapack

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import assert_close
from tests.helpers_ir import parsed

LOW, MAIN, HIGH = np.array([0.3, -0.4, 0.2]), np.array([2.0, 2.5, -2.2, 1.9]), np.array([0.5, 0.1, -0.3])


@pytest.mark.parametrize("rows", [(4,), (4, 2)])
def test_dgtsv(rows):
    right = np.linspace(0.5, 2.0, int(np.prod(rows))).reshape(rows)

    def program(low, main, high, right):
        _, _, _, x, info = lapack.dgtsv(low, main, high, right)
        return np.sum(x**2) + info

    g = sdfgad.differentiate(program, wrt=("low", "main", "high", "right"))
    arguments = [LOW, MAIN, HIGH, right]
    value, gradients = g.value_and_grad(*arguments)
    assert_close(value, program(*arguments))
    for k, found in enumerate(gradients):
        for index in np.ndindex(arguments[k].shape):
            ends = []
            for h in (1e-6, -1e-6):
                moved = [argument.copy() for argument in arguments]
                moved[k][index] += h
                ends.append(program(*moved))
            assert_close(found[index], (ends[0] - ends[1]) / 2e-6, 1e-6)


def by_ode(y, times):
    return np.sum(integrate.ode(lambda t, y: -y).set_initial_value(y).integrate(1.0))


def by_quad(y, times):
    return integrate.dblquad(lambda s, t: s * t, 0.0, 1.0, 0.0, 1.0)[0] * np.sum(y)


@pytest.mark.parametrize("program", [by_ode, by_quad])
def test_integrators_are_refused(program):
    with pytest.raises(UnsupportedProgram, match="is not supported") as caught:
        parsed(program, np.ones(2), np.linspace(0.0, 1.0, 3))
    assert caught.value.where.text.startswith("return")
    assert caught.value.todo.startswith(("Call scipy.integrate.solve_ivp", "Write scipy.integrate.simpson"))
