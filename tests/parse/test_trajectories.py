"""Lists that a loop fills and reads."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.array([1.0, 0.5, 0.25, 1.5])


def statements(program, *args):
    return len(str(parsed(program, *args).program.body))


def euler(x, n):
    u, t = [x[:2] * 1.0], [0.0]
    for _ in range(n):
        v = u[-1]
        w = np.empty(2)
        w[0] = v[1]
        w[1] = (1 - v[0] ** 2) * v[1] - v[0]
        u.append(v + 0.05 * w)
        t.append(t[-1] + 0.05)
    return np.sum(np.array(u) ** 2) + np.sum(np.array(t)) + len(u)


def verlet(x, n):
    xs = [x, x + 0.1 * x]
    for _ in range(n):
        xs.append(2 * xs[-1] - xs[-2] - 0.0025 * np.sin(xs[-1]))
    return np.sum(np.stack(xs) ** 2) + xs[5][0]


def history(x, n):
    h, y = [], x
    for k in range(n):
        y = np.tanh(y * 1.1) + 0.1
        h.append(np.sum(y * y))
        if len(h) > 2 and k % 2:
            y = y * (h[-1] / (h[-2] + 1.0)) + h[0] * 0.01
    return h[-1] + np.sum(y)


def recurrence(x, n):
    f, total = [x[0], x[0] * 1.5, 2.0 * x[0]], 0.0
    for i in range(3, n):
        f.append(f[i - 1] * 0.5 + f[i - 2] * 0.3 + f[i - 3] * 0.1)
        total += f[i] * len(f)
    return total + f[-1]


def element_by_element(x, n):
    T = [x * x]
    for _ in range(n):
        new = np.zeros_like(x)
        for i in range(1, len(x) - 1):
            new[i] = T[-1][i] + 0.1 * (T[-1][i + 1] - 2 * T[-1][i] + T[-1][i - 1])
        T.append(new)
    return np.sum(T[-1] ** 2) + np.sum(T[3])


class Simulation:
    def __init__(self, x):
        self.log = [x]

    def step(self, dt):
        self.log.append(self.log[-1] - dt * np.sin(self.log[-1]))


def of_an_object(x, n):
    simulation = Simulation(x * 1.0)
    for _ in range(n):
        simulation.step(0.1)
    return np.sum(simulation.log[-1] ** 2) + np.sum(simulation.log[4])


ROLLED = [euler, verlet, history, recurrence, element_by_element, of_an_object]


@pytest.mark.parametrize("program", ROLLED)
def test_the_loop_stays(program):
    # The sum over the items is written out in some: statements, not trips.
    assert statements(program, X, 80) < 1.7 * statements(program, X, 40)


def all_of_them(x, n):
    return euler(x, n) + verlet(x, n) + history(x, n) + recurrence(x, n) + element_by_element(x, n) + of_an_object(x, n)


def test_values_and_gradients():
    g = sdfgad.differentiate(all_of_them, wrt="x")
    assert g.value(X, 40) == pytest.approx(all_of_them(X, 40), rel=1e-12)
    sdfgad.check_grads(all_of_them, X, 40, wrt="x")
    limited = sdfgad.differentiate(all_of_them, wrt="x", memory_limit="20 KiB")
    np.testing.assert_allclose(limited(X, 40), g(X, 40), rtol=1e-12)


def what_is_read_is_updated(x, n):
    T = [x * 1.0]
    for _ in range(n):
        y = T[-1]
        y *= 0.9
        T.append(y + 1.0)
    return np.sum(np.array(T) ** 2)


def what_was_appended_is_updated(x, n):
    T = [x * 1.0]
    for _ in range(n):
        z = T[-1] * 1.1
        T.append(z)
        z += 0.1
        T[0][0] = 0.5
    return np.sum(np.array(T) ** 2)


def a_first_item_is_updated(x, n):
    first = x * 1.0
    T = [first]
    for _ in range(n):
        first += 0.1
        T.append(T[-1] * 0.5 + T[0])
    return np.sum(np.array(T) ** 2)


def at_some_trips(x, n):
    T = [x * 1.0]
    for k in range(n):
        z = T[-1] * 1.01
        if k % 2 == 0:
            T.append(z)
    return np.sum(np.array(T) ** 2)


def two_appends(x, n):
    T = [x * 1.0]
    for _ in range(n):
        T.append(T[-1] * 1.01)
        T.append(T[-1] * 0.5 + T[-2] * 0.1)
    return np.sum(np.array(T) ** 2)


def items_replaced(x, n):
    T = [x * 1.0]
    for _ in range(n):
        T.append(T[-1] * 1.01)
        T[-1] = T[-2] * 0.9
    return np.sum(np.array(T) ** 2)


def never_filled(x, n):
    weights, total = [x[0], x[1], x[2] * 2.0], 0.0
    for k in range(n):
        total += weights[k % 3] * (k + 1.0)
    return total


def another_name(x, n):
    T = [x * 1.0]
    U = T
    for _ in range(n):
        T.append(U[-1] * 1.01)
    return np.sum(np.array(U) ** 2)


OTHERS = [
    *(what_is_read_is_updated, what_was_appended_is_updated, a_first_item_is_updated, at_some_trips, two_appends),
    *(items_replaced, never_filled, another_name),
]


def others(x, n):
    return sum(program(x, n) for program in OTHERS)


def test_all_others_are_right():
    assert sdfgad.differentiate(others, wrt="x").value(X.copy(), 9) == pytest.approx(others(X.copy(), 9), rel=1e-12)
    for program in OTHERS:
        primal = parsed(program, X, 40)
        assert primal.program.outputs


def before_the_first(x, n):
    h, y = [], x
    for _ in range(n):
        y = y * 0.9
        h.append(np.sum(y))
        y = y + h[-2]
    return np.sum(y)


def test_an_item_that_is_not_there_yet():
    with pytest.raises(IndexError):
        before_the_first(X, 40)
    g = sdfgad.differentiate(before_the_first, wrt="x")
    with pytest.raises(sdfgad.errors.SdfgadError) as caught:
        g.value(X, 40)
    assert "y = y + h[-2]" in str(caught.value)


def in_single_precision(x, n):
    u, t = [x], [0.0]
    for _ in range(n):
        u.append(u[-1] + t[-1] * x)
        t.append(t[-1] + 0.1)
    return np.sum(u[-1])


def test_numbers_do_not_promote():
    x = X.astype(np.float32)
    found = sdfgad.differentiate(in_single_precision, wrt="x").value(x, 40)
    assert found.dtype == np.float32
    assert found == pytest.approx(in_single_precision(x, 40), rel=1e-5)


def of_a_short_list(x, n):
    """An inner loop over a list of few arrays that is there before: it is unrolled, and this one is not."""
    parts, log, mean = [x[:2] * k for k in (1.0, 2.0, 3.0)], [], np.ones(2)
    for _ in range(n):
        total = np.zeros(2)
        for k in range(3):
            total += np.sin(mean * parts[k])
        mean = mean * 0.5 + total
        log.append(np.sum(mean))
    return np.sum(mean) + np.sum(np.array(log)) + parts[1][0]


def of_a_list_that_grows_later(x, n):
    """The first loop only reads the list, the second one appends to it, too."""
    parts, y = [x[:2] * k for k in (1.0, 2.0, 3.0)], x[:2]
    for _ in range(n):
        for k in range(3):
            y = np.tanh(y + parts[k])
    for k in range(n):
        parts.append(np.cos(parts[k] + y))
    return np.sum(np.stack(parts)) + np.sum(y)


def test_a_list_that_is_only_read_leaves_the_loop():
    """40 trips have as many statements as 20 have."""
    for program in (of_a_short_list, of_a_list_that_grows_later):
        assert statements(program, X, 40) < 1.2 * statements(program, X, 20)
        value, gradient = sdfgad.differentiate(program, wrt="x").value_and_grad(X, 40)
        assert value == pytest.approx(program(X, 40), rel=1e-12)
        step = 1e-6
        differences = [(program(X + d, 40) - program(X - d, 40)) / (2 * step) for d in np.eye(len(X)) * step]
        np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7)


def behind(x):
    values, total, n = [x[5]], 0.0, 0
    for p in x:
        total += values[n] * p
        values.append(p)
        n += 1  # noqa: SIM113
    return total


def from_the_end(x):
    values, total, n = [x[5], x[6]], 0.0, 0
    for p in x:
        total += values[n - 2] * p
        values.append(p)
        if p > 0.5:
            n += 1
    return total + values[n]


def then_counted(x):
    values, total, n = [x[0]], 0.0, 0
    for p in x:
        v = values[n]
        if p > 0.9:
            n += 1
        values.append(v * 1.1 + p)
        total += v * p
    return total


def tuples_and_integers(x):
    pairs, numbers, total, n = [(x[0], x[1])], [1, 1], 0.0, 0
    for k in range(len(x)):
        a, b = pairs[n]
        pairs.append((a * x[k], b + a))
        numbers.append(k)
        total += a * b + numbers[n] * x[k]
        if a < 0.5:
            n += 1
    return total


@pytest.mark.parametrize("program", [behind, from_the_end, then_counted, tuples_and_integers])
def test_items_at_places_that_the_loop_counts(program):
    # They were looked for among those from before the loop: an IndexError that Python does not raise.
    x = np.linspace(0.31, 1.7, 12)
    assert_value_and_slope(program, x)
    assert len(str(sdfgad.explain(program, x, stage="parsed")).splitlines()) < 60


def test_an_item_that_the_loop_has_not_appended_yet():
    def early(x):
        values, total, n = [x[0]], 0.0, 0
        for p in x:
            total += values[n]
            values.append(p)
            if p > 0:
                n += 2
        return total

    with pytest.raises(sdfgad.SdfgadError, match=r"(?s)index is out of range.*total \+= values\[n\]"):
        sdfgad.grad(early)(X)
