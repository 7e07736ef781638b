"""Loops over lists of items of several kinds: objects of several classes, tuples and dicts with texts, functions."""

from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

X = np.array([1.1, 0.7, 0.4])


class Drift:
    def __init__(self, length):
        self.length, self.hits = length, 0.0

    def through(self, y):
        return y + 0.1 * self.length * np.sin(y)


class Lens:
    def __init__(self, length, k):
        self.length, self.k, self.hits = length, k, 0.0

    def through(self, y):
        return y * np.cos(self.k * self.length) + self.length


class Thin(Lens):
    def through(self, y):
        return super().through(y) * 0.5 + 0.01 / self.k


def cell(x):
    return [Lens(0.2, x[0]), Drift(0.5), Lens(0.4, x[1]), Drift(0.6), Thin(0.2, 1.3)]


def line(x, cells=6):
    """Each cell has objects of its own."""
    return [one for _ in range(cells) for one in cell(x)]


def plain(x, cells):
    y = x[2]
    for e in line(x, cells):
        y = e.through(y)
    return y


def the_same_objects(x, cells):
    y = x[2]
    for e in cell(x) * cells:
        y = e.through(y)
    return y


def numbered(x, cells):
    y, total = x[2], 0.0
    for i, e in enumerate(line(x, cells), 1):
        y = e.through(y)
        total += i * y
    return total + y


def beside_numbers(x, cells):
    y = x[2]
    for w, e in zip(np.linspace(0.1, 1.0, 5 * cells), line(x, cells), strict=True):
        y = e.through(y) + w * x[0]
    return y


def two_lists(x, cells):
    y = x[2]
    for p, q in zip(line(x, cells), line(x, cells)[::-1], strict=True):
        y = p.through(y) - 0.3 * q.through(y)
    return y


def of_a_dict(x, cells):
    parts = {f"e{i}": Lens(0.1 + 0.01 * i, x[0]) if i % 2 else Drift(0.2 + 0.01 * i) for i in range(5 * cells)}
    y = x[2]
    for _name, e in parts.items():
        y = e.through(y)
    for e in parts.values():
        y = e.through(y) * 0.9
    return y


