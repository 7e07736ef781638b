"""Lists of the objects for which a condition on data holds: ``[p for p in agents if p.alive]``."""

import itertools

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex, SdfgadError, UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope
from tests.parse.test_attributes import N, lines


class Agent:
    def __init__(self, x, m):
        self.x, self.m = x, m
        self.alive, self.near = True, 0


class World:
    def __init__(self, agents):
        self.agents = agents

    def living(self):
        return [p for p in self.agents if p.alive]

    def step(self):
        for p in self.living():
            p.x += 0.1
            if p.x > 0.6:
                p.alive = False

    def mean(self):
        here = self.living()
        return sum(p.x for p in here) / len(here) if here else 0.0


def agents_of(a):
    return [Agent(a[i, 0], 1.0 + a[i, 1]) for i in range(len(a))]


def living(a):
    """A list that each step makes anew, in a loop, sums and a length."""
    agents = agents_of(a)
    for _ in range(5):
        here = [p for p in agents if p.alive]
        mean = sum(p.x for p in here) / max(len(here), 1)
        for p in here:
            p.x += 0.2 * (mean - p.x) + 0.05
            if p.x > 0.5:
                p.alive = False
    return sum(p.x * p.m for p in agents)


def of_a_world(a):
    """Such lists as results of methods."""
    world, total = World(agents_of(a)), 0.0
    for _ in range(3):
        world.step()
        total = 0.5 * np.sin(total) + world.mean() * len(world.living())
    return total


def shrinking(a):
    """A list that takes the place of the one that it is made of."""
    agents, total = agents_of(a), 0.0
    for _ in range(4):
        for p in agents:
            p.x += 0.1
        agents = [p for p in agents if p.x < 0.75]
        total = 0.5 * np.sin(total) + len(agents) * a[0, 0]
    return total + sum(p.x for p in agents)


def neighbours(a):
    """Two lists, a list in a loop over another one, of an object's neighbours, and ``is not``."""
    agents = agents_of(a)
    high, low = [p for p in agents if p.x > 0.3], [p for p in agents if not p.x > 0.3]
    for p in high:
        near = [q for q in low if abs(q.x - p.x) < 0.15]
        p.near = len(near)
        for q in near:
            q.x += 0.01 * p.m
    for p in agents:
        others = [q for q in high if q is not p]
        p.x = p.x + 0.01 * sum(q.x for q in others)
    return sum(p.x * (1 + p.near) for p in agents)


def reduced(a):
    """Extrema, `any`, `all`, `in`, comprehensions, and conditions on the items of such a list."""
    agents, total = agents_of(a), 0.0
    here = [p for p in agents if p.x > 0.2]
    total += max(p.x for p in here) + min([p.m for p in here if p.x < 0.4], default=0.3)
    total += any(p.x > 0.5 for p in here) + 0.1 * all(p.m > 1.2 for p in here) + 0.2 * any(p.x > 2.0 for p in here)
    total += np.sum(np.array([p.x * p.m for p in here])) + sum([1 for p in here if p.m > 1.3]) * a[0, 1]
    for k, p in enumerate(agents):
        total = 0.9 * np.sin(total) + (0.1 * k if p in here else p.x)
    best = max(here, key=lambda p: p.m)
    best.x += 0.3
    worst = min((p for p in agents if p.x > 0.3), key=lambda p: p.x)
    worst.x *= 0.5
    return total + sum(p.x * k for k, p in enumerate(agents))


def by_places(a):
    """Items, also from the end, and slices."""
    agents, total = agents_of(a), 0.0
    for _ in range(3):
        here = [p for p in agents if p.x < 0.45]
        if here:
            here[0].x += 0.1
            here[-1].x += 0.2
            total = 0.5 * np.sin(total) + here[0].x * len(here[1:]) + sum(p.m for p in here[-2:])
    middle = here[1:-1]
    for p in middle:
        total += p.x
    return total + sum(p.x for p in here[:2]) + sum(p.x for p in agents)


def left_early(a):
    """`break`, `continue`, `else`, `return`, and the name of the loop afterwards."""

    def first(agents):
        for p in [p for p in agents if p.alive]:
            if p.x > 0.3:
                return p.x * 2.0
        return 0.0

    agents, total = agents_of(a), 0.0
    here = [p for p in agents if p.x > 0.2]
    for p in here:
        if p.m > 1.55:
            break
        if p.x > 0.5:
            continue
        total += p.x * p.m
    else:
        total += 10.0
    for p in here:
        p.x *= 1.1
    return total + first(agents) * first(agents[::-1]) + p.x


def chosen_on_paths(a):
    """A list that a branch, a trip or an expression chooses, beside an ordinary one."""
    agents, here, total = agents_of(a), [], 0.0
    for _ in range(3):
        for p in here:
            total += p.x
        here = [p for p in agents if p.x > 0.3]
        for p in agents:
            p.x += 0.05
    others = agents
    if a[0, 0] > 0.2:
        others = [p for p in agents if p.x > 0.5]
    thirds = [p for p in agents if p.x > 0.4] if a[1, 0] > 0.1 else []
    is_list = isinstance(here, list) and type(here) is list
    return total + sum(p.x for p in others) * sum(p.m for p in thirds) + is_list


