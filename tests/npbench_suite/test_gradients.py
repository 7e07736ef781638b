"""Every program's values and gradients, against NumPy, JAX and finite differences.

Needs the compiler. The cases are grouped, so that a program is parsed and compiled once for all tests of a preset.
"""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import npbench_suite
import sdfgad
from tests.helpers_tiers import some
from tests.npbench_suite.oracle import NAMES, TESTED, distance, is_single, random_like, reference, run

# The largest differences from NumPy's values and from JAX's gradients, in double and in single precision.
LIMITS = {False: (1e-10, 1e-8), True: (1e-4, 1e-4)}


@dataclass(frozen=True, eq=False)
class Case:
    """An entry at a preset, with its differentiated program."""

    entry: npbench_suite.Entry
    preset: str
    arguments: tuple
    program: sdfgad.DifferentiatedProgram

    def jax_gradients(self, output, cotangent):
        """By name of the array, the gradients of the sum of one output's elements, weighted by `cotangent`."""
        outputs, pullback = reference(self.entry.name, self.preset)
        return pullback({n: cotangent if n == output else np.zeros(y.shape, y.dtype) for n, y in outputs.items()})

    def limits(self, output):
        return LIMITS[is_single(expected_output(self, output))]


def differentiate(entry, output):
    return sdfgad.differentiate(entry.program, wrt=entry.arrays, output=output, reduce="sum", allow_unused=True)


def make_case(name, preset):
    entry = npbench_suite.load(name)
    return Case(entry, preset, entry.arguments_for(preset), differentiate(entry, entry.output))


KEYS = [f"{name}-{preset}" for name in NAMES for preset in TESTED]
# What is asked of the same compiled gradients in other ways by default: a third of the programs.
A_THIRD = pytest.mark.parametrize("case", some(KEYS, 3 * len(TESTED)), indirect=True)


@pytest.fixture(scope="module", params=some(KEYS, 4, kind=lambda key: key.split("-")[0]))
def case(request):
    return make_case(*request.param.split("-"))


def expected_output(case, output):
    return np.asarray(run(case.entry, case.arguments)[output])


def assert_gradients(case, output, found, cotangent):
    expected = case.jax_gradients(output, cotangent)
    for name, gradient in zip(case.entry.arrays, found, strict=True):
        value = case.arguments[case.entry.arguments.index(name)]
        assert type(gradient) is type(value), name
        assert np.asarray(gradient).dtype == np.asarray(value).dtype, name
        assert distance(gradient, expected[name]) <= case.limits(output)[1], name


def test_value_equals_numpy(case):
    found = case.program.value(*case.arguments)
    expected = expected_output(case, case.entry.output)
    assert np.asarray(found).dtype == expected.dtype
    assert distance(found, expected) <= case.limits(case.entry.output)[0]


def test_gradient_of_a_weighted_sum_equals_jax(case):
    output = case.entry.output
    cotangent = random_like(expected_output(case, output), np.random.default_rng(1))
    assert_gradients(case, output, case.program.vjp(*case.arguments, cotangent=cotangent), cotangent)


def elsewhere(value):
    """An array with the same elements that is not contiguous: every other element of a larger, transposed one."""
    if not isinstance(value, np.ndarray) or value.ndim == 0:
        return value
    wide = np.zeros([2 * extent for extent in reversed(value.shape)], value.dtype)
    view = wide.T[(slice(None, None, 2),) * value.ndim]
    view[...] = value
    return view


@A_THIRD
def test_inputs_need_not_be_contiguous(case):
    output = case.entry.output
    arguments = tuple(map(elsewhere, case.arguments))
    assert all(not v.flags.c_contiguous for v in arguments if isinstance(v, np.ndarray) and v.size > 1)
    cotangent = random_like(expected_output(case, output), np.random.default_rng(3))
    assert_gradients(case, output, case.program.vjp(*arguments, cotangent=elsewhere(cotangent)), cotangent)
    value = case.program.value(*arguments)
    assert distance(value, expected_output(case, output)) <= case.limits(output)[0]


@A_THIRD
def test_sum_and_its_gradient_equal_jax(case):
    output = case.entry.output
    expected = expected_output(case, output)
    if np.iscomplexobj(expected):
        pytest.skip("a complex output has no sum to be differentiated")
    value, gradients = case.program.value_and_grad(*case.arguments)
    assert distance(value, np.sum(expected)) <= case.limits(output)[0]
    assert_gradients(case, output, gradients, np.ones(expected.shape))


@A_THIRD
def test_gradient_passes_check_grads(case):
    entry = case.entry
    result = sdfgad.check_grads(
        entry.program, *case.arguments, wrt=entry.arrays, output=entry.output, allow_unused=True
    )
    assert result.error <= (1e-2 if any(map(is_single, case.arguments)) else 1e-6)
    assert result.rate >= 1.7


@A_THIRD
def test_arguments_are_untouched(case):
    before = copy.deepcopy(case.arguments)
    cotangent = random_like(expected_output(case, case.entry.output), np.random.default_rng(4))
    gradients = case.program.vjp(*case.arguments, cotangent=cotangent)
    forward = case.program.value(*case.arguments)
    for result in (forward, *gradients):
        assert not any(np.shares_memory(result, argument) for argument in case.arguments)
    for old, new in zip(before, case.arguments, strict=True):
        np.testing.assert_array_equal(old, new)


OTHERS = [(n, o) for n in NAMES for e in [npbench_suite.load(n)] for o in e.outputs if o != e.output]


@pytest.mark.parametrize(("name", "output"), some(OTHERS, 3))
def test_other_outputs(name, output):
    """The outputs that are not the main one: their values, and the gradients of a weighted sum."""
    case = make_case(name, TESTED[0])
    program = differentiate(case.entry, output)
    expected = expected_output(case, output)
    assert distance(program.value(*case.arguments), expected) <= case.limits(output)[0]
    cotangent = random_like(expected, np.random.default_rng(2))
    assert_gradients(case, output, program.vjp(*case.arguments, cotangent=cotangent), cotangent)
