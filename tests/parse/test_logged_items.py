"""Objects, lists and dicts in lists whose length is data: Python has the very objects there, we have copies."""

from dataclasses import dataclass

import numpy as np
import pytest

from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.array([0.5, 0.3, -0.2, 0.7, -0.4, 0.6])


class Value:
    def __init__(self, x):
        self.x = x


class Particle:
    def __init__(self, x, i):
        self.x, self.i = x, i


@dataclass(frozen=True)
class Point:
    x: float


def particles(x):
    return [Particle(v, i) for i, v in enumerate(x)]


def changed_behind_the_branch(x):
    kept, a = [], Value(x[1])
    if x[0] > 0:
        kept.append(a)
    a.x *= 3
    return sum(q.x for q in kept)


def changed_in_the_trip_that_has_appended_it(x):
    kept = []
    for v in x:
        if v > 0:
            p = Value(v)
            kept.append(p)
            p.x *= 2
    return sum(p.x for p in kept)


def changed_before_it_is_appended(x):
    kept = []
    for v in x:
        if v > 0:
            p = Value(v)
            p.x *= 2
            kept.append(p)
    return sum(p.x for p in kept)


def changed_in_a_later_trip(x):
    kept, a = [], Value(x[0])
    for k in range(6):
        a.x += x[k]
        if x[k] > 0:
            kept.append(a)
    return sum(q.x for q in kept)


def changed_by_its_place_in_another_list(x):
    everyone, kept = particles(x), []
    for p in everyone:
        if p.x > 0:
            kept.append(p)
    best = max(everyone, key=lambda p: p.x)
    best.x += 1
    return sum(p.x for p in kept)


def changed_through_the_list(x):
    everyone, kept = particles(x), []
    for p in everyone:
        if p.x > 0:
            kept.append(p)
    for p in kept:
        p.x *= 2
    return sum(p.x**2 for p in everyone)