def numbered(a):
    """`enumerate` counts those that are in the list; behind the loops, names have what their last trips had."""
    agents, total = agents_of(a), 0.0
    weights = [0.5, 1.0, 2.0] * 4
    for _ in range(3):
        here = [p for p in agents if p.x > 0.3]
        for k, p in enumerate(here):
            total += weights[k] * p.x
            p.x *= 0.95
        for k, p in enumerate(here, start=2):
            if k == 4:
                break
            total += k * p.m
        total += k * p.x
    total += sum(k * p.x for k, p in enumerate(here) if p.m < 1.5)
    last = agents[1]
    for last in [q for q in agents if q.x > 50.0]:
        total += last.x
    for q in here:
        total += q.x
    return total * last.x + q.m


def first_ones(a):
    agents, total = agents_of(a), 0.0
    for _ in range(5):
        one = next((p for p in agents if p.x > 0.35 and p.alive), None)
        if one is None:
            break
        total += one.x + next(p.m for p in agents if p.x > 0.05)
        one.alive = False
        for p in agents:
            p.x -= 0.02
    place = next((k for k, v in enumerate(a[:, 0]) if v > 0.4), -1)
    value = next((p.x for p in agents if p.x > 5.0), None)
    return total + a[place, 1] * place + (1.0 if value is None else value)


def of_other_iterables(a):
    """Of pairs, of dicts, of lists of lists, and by expressions."""
    agents, total = agents_of(a), 0.0
    by_name = {f"agent {k}": p for k, p in enumerate(agents)}
    rows = [agents[:5], agents[5:]]
    lists = [
        [agents[k] for k in range(len(agents)) if a[k, 0] > 0.3],
        [p for k, p in enumerate(agents) if p.x > 0.3 and k > 2],
        [q for p, q in itertools.pairwise(agents) if p.x < q.x],
        [p for p in by_name.values() if p.x > 0.3],
        [p for name, p in by_name.items() if p.x > 0.3 and name != "agent 2"],
        [p for row in rows for p in row if p.x > 0.3],
    ]
    for k, here in enumerate(lists):
        total += k * len(here) + sum(p.x for p in here)
        if here:
            here[-1].x *= 0.9
    return total


def made_once(a):
    """Objects that the iterable makes are made once."""
    made = []

    def of(v):
        made.append(v)
        return Agent(v, 1.0)

    here = [p for p in list(map(of, a[:, 0])) if p.x > 0.3]
    return sum(p.x for p in here) * len(made)


class Kind:
    def __init__(self, x, k):
        self.x, self.k = x, k

    def __eq__(self, other):
        return self.k == other.k


def copied(a):
    """Copies, reversed lists, patterns, and `in` by ``==``."""
    here, total = [p for p in agents_of(a) if p.x > 0.3], 0.0
    for one in (list(here), here.copy(), here[:], here[::1]):
        total += sum(p.x for p in one)
    reverse = here[::-1]
    for k, p in enumerate(reverse):
        total += k * p.x if k < 3 else 0.0
    kinds = [Kind(v, k % 3) for k, v in enumerate(a[:4, 0])]
    total += 10.0 if Kind(0.0, 2) in [one for one in kinds if one.x > 0.4] else 20.0
    match [p for p in here if p.x > 0.5]:
        case []:
            total += 1.0
        case [p]:
            total += p.x
        case [p, *others]:
            total += p.m * len(others)
    return total + (a[0, 0] if bool(here) else a[1, 0])


def leaders(a):
    """The nearest one ahead in each lane, whose key is that of those ahead alone; lanes change by data."""
    agents = agents_of(a)[:5]
    for k, p in enumerate(agents):
        p.near = k % 2

    def leader(me, lane):
        ahead = [p for p in agents if p.near == lane and p.x > me.x and p is not me]
        return min(ahead, key=lambda p: np.sqrt(p.x - me.x)) if ahead else None

    for _ in range(3):
        for me in agents:
            one, other = leader(me, me.near), leader(me, 1 - me.near)
            if other is not None and (one is None or other.x > one.x):
                me.near = 1 - me.near
            me.m += 0.1 * (one.x - me.x) if one is not None else 0.2
        for me in agents:
            me.x += 0.1 * me.m
    last = max((p for p in agents if p.x > 0.4), key=lambda p: (p.near, p.x), default=None)
    return sum(p.x * (k + 1) for k, p in enumerate(agents)) + (last.m if last else 1.0)


ROLLED = {
    living: 120,
    of_a_world: 200,
    shrinking: 250,
    neighbours: 250,
    left_early: 160,
    numbered: 300,
}
PROGRAMS = [*ROLLED, leaders, first_ones, reduced, by_places, chosen_on_paths, of_other_iterables, copied, made_once]


@pytest.mark.parametrize("program", ROLLED, ids=lambda one: one.__name__)
def test_loops_stay(program, rng):
    assert lines(program, rng.uniform(0.1, 0.6, (N, 3))) < ROLLED[program]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_values_and_slopes(program, rng):
    assert_value_and_slope(program, rng.uniform(0.1, 0.6, (12, 3)))


