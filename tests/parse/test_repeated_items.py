"""Lists of one object many times (``[None] * n``), and arrays of one element as conditions."""

import numpy as np

import sdfgad

Z, Q = np.linspace(0.1, 1.0, 40), np.array([0.1, 0.2])


def smoothed(z, q):
    """As filters of time series take what may differ from step to step."""
    n = len(z)
    noises, steps, weights = [None] * n, [0.1] * n, [q] * n
    x, out = 0.0, np.zeros(n)
    for i, (value, noise) in enumerate(zip(z, noises, strict=True)):
        if noise is None:
            noise = 2.0
        x = x + value * noise * steps[i]
        out[i] = x
    for k in range(n - 2, -1, -1):
        out[k] += out[k + 1] * np.sum(weights[k]) * steps[k] + steps[k - 1]
    return np.sum(out**2)


def test_loops_over_one_object_many_times_stay_loops():
    g = sdfgad.differentiate(smoothed, wrt=("z", "q"))
    np.testing.assert_allclose(g.value(Z, Q), smoothed(Z, Q), rtol=1e-13)
    assert len(str(sdfgad.explain(smoothed, Z, Q, stage="parsed")).splitlines()) < 80
    sdfgad.check_grads(smoothed, Z, Q, wrt=("z", "q"))


def changed(z):
    weights = [1.0] * len(z)
    total = 0.0
    for k in range(len(z)):
        total += z[k] * weights[k]
        weights[(k + 1) % len(z)] = 2.0
    return total


def test_a_list_that_is_changed_has_items_of_its_own():
    np.testing.assert_allclose(sdfgad.differentiate(changed, wrt="z").value(Z[:6]), changed(Z[:6]), rtol=1e-14)


def delayed(rain, share):
    """A store, and the delay line behind it, as in hydrology."""
    line = [0.0] * 6
    flows = []
    for water in rain:
        for k in range(5):
            line[k] = line[k + 1] + share * water
        line[-1] = share * water * water
        flows.append(line[0] ** 2)
    return np.sum(np.asarray(flows))


def test_a_list_that_is_changed_later_leaves_other_loops_rolled():
    assert len(str(sdfgad.explain(delayed, Z, 0.3, stage="parsed")).splitlines()) < 60
    sdfgad.check_grads(delayed, Z, 0.3)


def bisected(a):
    """A search for the precision of a Gaussian, as in t-SNE, by arrays of one element."""
    beta = np.ones((2, 1))
    for i in range(2):
        error = np.sum(a[i] * beta[i]) - 1.0 + 0.0 * beta[i]
        tries = 0
        while np.abs(error) > 1e-9 and tries < 60:
            beta[i] = beta[i] - error / np.sum(a[i]) if error else beta[i]
            error = np.sum(a[i] * beta[i]) - 1.0 + 0.0 * beta[i]
            tries += 1
    return np.sum(beta)


def test_the_truth_value_of_an_array_of_one_element_is_its_elements():
    a = np.array([[0.5, 0.7], [0.9, 1.3]])
    value, gradient = sdfgad.value_and_grad(bisected)(a)
    np.testing.assert_allclose(value, bisected(a), rtol=1e-13)
    np.testing.assert_allclose(gradient, -1.0 / np.sum(a, axis=1, keepdims=True) ** 2 * np.ones((2, 2)), rtol=1e-7)
