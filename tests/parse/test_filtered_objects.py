"""Lists of the objects for which a condition on data holds: ``[p for p in agents if p.alive]``."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex, UnsupportedProgram
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


ROLLED = {living: 120, of_a_world: 200, shrinking: 250, neighbours: 250, left_early: 160}
PROGRAMS = [*ROLLED, reduced, by_places, chosen_on_paths]


@pytest.mark.parametrize("program", ROLLED, ids=lambda one: one.__name__)
def test_loops_stay(program, rng):
    assert lines(program, rng.uniform(0.1, 0.6, (N, 3))) < ROLLED[program]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_values_and_slopes(program, rng):
    assert_value_and_slope(program, rng.uniform(0.1, 0.6, (12, 3)))


def all_of_them(a):
    total = living(a) + 2 * of_a_world(a) + 3 * shrinking(a) + neighbours(a)
    return total + reduced(a) - by_places(a) + left_early(a) + chosen_on_paths(a)


def test_gradients(rng):
    a = rng.uniform(0.1, 0.6, (12, 3))
    assert sdfgad.differentiate(all_of_them).value(a) == pytest.approx(all_of_them(a), rel=1e-11)
    sdfgad.check_grads(all_of_them, a)


def beyond(a):
    here = [p for p in agents_of(a) if p.x > 5.0]
    return here[0].x


def test_an_item_that_is_not_there(rng):
    with pytest.raises(InvalidIndex, match=r"out of range.*\n.*: return here\[0\].x"):
        sdfgad.differentiate(beyond)(rng.uniform(0.1, 0.6, (12, 3)))


def appended(a):
    here = [p for p in agents_of(a) if p.x > 0.3]
    here.append(here[0])
    return sum(p.x for p in here)


def numbered(a):
    here = [p for p in agents_of(a) if p.x > 0.3]
    return sum(k * p.x for k, p in enumerate(here))


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
    numbered: r"this use of a list .* not supported\n.*: return sum\(k",
    added: r"a sum of a list .* not supported\n.*: return sum\(p\.x for p in here \+ here\)",
    compared: r"a comparison of a list .* not supported\n.*: return a\[0, 0\] if here == \[\]",
    stepped: r"a step through the items of a list .* not supported\n.*: return sum\(p\.x for p in here\[::2\]\)",
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda one: one.__name__)
def test_what_such_lists_cannot_do(program, rng):
    with pytest.raises(UnsupportedProgram, match=REFUSED[program]):
        sdfgad.differentiate(program)(rng.uniform(0.1, 0.6, (12, 3)))
