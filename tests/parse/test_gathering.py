"""Gather and scatter: NumPy's order of axes and of assignments for index arrays, and its range errors."""

import itertools

import numpy as np
import pytest

from sdfgad.errors import InvalidIndex, ShapeMismatch
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, checked_outputs, parsed

A = np.arange(24.0).reshape(2, 3, 4) / 7.0
ENTRIES = {
    "full": ":",
    "part": "1:",
    "back": "::-1",
    "integer": "-1",
    "none": "None",
    "dots": "...",
    "vector": "k",
    "matrix": "m",
    "data": "k[1]",
    "list": "[1, 0]",
}


FEWER = ("full", "integer", "none", "dots", "vector", "matrix")


def indices():
    """All indices of up to three entries, with a vector or matrix among them."""
    for length, names_of in ((1, ENTRIES), (2, ENTRIES), (3, FEWER)):
        for names in itertools.product(names_of, repeat=length):
            if names.count("dots") <= 1 and {"vector", "matrix", "list"} & {*names}:
                yield ", ".join(ENTRIES[name] for name in names)


def functions(texts, folder, body):
    lines = ["import numpy as np"]
    for number, text in enumerate(texts):
        lines += [f"def program_{number}(a, k, m, v):", *(f"    {line}" for line in body.format(text).split("\n"))]
    module = module_from("\n".join(lines), folder)
    return [getattr(module, f"program_{number}") for number in range(len(texts))]


K, M = np.array([1, 0]), np.array([[0, -1], [1, 1]])


def test_shapes_and_values_of_all_indices(tmp_path):
    """The rules of where the arrays' axes go, for every kind of neighbour."""
    texts = sorted(set(indices()))
    failures = []
    for text, program in zip(texts, functions(texts, tmp_path, "return a[{}] * 1.0"), strict=True):
        try:
            assert_like_python(program, A, K, M, 0.5)
        except Exception as error:
            failures.append(f"a[{text}]: {type(error).__name__}: {str(error)[:200]}")
    assert not failures, "\n".join(failures)


WRITTEN = [
    "k",
    "m",
    "k, 0",
    "0, k",
    ":, k",
    "k, :, k",
    "k, k",
    "..., k",
    "m, k",
    "k[:, None], k",
    "m, 0, 1:",
    "k, None, k",
]


def test_assignments(tmp_path):
    texts = (
        [f"a[{t}] = v" for t in WRITTEN] + [f"a[{t}] += v" for t in WRITTEN] + [f"a[{t}] *= a[{t}]" for t in WRITTEN]
    )
    for program in functions(texts, tmp_path, "{}\nreturn a"):
        assert_value_and_slope(program, A, K, M, 0.5)


def last_wins(x, k, v):
    x[k] = v
    return x * x


def last_wins_by_rows(x, k, v):
    x[k, 1:] = v
    return x * x


def once_for_each(x, k, v):
    np.add.at(x, k, v)
    np.subtract.at(x, (k, 0), v[:, 0])
    return x * x


def read_and_written(x, k, v):
    x[k] = x[k[::-1]] * 2.0
    return x


def chosen_twice(x, k, v):
    return np.sum(x[k] * x[k[::-1]], axis=-1)


def row_by_row(x, k, v):
    for i in range(3):
        x[k[i]] += v[i]
        k[i] = 0
    return x[k]


KS = [[0, 2, 1], [1, 1, 1], [-1, 2, 0], [2, 0, 2]]


@pytest.mark.parametrize("k", KS, ids=str)
@pytest.mark.parametrize(
    "program", [last_wins, once_for_each, read_and_written, chosen_twice, row_by_row], ids=lambda p: p.__name__
)
def test_indices_that_occur_twice(rng, program, k):
    args = (rng.standard_normal((3, 4)), np.array(k), rng.standard_normal((3, 4)))
    assert_value_and_slope(program, *args)


@pytest.mark.parametrize("k", KS, ids=str)
def test_rows_that_are_assigned_twice(rng, k):
    args = (rng.standard_normal((3, 4)), np.array(k), rng.standard_normal((3, 3)))
    assert_value_and_slope(last_wins_by_rows, *args)


def test_an_empty_index_array(rng):
    none = np.empty(0, np.int64)
    assert_like_python(last_wins, rng.standard_normal((3, 4)), none, rng.standard_normal((0, 4)))


def small_integers(x, k):
    return x[k] + x[k[0]]


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint64"])
def test_indices_of_any_integer_dtype(dtype):
    assert_like_python(small_integers, np.arange(5.0), np.array([3, 0, 3], dtype))


def index_changes_afterwards(x, k):
    y = x[k]
    k[0] = 2
    x[1] = 9.0
    return y + x[k]


def test_the_result_is_of_the_present_indices():
    assert_like_python(index_changes_afterwards, np.arange(5.0), np.array([1, 0, 3]))


# --- errors


def reads(x, k):
    y = x * 2.0
    return y[1:, k]


def writes(x, k):
    x[k, 0] = 1.0
    return x


def adds(x, k):
    np.add.at(x, k, 1.0)
    return x


@pytest.mark.parametrize(("program", "text"), [(reads, "return y"), (writes, "x[k, 0]"), (adds, "np.add.at")])
@pytest.mark.parametrize("bad", [3, -4])
def test_index_out_of_range(program, text, bad):
    x, good = np.ones((3, 3)), np.array([0, -3, 2])
    primal = assert_like_python(program, x, good)
    with pytest.raises(IndexError):
        program(x.copy(), np.array([0, bad, 1]))
    with pytest.raises(InvalidIndex, match="an index is out of range for an axis of 3") as caught:
        checked_outputs(primal, x, np.array([0, bad, 1]))
    assert str(caught.value.where) == line_of(program, text)


def rows(x, k):
    return np.choose(k, x)


def items(x, k):
    return np.choose(k, [x[0], x[1], x[2]])


@pytest.mark.parametrize("program", [rows, items])
@pytest.mark.parametrize("bad", [3, -1])
def test_number_of_a_choice_out_of_range(program, bad):
    """It does not count from the end."""
    x = np.arange(9.0).reshape(3, 3)
    primal = assert_like_python(program, x, np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="invalid entry"):
        program(x, np.array([0, bad, 1]))
    with pytest.raises(InvalidIndex, match="an index is out of range for an axis of 3"):
        checked_outputs(primal, x, np.array([0, bad, 1]))


def arrays_that_do_not_fit(x, k):
    return x[k, np.zeros(2, int)]


def value_that_does_not_fit(x, k):
    x[k] = np.ones(2)
    return x


@pytest.mark.parametrize("program", [arrays_that_do_not_fit, value_that_does_not_fit])
def test_shapes_that_do_not_broadcast(program):
    with pytest.raises((IndexError, ValueError)):
        program(np.ones((3, 3)), np.array([0, 1, 2]))
    with pytest.raises(ShapeMismatch, match="broadcast"):
        parsed(program, np.ones((3, 3)), np.array([0, 1, 2]))


def subtracted(k, u, m):
    x, n, w = np.ones(4), np.zeros(4, np.int64), np.zeros(4, np.uint8)
    np.subtract.at(x, k, u)
    np.subtract.at(x, k, m)
    np.subtract.at(x, 1, u[0])
    np.subtract.at(n, k, u)
    np.add.at(n, k, m)
    np.subtract.at(w, k, u)
    np.subtract.at(w, k, 3)
    return x, n, w


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int8])
def test_what_is_subtracted_is_converted_before_it_changes_its_sign(dtype):
    assert_like_python(subtracted, np.array([0, 1, 1]), np.array([1, 2, 100], dtype), np.array([True, False, True]))
