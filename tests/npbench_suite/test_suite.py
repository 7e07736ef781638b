"""Every entry of the suite is complete, and its NumPy program and its JAX reference agree."""

import copy
import inspect

import numpy as np
import pytest

import npbench_suite
from tests.npbench_suite.oracle import NAMES, TESTED, distance, reference, run

PRESETS = ("S", "M", "L", "paper", "test", "test2")


@pytest.fixture(params=NAMES)
def entry(request):
    return npbench_suite.load(request.param)


def test_suite_is_found():
    assert len(NAMES) >= 23
    assert sorted(set(NAMES)) == NAMES


def test_entry_is_complete(entry):
    assert entry.title
    assert entry.domain
    assert set(entry.presets) == set(PRESETS)
    assert len({tuple(sizes) for sizes in entry.presets.values()}) == 1
    assert entry.presets["test"] != entry.presets["test2"]
    for preset in TESTED:
        sizes = list(entry.presets[preset].values())
        assert len(set(sizes)) == len(sizes)
        assert all(4 <= size <= 12 for size in sizes)
    assert entry.output in entry.outputs
    for output in entry.outputs:
        assert output.startswith("return") or output in entry.arguments


def test_signatures(entry):
    assert tuple(inspect.signature(entry.program).parameters) == entry.arguments
    assert tuple(inspect.signature(entry.reference).parameters) == entry.arguments
    assert set(entry.arrays) <= set(entry.arguments)
    assert entry.program.__name__ == entry.function


@pytest.mark.parametrize("preset", TESTED)
def test_arguments(entry, preset):
    arguments = entry.arguments_for(preset)
    again = entry.arguments_for(preset)
    for name, value, same in zip(entry.arguments, arguments, again, strict=True):
        np.testing.assert_array_equal(value, same)
        assert isinstance(value, float | np.ndarray) == (name in entry.arrays)
        if isinstance(value, np.ndarray):
            assert value.dtype == np.float64
            assert value.flags.c_contiguous
            assert np.isfinite(value).all()


@pytest.mark.parametrize("preset", TESTED)
def test_program_updates_only_its_outputs(entry, preset):
    before = entry.arguments_for(preset)
    after = copy.deepcopy(before)
    entry.program(*after)
    for name, old, new in zip(entry.arguments, before, after, strict=True):
        assert np.array_equal(old, new) == (name not in entry.outputs), name


@pytest.mark.parametrize("preset", TESTED)
def test_program_equals_reference(entry, preset):
    found = run(entry, entry.arguments_for(preset))
    expected, _ = reference(entry.name, preset)
    assert set(found) == set(expected) == set(entry.outputs)
    for name in entry.outputs:
        x, y = np.asarray(found[name]), np.asarray(expected[name])
        assert x.dtype == y.dtype == np.float64
        assert x.shape == y.shape
        assert np.isfinite(x).all()
        assert distance(x, y) <= 1e-10, name


@pytest.mark.parametrize("preset", TESTED)
def test_gradients_are_finite_and_not_zero(entry, preset):
    """The gradients of the sum of each output's elements."""
    outputs, pullback = reference(entry.name, preset)
    for seeded in entry.outputs:
        adjoints = {name: np.full(y.shape, float(name == seeded)) for name, y in outputs.items()}
        gradients = pullback(adjoints)
        assert set(gradients) == set(entry.arrays)
        assert all(np.isfinite(gradient).all() for gradient in gradients.values())
        assert any(np.any(gradient) for gradient in gradients.values())


@pytest.mark.parametrize("preset", TESTED)
def test_reference_has_the_program_s_derivative(entry, preset):
    """Along a random direction, against a central difference of the program."""
    values = dict(zip(entry.arguments, entry.arguments_for(preset), strict=True))
    outputs, pullback = reference(entry.name, preset)
    rng = np.random.default_rng(1)
    direction = {name: rng.uniform(-1, 1, np.shape(values[name])) for name in entry.arrays}
    adjoints = {name: rng.uniform(-1, 1, y.shape) for name, y in outputs.items()}

    def weighted_sum(step):
        moved = values | {name: values[name] + step * direction[name] for name in entry.arrays}
        found = run(entry, tuple(moved.values()))
        return sum(np.sum(adjoints[name] * found[name]) for name in entry.outputs)

    step = 1e-5
    difference = (weighted_sum(step) - weighted_sum(-step)) / (2 * step)
    gradients = pullback(adjoints)
    derivative = sum(np.sum(gradients[name] * direction[name]) for name in entry.arrays)
    assert abs(difference - derivative) / max(1, abs(difference) + abs(derivative)) <= 1e-7
