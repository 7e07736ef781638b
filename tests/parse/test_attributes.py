"""Lists of objects over which loops stay loops, and attributes that they assign to."""

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

N = 300


def lines(program, *args):
    return len(str(sdfgad.explain(program, *args, stage="parsed")).splitlines())


class Body:
    def __init__(self, position, mass):
        self.x = np.array(position)
        self.v = np.zeros(3)
        self.mass = mass

    def push(self, force, dt):
        self.v = self.v + dt * force / self.mass
        self.x = self.x + dt * self.v


def attracted(a):
    """Bodies that attract each other: methods, an attribute that the loop is the first to set, and ``is not``."""
    bodies = [Body(a[i], 1.0 + a[i, 0]) for i in range(len(a))]
    for _ in range(2):
        for p in bodies:
            force = np.zeros(3)
            for q in bodies:
                if q is not p:
                    d = q.x - p.x
                    force += q.mass * d / (d @ d + 0.5) ** 1.5
            p.force = force / len(bodies)
        for p in bodies:
            p.push(p.force, 0.05)
    return sum(p.x @ p.x * p.mass for p in bodies)


@dataclass
class Cell:
    heat: float
    flux: float = 0.0


def diffused(a):
    """Neighbours by index, and a branch that data decides."""
    cells = [Cell(a[i, 0]) for i in range(len(a))]
    n = len(cells)
    for _ in range(3):
        for i in range(n):
            cells[i].flux = cells[i].heat - cells[i - 1].heat
        for i in range(n):
            c = cells[i]
            c.heat = c.heat - 0.1 * (c.flux - cells[(i + 1) % n].flux)
            if c.heat > 0.5:
                c.heat *= 0.9
    return sum(c.heat**2 for c in cells)


class Node:
    def __init__(self, x):
        self.x, self.force = x, 0.0


class Spring:
    def __init__(self, left, right, k):
        self.left, self.right, self.k = left, right, k


def chained(a):
    """Springs between nodes, which are objects of other lists, too."""
    nodes = [Node(a[i, 0]) for i in range(len(a))]
    springs = [Spring(nodes[i], nodes[i + 1], 1.0 + a[i, 1]) for i in range(len(a) - 1)]
    for _ in range(3):
        for node in nodes:
            node.force = 0.0
        for s in springs:
            pull = s.k * (s.right.x - s.left.x - 0.1)
            s.left.force += pull
            s.right.force -= pull
        for node in nodes:
            node.x += 0.05 * node.force
    total = 0.0
    for node in nodes:
        total += node.x**2
    return total


class Particle:
    def __init__(self, x):
        self.x, self.before = x, x - 0.01


def stepped(a):
    """What an attribute was is another attribute, or a name, after it has been assigned to."""
    particles = [Particle(a[i]) for i in range(len(a))]
    total = 0.0
    for _ in range(3):
        for p in particles:
            old = p.x
            p.x = 2.0 * p.x - p.before - 0.01 * np.sin(p.x)
            p.before = old
            total = 0.5 * np.sin(total) + np.sum((p.x - old) ** 2)
    return total + sum((p.x - p.before) @ p.x for p in particles)


def appended(a):
    """Objects that a loop appends, updated in place."""
    bodies = []
    for i in range(len(a)):
        bodies.append(Body(a[i], 1.0 + a[i, 1]))
    for _ in range(3):
        for p in bodies:
            p.v += 0.1 * np.cos(p.x)
            p.x += 0.1 * p.v * p.mass
    total = 0.0
    for p in bodies:
        total += p.v @ p.x
    return total


ROLLED = {attracted: 60, diffused: 60, chained: 60, stepped: 60, appended: 60}


def all_of_them(a):
    return attracted(a[:30]) + 2 * diffused(a) + 3 * chained(a) + stepped(a) - appended(a) ** 2


@pytest.mark.parametrize("program", ROLLED, ids=lambda one: one.__name__)
def test_loops_stay(program, rng):
    assert lines(program, rng.uniform(0.1, 0.6, (N, 3))) < ROLLED[program]


def test_gradients(rng):
    a = rng.uniform(0.1, 0.6, (40, 3))
    assert sdfgad.differentiate(all_of_them).value(a) == pytest.approx(all_of_them(a), rel=1e-11)
    sdfgad.check_grads(all_of_them, a)


# --- other names of what attributes are


def bodies_of(a):
    return [Body(a[i], 1.0 + a[i, 1]) for i in range(20)]


def shaken(bodies):
    for p in bodies:
        p.x = 0.9 * p.x + 0.1 * np.sin(p.v)
        p.v = p.v + 0.3 * p.x
        p.mass = p.mass * 1.01


def kept_before(a):
    """An array and a number that names have from before the loop."""
    bodies = bodies_of(a)
    x, m = bodies[3].x, bodies[3].mass
    shaken(bodies)
    return x @ bodies[3].x + m * bodies[3].mass


def kept_in_a_list(a):
    bodies, total = bodies_of(a), 0.0
    positions = [p.x for p in bodies]
    for x, p in zip(reversed(positions), bodies, strict=True):
        p.x = p.x * 0.5 + x
        total = 0.5 * np.sin(total) + p.x @ x
    return total


