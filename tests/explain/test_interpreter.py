"""The interpreter holds programs to what they promise."""

import re

import numpy as np
import pytest

from sdfgad.errors import InvalidProgram
from sdfgad.explain.interpreter import Interpreter
from tests.helpers_text import sample

BROKEN = {
    "trips of the parallel loop over `p` meet at z[": "loop parallel p < 4:\n    z[p + 1] = z[p] * 2.0",
    "z[20] is out of range, of an array of shape (20,)": "for p < 20: z[p + 1] = x[p]",
    "an element is assigned twice": "for p < 4: z[p // 2] = x[p]",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_promise_is_named(what):
    program, arrays, _ = sample(BROKEN[what])
    with pytest.raises(InvalidProgram, match=re.escape(what)):
        Interpreter(program, arrays)


def test_parallel_trips_may_add_to_the_same_element():
    program, arrays, _ = sample("z[0] = 0.0\nloop parallel p < 20:\n    z[0] += x[p]")
    found = {Interpreter(program, arrays, seed=seed).outputs["z"][0] for seed in range(4)}
    np.testing.assert_allclose(list(found), np.sum(arrays["x"]))


def test_storage_is_nothing_before_it_is_written():
    program, arrays, _ = sample("for p < 10: z[p] = x[p]")
    found = Interpreter(program, arrays).outputs["z"]
    np.testing.assert_array_equal(found[:10], arrays["x"][:10])
    assert np.isnan(found[10:]).all()


def test_arguments_are_left_alone_and_checked():
    program, arrays, _ = sample("for p < 20: z[p] = x[p]")
    with pytest.raises(InvalidProgram, match="the input `x` is no array of"):
        Interpreter(program, {"x": np.zeros(3)})
    with pytest.raises(InvalidProgram, match="inputs are"):
        Interpreter(program, {})
    kept = arrays["x"].copy()
    Interpreter(program, arrays)
    np.testing.assert_array_equal(arrays["x"], kept)
