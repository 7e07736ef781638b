"""Gradients are called as Python functions are: by pools of threads and processes, by joblib, and lazily by Dask."""

import asyncio
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import sdfgad
from sdfgad import errors

X = [np.linspace(0.1, 1.0, 6) * (k + 1) for k in range(6)]


def waves(n, x, scale):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x * scale["all"])


SCALE = {"all": 0.5, "name": "waves"}


def by_hand(n, x, scale):
    bar = np.full_like(x, scale["all"])
    for _ in range(n):
        bar, x = bar * (np.cos(x) * x + np.sin(x)), np.sin(x) * x
    return bar


def check(found, n=2):
    found = list(found)
    assert len(found) == len(X)
    for x, one in zip(X, found, strict=True):
        np.testing.assert_allclose(one, by_hand(n, x, SCALE), rtol=1e-12)


# --- threads


@pytest.mark.parametrize("workers", [1, 6])
def test_threads_that_call_it_first(workers):
    """Nobody has compiled it before."""
    g = sdfgad.differentiate(waves, wrt="x")
    with ThreadPoolExecutor(workers) as pool:
        check(pool.map(partial(g, 2, scale=SCALE), X))
        tasks = [pool.submit(g.value_and_grad, 3, x, SCALE) for x in X]
        check((task.result()[1] for task in tasks), 3)
        with pytest.raises(errors.ArgumentError, match="does not fit `waves`"):
            pool.submit(g, X[0]).result()


def test_coroutines():
    g = sdfgad.value_and_grad(waves, "x")

    async def all_of_them():
        return await asyncio.gather(*(asyncio.to_thread(g, 2, x, scale=SCALE) for x in X))

    check(gradient for _, gradient in asyncio.run(all_of_them()))


# --- joblib


@pytest.mark.slow
def test_joblib():
    """In processes, large arrays are maps of files that may not be written, and closures go by value."""
    joblib = pytest.importorskip("joblib")
    factor = 0.5
    gradients = [
        sdfgad.grad(waves, "x"),
        sdfgad.grad(lambda n, x, scale: waves(n, x, {"all": factor}) * scale["all"] / 0.5, "x"),
    ]
    for options in ({"prefer": "threads"}, {"max_nbytes": 16}):
        for g in gradients:
            check(joblib.Parallel(n_jobs=2, **options)(joblib.delayed(g)(2, x, SCALE) for x in X))
    with pytest.raises(errors.WrtError, match="only floating arguments") as caught:
        joblib.Parallel(n_jobs=2)(joblib.delayed(gradients[0])(2, x.astype(int), SCALE) for x in X)
    assert caught.value.where.line == waves.__code__.co_firstlineno


# --- Dask without a cluster


@pytest.mark.parametrize("scheduler", ["sync", "threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_delayed_calls(scheduler):
    dask = pytest.importorskip("dask")
    lazy = dask.delayed(sdfgad.grad(waves, "x"))
    lazy_pair = dask.delayed(sdfgad.value_and_grad(waves, "x"), nout=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        check(dask.compute(*(lazy(2, x, SCALE) for x in X), scheduler=scheduler, num_workers=2))
        value, gradient = lazy_pair(2, dask.delayed(np.negative)(-X[1]), SCALE)
        value, gradient = dask.compute(value, gradient, scheduler=scheduler, num_workers=2)
    np.testing.assert_allclose(value, waves(2, X[1], SCALE))
    np.testing.assert_allclose(gradient, by_hand(2, X[1], SCALE))


def test_blocks_of_arrays():
    array = pytest.importorskip("dask.array")
    g = sdfgad.grad(waves, "x")
    x = array.from_array(np.concatenate(X), chunks=6)
    found = x.map_blocks(lambda block: g(2, block, SCALE), dtype=x.dtype).compute(scheduler="threads")
    check(np.split(found, 6))
