"""Objects that are gone over by their `__next__`, or by their `__getitem__` alone."""

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers import line_of
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(0.2013, 1.7071, 12)


class Items:
    def __init__(self, x, n=5):
        self.x, self.i, self.n = x, 0, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.x[self.i] * self.i


class Loader:
    """Batches, from the start in each epoch."""

    def __init__(self, x, size):
        self.x, self.size = x, size

    def __iter__(self):
        self.k = 0
        return self

    def __next__(self):
        if self.k + self.size > len(self.x):
            raise StopIteration
        batch = self.x[self.k : self.k + self.size]
        self.k += self.size
        return batch, self.k


class Data:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 5

    def __getitem__(self, i):
        if i >= len(self):
            raise IndexError(i)
        return self.x[i] * 2, i


class Rows:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, i):
        return self.x[i] * 2


def loops(x):
    s = 0.0
    for v in Items(x):
        s += v * v
    for k, (v, i) in enumerate(Data(x)):
        s += k * v + i
    for v, w in zip(Data(x), Rows(x), strict=False):
        s += v[0] * w
    return s


def epochs(x):
    loader, s = Loader(x, 4), 0.0
    for _ in range(3):
        for batch, k in loader:
            s += np.sum(batch**2) * k
    return s


def whole(x):
    a, b = Items(x, 2)
    first = max(v for v in Items(x)) + sum([v for v in Items(x) if v > 0.5]) + sum(Rows(x))
    return first + sum(list(Items(x))) + a * b + sum(v * i for v, i in Data(x))


def one_by_one(x):
    items = iter(Items(x))
    first = next(items)
    some = [next(items) for _ in range(2)]
    return first * sum(some) + sum(items) + next(items, 0.5)


@pytest.mark.parametrize("program", [loops, epochs, whole, one_by_one])
def test_as_in_python(program):
    assert_value_and_slope(program, X)


def breaks(x):
    s = 0.0
    for v in Items(x):
        if v > 1.0:
            break
        s += v
    return s


def reads_it(x):
    items, s = Items(x), 0.0
    for v in items:
        s += v * items.i
    return s


def by_pairs(x):
    items = Items(x)
    return sum(a * b for a, b in zip(items, items, strict=False))


def stops_early(x):
    items = Items(x)
    return (2.0 if any(v > 0.5 for v in items) else 1.0) * next(items, 0.0)


@pytest.mark.parametrize(
    ("program", "line", "what"),
    [
        (breaks, "for v in Items", "a loop over an object of Items has a `break`"),
        (reads_it, "for v in items", "uses the object itself"),
        (by_pairs, "return sum(a * b", r"an object of Items is gone over by `zip\(items, items, strict=False\)`"),
        (stops_early, "return (2.0", "is gone over by `any"),
    ],
)
def test_items_that_python_takes_one_by_one(program, line, what):
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(program, X)
    assert str(caught.value.where) == line_of(program, line)


class Backwards:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __reversed__(self):
        return iter([*self.values[::-1], 5.0])


class Column(list):
    pass


def reversed_objects(x):
    total = 0.0
    for value in reversed(Backwards([x[0], x[1]])):
        total = 2.0 * total + value
    for value in reversed(Column([x[0], x[2]])):
        total = 2.0 * total + value
    return total


def test_objects_that_are_gone_over_backwards():
    assert_value_and_slope(reversed_objects, np.array([0.31, 0.73, 0.43]))
