"""Loops and branches: gradients against JAX, whatever the start, stop, step, sign and number of trips."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from sdfgad.parse import parse as parsing
from tests.helpers import assert_gradient, module_from
from tests.helpers_ir import assert_value_and_slope, parsed


def steps_up(x, s):
    for i in range(0, 11, 3):
        x[i] = x[i] * x[i] * s
    return x[2] + np.sum(x)


def steps_up_jax(x, s):
    for i in range(0, 11, 3):
        x = x.at[i].set(x[i] * x[i] * s)
    return x[2] + jnp.sum(x)


def steps_down(x, s):
    for i in range(7, -1, -2):
        x[i] = np.sin(x[i + 1]) * x[i] + s
    return np.sum(x * x)


def steps_down_jax(x, s):
    for i in range(7, -1, -2):
        x = x.at[i].set(jnp.sin(x[i + 1]) * x[i] + s)
    return jnp.sum(x * x)


def branch_on_index(x, s):
    for i in range(8):
        if i > 3:
            s = s * x[i]
        elif i == 2:
            x[i + 1] = x[i] * x[i]
        else:
            s = s + x[i] * x[i]
    return s


def branch_on_index_jax(x, s):
    for i in range(8):
        if i > 3:
            s = s * x[i]
        elif i == 2:
            x = x.at[i + 1].set(x[i] * x[i])
        else:
            s = s + x[i] * x[i]
    return s


def branch_on_data(x, s):
    for i in range(1, 9):
        if s > 1.0:
            s = s * 0.5 * x[i]
        else:
            s = s * s + x[i] * x[i] + 0.6
        x[i - 1] = s * x[i]
    return s + np.sum(x)


def branch_on_data_jax(x, s):
    for i in range(1, 9):
        s = jnp.where(s > 1.0, s * 0.5 * x[i], s * s + x[i] * x[i] + 0.6)
        x = x.at[i - 1].set(s * x[i])
    return s + jnp.sum(x)


def branch_on_element(x, s):
    for i in range(1, 9):
        if x[0] > 1.0:
            x[0] = x[0] * 0.3 + x[i]
        else:
            x[0] = x[0] * x[0] + x[i] * s + 0.7
    return x[0] * x[0]


def branch_on_element_jax(x, s):
    for i in range(1, 9):
        x = x.at[0].set(jnp.where(x[0] > 1.0, x[0] * 0.3 + x[i], x[0] * x[0] + x[i] * s + 0.7))
    return x[0] * x[0]


def overwritten_input(x, s):
    y = x * x
    x[:] = np.sin(x) * s
    z = x * y
    x[2:5] = 0.0
    return np.sum(z * z) + np.sum(x * y)


def overwritten_input_jax(x, s):
    y = x * x
    x = jnp.sin(x) * s
    z = x * y
    x = x.at[2:5].set(0.0)
    return jnp.sum(z * z) + jnp.sum(x * y)


def squared(x, s):
    return np.sum(x * x) * (s * s)


def squared_jax(x, s):
    return jnp.sum(x * x) * (s * s)


def triangular(x, s):
    for i in range(9):
        for j in range(i):
            x[i] -= s * x[j] * x[i]
        x[i] /= 1.5 + x[i] * x[i]
        for j in range(8, i, -1):
            s += x[j] * x[i]
    return s * x[8]


def triangular_jax(x, s):
    for i in range(9):
        for j in range(i):
            x = x.at[i].add(-s * x[j] * x[i])
        x = x.at[i].divide(1.5 + x[i] * x[i])
        for j in range(8, i, -1):
            s = s + x[j] * x[i]
    return s * x[8]


def zero_trips(x, s):
    for i in range(5, 2):
        x[i] = s
    for i in range(2, 5, -1):
        s = s * x[i]
    for i in range(0):
        s = s + i
    return s * x[0]


def zero_trips_jax(x, s):
    return s * x[0]


def carried_pair(x, s):
    a, b = x[0], s
    for i in range(1, 9):
        a, b = b * x[i], a + np.cos(b)
    return a * b


def carried_pair_jax(x, s):
    a, b = x[0], s
    for i in range(1, 9):
        a, b = b * x[i], a + jnp.cos(b)
    return a * b


def over_array(x, s):
    total = 0.0
    for v in x:
        total = total * s + v * v
    return total


def over_array_jax(x, s):
    total = 0.0
    for v in x:
        total = total * s + v * v
    return total


def over_tuples(x, s):
    total = s
    for k, weight in ((2, 2.0), (0, 3.0), (4, s)):
        total = total * weight + x[k + 1] * x[k]
    return total


def over_tuples_jax(x, s):
    total = s
    for k, weight in ((2, 2.0), (0, 3.0), (4, s)):
        total = total * weight + x[k + 1] * x[k]
    return total


def rebound_array(x, s):
    y = x
    for i in range(4):
        y = np.tanh(y * s) + x[i]
    return np.sum(y * x)


def rebound_array_jax(x, s):
    y = x
    for i in range(4):
        y = jnp.tanh(y * s) + x[i]
    return jnp.sum(y * x)


def nested_branches(x, s):
    for i in range(3):
        for j in range(9):
            if j % 2 == i % 2 and j != 4:
                if x[j] > 0.5:
                    x[j] = x[j] * s
            else:
                x[j] += x[j] * x[8 - j]
    return np.sum(x)


def nested_branches_jax(x, s):
    for i in range(3):
        for j in range(9):
            if j % 2 == i % 2 and j != 4:
                x = x.at[j].set(jnp.where(x[j] > 0.5, x[j] * s, x[j]))
            else:
                x = x.at[j].add(x[j] * x[8 - j])
    return jnp.sum(x)


def last_index(x, s):
    for i in range(1, 8, 2):
        t = x[i] * s
    return t * x[i]


def last_index_jax(x, s):
    return x[7] * s * x[7]


CASES = [
    (steps_up, steps_up_jax, 11),
    (steps_down, steps_down_jax, 9),
    (branch_on_index, branch_on_index_jax, 8),
    (branch_on_data, branch_on_data_jax, 9),
    (branch_on_element, branch_on_element_jax, 9),
    (overwritten_input, overwritten_input_jax, 7),
    (squared, squared_jax, 5),
    (triangular, triangular_jax, 9),
    (zero_trips, zero_trips_jax, 6),
    (carried_pair, carried_pair_jax, 9),
    (over_array, over_array_jax, 6),
    (over_tuples, over_tuples_jax, 6),
    (rebound_array, rebound_array_jax, 6),
    (nested_branches, nested_branches_jax, 9),
    (last_index, last_index_jax, 9),
]


@pytest.mark.parametrize(("program", "reference", "size"), CASES, ids=[case[0].__name__ for case in CASES])
def test_gradient(rng, program, reference, size):
    assert_gradient(program, reference, rng.uniform(0.2, 1.2, size), 0.8)


def branch_on_argument(x, n, flag, s):
    if n > 3:
        x = x * x
    if flag:
        x = np.sin(x)
    if s > 0.5:
        y = x * s
    else:
        y = x * s * s
    return np.sum(y)


def branch_on_argument_jax(x, n, flag, s):
    x = x * x if n > 3 else x
    x = jnp.sin(x) if flag else x
    return jnp.sum(jnp.where(s > 0.5, x * s, x * s * s))


@pytest.mark.parametrize(("n", "flag", "s"), [(5, True, 0.2), (3, False, 0.7), (4, False, 0.3)])
def test_branch_on_arguments(rng, n, flag, s):
    assert_gradient(branch_on_argument, branch_on_argument_jax, rng.uniform(0, 1, 4), n, flag, s)


# --- many branches in a row


def branches_in_a_row(count, folder):
    parts = (
        f"    if x[{i % 8}] > 0.{i % 10}:\n        s = s + x[{i % 5}]\n    a[{i % 8}] = s * s" for i in range(count)
    )
    head = "import numpy as np\ndef program(x):\n    s = 0.0\n    a = np.zeros(8)\n"
    return module_from(head + "\n".join(parts) + "\n    return s + a[3]\n", folder).program


def test_branches_in_a_row(tmp_path, rng):
    assert_value_and_slope(branches_in_a_row(250, tmp_path), rng.uniform(0.0, 1.0, 8))


def test_too_many_branches_in_a_row_are_refused(tmp_path, monkeypatch, rng):
    before = sys.getrecursionlimit()
    monkeypatch.setattr(parsing, "DEEPEST", 0)
    sys.setrecursionlimit(1000)
    try:
        with pytest.raises(UnsupportedProgram, match="too many branches on data follow each other") as refused:
            parsed(branches_in_a_row(250, tmp_path), rng.uniform(0.0, 1.0, 8))
    finally:
        sys.setrecursionlimit(before)
    assert refused.value.where.text.startswith(("if x[", "s = s +", "a["))
