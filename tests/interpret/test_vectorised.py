"""Vectorised interpretation: programs run by NumPy, a box at a time, without compiling them."""

import numpy as np
import pytest

from sdfgad.interpret import vectorised
from sdfgad.interpret.vectorised import TooMuchWork, Vectorised
from sdfgad.ir.program import Block
from tests.helpers_ir import inputs_of, parsed

X = np.random.default_rng(5).standard_normal(12)
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def reductions(x):
    A = x.reshape(3, 4)
    return np.array([np.sum(A), np.max(A[1]), np.min(A[:, 2]), np.prod(A[0]), np.argmax(x), np.mean(A, axis=0)[3]])


@program
def products(x):
    A = x.reshape(3, 4)
    return A @ A.T @ np.cumsum(A, axis=1) + np.einsum("ij,kj->ik", A, A)[:, :1] * np.outer(x[:3], x[:4])


@program
def stencil_in_place(x):
    u = x.copy()
    for t in range(5):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        if t % 2:
            u[0] = u[-1] * t
    return u


@program
def loop_of_unknown_length(x):
    v, n = x.copy(), 0
    while np.sum(np.abs(v)) > 0.5:
        v, n = v * 0.7, n + 1
    return v * n


@program
def choices(x):
    chosen = np.where(x > 0, np.sqrt(np.abs(x)), np.minimum(x, -0.3))
    return chosen + np.array([x[i - 3] if x[i] > 0.2 else x[min(i + 2, 11)] for i in range(12)])


@program
def deposits(x):
    cells = np.zeros(4)
    np.add.at(cells, (np.abs(x) * 2).astype(int) % 4, x)
    cells[np.argsort(x)[:4] % 4] *= 2.0
    return np.concatenate([cells, np.bincount((np.abs(x) * 2).astype(int) % 4, weights=x, minlength=4), np.roll(x, 3)])


@program
def selection(x):
    return np.sum(x[x > 0.3] ** 2) * np.sum(x > 0.3) + np.sum(np.sort(x)[::2])


@program
def complex_numbers(x):
    z = np.exp(1j * x) * (x > 0) + np.fft.fft(x + 0j)
    return np.real(z * np.conj(z)) + np.imag(z) + np.angle(1 + 1j * x)


@program
def library_functions(x):
    A = np.outer(x, x) + 3.0 * np.eye(12)
    return np.linalg.solve(A, x) + np.linalg.eigvalsh(A) * np.linalg.det(A / 3.0) + np.linalg.cholesky(A)[-1]


@program
def integers_and_booleans(x):
    n = np.arange(12) // 5 - 1
    k = (x * 10).astype(np.int32) >> 1
    return (n % 3) * 7 + (k & 3) + ((x > 0) ^ (n > 0)) + np.round(x) ** 2


@program
def scalars(x):
    a, b = x[0], 1.0
    for k in range(12):
        a, b = b * np.sin(a) + x[k], max(b, a) / (1 + k)
    return np.array([a, b])


@program
def empty_arrays(x):
    nothing = x[12:]
    return np.sum(nothing) + np.sum(nothing[:, None] * x[None, :], axis=0)


def interpreted(primal, x, work=10.0):
    arrays, integers = inputs_of(primal, x)
    store = Vectorised(work).run(primal.program, arrays, integers)
    return {name: store[buffer] for name, buffer in primal.program.outputs.items()}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_value(function):
    x = X.copy()
    np.testing.assert_allclose(interpreted(parsed(function, x), x)["return"], function(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(x, X)


def scales(x):
    x *= 2.0
    x[3:] += x[:-3]


def test_arguments_are_not_changed():
    x, want = X.copy(), X.copy()
    scales(want)
    np.testing.assert_allclose(interpreted(parsed(scales, X), x)["x"], want)
    np.testing.assert_array_equal(x, X)


def test_a_program_goes_on_where_the_one_before_has_ended(monkeypatch):
    primal = parsed(scalars, X)
    (arrays, integers), body = inputs_of(primal, X), primal.program.body
    run, ran = Vectorised(10.0), list[Block]()
    block = Vectorised.block
    monkeypatch.setattr(Vectorised, "block", lambda self, part: ran.append(part) or block(self, part))
    run.run(primal.program.with_body(body[:1]), arrays, integers)
    store = run.run(primal.program, arrays, integers)
    assert body[1:] in ran
    assert body not in ran
    np.testing.assert_allclose(store[primal.program.outputs["return"]], scalars(X))
    # With other statements before it, it starts anew.
    run.run(primal.program.with_body(body[1:2]), arrays, integers)
    np.testing.assert_allclose(run.run(primal.program, arrays, integers)[primal.program.outputs["return"]], scalars(X))
    assert body in ran


def test_limits_of_work(monkeypatch):
    with pytest.raises(TooMuchWork):
        interpreted(parsed(loop_of_unknown_length, X), X, work=1e-5)
    monkeypatch.setattr(vectorised, "MOST_POINTS", 100)
    with pytest.raises(TooMuchWork):
        interpreted(parsed(library_functions, X), X)
