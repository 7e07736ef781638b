"""Chains of products in straight-line code are computed in the cheapest order, and only where they are needed."""

import dis
from importlib import import_module

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.text import program_text
from sdfgad.optimise.sums.factor_sums import factor_sums
from tests.helpers import module_from
from tests.helpers_ir import parsed
from tests.helpers_passes import check_early, normal
from tests.helpers_tiers import some

factoring = import_module("sdfgad.optimise.sums.factor_sums")


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(factoring, "WORK", 1)


A, B, C, V = normal(8, 9), normal(9, 8, seed=2), normal(8, 7, seed=3), normal(8, seed=4)


def trace(a, b, c, v):
    return np.trace(a @ b)


def diagonal(a, b, c, v):
    return np.sum(np.sin(np.diag(a @ b)) * v)


def total(a, b, c, v):
    return np.sum(a @ b)


def vector_last(a, b, c, v):
    return np.sum(np.cos(a @ b @ v))


def one_row(a, b, c, v):
    return np.sum(np.exp((a @ b)[3] * 0.1))


def einsum(a, b, c, v):
    return np.einsum("ij,jk,kl->l", a, b, c)


def outer_product(a, b, c, v):
    return np.outer(v, v) @ c @ np.ones(7)


def in_a_loop(a, b, c, v):
    s = 0.0
    for t in range(3):
        v = 0.1 * (a @ b @ v)
        s += np.trace(c @ c.T @ np.outer(v, v))
    return s


def in_a_branch(a, b, c, v):
    if v[0] > -10.0:
        s = np.trace(a @ b) * v[1]
    else:
        s = v[2]
    return s


def transposed(a, b, c, v):
    return v @ (b.T @ a.T) @ c


def negated(a, b, c, v):
    y = np.zeros(8)
    y -= -(a @ b) @ (0.5 * v)
    return y


def of_complex(a, b, c, v):
    z = (a + 1j * a[::-1]) @ b
    w = c + 2j * c
    return np.abs(np.sum(np.conj(w) * (z @ w)[0]) + np.trace(z @ (w @ w.T)))


FACTORED = [
    trace,
    diagonal,
    total,
    vector_last,
    one_row,
    einsum,
    outer_product,
    in_a_loop,
    in_a_branch,
    transposed,
    negated,
    of_complex,
]


@pytest.mark.parametrize("function", FACTORED, ids=lambda f: f.__name__)
def test_factored(function):
    changed, before = check_early(
        factor_sums, function, (A, B, C, V), [n for n in "abcv" if used(function, n)], "return"
    )
    assert program_text(changed) != program_text(before)


def used(function, name):
    """Whether a function reads an argument."""
    return any(one.argval == name and "LOAD_FAST" in one.opname for one in dis.get_instructions(function))


def test_a_trace_takes_no_product_of_matrices():
    text = program_text(factor_sums(parsed(trace, A, B, C, V).program))
    assert "t[" not in text
    assert "a[p" in text


# --- what stays


def product_of_sums(a, b, c, v):
    return (a @ b @ np.ones(8)) @ (c @ np.ones(7))


def squares(a, b, c, v):
    return np.sum((c.T @ v) ** 2) + np.sum((c.T @ v) * (b[:, :7].T @ a[0]))


def used_twice(a, b, c, v):
    t = a @ b
    return np.trace(t) + np.sum(t * t)


def returned(a, b, c, v):
    t = a @ b
    return t @ v, t


def changed_between(a, b, c, v):
    t = a @ b
    b[0] = v
    return t @ v + b[0]


def cheapest_already(a, b, c, v):
    return v @ a @ b @ v


def projected(a, b, c, v):
    p = a @ (b @ c)
    return np.sum(p[:2] / p[7])


@pytest.mark.parametrize("function", [squares, projected, used_twice, returned, changed_between, cheapest_already])
def test_stays(function):
    program = parsed(function, *(x.copy() for x in (A, B, C, V))).program
    assert program_text(factor_sums(program)) == program_text(program)


