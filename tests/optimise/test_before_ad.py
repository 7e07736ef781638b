"""The passes before differentiation leave programs and their gradients as they are."""

import copy

import numpy as np
import pytest

import npbench_suite
from sdfgad.optimise.before_ad import EARLY, prepare
from tests import helpers_arrays
from tests.helpers import module_from
from tests.helpers_ir import inputs_of
from tests.helpers_passes import check_early, check_passes, gradient_case
from tests.helpers_tiers import some


@pytest.mark.parametrize("name", ["symm", "syr2k", "syrk", "trmm", "doitgen", "cholesky", "gemm", "covariance"])
def test_suite(name):
    entry = npbench_suite.load(name)
    arguments = entry.arguments_for("test")
    check_early(prepare, entry.program, arguments, list(entry.arrays), entry.output)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_programs(first, tmp_path):
    for seed in range(first, first + 8):
        program = module_from(helpers_arrays.ArrayMaker(seed).text(), tmp_path).program
        primal, *_ = gradient_case(program, helpers_arrays.arguments(seed), wrt=["x", "y"])
        arrays, integers = inputs_of(primal, *copy.deepcopy(helpers_arrays.arguments(seed)))
        check_passes(primal.program, arrays, integers, passes=EARLY)


@pytest.mark.parametrize("seed", some(range(12), 4))
def test_random_loops_around_products(seed, tmp_path):
    """Loops over rows and columns around a few updates, of parts that move with the loops, by a number or without."""
    rng = np.random.default_rng(seed)
    lines = ["import numpy as np", "", "", "def program(alpha, a, b, y):", "    t = np.zeros(18)"]
    lines += ["    for i in range(18):", "        for j in range(18):"]
    part = rng.choice([": i", ": i + 1", ":", "i :"])
    number = rng.choice(["alpha * ", ""])
    updates = [
        f"y[{part}, j] += {number}b[i, j] * a[i, {part}]",
        f"y[i, {part}] -= {number}(a[{part}, j] * b[i, j] + b[{part}, j] * a[i, j])",
        f"t[j] = np.dot(a[i, {part}], b[{part}, j])",
        f"t[j] += a[i, {part}] @ b[{part}, j]",
    ]
    chosen = rng.choice(4, size=rng.integers(1, 4), replace=False)
    lines += [f"            {updates[k]}" for k in chosen]
    lines += [f"        y[i] {rng.choice(['+=', '-='])} {number}(a[i, i] * b[i] + t)"]
    program = module_from("\n".join(lines) + "\n", tmp_path).program
    arguments = (1.5, *(rng.normal(size=(18, 18)) for _ in "aby"))
    check_early(prepare, program, arguments, ["alpha", "a", "b", "y"])