def shared(a):
    """Two objects of one array, which is then updated in place."""
    bodies = bodies_of(a)
    for p, q in zip(bodies[1:], bodies[:-1], strict=True):
        p.x = q.x
    bodies[0].x += 1.0
    return sum(p.x @ p.v + p.x[0] for p in bodies)


def updated_by_name(a):
    """An array that is an attribute by another name, too."""
    bodies, v = bodies_of(a), a[0] * 2.0
    for p in bodies:
        p.v = v
    v += 1.0
    return sum(p.x @ p.v for p in bodies)


def by_other_means(a):
    """Copies of objects, `setattr`, `getattr`, `hasattr`, and attributes by constant places."""
    bodies = bodies_of(a)
    first, second = copy.copy(bodies[0]), copy.deepcopy(bodies[1])
    for p in bodies:
        name = "mass"
        setattr(p, name, getattr(p, name) * 0.5 if hasattr(p, name) else 1.0)
        p.x = p.x + p.mass
    bodies[2].x = np.ones(3) * bodies[4].mass
    bodies[5].mass = 2.0
    shaken(bodies)
    return sum(p.x @ p.v * p.mass for p in bodies) + first.x @ second.x * first.mass


def after_the_loop(a):
    """The object that a name has after a loop, whose attributes change by another name."""
    bodies = bodies_of(a)
    for p in bodies:
        p.mass = p.mass + 0.1
    last = p
    for q in bodies:
        q.mass = 2.0 * q.mass
        q.x = q.x * q.mass
    return last.mass * p.mass + last.x @ bodies[-1].x


def set_by_some(a):
    """An attribute that only some objects have."""
    bodies, total = bodies_of(a), 0.0
    for k, p in enumerate(bodies):
        if k % 2:
            p.extra = p.x * 2.0
    for p in bodies:
        if hasattr(p, "extra"):
            total = 0.5 * np.sin(total) + p.extra @ p.x
    return total


