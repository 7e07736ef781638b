"""JAX, the reference for gradients, computes in double precision; optimised code is what tests look at."""

import gc
import itertools
import os

import jax
import numpy as np
import pytest

# tests/runtime/test_differential.py switches it on.
os.environ.setdefault("SDFGAD_CHECK", "off")
# Every program that a pass makes is well-formed.
os.environ.setdefault("SDFGAD_VERIFY", "1")
jax.config.update("jax_enable_x64", True)
# A reference runs once or twice: it takes longer to compile than to run.
jax.config.update("jax_disable_most_optimizations", True)

# Thousands of tests leave millions of objects in caches: to look through all of them takes Python's collector seconds.
gc.set_threshold(20_000, 10, 20)
TESTS_BETWEEN_FREEZES = 100
_tests = itertools.count(1)


def pytest_collection_finish():
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Now and then all that is left of tests is put out of the collector's sight, but for what is garbage."""
    if next(_tests) % TESTS_BETWEEN_FREEZES == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)