class Line:
    def __init__(self, parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


def with_a_history(x, cells):
    y, history = x[2], [(x[2], 0.0)]
    for e in Line(line(x, cells)):
        y = e.through(y)
        history.append((y, e.length))
    history = np.array(history)
    return np.sum(history[:, 0] ** 2 * (1 + history[:, 1])) + history[3, 0]


def tuples(x, cells):
    y = x[2]
    for kind, length, k in [("lens", 0.2, x[0]), ("drift", 0.5, 0.0), ("cubic", 0.1, x[1] * 2)] * 2 * cells:
        if kind == "lens":
            y = y * np.cos(k * length)
        elif kind == "drift":
            y = y + length * 0.1
        else:
            y = y + length * k * y**2
    return y


def tuples_of_two_lengths(x, cells):
    y = x[2]
    for kind, *numbers in [("lens", 0.2, x[0]), ("drift", 0.5)] * 4 * cells:
        y = y * np.cos(numbers[1] * numbers[0]) if kind == "lens" else y + numbers[0] * 0.1
    return y


def dicts(x, cells):
    y = x[2]
    for part in [{"type": "lens", "L": 0.2, "k": x[0]}, {"type": "drift", "L": 0.5}] * 4 * cells:
        y = y * np.cos(part["k"] * part["L"]) if part["type"] == "lens" else y + part["L"] * 0.1
    return y


@dataclass
class Part:
    kind: str
    name: str
    length: float
    k: float = 0.0


def texts_in_objects(x, cells):
    """The names differ, and nothing reads them."""
    parts = [Part("lens" if i % 3 else "drift", f"P{i}", 0.1 + 0.01 * i, x[i % 2]) for i in range(6 * cells)]
    y = x[2]
    for e in parts:
        y = y * np.cos(e.k * e.length) if e.kind == "lens" else y + e.length * 0.1
    return y


def square(y):
    return 0.1 * y**2


def functions(x, cells):
    y = x[2]
    for w, f in [(x[0], np.tanh), (0.3, np.sin), (x[1], square)] * 3 * cells:
        y = f(w * y + 0.1)
    return y


def instructions(x, cells):
    """A small language."""
    y = x[2]
    for op in "asmsa" * 2 * cells:
        if op == "a":
            y = y + x[0]
        elif op == "m":
            y = y * x[1]
        else:
            y = np.sin(y)
    return y


ROLLED = [
    plain,
    the_same_objects,
    numbered,
    beside_numbers,
    two_lists,
    of_a_dict,
    with_a_history,
    tuples,
    tuples_of_two_lengths,
    dicts,
    texts_in_objects,
    functions,
    instructions,
]


@pytest.mark.parametrize("program", ROLLED)
def test_the_loop_stays_one(program):
    assert_value_and_slope(of_cells(program, 6), X)
    texts = [str(sdfgad.explain(of_cells(program, cells), X, stage="parsed")) for cells in (6, 12)]
    assert len({tuple(map(text.count, ("sin(", "cos(", "tanh("))) for text in texts}) == 1


def of_cells(program, cells):
    return lambda x: program(x, cells)


def states(x):
    """Attributes that the loop updates, of objects that are in the list once and twice."""
    parts = [*line(x, 2), *cell(x) * 2]
    y = x[2]
    for step in range(4):
        for e in parts:
            y = e.through(y)
            e.hits += y * step
    return y + sum(e.hits * (i + 1) for i, e in enumerate(parts))


def aliases(x):
    """Objects of two lists that are the same, and a name of one."""
    first = line(x, 2)
    second = first[3:] + first[:3]
    one, y = first[4], x[2]
    for p, q in zip(first, second, strict=True):
        y = p.through(y)
        p.hits = p.hits + y
        q.hits = q.hits * 0.5 + 1.0
    return y + sum(e.hits * (i + 1) for i, e in enumerate(first)) + 3 * one.hits


def lists_in_objects(x):
    parts = line(x, 2)
    for e in parts:
        e.seen = []
    y = x[2]
    for e in parts:
        y = e.through(y)
        e.seen.append(y)
    return y + sum(sum(e.seen) for e in parts)


def attributes_of_one_kind(x):
    parts, y = line(x, 2), x[2]
    for e in parts:
        y = e.through(y)
        if isinstance(e, Thin):
            e.last = y
    return y + parts[4].last * parts[9].last


def identity(x):
    parts = line(x, 2)
    one, y = parts[6], x[2]
    for e in parts:
        y = e.through(y)
        if e is one:
            y = 2 * y
    return y


def read_behind(x):
    y = x[2]
    for e in line(x):
        y = e.through(y)
    return y * e.length * e.k


def chosen(x):
    longest, y = None, x[2]
    for e in line(x):
        y = e.through(y)
        if isinstance(e, Lens):
            longest = e
    return y * longest.length * longest.k


def before_it(x):
    y, last = x[2], None
    for e in line(x):
        y = e.through(y) if last is None else e.through(y) + 0.1 * last.length
        last = e
    return y


def stops(x):
    y, count = x[2], 0
    for e in line(x):
        y = e.through(y)
        count += 1
        if y > 4.0:
            break
    else:
        y = 3 * y
    return y + count * x[0]


def returns(x):
    y = x[2]
    for e in line(x):
        if isinstance(e, Drift):
            continue
        y = e.through(y)
        if y > 1.4:
            return 2 * y
    return y


def changes_the_list(x):
    parts, y = line(x), x[2]
    for i, e in enumerate(parts):
        y = e.through(y)
        if i == 3:
            parts[5] = Lens(0.3, x[1])
    return y


def changes_a_dict(x):
    """The values of a dict may be replaced while its items are gone over."""
    parts = {f"e{i}": Lens(0.1 + 0.01 * i, x[0]) if i % 2 else Drift(0.2 + 0.01 * i) for i in range(24)}
    y = x[2]
    for i, (_name, e) in enumerate(parts.items()):
        y = e.through(y)
        if i == 2:
            parts["e7"] = Lens(0.5, x[1])
    for e in parts.values():
        y = e.through(y)
        parts["e9"] = Drift(0.5)
    return y


def late_binding(x):
    functions, y = [], x[2]
    for e in line(x, 2):
        functions.append(lambda v: e.through(v))  # noqa: B023
        y = e.through(y)
    return sum(f(y) for f in functions)


def handled(x):
    y = x[2]
    for e in line(x):
        try:
            y = e.through(y) + e.k
        except AttributeError:
            y = e.through(y) - 0.1
    return y


def by_name(x):
    y, sums = x[2], {}
    for e in line(x):
        y, name = e.through(y), type(e).__name__
        sums[name] = sums.get(name, 0.0) + y
    return y + sums["Lens"] * sums["Drift"] - sums["Thin"]


Pair = namedtuple("Pair", "a b")


class Other(NamedTuple):
    a: float
    b: float

    def at(self, y):
        return y * self.a + self.b


def named_tuples(x):
    y = x[2]
    for p in [Pair(0.1, x[0]), Other(0.2, x[1]), Pair(0.4, x[0]), Other(0.2, x[0])] * 8:
        y = p.at(y) if isinstance(p, Other) else np.sin(y + p.a * p.b)
    return y


def nones(x):
    y = x[2]
    for value in [x[0], None, x[1], None, x[2], None] * 10:
        y = np.sin(y) if value is None else y * value
    return y


def begun(x):
    """An iterator that has had an item."""
    parts, y = iter(line(x)), x[2]
    first = next(parts)
    for e in parts:
        y = e.through(y)
    return first.through(y)


@pytest.mark.parametrize(
    "program",
    [
        states,
        aliases,
        lists_in_objects,
        attributes_of_one_kind,
        identity,
        read_behind,
        chosen,
        before_it,
        stops,
        returns,
        changes_the_list,
        changes_a_dict,
        late_binding,
        handled,
        by_name,
        named_tuples,
        nones,
        begun,
    ],
)
def test_it_does_as_python(program):
    assert_value_and_slope(program, X)


def all_of_them(x):
    return (
        plain(x, 4)
        + numbered(x, 5)
        + two_lists(x, 5)
        + with_a_history(x, 6)
        + states(x)
        + dicts(x, 5)
        + functions(x, 5)
    )


def test_compiled():
    compiled = sdfgad.differentiate(all_of_them)
    for scale in (1.0, 0.9):
        value, gradient = compiled.value_and_grad(X * scale)
        assert value == pytest.approx(all_of_them(X * scale), rel=1e-12)
        h = 1e-6 * np.array([0.3, -0.5, 0.8])
        slope = (all_of_them(X * scale + h) - all_of_them(X * scale - h)) / 2e-6
        assert gradient["x"] @ h / 1e-6 == pytest.approx(slope, rel=1e-6)


def test_many_kinds_are_written_out():
    def program(x):
        y = x[2]
        for kind in "abcdefghi" * 8:
            y = np.sin(y + x[0]) if kind == "d" else y + 0.1 * x[1]
        return y

    assert "loop" not in str(sdfgad.explain(program, X, stage="parsed"))
    assert_value_and_slope(program, X)
