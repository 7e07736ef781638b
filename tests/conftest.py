"""JAX, the reference for gradients, computes in double precision; optimised code is what tests look at."""

import os

import jax
import numpy as np
import pytest

# tests/runtime/test_differential.py switches it on.
os.environ.setdefault("SDFGAD_CHECK", "off")
# Every program that a pass makes is well-formed.
os.environ.setdefault("SDFGAD_VERIFY", "1")
jax.config.update("jax_enable_x64", True)


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)