def changed_as_the_last_item(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(Value(v))
            kept[-1].x *= 2
    return sum(p.x for p in kept)


def changed_as_the_first_item(x):
    kept, a = [], Value(x[0])
    if x[1] > 0:
        kept.append(a)
    if len(kept) > 0:
        kept[0].x *= 3
    return a.x + x[1]


def changed_within_a_tuple(x):
    kept, a = [], Value(x[1])
    pair = (a, 2.0)
    if x[0] > 0:
        kept.append(pair)
    a.x *= 3
    return sum(q.x * k for q, k in kept)


def added_as_a_list(x):
    kept, a = [], Value(x[1])
    if x[0] > 0:
        kept += [a]
    a.x *= 3
    return sum(q.x for q in kept)


def lists_that_grow(x):
    kept = [[x[0]]]
    if x[1] > 0:
        kept.append([x[2]])
    kept[-1].append(x[3])
    return sum(len(q) * q[0] for q in kept)


def dicts_that_change(x):
    kept, d = [], {"s": x[0]}
    for k in range(6):
        if x[k] > 0:
            kept.append(d)
    d["s"] += 1
    return sum(q["s"] for q in kept)


def looked_for(x):
    kept, a = [], Value(x[1])
    if x[0] > 0:
        kept.append(a)
    return (a in kept) + x[1]


def not_changed(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(Point(v))
    return sum(p.x for p in kept)


def in_each_step(x):
    everyone, kept = particles(x), []
    for _ in range(3):
        kept = []
        for p in everyone:
            if p.x > 0:
                kept.append(p)
        for p in everyone:
            p.x *= 0.9
    return sum(p.x for p in kept)


def work_list(x):
    todo, total = [0], 0.0
    for k in todo:
        total += x[k]
        if k + 1 < 6 and x[k] > -0.5:
            todo.append(k + 1)
    return total


def numbered_work_list(x):
    todo, total = [(x[0], 1)], 0.0
    for i, (v, k) in enumerate(todo):
        total += v * k
        if v > 0:
            todo.append((v - 0.2, i))
    return total


def work_list_of_a_function(x):
    todo, total = [x[0]], 0.0

    def more(v):
        if v > 0:
            todo.append(v - 0.3)

    for v in todo:
        more(v)
        total += v
    return total


def summed_while_it_grows(x):
    todo = [x[0]]

    def value(v):
        if len(todo) < 3 and v > 0:
            todo.append(v / 2)
        return v

    return sum(value(v) for v in todo)


def generated_while_it_grows(x):
    todo, total = [x[0]], 0.0

    def items():
        for v in todo:
            yield v * 1.0

    for v in items():
        total += v
        if len(todo) < 3 and v > 0:
            todo.append(v / 2)
    for i, v in enumerate(map(abs, todo)):
        total += v * i
        if len(todo) < 5 and v > 0.1:
            todo.append(v / 3)
    return total


RIGHT = [
    summed_while_it_grows,
    generated_while_it_grows,
    changed_behind_the_branch,
    changed_in_the_trip_that_has_appended_it,
    changed_before_it_is_appended,
    changed_in_a_later_trip,
    changed_by_its_place_in_another_list,
    changed_through_the_list,
    changed_as_the_last_item,
    changed_as_the_first_item,
    changed_within_a_tuple,
    added_as_a_list,
    lists_that_grow,
    dicts_that_change,
    looked_for,
    not_changed,
    in_each_step,
    work_list,
    numbered_work_list,
    work_list_of_a_function,
]


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_value_and_slope(program):
    assert_value_and_slope(program, X)


def test_many_objects_that_change_are_refused():
    with pytest.raises(UnsupportedProgram, match="a list is changed in a loop or branch that is decided only at run"):
        parsed(changed_in_the_trip_that_has_appended_it, np.linspace(-1.0, 1.0, 40))


def changed_items_of_lists(x):
    kept = []
    for k, v in enumerate(x):
        if v > 0:
            kept.append([v, k * 1.0])
    for p in kept:
        p[0] += 1
    return sum(p[0] * p[1] for p in kept)


def test_many_lists_that_change_are_refused():
    with pytest.raises(UnsupportedProgram, match="a list is changed in a loop or branch that is decided only at run"):
        parsed(changed_items_of_lists, np.linspace(-1.0, 1.0, 40))


class Other:
    pass


def another_class(x):
    everyone = particles(x)
    everyone[2].__class__ = Other
    return sum(p.x for p in everyone if isinstance(p, Particle))


def test_classes_of_objects_are_not_assigned_to():
    with pytest.raises(UnsupportedProgram, match="of an object is assigned to") as caught:
        parsed(another_class, X)
    assert "everyone[2].__class__ = Other" in str(caught.value)


def test_many_objects_that_do_not_change():
    assert_value_and_slope(changed_before_it_is_appended, np.linspace(-1.0, 0.93, 40))


def of_a_class_of_its_own(x):
    class Squared:
        def __init__(self, x):
            self.x = x

        def value(self):
            return self.x**2

    kept = []
    for v in x:
        if v > 0:
            kept.append(Squared(2 * v))
    return sum(p.value() for p in kept)


def test_many_objects_of_a_class_that_the_program_makes():
    assert_value_and_slope(of_a_class_of_its_own, np.linspace(-1.0, 0.93, 40))


def of_two_classes(x):
    kept = []
    for k, v in enumerate(x):
        if v > -0.5:
            kept.append(Value(v) if k % 2 else Point(v))
    return sum(p.x for p in kept)


def test_many_objects_of_two_classes_are_refused():
    with pytest.raises(UnsupportedProgram, match="items of different structures") as caught:
        parsed(of_two_classes, np.linspace(-1.0, 1.0, 40))
    assert "kept.append" in str(caught.value)


def of_which_only_the_number_is_read(x):
    everyone, met = particles(x), []
    for p in everyone:
        if p.x > 0.1:
            met.append(p)
            p.x *= 2
    return sum(p.x for p in everyone) * len(met)


def test_many_objects_that_change_where_none_is_read():
    assert_value_and_slope(of_which_only_the_number_is_read, np.linspace(-1.0, 0.93, 40))
