"""Priority queues of heapq, of known priorities and of those that data decides."""

import dataclasses
import heapq
from heapq import heappop, heappush

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.9, 0.6, 1.2, 0.7])


def known_events(x):
    """An event queue, which the events themselves fill."""
    events = []
    heappush(events, (0.5, "in", 1))
    heappush(events, (0.2, "out", 2))
    heappush(events, (0.2, "in", 0))
    y, n = 0.0, 0
    while events and n < 12:
        t, kind, k = heappop(events)
        n += 1
        if kind == "in":
            y += x[k] * t
            heappush(events, (t + 0.3, "out", (k + 1) % 4))
        else:
            y *= 0.9 * x[3]
            if k < 3:
                heappush(events, (t + 0.25, "in", k + 1))
    return y


def cheapest_path(x):
    """A*, over a grid of known costs."""
    grid = [[1.0, 3.0, 1.0], [1.0, 1.0, 5.0], [4.0, 1.0, 1.0]]
    queue, came, cost = [(0.0, (0, 0))], {}, {(0, 0): 0.0}
    while queue:
        c, (i, j) = heappop(queue)
        if (i, j) == (2, 2):
            break
        for a, b in ((i, j + 1), (i + 1, j), (i, j - 1), (i - 1, j)):
            if 0 <= a < 3 and 0 <= b < 3 and c + grid[a][b] < cost.get((a, b), np.inf):
                cost[a, b], came[a, b] = c + grid[a][b], (i, j)
                heappush(queue, (cost[a, b], (a, b)))
    place, weight = (2, 2), 0.0
    while place != (0, 0):
        weight += grid[place[0]][place[1]] * x[place[0]]
        place = came[place]
    return weight


@dataclasses.dataclass(order=True)
class Job:
    due: float
    number: int = dataclasses.field(compare=False)


def jobs(x):
    queue = []
    for number, due in enumerate([3.0, 1.0, 2.0, 1.0]):
        heappush(queue, Job(due, number))
    t = cost = 0.0
    while queue:
        job = heappop(queue)
        t += x[job.number]
        cost += t**2 * job.due
    return cost


def decided_by_data(x):
    queue = [(x[k], k) for k in range(4)]
    heapq.heapify(queue)
    total, weight = 0.0, 1.0
    while queue:
        value, number = heappop(queue)
        total += weight * value * (number + 1)
        weight *= 0.5
    return total


def all_functions(x):
    queue = list(x)
    heapq.heapify(queue)
    most, least = heapq.nlargest(2, x), heapq.nsmallest(2, x, key=lambda v: -v)
    replaced = heapq.heapreplace(queue, x[1] * x[2])
    handed = heapq.heappushpop(queue, x[3] * 1.3) + 0.1 * heapq.heappushpop(queue, x[0] * 0.01)
    merged = sum((k + 1) * v for k, v in enumerate(heapq.merge([0.1, 0.5], [0.2, 0.3])))
    ends = [replaced, handed, merged, *most, *least, *queue]
    return sum((k + 1) * v for k, v in enumerate(ends))


@pytest.mark.parametrize("program", [known_events, cheapest_path, jobs, decided_by_data, all_functions])
@pytest.mark.parametrize("x", [X, X[::-1].copy(), X[[2, 0, 3, 1]]], ids=["a", "b", "c"])
def test_value_and_slope(program, x):
    assert_value_and_slope(program, x)


KEYS = np.random.default_rng(3).integers(0, 5, (4, 12))


@pytest.mark.parametrize("keys", KEYS, ids=range(len(KEYS)))
def test_equal_items_end_where_those_of_python_do(keys):
    """Numbers that tell items apart are no part of the order."""

    def program(x):
        queue = [Job(int(key), number) for number, key in enumerate(keys[:7])]
        heapq.heapify(queue)
        for number, key in enumerate(keys[7:]):
            heappush(queue, Job(int(key), 7 + number))
        heapq.heapreplace(queue, Job(2, 12))
        left = [job.number for job in queue]
        left += [heappop(queue).number for _ in range(9)]
        left += [job.number for job in queue]
        return sum(x[0] ** k * number for k, number in enumerate(left))

    assert_value_and_slope(program, X)


def test_compiled_in_other_orders():
    gradient = sdfgad.differentiate(decided_by_data, wrt="x")
    for x in (X, X[::-1].copy(), X[[2, 0, 3, 1]]):
        value, slope = gradient.value_and_grad(x)
        order = np.argsort(x)
        expected = np.zeros(4)
        expected[order] = 0.5 ** np.arange(4) * (order + 1)
        assert np.isclose(value, decided_by_data(x), rtol=1e-14)
        np.testing.assert_allclose(slope, expected, rtol=1e-14)


def empty(x):
    heappop([])
    return x


def test_no_item_is_an_error_as_in_python():
    with pytest.raises(sdfgad.SdfgadError, match=r"IndexError|index out of range"):
        sdfgad.differentiate(empty)(X)
