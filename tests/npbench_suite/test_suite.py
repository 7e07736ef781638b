"""Every entry of the suite is complete, and its NumPy program and its JAX reference agree."""

import copy
import inspect

import numpy as np
import pytest

import npbench_suite
from tests.helpers_tiers import some
from tests.npbench_suite.oracle import NAMES, TESTED, distance, inner, is_single, random_like, reference, run

PRESETS = ("S", "M", "L", "paper", "test", "test2")
DTYPES = (np.float64, np.float32, np.complex128)


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
    assert set(entry.exempt) <= set(entry.presets["test"])
    assert entry.presets["test"] != entry.presets["test2"]
    for preset in TESTED:
        parameters = entry.presets[preset]
        sizes = [parameters[name] for name in parameters if name not in entry.exempt]
        sizes = [size for size in sizes if isinstance(size, int)]
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
        assert isinstance(value, int | float | np.ndarray)
        inexact = np.issubdtype(np.asarray(value).dtype, np.inexact)
        assert inexact or name not in entry.arrays
        if isinstance(value, np.ndarray):
            assert inexact == (name in entry.arrays)
            assert value.dtype in DTYPES or value.dtype.kind in "iu"
            assert value.flags.c_contiguous
            assert np.isfinite(value).all()


@pytest.mark.parametrize("preset", TESTED)
def test_program_updates_only_its_outputs(entry, preset):
    before = entry.arguments_for(preset)
    after = copy.deepcopy(before)
    entry.program(*after)
    for name, old, new in zip(entry.arguments, before, after, strict=True):
        assert np.array_equal(old, new) == (name not in entry.outputs), name


@pytest.mark.parametrize("preset", some(TESTED, 2))
def test_program_equals_reference(entry, preset):
    found = run(entry, entry.arguments_for(preset))
    expected, _ = reference(entry.name, preset)
    assert set(found) == set(expected) == set(entry.outputs)
    for name in entry.outputs:
        x, y = np.asarray(found[name]), np.asarray(expected[name])
        assert x.dtype == y.dtype
        assert x.dtype in DTYPES
        assert x.shape == y.shape
        assert np.isfinite(x).all()
        assert distance(x, y) <= (1e-4 if is_single(x) else 1e-10), name


@pytest.mark.parametrize("preset", some(TESTED, 2))
def test_gradients_are_finite_and_not_zero(entry, preset):
    """The gradients of a weighted sum of each output's elements."""
    outputs, pullback = reference(entry.name, preset)
    rng = np.random.default_rng(2)
    for seeded in entry.outputs:
        adjoints = {name: random_like(y, rng) * float(name == seeded) for name, y in outputs.items()}
        gradients = pullback(adjoints)
        assert set(gradients) == set(entry.arrays)
        assert all(np.isfinite(gradient).all() for gradient in gradients.values())
        largest = max(np.max(np.abs(gradient)) for gradient in gradients.values())
        assert largest > (1e-3 if seeded == entry.output else 0)


class Double:
    """NumPy, but single precision is double."""

    float32 = np.float64

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.mark.parametrize("preset", some(TESTED, 2))
def test_reference_has_the_program_s_derivative(entry, preset, monkeypatch):
    """Along a random direction, against a central difference of the program in double precision."""
    values = dict(zip(entry.arguments, entry.arguments_for(preset), strict=True))
    single = any(map(is_single, values.values()))
    if single:
        monkeypatch.setitem(entry.program.__globals__, "np", Double())
    outputs, pullback = reference(entry.name, preset)
    rng = np.random.default_rng(1)
    direction = {name: random_like(values[name], rng) for name in entry.arrays}
    adjoints = {name: random_like(y, rng) for name, y in outputs.items()}

    def weighted_sum(step):
        moved = values | {name: values[name] + step * direction[name] for name in entry.arrays}
        found = run(entry, tuple(moved.values()))
        assert not any(map(is_single, found.values()))
        return sum(inner(adjoints[name], found[name]) for name in entry.outputs)

    step = 1e-5
    difference = (weighted_sum(step) - weighted_sum(-step)) / (2 * step)
    gradients = pullback(adjoints)
    derivative = sum(inner(gradients[name], direction[name]) for name in entry.arrays)
    assert abs(difference - derivative) / max(1, abs(difference) + abs(derivative)) <= (1e-5 if single else 1e-7)
