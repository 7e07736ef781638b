"""Gradients that programs call of loops that end by data: their tapes have constant sizes, and grow where need be."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import integrate

import sdfgad
from sdfgad.explain.interpreter import Interpreter
from sdfgad.ir import capacities
from sdfgad.ir.capacities import Capacity, Outgrown
from sdfgad.ir.program import FIRST_CHECK, SLOTS, Program
from sdfgad.specialise import mapped
from tests.helpers import assert_close
from tests.helpers_tiers import some


@pytest.fixture(autouse=True, params=some([2, 64], 2))
def first(request, monkeypatch):
    """So many slots that calls need more, and as many as there are."""
    monkeypatch.setattr(capacities, "FIRST", request.param)
    monkeypatch.setattr(capacities, "_learned", {})
    return request.param


def shrunk(x):
    k = 0
    while np.sum(x * x) > 0.01:
        x = 0.9 * np.sin(x)
        for _ in range(3):
            x = x * np.cos(0.1 * x)
        k += 1
    return np.sum(x**3)


def nested(x, w):
    total = 0.0
    for i in range(3):
        y = x * (i + 1.0)
        while np.sum(y * y) > 0.05:
            if y[0] > 0.1:
                y = y * np.cos(w * y)
            y = 0.7 * y * w
        total += np.sum(np.sin(y) * w)
    return total


X, W = np.array([0.9, 0.8]), np.array([0.8, 0.7])


def differences(gradient, x, h=1e-5):
    return np.array([(gradient(x + d) - gradient(x - d)) / (2.0 * h) for d in h * np.eye(x.size)])


def test_hessians():
    assert_close(sdfgad.hessian(shrunk)(X), differences(sdfgad.grad(shrunk), X), 1e-7)
    assert_close(sdfgad.hessian(nested, 1)(X, W), differences(lambda w: sdfgad.grad(nested, 1)(X, w), W), 1e-7)
    third = sdfgad.jacobian(sdfgad.hessian(shrunk))(X)
    assert_close(np.moveaxis(third, -1, 0), differences(sdfgad.hessian(shrunk), X), 1e-6)


def test_batches(first):
    xs = np.stack((X, 3.0 * X, 1e-3 * X))
    g = sdfgad.grad(shrunk)
    assert_close(sdfgad.vmap(g)(xs), [g(x) for x in xs], 1e-13)
    # Later calls need more slots again.
    assert_close(sdfgad.vmap(g)(1e2 * xs), [g(1e2 * x) for x in xs], 1e-13)


def penalty(x, n):
    total = 0.0
    for _ in range(n):
        total = total + np.sum(sdfgad.grad(shrunk)(x) ** 2)
        x = x * 1.2 - 0.1 * sdfgad.grad(shrunk)(x)
    return total


def test_reverse_over_reverse(first):
    g = sdfgad.differentiate(penalty, wrt="x")
    assert_close(g(X, 3), differences(lambda x: np.array(penalty(x, 3)), X), 1e-6)
    assert sdfgad.check_grads(penalty, X, 3, wrt="x").error < 1e-6
    assert g.measure(X, 3).peak_bytes > 0


def lotka(t, y, a):
    return [a[0] * y[0] - a[1] * y[0] * y[1], -a[2] * y[1] + a[3] * y[0] * y[1]]


def misfit(a):
    found = integrate.solve_ivp(lotka, (0.0, 2.0), np.array([1.0, 0.5]), args=(a,), rtol=1e-9, atol=1e-9)
    return np.sum(found.y[:, -1] ** 2)


def test_the_hessian_of_a_fitted_equation():
    a = np.array([1.5, 1.0, 3.0, 1.0])
    assert_close(sdfgad.hessian(misfit)(a), differences(sdfgad.grad(misfit), a, 1e-4), 1e-4)


@sdfgad.custom_vjp
def ruled(x, a):
    return shrunk(x) * a


ruled.defvjp(
    lambda x, a: (ruled(x, a), (x, a)),
    lambda kept, c: (c * kept[1] * sdfgad.grad(shrunk)(kept[0]), c * np.linalg.solve(np.diag(kept[0]), kept[0])[0]),
)


def with_a_rule(x, a):
    return ruled(x, a) + ruled(2.0 * x, a)


def test_within_a_rule():
    by_x, by_a = sdfgad.grad(with_a_rule, (0, 1))(X, 1.5)
    g = sdfgad.grad(shrunk)
    assert_close(by_x, 1.5 * (g(X) + 2.0 * g(2.0 * X)), 1e-13)
    assert by_a == 2.0
    with pytest.raises(sdfgad.SingularMatrix):
        sdfgad.grad(with_a_rule, (0, 1))(np.array([0.0, 0.9]), 1.5)


def test_a_status_has_the_check_and_the_trips(first):
    checks = (Capacity(sdfgad.SdfgadError, "", None, "", "a"), Capacity(sdfgad.SdfgadError, "", None, "", "b"))
    program = Program("p", {}, (), (), {}, (), checks)
    with pytest.raises(Outgrown) as caught:
        program.failed(FIRST_CHECK - 2 + 100 * SLOTS).failure()
    assert (caught.value.key, caught.value.trips) == ("b", 100)
    caught.value.learn()
    assert (capacities.capacity_of("a"), capacities.capacity_of("b")) == (first, 125)


def long_way(x):
    y = x
    while y < 30.0:
        y = y + 0.3 * np.sin(y) ** 2 * x + 0.1
    return y


def until(x, target):
    """The condition of its loop depends on a gradient, which is wrong where slots are missing."""
    slope, total = sdfgad.grad(long_way)(x), 0.0
    while np.abs(total - target) > 1e-6 * np.abs(target):
        total = total + slope
    return total


def test_a_loop_after_a_gradient_without_enough_slots_ends():
    target = 4 * sdfgad.grad(long_way)(0.7)
    assert sdfgad.differentiate(until, wrt="x").value(0.7, target) == pytest.approx(target)


def bound_by_a_counter(x, n):
    total = 0.0
    for i in range(n):

        def power(z):
            a = z
            for k in range(i + 1):  # noqa: B023
                a = a * z + k
            return a

        total += sdfgad.grad(power)(x) * i
    return total


def test_counters_that_are_numbers_of_trips():
    assert sdfgad.check_grads(bound_by_a_counter, 0.5, 5).error < 1e-8


def left_by_data(x, s, n):
    t, v = 0.0, x * 1.0
    while t < s:
        t = t + 0.1
        for i in range(n):
            for w in range(i + 1):
                if v[0] > 50.0:
                    break
                v[w - i + n - 1] = np.sin(v[w - i + n - 1]) * 1.01 + 0.1
    return np.sum(v)


def with_trips_of_other_loops(x, s, n):
    t, v = 0.0, x * 1.0
    while t < s:
        t = t + 0.1
        for i in range(n - 1, -1, -1):
            for w in range(n - i):
                if v[0] > 50.0:
                    break
                v[w + i] = np.sin(v[w + i]) * 1.01 + 0.1
    return np.sum(v)


class Interpreted:
    """An executable that the interpreter runs, which finds indices out of range."""

    runs: ClassVar[list[int]] = []

    def __init__(self, program, *_, **__):
        self.program = program

    def __call__(self, arrays, integers):
        inputs = {name: arrays[name] for name in self.program.inputs}
        run = Interpreter(self.program, inputs, {name: integers[name] for name in self.program.integers})
        for name in arrays.keys() - inputs.keys():
            arrays[name][...] = run.store[name]
        self.runs.append(int(run.store["status"]))

    def held_bytes(self, arrays):
        return 0

    def reset_peak(self):
        pass


@pytest.mark.parametrize("program", [left_by_data, with_trips_of_other_loops])
def test_a_run_without_enough_slots_stays_inside_its_arrays(program, monkeypatch):
    x, g = np.linspace(0.2, 0.9, 4), sdfgad.grad(program)
    batch = np.stack((x, 1.1 * x, 0.9 * x))
    expected = np.stack([g(one, 1.0, 4) for one in batch])
    monkeypatch.setattr(mapped, "load", Interpreted)
    monkeypatch.setattr(Interpreted, "runs", [])
    found = sdfgad.vmap(g, (0, None, None))(batch, 1.0, 4)
    assert_close(found, expected, 1e-12)
    assert Interpreted.runs[-1] == 0
    assert any(Interpreted.runs)


def test_the_compiled_run_without_enough_slots_stays_inside_its_arrays():
    x, g = np.linspace(0.2, 0.9, 6), sdfgad.grad(left_by_data)
    batch = np.stack((x, 1.1 * x, 0.9 * x))
    found = sdfgad.vmap(g, (0, None, None))(batch, 7.0, 6)
    assert_close(found, np.stack([g(one, 7.0, 6) for one in batch]), 1e-12)
