"""Programs as people write them, unmodified: their values and gradients."""

import copy
import importlib

import numpy as np
import pytest

import sdfgad

NAMES = ("agents", "bayes", "climate", "control", "fem", "instruments", "kalman", "lattice", "network", "rigid_bodies")


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients(name):
    module = importlib.import_module(f"tests.programs.{name}")
    arguments = module.arguments(np.random.default_rng(11))
    value = sdfgad.differentiate(module.program).value(*arguments)
    assert value == pytest.approx(module.program(*copy.deepcopy(arguments)), rel=1e-11)
    result = sdfgad.check_grads(module.program, *arguments)
    assert result.rate > 1.9
