"""What one process adds up over shards, and in which order."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse

from sdfgad.shards import MOST_KEPT, added, kept, pairwise


def in_levels(parts):
    """Pairs of neighbours, level by level; an odd one goes up as it is."""
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [f"({pair[0]}+{pair[1]})" if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


@pytest.mark.parametrize("count", [*range(1, 20), 31, 32, 33])
def test_the_order(count):
    parts = [str(k) for k in range(count)]
    assert pairwise(iter(parts), lambda x, y: f"({x}+{y})") == in_levels(parts)


def test_few_sums_are_held_at_once():
    held, most = set(), 0

    def part(k):
        nonlocal most
        held.add((k,))
        most = max(most, len(held))
        return (k,)

    def add(x, y):
        held.difference_update({x, y})
        held.add(x + y)
        return x + y

    assert pairwise(map(part, range(1000)), add) == tuple(range(1000))
    assert most <= 11
    assert pairwise([], add) is None


@dataclass
class Layer:
    w: np.ndarray
    name: str | None


def test_sums_of_containers():
    x = {"a": [np.ones(2, np.float32), None], "b": (Layer(np.ones(2), None), 2.0)}
    y = {"a": [np.full(2, 3, np.float32), None], "b": (Layer(np.zeros(2), None), 0.5)}
    found = added((np.float64(1), (x,)), (np.float64(2), (y,)))
    assert found[0] == 3
    (sums,) = found[1]
    np.testing.assert_array_equal(sums["a"][0], np.full(2, 4, np.float32))
    assert sums["a"][0].dtype == np.float32
    assert sums["a"][1] is None
    assert sums["b"][1] == 2.5
    assert type(sums["b"][0]) is Layer
    np.testing.assert_array_equal(sums["b"][0].w, np.ones(2))
    np.testing.assert_array_equal(x["a"][0], np.ones(2))  # A task may run again: what it was given stays.
    assert added(None, y) is y
    assert added(x, None) is x


def test_sums_of_sparse_matrices_have_the_same_entries():
    x = scipy.sparse.csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]]))
    found = added(x, 2 * x)
    np.testing.assert_array_equal(found.toarray(), 3 * x.toarray())
    np.testing.assert_array_equal(found.indices, x.indices)


def test_the_first_gradient_of_a_kind_stays():
    first, second = object(), object()
    assert kept("a", lambda: first) is first
    assert kept("a", lambda: second) is first
    for k in range(MOST_KEPT):
        kept(str(k), lambda: second)
    assert kept("a", lambda: second) is second