def of_other_kinds(a):
    """Arrays of several shapes, and integers that stay such."""
    bodies = bodies_of(a)
    for k, p in enumerate(bodies):
        p.count, p.load = k // 2, a[0, : 1 + k % 2]
    for p in bodies:
        p.count += 1
        p.load = p.load * p.count
    return sum(p.count * np.sum(p.load) + p.count // 2 for p in bodies)


def handed_on(a):
    """The object of the trip before, and the one that is best."""
    bodies, total = bodies_of(a), 0.0
    best, before = bodies[0], bodies[-1]
    for p in bodies:
        total = 0.5 * np.sin(total) + before.x @ p.x
        p.x = p.x + 0.1 * before.x
        if p.x[0] > best.x[0]:
            best = p
        before = p
    return total + best.x @ best.x


def in_other_orders(a):
    bodies, total = bodies_of(a), 0.0
    mixed = bodies[::2] + bodies[1::2]
    for p, q in zip(mixed, bodies, strict=True):
        p.x = p.x + 0.1 * q.x
        q.mass = q.mass + 0.1 * p.mass
        if p is q:
            total = 0.5 * np.sin(total) + p.mass
    return total + sum(p.x @ p.x * p.mass for p in bodies)


def replaced(a):
    cells = [Cell(a[i, 0], a[i, 1]) for i in range(20)]
    first = replace(cells[0], flux=2.0)
    others = [replace(c, heat=c.heat * 0.5) for c in cells]
    for c, d in zip(cells, others, strict=True):
        c.heat = c.heat + d.heat * c.flux
        d.flux = c.heat
    return first.heat + sum(c.heat * d.flux for c, d in zip(cells, others, strict=True))


class Empty:
    pass


def made_in_a_loop(a):
    """Attributes that a loop gives to objects that have none, read by the name that the last one has."""
    objects = [Empty() for _ in range(20)]
    for k, one in enumerate(objects):
        one.x, one.mass = a[k] * 2.0, a[k, 0]
    total = one.x @ one.x * one.mass
    one.mass = 2.0
    for one in objects:
        total = 0.5 * np.sin(total) + one.x @ one.x * one.mass
    return total


def in_lists_that_overlap(a):
    bodies, total = bodies_of(a), 0.0
    first, second = bodies[:12], bodies[6:18]
    for _ in range(2):
        for p in bodies:
            for q in first:
                q.x = q.x + 0.01 * p.x
            for q in second:
                q.mass = q.mass + 0.01 * p.mass * q.x[0]
        for p in second:
            p.x = p.x * 0.9
        for p in bodies:
            total = 0.5 * np.sin(total) + p.x @ p.x * p.mass
    return total


def kept_in_steps(a):
    """What attributes are at the beginning of a step."""
    bodies = bodies_of(a)
    for _ in range(3):
        old, masses = [p.x for p in bodies], [p.mass for p in bodies]
        for k in range(len(bodies)):
            bodies[k].x = bodies[k].x + 0.1 * (old[k - 1] - old[(k + 1) % len(bodies)])
        for p, mass, x in zip(reversed(bodies), masses, old, strict=True):
            p.mass = p.mass + 0.1 * mass + x[0]
    return sum(p.x @ p.x * p.mass for p in bodies)


def while_it_goes_on(a):
    """An attribute that is set first in a loop that data ends."""
    bodies, t = bodies_of(a), 0.0
    while t < 0.35:
        for p in bodies:
            p.force = np.sin(p.x) * p.mass
        for p in bodies:
            p.v = p.v + 0.1 * p.force
            p.x = p.x + 0.1 * p.v
        t += 0.1 + 0.01 * a[0, 0]
    return sum(p.x @ p.x for p in bodies)


def in_a_branch(a):
    bodies = bodies_of(a)
    if a[0, 0] > 0.3:
        for p in bodies:
            p.extra = p.x * 2.0
            p.mass = p.mass * 2.0
    return sum((p.extra if hasattr(p, "extra") else p.x) @ p.x * p.mass for p in bodies)


class Linked:
    def __init__(self, heat):
        self.heat, self.new, self.others = heat, 0.0, []


def linked(a):
    """Objects that refer to each other."""
    cells = [Linked(a[i, 0]) for i in range(20)]
    for i, c in enumerate(cells):
        c.others = [cells[i - 1], cells[(i + 1) % 20]]
    for _ in range(2):
        for c in cells:
            c.new = c.heat + 0.1 * sum(other.heat - c.heat for other in c.others)
        for c in cells:
            c.heat = c.new
    return sum(c.heat**2 for c in cells)


def held_by_others(a):
    bodies = bodies_of(a)
    springs = [Spring(p, bodies[0], 0.5) for p in bodies] + [Spring(bodies[1], bodies[2], 2.0)]
    for s in springs:
        s.left.x = s.left.x * s.k
        s.k = s.k + s.right.mass
    for p in bodies:
        p.mass = p.mass * p.x[1]
    return sum(s.k * s.left.mass for s in springs)


def looked_for(a):
    bodies, total = bodies_of(a), 0.0
    for p in bodies:
        total = 0.5 * np.sin(total) + p.mass * bodies.index(p) + (p in bodies[:5])
        p.mass = p.mass * 0.5
    return total


NAMED = (kept_before, kept_in_a_list, shared, updated_by_name, by_other_means, after_the_loop, set_by_some)
NAMED += (of_other_kinds, handed_on, in_other_orders, replaced, made_in_a_loop, in_lists_that_overlap, kept_in_steps)
NAMED += (while_it_goes_on, in_a_branch, linked, held_by_others)


# Those whose loops stay, and which compile fast.
COMPILED = (
    kept_before,
    kept_in_a_list,
    by_other_means,
    made_in_a_loop,
    kept_in_steps,
    while_it_goes_on,
    held_by_others,
)


@pytest.mark.parametrize("program", NAMED, ids=lambda one: one.__name__)
def test_other_names(program, rng):
    a = rng.uniform(0.1, 0.6, (20, 3))
    assert_value_and_slope(program, a, tolerance=1e-11)


def test_compiled_gradients_of_other_names(rng):
    a, weights = rng.uniform(0.1, 0.6, (20, 3)), rng.uniform(0.5, 1.0, len(COMPILED))

    def weighted(a):
        return sum(w * program(a) for w, program in zip(weights, COMPILED, strict=True))

    assert sdfgad.differentiate(weighted).value(a) == pytest.approx(weighted(a), rel=1e-11)
    sdfgad.check_grads(weighted, a)


# --- what an argument holds


def of_arguments(bodies, w):
    for p in bodies:
        p.x = p.x * w + p.v
        p.mass = p.mass * p.x[0]
    return sum(p.x @ p.x * p.mass for p in bodies)


def test_objects_that_are_arguments(rng):
    a = rng.uniform(0.1, 0.6, (12, 3))

    def of_array(a, w):
        return of_arguments([Body(a[i], 1.0 + a[i, 1]) for i in range(12)], w)

    bodies = [Body(a[i], 1.0 + a[i, 1]) for i in range(12)]
    value = sdfgad.differentiate(of_arguments, wrt="w").value(copy.deepcopy(bodies), 0.7)
    assert value == pytest.approx(of_array(a, 0.7), rel=1e-12)
    found = sdfgad.differentiate(of_arguments, wrt="w")(copy.deepcopy(bodies), 0.7)
    assert found == pytest.approx((of_array(a, 0.7 + 1e-6) - of_array(a, 0.7 - 1e-6)) / 2e-6, rel=1e-6)


def test_objects_that_are_looked_for(rng):
    """They were refused."""
    assert_value_and_slope(looked_for, rng.uniform(0.1, 0.6, (20, 3)))


def unset(a):
    bodies = bodies_of(a)
    for p in bodies:
        total = np.sum(p.extra)
        p.extra = p.x
    return total


def test_attributes_that_are_read_before_they_are_set(rng):
    with pytest.raises(sdfgad.errors.SdfgadError, match="extra") as refused:
        sdfgad.differentiate(unset)(rng.uniform(0.1, 0.6, (20, 3)))
    assert "total = np.sum(p.extra)" in str(refused.value)
