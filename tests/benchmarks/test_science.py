"""The programs that are not in NPBench: references, JAX forms and compiled gradients agree."""

import numpy as np
import pytest

import npbench_suite
import sdfgad
from tests.helpers_tiers import some
from tests.npbench_suite.oracle import distance, inner, random_like, reference, run
from tests.npbench_suite.test_jax_forms import value_and_gradients

NAMES = npbench_suite.names("science")
TESTED = ("test", "test2")
PRESETS = {"S", "M", *TESTED}


@pytest.fixture(scope="module", params=NAMES)
def entry(request):
    return npbench_suite.load(request.param)


def test_there_are_enough_of_them():
    assert len(NAMES) >= 15
    assert not set(NAMES) & set(npbench_suite.names())


def test_entry_is_complete(entry):
    assert entry.title
    assert entry.domain
    assert set(entry.presets) >= PRESETS
    assert len({tuple(sizes) for sizes in entry.presets.values()}) == 1
    assert set(entry.arrays) <= set(entry.arguments)
    assert {"port", "expert"} <= set(entry.jax_forms)


@pytest.mark.parametrize("preset", some(TESTED, 2))
def test_program_equals_reference(entry, preset):
    found = run(entry, entry.arguments_for(preset))
    expected, _ = reference(entry.name, preset)
    assert set(found) == set(expected) == set(entry.outputs)
    for name in entry.outputs:
        assert distance(found[name], expected[name]) <= 1e-10, name


def test_reference_has_the_program_s_derivative(entry):
    """Along a random direction, against a central difference of the program."""
    values = dict(zip(entry.arguments, entry.arguments_for("test"), strict=True))
    outputs, pullback = reference(entry.name, "test")
    rng = np.random.default_rng(1)
    direction = {name: random_like(values[name], rng) for name in entry.arrays}
    adjoints = {name: random_like(y, rng) for name, y in outputs.items()}

    def weighted_sum(step):
        moved = values | {name: values[name] + step * direction[name] for name in entry.arrays}
        found = run(entry, tuple(moved.values()))
        return sum(inner(adjoints[name], found[name]) for name in entry.outputs)

    step = 1e-6
    difference = (weighted_sum(step) - weighted_sum(-step)) / (2 * step)
    gradients = pullback(adjoints)
    derivative = sum(inner(gradients[name], direction[name]) for name in entry.arrays)
    assert abs(difference - derivative) / max(1, abs(difference) + abs(derivative)) <= 1e-6


# XLA takes minutes for some ports.
@pytest.mark.parametrize("form", [pytest.param("port", marks=pytest.mark.long), "expert"])
@pytest.mark.parametrize("entry", some(NAMES, 4), indirect=True)
def test_forms_equal_reference(entry, form):
    outputs, pullback = reference(entry.name, "test2")
    expected = outputs[entry.output]
    found, gradients_of = value_and_gradients(entry, form, "test2")
    assert distance(found, expected) <= 1e-8
    adjoint = random_like(expected, np.random.default_rng(1))
    wanted = pullback({n: adjoint if n == entry.output else np.zeros(y.shape, y.dtype) for n, y in outputs.items()})
    gradients = gradients_of(adjoint)
    for array in entry.arrays:
        assert distance(gradients[array], wanted[array]) <= 1e-8, array


def test_compiled_gradients(entry):
    arguments = entry.arguments_for("test")
    outputs, pullback = reference(entry.name, "test")
    program = sdfgad.differentiate(
        entry.program, wrt=entry.arrays, output=entry.output, reduce="sum", allow_unused=True
    )
    value, found = program.value_and_grad(*arguments)
    assert distance(value, np.sum(outputs[entry.output])) <= 1e-10
    wanted = pullback({n: np.full(y.shape, float(n == entry.output), y.dtype) for n, y in outputs.items()})
    for name, gradient in zip(entry.arrays, found, strict=True):
        assert distance(gradient, wanted[name]) <= 1e-8, name