def test_the_product_of_two_sums_keeps_its_accuracy():
    # Both vectors cancel to about 1e-9 of their terms.
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 60))
    u = np.linalg.svd(x)[2][-1]
    args = (x, u + 1e-9 * rng.normal(size=60))

    def residual(x, u):
        return (x @ u) @ (x @ u)

    def residuals(x, u):
        r, s = x @ u, x @ (2.0 * u)
        return r @ s

    for function in (residual, residuals):
        value, _ = sdfgad.differentiate(function).value_and_grad(*args)
        assert value == pytest.approx(function(*args), rel=1e-5)


# --- compiled, against the plain gradient


def test_compiled():
    args = (normal(40, 50), normal(50, 40, seed=2), normal(40, 7, seed=3), normal(40, seed=4))

    def program(a, b, c, v):
        s = np.trace(a @ b) + np.sum(np.diag(a @ b) ** 2) + np.sum(a @ b)
        for t in range(3):
            v = 0.01 * (a @ b @ v)
            p = c.T @ (a[:, :40] @ b.T[:40])
            s += np.sum(p[:2] / (p[2] ** 2 + 9.0))
            s += np.sum((c @ (c.T @ c) @ c.T @ v) * np.sin(v)) + np.trace(c.T @ np.outer(v, v) @ c)
        return s

    sdfgad.check_grads(program, *args)
    value, _ = sdfgad.differentiate(program).value_and_grad(*args)
    assert value == pytest.approx(program(*args), rel=1e-12)


# --- random chains

DIMENSIONS = 4
UPDATES = ["{n} *= 0.5", "{n}[0] = {n}[-1] * 2.0", "{n} += {m}", "{n} = {m} * 1.5"]


def random_program(seed):
    """Matrix products of square arrays, in several statements and in loops, with updates of the factors in between."""
    rng = np.random.default_rng(seed)
    names, lines, indent = ["a", "b", "c"], ["s = 0.0"], ""

    def product():
        parts = [rng.choice(["{}", "{}.T", "2.0 * {}", "-{}", "{}[::-1]"]).format(rng.choice(names)) for _ in range(3)]
        return " @ ".join(f"({part})" for part in parts[: rng.integers(2, 4)])

    def read(matrix):
        of_parts = ["np.sum(({0})[:2] * np.cos(({0})[2]))", "np.sum(({0})[:, 0] * ({0})[1])"]
        ways = ["np.trace({})", "np.sum({})", "np.sum(np.diag({}) ** 2)", "np.sum(np.sin(({})[1]))", "({})[2, 0]"]
        return rng.choice([*ways, "v @ ({}) @ v", "np.sum(np.cos(({}) @ v))", "np.sum(({}) * a)", *of_parts]).format(
            matrix
        )

    for k in range(6):
        if rng.random() < 0.25:
            lines.append(f"{indent}for t{k} in range(3):")
            indent += "    "
        if rng.random() < 0.5:
            lines.append(f"{indent}m{k} = {product()}")
            names.append(f"m{k}")
        if rng.random() < 0.4:
            n, m = rng.choice(names, 2, replace=False)
            lines.append(indent + rng.choice(UPDATES).format(n=n, m=m))
        lines.append(f"{indent}s += {read(product() if rng.random() < 0.5 else rng.choice(names))}")
    lines.append("return s")
    return "import numpy as np\n\n\ndef program(a, b, c, v):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("first", some(range(0, 60, 15), 4))
def test_random_chains(first, tmp_path):
    arguments = (*(0.3 * normal(DIMENSIONS, DIMENSIONS, seed=seed) for seed in range(3)), normal(DIMENSIONS, seed=7))
    done = 0
    for seed in range(first, first + 15):
        program = module_from(random_program(seed), tmp_path).program
        changed, before = check_early(factor_sums, program, arguments, ["a", "b", "c"], "return")
        done += changed != before
    assert done >= 8
