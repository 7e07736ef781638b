"""The programs as they are written for JAX: their values and gradients equal those of the references."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import npbench_suite
from tests.helpers_tiers import some
from tests.npbench_suite.oracle import NAMES, distance, is_single, random_like, reference

PRESET = "test"
LIMITS = {False: 1e-8, True: 1e-3}
FORMS = [(name, form) for name in NAMES for form in npbench_suite.load(name).jax_forms]


def value_and_gradients(entry, form, preset=PRESET):
    """The main output of a form, and the function from its adjoint to the gradients, both as ours are."""
    values = dict(zip(entry.arguments, entry.arguments_for(preset), strict=True))
    function = entry.jax_forms[form]

    @jax.jit
    def compiled(arrays):
        return function(**(values | arrays))

    value, pullback = jax.vjp(compiled, {name: values[name] for name in entry.arrays})
    return value, lambda adjoint: jax.tree.map(jnp.conj, pullback(jnp.conj(jnp.asarray(adjoint, value.dtype)))[0])


@pytest.mark.parametrize("name", sorted({name for name, _ in FORMS}))
def test_there_is_a_port_and_an_expert_form(name):
    assert {"port", "expert"} <= set(npbench_suite.load(name).jax_forms)


@pytest.mark.parametrize(("name", "form"), some(FORMS, 5))
def test_form_equals_reference(name, form):
    entry = npbench_suite.load(name)
    outputs, pullback = reference(name, PRESET)
    expected = outputs[entry.output]
    found, gradients_of = value_and_gradients(entry, form)
    limit = LIMITS[is_single(expected)]
    assert found.dtype == expected.dtype
    assert distance(found, expected) <= limit
    adjoint = random_like(expected, np.random.default_rng(1))
    wanted = pullback({n: adjoint if n == entry.output else np.zeros(y.shape, y.dtype) for n, y in outputs.items()})
    gradients = gradients_of(adjoint)
    for array in entry.arrays:
        assert distance(gradients[array], wanted[array]) <= limit, array
