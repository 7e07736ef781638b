"""Every program's values and gradients, against NumPy, JAX and finite differences.

Needs the compiler. The cases are grouped, so that a program is parsed and compiled once for all tests of a preset.
"""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import npbench_suite
import sdfgad
from tests.npbench_suite.oracle import NAMES, TESTED, distance, reference, run

VALUE_LIMIT, GRADIENT_LIMIT = 1e-10, 1e-8


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
        return pullback({name: cotangent if name == output else np.zeros(y.shape) for name, y in outputs.items()})


def differentiate(entry, output):
    return sdfgad.differentiate(entry.program, wrt=entry.arrays, output=output, reduce="sum", allow_unused=True)


def make_case(name, preset):
    entry = npbench_suite.load(name)
    return Case(entry, preset, entry.arguments_for(preset), differentiate(entry, entry.output))


@pytest.fixture(scope="module", params=[(n, p) for n in NAMES for p in TESTED], ids="-".join)
def case(request):
    return make_case(*request.param)


def expected_output(case, output):
    return np.asarray(run(case.entry, case.arguments)[output])


def assert_gradients(case, output, found, cotangent):
    expected = case.jax_gradients(output, cotangent)
    for name, gradient in zip(case.entry.arrays, found, strict=True):
        value = case.arguments[case.entry.arguments.index(name)]
        assert type(gradient) is type(value), name
        assert np.asarray(gradient).dtype == np.asarray(value).dtype, name
        assert distance(gradient, expected[name]) <= GRADIENT_LIMIT, name


def test_value_equals_numpy(case):
    found = case.program.value(*case.arguments)
    expected = expected_output(case, case.entry.output)
    assert np.asarray(found).dtype == expected.dtype
    assert distance(found, expected) <= VALUE_LIMIT


def test_gradient_of_a_weighted_sum_equals_jax(case):
    output = case.entry.output
    cotangent = np.random.default_rng(1).standard_normal(expected_output(case, output).shape)
    assert_gradients(case, output, case.program.vjp(*case.arguments, cotangent=cotangent), cotangent)


def test_sum_and_its_gradient_equal_jax(case):
    output = case.entry.output
    expected = expected_output(case, output)
    value, gradients = case.program.value_and_grad(*case.arguments)
    assert distance(value, np.sum(expected)) <= VALUE_LIMIT
    assert_gradients(case, output, gradients, np.ones(expected.shape))


def test_gradient_passes_check_grads(case):
    entry = case.entry
    result = sdfgad.check_grads(
        entry.program, *case.arguments, wrt=entry.arrays, output=entry.output, allow_unused=True
    )
    assert result.error <= 1e-6
    assert result.rate >= 1.7


def test_arguments_are_untouched(case):
    before = copy.deepcopy(case.arguments)
    value, gradients = case.program.value_and_grad(*case.arguments)
    forward = case.program.value(*case.arguments)
    for result in (value, forward, *gradients):
        assert not any(np.shares_memory(result, argument) for argument in case.arguments)
    for old, new in zip(before, case.arguments, strict=True):
        np.testing.assert_array_equal(old, new)


OTHERS = [(n, o) for n in NAMES for e in [npbench_suite.load(n)] for o in e.outputs if o != e.output]


@pytest.mark.parametrize(("name", "output"), OTHERS)
def test_other_outputs(name, output):
    """The outputs that are not the main one: their values, and the gradients of a weighted sum."""
    case = make_case(name, TESTED[0])
    program = differentiate(case.entry, output)
    expected = expected_output(case, output)
    assert distance(program.value(*case.arguments), expected) <= VALUE_LIMIT
    cotangent = np.random.default_rng(2).standard_normal(expected.shape)
    assert_gradients(case, output, program.vjp(*case.arguments, cotangent=cotangent), cotangent)
