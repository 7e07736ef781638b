"""Forward substitution: scalars with a cheap value of constants are replaced by it."""

import numpy as np
import pytest

from sdfgad.analysis.propagate import propagate_scalars
from sdfgad.ir.program import computes
from sdfgad.ir.text import program_text
from tests.helpers import numpy_output
from tests.helpers_ir import assert_same_outputs, outputs_of, parsed
from tests.parse.test_copy_elimination import PROGRAMS

X = np.linspace(0.5, 1.5, 6)
IDX = np.array([3, -1, 0, 4, 1, 2])


@pytest.mark.parametrize(("program", "size"), PROGRAMS, ids=[p.__name__ for p, _ in PROGRAMS])
def test_outputs_stay(rng, program, size):
    args = (rng.uniform(0.2, 1.2, size), 0.8)
    primal = parsed(program, *args)
    assert_same_outputs(primal, propagate_scalars(primal.program), *args)


def gathered(x, idx, s):
    for i in range(6):
        k = idx[i]
        x[k] = x[k] * s + 1.0
    return x


def index_changes(x, idx, s):
    for i in range(6):
        k = idx[i]
        idx[i] = 2
        x[k] = x[k] * s + 1.0
    return x


def condition_on_an_argument(x, idx, s):
    if s > 0.5:
        x[0] = 3.0
    else:
        x[1] = 3.0
    return x


def condition_on_an_update(x, idx, s):
    if x[0] > 0.4:
        x[0] = 0.1
        x[1] = 3.0
    return x


def index_is_returned(x, idx, s):
    k = idx[0] + 1
    return x[k] * s, k


def index_of_an_index(x, idx, s):
    k = idx[idx[idx[0]]]
    x[k] = s
    return x


def last_index_of_a_loop(x, idx, s):
    for i in range(3):
        k = idx[i]
        x[i] = x[k]
    return x * k


def index_from_a_branch(x, idx, s):
    if s > 0.5:
        k = idx[0]
    else:
        k = idx[1]
    x[k] = 9.0
    return x


def bounds_of_a_loop(x, idx, s):
    for i in range(idx[4], idx[3]):
        x[i] = s
    return x


OWN = [
    gathered,
    index_changes,
    condition_on_an_argument,
    condition_on_an_update,
    index_of_an_index,
    last_index_of_a_loop,
    index_from_a_branch,
    bounds_of_a_loop,
]


@pytest.mark.parametrize("s", [0.2, 0.8])
@pytest.mark.parametrize("program", OWN, ids=lambda program: program.__name__)
def test_outputs_with_indices_stay(program, s):
    args = (X, IDX, s)
    primal = parsed(program, *args)
    found = propagate_scalars(primal.program)
    assert_same_outputs(primal, found, *args)
    expected = numpy_output(program, args)
    np.testing.assert_array_equal(outputs_of(primal, *args, program=found)["return"], expected)


def scalars(function):
    """How many scalars of integers and truth values are written, before and after."""
    program = parsed(function, X, IDX, 0.5).program
    written = [[s for s in computes(p.body) if not s.target.index] for p in (program, propagate_scalars(program))]
    return tuple(sum(s.value.dtype.kind != "f" and s.target.buffer != "status" for s in part) for part in written)


def test_scalars_that_are_replaced():
    assert scalars(gathered) == (1, 0)
    assert scalars(condition_on_an_argument) == (1, 0)


def test_scalars_that_are_needed():
    assert scalars(index_changes) == (1, 1)
    assert scalars(condition_on_an_update) == (1, 1)
    before, after = scalars(index_is_returned)
    assert after >= 1
    assert after <= before


def test_condition_is_read_in_its_place():
    text = program_text(propagate_scalars(parsed(condition_on_an_argument, X, IDX, 0.5).program))
    assert "if (s > 0.5):" in text


def two_names(x, idx, s):
    k = idx[0]
    j = k + 1
    x[j] = x[k]
    return x


def test_chains_are_replaced_from_the_front():
    primal = parsed(two_names, X, IDX, 0.5)
    assert_same_outputs(primal, propagate_scalars(primal.program), X, IDX, 0.5)
