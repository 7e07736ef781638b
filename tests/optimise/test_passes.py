"""Each of the passes in turn leaves programs and their gradients as they are, with the value and without.

The interpreter holds parallel loops to their word: their trips run in a random order, and must not meet.
"""

import numpy as np
import pytest

import npbench_suite
from sdfgad.errors import SdfgadError
from sdfgad.ir.program import Compute
from sdfgad.optimise.passes import PASSES, optimise
from tests import helpers_arrays, helpers_memory
from tests.helpers import module_from
from tests.helpers_passes import check_function, check_passes
from tests.helpers_text import program_of, sample

# Interpreted in Python these take seconds each.
SLOW = {"cavity_flow", "channel_flow", "contour_integral", "conv2d_bias", "hdiff", "lenet", "mandelbrot2", "mlp"}
SLOW |= {"nbody", "resnet", "scattering_self_energies", "stockham_fft", "vadv", "adi", "softmax", "doitgen"}
SUITE = [n for n in npbench_suite.names() if n not in SLOW and npbench_suite.load(n).arrays]


@pytest.mark.parametrize("name", SUITE)
def test_suite(name):
    entry = npbench_suite.load(name)
    check_function(entry.program, entry.arguments_for("test"), entry.output, list(entry.arrays))


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_over_matrices(seed, tmp_path):
    program = module_from(helpers_arrays.ArrayMaker(seed).text(), tmp_path).program
    check_function(program, helpers_arrays.arguments(seed), wrt=["x", "y"], seed=seed)


@pytest.mark.parametrize("first", range(0, 16, 4))
def test_random_programs_with_control_flow(first, tmp_path):
    done = 0
    for seed in range(first, first + 4):
        program = module_from(helpers_memory.Maker(seed).text(), tmp_path).program
        rng = np.random.default_rng(seed)
        x, y = rng.uniform(0.2, 1.0, (2, 5))
        try:
            check_function(program, (x, y, np.array([0, 2, 1, 4, 1]), int(rng.integers(0, 4))), wrt=["x", "y"])
        except SdfgadError:
            continue
        done += 1
    assert done >= 3


@pytest.mark.parametrize("seed", range(3))
def test_values_made_again_and_states_kept(seed, tmp_path):
    program = module_from(helpers_memory.Maker(seed).text(), tmp_path).program
    rng = np.random.default_rng(seed)
    case = helpers_memory.case_of(
        program, (*rng.uniform(0.2, 1.0, (2, 5)), np.array([0, 2, 1, 4, 1]), 3), wrt=["x", "y"]
    )
    choices = helpers_memory.choices_for(helpers_memory.options_of(case), 2, seed)
    for choice in choices:
        value, gradients = case.run(choice)
        found, mine = case.run(choice, seed=5, passes=PASSES)
        np.testing.assert_allclose(found, value, rtol=1e-11)
        for name, expected in gradients.items():
            np.testing.assert_allclose(mine[name], expected, rtol=0, atol=1e-11 * np.max(np.abs(expected), initial=1))


def solved(x, y):
    a = x @ x.T + 20.0 * np.eye(6)
    b = a * 1.0
    z = np.linalg.solve(b, y[0])
    a[1:] = a[:-1] * z[1:, None]
    return np.sum(a * x) + np.sum(z * z)


def copied_and_changed(x, y):
    w = x
    x[1:] = y[:-1] * 0.5
    z = w * 1.0
    w[0] = z[1] * y[2]
    return z, w


def complex_numbers(x, y):
    z = x + 1j * y
    for _ in range(2):
        z[1:-1] = 0.5 * (z[2:] * z[:-2]) + np.conj(z[1:-1])
    s = np.sum(z * z)
    return (s * np.conj(s)).real


def counted(x, y):
    k, m, s = 0, 3, 1.0
    for i in range(m):
        m = m - 1
        if x[i] > 0.4:
            k += 1
        s = s * x[k] + y[m]
    while s < 4.0:
        s = s * 1.5 + y[k] * y[k]
        k = (k + 1) % 6
    return s


def carried(x, y):
    t = y * 0.5
    for i in range(3):
        u = x * t
        t = np.maximum(u, 0.3 * y)
        t[i], u[i] = u[i + 1], t[i + 1]
        x[i:] = x[i:] * u[i:]
    return np.sum(t * x)


def one_and_none(x, y):
    a = np.zeros((1, 6))
    a[0] = x
    a[:, 2:3] += y[1]
    b = np.zeros((0, 6))
    for i in range(1):
        a[i, 1:1] = 5.0
        a[i] = a[i] * y[0]
    return np.sum(a) + np.sum(b)


VECTORS = [copied_and_changed, complex_numbers, counted, carried, one_and_none]


@pytest.mark.parametrize("function", VECTORS, ids=[f.__name__ for f in VECTORS])
def test_by_hand(function, rng):
    args = rng.uniform(0.2, 0.9, (2, 6))
    outputs = ["return[0]", "return[1]"] if function is copied_and_changed else [None]
    for output in outputs:
        check_function(function, tuple(args), output)


def test_a_solver_in_between(rng):
    check_function(solved, tuple(rng.uniform(0.2, 0.9, (2, 6, 6))))


def test_each_pass_can_be_left_out():
    program, arrays, _ = sample("""
        for p < 20, c < 6: A[p, c] = 0.0
        for p < 18, c < 6: A[p, c] += X[p, c]
        for p < 18, c < 6: A[p + 2, c] += X[p, c] * y[p]
        loop j < 5:
            for p < 20: A[p, j + 1] = A[p, j] * 0.5
        for p < 20, c < 6: Z[p, c] = A[p, c]
        """)
    for left in range(len(PASSES)):
        check_passes(program, arrays, passes=PASSES[:left] + PASSES[left + 1 :])


def test_a_gradient_is_made_where_it_ends():
    """Also where that is seen only when its first contribution assigns."""
    program, arrays, _ = sample("""
        for p < 20: a[p] = 0.0
        for p < 20: a[p] += x[p] * y[p]
        for p < 20: z[p] = 0.0
        for p < 20: z[p] += a[p]
        """)
    check_passes(program, arrays, passes=PASSES)
    assert not any("a" in statement.mentioned for statement in optimise(program).body)


def test_a_product_that_is_taken_out_of_a_loop_assigns():
    text = """
        for p < 40, q < 40: z[p, q] = 0.0
        loop i < 40:
            for p < 40, q < 40: z[p, q] += x[p, i] * y[i, q]
            w[i] = x[i, i]
        """
    program = program_of(text, dict.fromkeys("xyz", (40, 40)) | {"w": (40,)}, "xy", "zw")
    made = optimise(program)
    (product,) = (s for s in made.body if "z" in s.mentioned)
    assert isinstance(product, Compute)
    assert product.fresh
    rng = np.random.default_rng(0)
    check_passes(program, {name: rng.normal(size=(40, 40)) for name in "xy"}, passes=PASSES)
