"""Calls with arrays of many sizes: from the third on they share compiled code, and their gradients stay the same."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sdfgad
from sdfgad.runtime import build
from tests.helpers_cache import keep_headers
from tests.helpers_tiers import some


def network(x, w, v, y):
    h = np.tanh(x @ w)
    z = h @ v
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return -np.mean(np.sum(y * np.log(e / np.sum(e, axis=1, keepdims=True)), axis=1))


def stencil(T, u, a):
    for _ in range(T):
        u[1:-1] += a[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.mean(u * u)


def branching(x):
    if x.size > 100:
        return np.sum(x**3)
    return np.sum(x * x)


def batch(n, dtype=np.float64):
    rng = np.random.default_rng(n)
    shapes = ((n, 7), (7, 5), (5, 4), (n, 4))
    return tuple(rng.random(shape).astype(dtype) for shape in shapes)


def bar(n):
    rng = np.random.default_rng(n)
    return 5, rng.random(n), rng.random(n) / 4


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache folder, but for the precompiled headers."""
    keep_headers(monkeypatch)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def builds(monkeypatch):
    """The names of the programs that the compiler has been run for."""
    names, compiled = [], build._compiled

    def spy(source, levels):
        names.append(source.name)
        return compiled(source, levels)

    monkeypatch.setattr(build, "_compiled", spy)
    return names


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert found[name].shape == gradient.shape
        np.testing.assert_array_equal(found[name], gradient)


@pytest.mark.parametrize("dtype", some([np.float64, np.float32], 2))
def test_from_the_third_size_on_sizes_share_code(dtype, cache, builds):
    g, exact = sdfgad.differentiate(network), sdfgad.differentiate(network, shapes="exact")
    counts = []
    for n in (33, 40, 52, 61, 38):
        found = g(*batch(n, dtype))
        counts.append(len(builds))
        assert_same(found, exact(*batch(n, dtype)))
        del builds[counts[-1] :]
    assert counts == [1, 2, 3, 3, 3]


def test_a_number_that_was_fixed_so_far_may_change(cache, builds):
    g = sdfgad.differentiate(stencil)
    for n in (140, 150, 160, 170):
        g(*bar(n))
    assert len(builds) == 3
    for n in (140, 150, 160, 170):
        T, u, a = bar(n)
        found = g(T, u.astype(np.float32), a.astype(np.float32))
        exact = sdfgad.differentiate(stencil, shapes="exact")(T, u.astype(np.float32), a.astype(np.float32))
        assert_same(found, exact)


def test_any_size_shares_code_from_the_first_on(cache, builds):
    g = sdfgad.differentiate(network, shapes="any")
    for n in (33, 47, 61):
        found = g(*batch(n))
        assert len(builds) == 1
        assert_same(found, sdfgad.differentiate(network, shapes="exact")(*batch(n)))
        del builds[1:]
    value, _ = g.value_and_grad(*batch(47))
    np.testing.assert_allclose(value, network(*batch(47)), rtol=1e-14)


def test_a_size_that_decides_a_branch_has_code_of_its_own(cache):
    g = sdfgad.differentiate(branching, wrt="x", shapes="any")
    for n in (60, 70, 150, 80, 170, 90, 190):
        x = np.random.default_rng(n).random(n)
        np.testing.assert_allclose(g(x), 3 * x**2 if n > 100 else 2 * x, rtol=1e-15)


def test_exact_code_is_not_shared(cache, builds):
    g = sdfgad.differentiate(stencil, shapes="exact")
    for n in (40, 50, 60, 70):
        g(*bar(n))
    assert len(builds) == 4


def test_each_size_is_tested_against_plain_code(cache, monkeypatch):
    monkeypatch.delenv("SDFGAD_CHECK", raising=False)
    g = sdfgad.differentiate(stencil, shapes="any")
    for n in (40, 50, 60):
        g(*bar(n))
    checks = list((cache / "checks").rglob("*.json"))
    assert len(checks) == 3


def test_each_size_keeps_the_memory_limit(cache):
    for n in (1000, 1100, 1200, 1300):
        T, u, a = bar(n)
        limit = 9 * n * 8
        g = sdfgad.differentiate(stencil, wrt=("u", "a"), memory_limit=limit)
        measured = g.measure(T, u, a)
        assert measured.peak_bytes <= limit
        assert abs(measured.peak_bytes - measured.predicted_bytes) <= 512 * 8
        free = sdfgad.differentiate(stencil, wrt=("u", "a"), shapes="exact")(T, u, a)
        for found, expected in zip(g(T, u, a), free, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_sizes_run_beside_each_other(cache):
    """The libraries of sizes that share code have constants of their own."""
    g = sdfgad.differentiate(stencil, wrt=("u", "a"), shapes="any")
    sizes = [40, 50, 60, 70] * 3
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda n: g(*bar(n)), sizes))
    exact = {n: sdfgad.differentiate(stencil, wrt=("u", "a"), shapes="exact")(*bar(n)) for n in set(sizes)}
    for n, found in zip(sizes, results, strict=True):
        for one, other in zip(found, exact[n], strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_unknown_choice_is_refused():
    with pytest.raises(sdfgad.errors.ArgumentError, match=r"shapes='some' is not known\s+It is one of"):
        sdfgad.differentiate(stencil, shapes="some")
