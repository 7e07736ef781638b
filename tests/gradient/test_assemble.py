"""The assembled gradient program, run by an interpreter, has JAX's gradients."""

import numpy as np
import pytest

import npbench_suite
from sdfgad.ir.program import Loop, computes
from sdfgad.optimise.passes import optimise
from tests.helpers import assert_close, jax_vjp, numpy_output
from tests.helpers_ir import evaluated_gradients, gradient_of, inputs_of, parsed
from tests.npbench_suite.oracle import reference, run
from tests.parse.test_control import CASES


@pytest.mark.parametrize("passes", [(), (optimise,)], ids=["plain", "optimised"])
@pytest.mark.parametrize(("function", "jax_function", "size"), CASES, ids=[case[0].__name__ for case in CASES])
def test_gradient(rng, function, jax_function, size, passes):
    args = (rng.uniform(0.2, 1.2, size), 0.8)
    primal = parsed(function, *args)
    made = gradient_of(primal)
    cotangent = np.random.default_rng(3).standard_normal(np.shape(numpy_output(function, args)))
    value, found = evaluated_gradients(primal, made, cotangent, *args, passes=passes)
    assert_close(value, numpy_output(function, args), 1e-12)
    for name, expected in zip(("x", "s"), jax_vjp(jax_function, args, cotangent), strict=True):
        assert_close(found.get(name, np.zeros(np.shape(expected))), expected, what=name)


@pytest.mark.parametrize("name", ["atax", "cholesky", "go_fast", "jacobi_1d", "symm", "trisolv", "trmm"])
def test_gradient_of_the_suite(name):
    entry = npbench_suite.load(name)
    args = entry.arguments_for("test")
    primal = parsed(entry.program, *args)
    made = gradient_of(primal, entry.arrays, entry.output)
    outputs, pullback = reference(name, "test")
    cotangent = np.random.default_rng(1).standard_normal(np.shape(run(entry, args)[entry.output]))
    expected = pullback({k: cotangent if k == entry.output else np.zeros(y.shape) for k, y in outputs.items()})
    value, found = evaluated_gradients(primal, made, cotangent, *args, passes=(optimise,))
    assert_close(value, outputs[entry.output], 1e-10)
    for array in entry.arrays:
        assert_close(found.get(array, np.zeros(np.shape(expected[array]))), expected[array], 1e-9, array)


def in_place(x, y):
    for _ in range(3):
        x[:] = np.sin(x) * y
    return x


ARGS = (np.linspace(0.5, 1.0, 4), np.linspace(1.0, 2.0, 4))


def test_inputs_and_outputs():
    primal = parsed(in_place, *ARGS)
    made = gradient_of(primal)
    assert made.program.inputs == (*primal.program.inputs, made.cotangent)
    assert list(made.program.outputs) == ["return", *(f"gradient of {name}" for name in primal.program.inputs)]
    assert set(made.gradients) == set(primal.program.inputs)
    for name, bar in made.gradients.items():
        assert made.program.buffers[bar].shape == primal.program.buffers[name].shape


def test_an_output_that_the_reverse_sweep_would_undo_is_copied():
    primal = parsed(in_place, *ARGS)
    made = gradient_of(primal, output="x")
    assert made.value != primal.program.outputs["x"]
    value, _ = evaluated_gradients(primal, made, np.ones(4), *ARGS)
    assert_close(value, numpy_output(in_place, ARGS), 1e-14)


def test_an_output_that_is_not_undone_is_not_copied():
    primal = parsed(lambda x, y: x * y, *ARGS)
    assert gradient_of(primal).value == primal.program.outputs["return"]


def test_inputs_are_never_written():
    for function, _, size in CASES:
        made = gradient_of(parsed(function, np.ones(size), 0.8))
        assert not {s.target.buffer for s in computes(made.program.body)} & set(made.program.inputs)


def test_gradients_are_zero_where_nothing_depends():
    primal = parsed(lambda x, y: np.sum(y * y), *ARGS)
    made = gradient_of(primal, ["x"])
    assert made.gradients == {}
    value, found = evaluated_gradients(primal, made, 1.0, *ARGS)
    assert found == {}
    assert_close(value, np.sum(ARGS[1] ** 2))


def test_a_zero_cotangent_gives_zeros():
    primal = parsed(in_place, *ARGS)
    _, found = evaluated_gradients(primal, gradient_of(primal), np.zeros(4), *ARGS)
    for value in found.values():
        np.testing.assert_array_equal(value, np.zeros(4))


def empty_trips(x, n):
    for i in range(n):
        x[i] = x[i] * x[i]
    return x * 2.0


@pytest.mark.parametrize("n", [0, 2])
def test_no_trips(n):
    primal = parsed(empty_trips, ARGS[0], n)
    made = gradient_of(primal)
    _, found = evaluated_gradients(primal, made, np.ones(4), ARGS[0], n)
    expected = np.full(4, 2.0)
    expected[:n] = 4.0 * ARGS[0][:n]
    assert_close(found["x"], expected, 1e-14)
    assert inputs_of(primal, ARGS[0], n)[1] == {"n": n}


def test_the_reverse_sweep_has_only_loops_that_do_something():
    def program(x, y):
        z = np.zeros(4)
        for i in range(4):
            z[i] = np.floor(x[i])
        for i in range(4):
            y[i] = y[i] * z[i]
        return y

    made = gradient_of(parsed(program, *ARGS), ["y"])
    assert sum(isinstance(s, Loop) and s.backward for s in made.program.body) == 1
