"""``x.flat``, and lists in a dict chosen by a counter."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

RNG = np.random.default_rng(48)
X, U = RNG.random((4, 6)), RNG.random(6)


def of_any_layout(x, u, s):
    y = x.copy()
    z = y[:, ::-2].T
    z.flat[3] = s
    z.flat[::4] *= 2
    z.flat[[0, 2]] += u[:2]
    part = z.flat[1:4]
    part += 100
    total = sum(v * i for i, v in enumerate(y.flat))
    for v in z.flat:
        total = total * 0.9 + v**2
    return total + np.sum(y**2) + y.flat[-1] + np.sum(y.flat[y.ravel() > 0.5])


def with_a_diagonal(x, u, s):
    A = x @ x.T
    A.flat[:: A.shape[0] + 1] += s
    return np.linalg.slogdet(A)[1] + np.linalg.inv(A)[0, 0] * u[0]


def odd_and_even(x, u, s):
    found = {"odd": [], "even": []}
    for t in range(12):
        u = np.tanh(u * s + x[t % 4])
        found["odd" if t % 2 else "even"].append(u)
    return np.sum(np.stack(found["odd"]) * 2) + np.sum(np.array(found["even"][1:]) ** 2)


@pytest.mark.parametrize("program", [of_any_layout, with_a_diagonal, odd_and_even])
def test_values_and_slopes(program):
    assert_value_and_slope(program, X, U, 0.7)


def test_gradients_of_compiled_code():
    sdfgad.check_grads(of_any_layout, X, U, 0.7)


def chosen_by_data(x, u, s):
    found = {"low": [], "high": []}
    found["high" if s > 0.5 else "low"].append(u)
    return np.sum(x) + sum(np.sum(v**2) for v in found["high"]) - sum(np.sum(v) for v in found["low"])


@pytest.mark.parametrize("s", [0.3, 0.7])
def test_a_key_that_data_chooses(s):
    assert_value_and_slope(chosen_by_data, X, U, s)