def all_of_them(a):
    total = living(a) + 2 * of_a_world(a) + 3 * shrinking(a) + neighbours(a)
    return total + reduced(a) - by_places(a) + left_early(a) + chosen_on_paths(a)


def more_of_them(a):
    return numbered(a) + first_ones(a) + copied(a) + of_other_iterables(a)


@pytest.mark.parametrize("program", [all_of_them, more_of_them])
def test_gradients(program, rng):
    a = rng.uniform(0.1, 0.6, (12, 3))
    assert sdfgad.differentiate(program).value(a) == pytest.approx(program(a), rel=1e-11)
    sdfgad.check_grads(program, a)


def beyond(a):
    here = [p for p in agents_of(a) if p.x > 5.0]
    return here[0].x


def test_an_item_that_is_not_there(rng):
    with pytest.raises(InvalidIndex, match=r"out of range.*\n.*: return here\[0\].x"):
        sdfgad.differentiate(beyond)(rng.uniform(0.1, 0.6, (12, 3)))


def least_of_none(a):
    return min([p for p in agents_of(a) if p.x > 5.0], key=lambda p: p.m).x


def test_the_least_of_none(rng):
    with pytest.raises(SdfgadError, match=r"min or max of no elements(.|\n)*return min\("):
        sdfgad.differentiate(least_of_none)(rng.uniform(0.1, 0.6, (12, 3)))


def appended(a):
    here = [p for p in agents_of(a) if p.x > 0.3]
    here.append(here[0])
    return sum(p.x for p in here)


def numbered_at_once(a):
    return sum(k * p.x for k, p in enumerate([p for p in agents_of(a) if p.x > 0.3]))


def zipped(a):
    here = [p for p in agents_of(a) if p.x > 0.3]
    return sum(k * p.x for k, p in zip(range(12), here, strict=False))


def counted_until(a):
    """Python stops counting at the first one."""
    count = [0]

    def is_far(p):
        count[0] += 1
        return p.x > 0.3

    return next(p.x for p in agents_of(a) if is_far(p)) * count[0]


def test_a_search_by_a_function_is_refused(rng):
    with pytest.raises(SdfgadError, match=r"condition on data(.|\n)*return next\(p\.x for p"):
        sdfgad.differentiate(counted_until)(rng.uniform(0.1, 0.6, (12, 3)))


def none_of_them(a):
    return next(p for p in agents_of(a) if p.x > 5.0).x


def test_a_first_one_that_is_not_there(rng):
    with pytest.raises(SdfgadError, match=r"StopIteration(.|\n)*return next\(p for p"):
        sdfgad.differentiate(none_of_them)(rng.uniform(0.1, 0.6, (12, 3)))


def added(a):
    here = [p for p in agents_of(a) if p.x > 0.3]
    return sum(p.x for p in here + here)


def compared(a):
    here = [p for p in agents_of(a) if p.x > 0.3]
    return a[0, 0] if here == [] else a[1, 0]


def stepped(a):
    here = [p for p in agents_of(a) if p.x > 0.3]
    return sum(p.x for p in here[::2])


def asked(a):
    """Whether it is a dict, which a list of objects is not."""
    here = [p for p in agents_of(a) if p.x > 0.3]
    return a[0, 0] if hasattr(here, "values") else a[1, 0]


REFUSED = {
    asked: r"`\.values` of a list .* not supported\n.*: return a\[0, 0\] if hasattr",
    appended: r"`\.append` of a list .* not supported\n.*: here\.append\(here\[0\]\)",
    numbered_at_once: r"this use of a list .* not supported\n.*: return sum\(k",
    zipped: r"this use of a list .* not supported\n.*: return sum\(k",
    added: r"a sum of a list .* not supported\n.*: return sum\(p\.x for p in here \+ here\)",
    compared: r"a comparison of a list .* not supported\n.*: return a\[0, 0\] if here == \[\]",
    stepped: r"a step through the items of a list .* not supported\n.*: return sum\(p\.x for p in here\[::2\]\)",
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda one: one.__name__)
def test_what_such_lists_cannot_do(program, rng):
    with pytest.raises(UnsupportedProgram, match=REFUSED[program]):
        sdfgad.differentiate(program)(rng.uniform(0.1, 0.6, (12, 3)))


def kept_by_functions(a):
    """A function that is defined before the loop reads the name that this binds."""
    p = agents_of(a)[1]

    def of_the_last():
        return p.x * p.m

    for p in [q for q in agents_of(a) if q.x < 0.4]:
        p.x += 0.1
    return of_the_last()


def kept_parameter(a):
    def last(agents, p):
        for p in [q for q in agents if q.x < 0.4]:
            p.x += 0.1
        return p.x * p.m

    return last(agents_of(a), agents_of(a)[1])


@pytest.mark.parametrize("program", [kept_by_functions, kept_parameter])
def test_what_a_loop_leaves_behind(program, rng):
    """It was the last one of all objects."""
    assert_value_and_slope(program, rng.uniform(0.1, 0.6, (12, 3)))
