"""Eigenvalues and singular values without vectors, where nothing reads these."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import Call, walk
from sdfgad.optimise.cleaning.values_alone import compute_values_alone
from sdfgad.optimise.passes import optimise
from tests.helpers_ir import parsed


def largest(a):
    return np.linalg.norm(a, 2)


def of_symmetric(a):
    return np.sum(np.linalg.eigvalsh(a + a.T) ** 3)


def of_any(a):
    return np.sum(np.abs(np.linalg.eigvals(a + 0j)) ** 2)


def with_vectors(a):
    u, s, _ = np.linalg.svd(a)
    return np.sum(s) + u[0, 0] ** 2


def calls(program):
    return [one.name for one in walk(optimise(program).body) if isinstance(one, Call)]


@pytest.mark.parametrize(
    ("program", "values", "vectors"),
    [
        (largest, "only_singular_values", "singular_values"),
        (of_symmetric, "only_symmetric_eigenvalues", "symmetric_eigen"),
        (of_any, "only_eigenvalues", "eigen"),
        (with_vectors, "singular_values", "singular_values"),
    ],
)
def test_only_gradients_need_vectors(program, values, vectors):
    a = np.random.default_rng(5).standard_normal((5, 5))
    g = sdfgad.differentiate(program)
    gradient = g.programs(a)[1]
    assert values in calls(parsed(program, a).program)
    assert vectors in calls(gradient)
    assert values == vectors or values not in calls(gradient)
    assert g.value(a) == pytest.approx(program(a), rel=1e-12)


def iterated(a, tol):
    """Jacobi's iteration, until the spectral norm of a step is small; no derivative passes through the norm."""
    x = np.ones((5, 5))
    step = 1.0
    while step > tol:
        before = x.copy()
        x = 0.5 * a @ before + 1.0
        step = np.linalg.norm(x - before, 2)
    return np.sum(x * x)


def test_the_norm_of_a_step_takes_values_alone():
    a = np.random.default_rng(6).random((5, 5)) / 5.0
    g = sdfgad.differentiate(iterated)
    for program in g.programs(a, 1e-9)[:2]:
        assert set(calls(program)) == {"only_singular_values"}
    sdfgad.check_grads(iterated, a, 1e-9, wrt="a")


def test_what_is_done_already_stays():
    program = optimise(parsed(largest, np.eye(3)).program)
    assert compute_values_alone(program).body == program.body
