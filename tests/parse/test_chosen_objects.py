"""Objects that data or a trip decides: their places among others, read and changed through any name."""

import numpy as np
import pytest

import sdfgad
from tests.helpers_ir import assert_value_and_slope

N = 70


def lines(program, *args):
    return len(str(sdfgad.explain(program, *args, stage="parsed")).splitlines())


class Agent:
    def __init__(self, x, m):
        self.x, self.m, self.v = x, m, 0.0
        self.path = np.array([x, 0.0])

    def step(self, dt):
        self.x += dt * self.m
        self.v += 1.0


def made(x):
    return [Agent(x[i], 1.0 + 0.1 * i) for i in range(len(x))]


def total(agents):
    return sum(p.x**2 + p.v * p.m + p.path @ p.path for p in agents)


# --- the best of several


def nearest(x):
    agents = made(x)
    best = None
    for p in agents:
        if best is None or (p.x - 0.4) ** 2 < (best.x - 0.4) ** 2:
            best = p
    best.v = best.x * 3.0
    return total(agents) + best.m


def nearest_so_far(x):
    agents = made(x)
    best, least = None, np.inf
    for p in agents:
        d = (p.x - 0.4) ** 2
        if d < least:
            best, least = p, d
    best.path[1] += 2.0 * best.x
    return total(agents) + least


def last_moves(x):
    """A tournament: the one that is behind moves."""
    agents = made(x)
    for _ in range(9):
        p = min(agents, key=lambda p: p.x)
        old = p.x
        p.step(0.3)
        p.path = p.path + old
    return total(agents)


def leader_of(agents):
    best = agents[0]
    for p in agents:
        if p.x > best.x:
            best = p
    return best


def led(x):
    agents = made(x)
    for _ in range(4):
        first = leader_of(agents)
        first.x -= 0.5 * first.m
        for p in agents:
            if p is not first:
                p.v += 0.1 * (first.x - p.x)
    return total(agents)


def first_of(x):
    agents = made(x)
    hit = None
    for p in agents:
        if p.x > 0.5:
            hit = p
            break
    if hit is not None:
        hit.v = hit.x * 2.0
    return total(agents)


# --- one of two


def collided(x):
    agents = made(x)
    for i in range(len(agents) - 1):
        a, b = agents[i], agents[i + 1]
        high, low = (a, b) if a.x > b.x else (b, a)
        high.v -= 0.1 * (high.x - low.x)
        low.v += 0.1 * (high.x - low.x) * high.m
    return total(agents)


def by_branches(x):
    """Objects that no list has."""
    a, b, c = Agent(x[0], 1.0), Agent(x[1], 2.0), Agent(x[2], 3.0)
    one = a if x[3] > x[4] else b
    other = c if x[5] > x[6] else one
    other.x = other.x * x[3]
    one.x += 0.5
    if other is one:
        other.v = x[7]
    return total([a, b, c]) + one.x * other.x


def swapped(x):
    a, b = Agent(x[0], 1.0), Agent(x[1], 2.0)
    for i in range(9):
        a.x += 0.1 * b.x
        if x[i] > 0.4:
            a, b = b, a
    return a.x**2 + 3.0 * b.x


# --- handed on from trip to trip


def followed(x):
    agents = made(x)
    for _ in range(3):
        ahead = agents[0]
        ahead.v = 1.0
        for p in agents[1:]:
            p.v += 0.1 * (ahead.x - p.x - 0.5)
            ahead = p
        for p in agents:
            p.x += 0.05 * p.v
    return total(agents)


def before(x):
    agents = made(x)
    previous, s = None, 0.0
    for p in agents:
        if previous is not None:
            s += (p.x - previous.x) ** 2 * previous.m
        previous = p
    return s + previous.x


# --- at places of lists


def at_places(x):
    agents = made(x)
    for _ in range(4):
        p = agents[int(np.argmin(np.array([q.x for q in agents])))]
        p.x += 0.3 * p.m
    k = int(np.argmax(x))
    agents[k - len(agents)].v = 2.0 * x[0]
    return total(agents)


def exchanged(x):
    """A list in which data decides the order of two."""
    agents = made(x)
    for i in range(len(agents) - 1):
        if agents[i].x > agents[i + 1].x:
            agents[i], agents[i + 1] = agents[i + 1], agents[i]
    for i, p in enumerate(agents):
        p.v = 0.1 * i * p.x
    return total(agents) + agents[3].x


LOOPS = [nearest, nearest_so_far, last_moves, led, collided, followed, before, first_of]
OTHERS = [by_branches, swapped, at_places]


@pytest.mark.parametrize("program", [*LOOPS, *OTHERS], ids=lambda one: one.__name__)
def test_as_in_python(program, rng):
    x = rng.uniform(0.1, 0.9, N)
    assert_value_and_slope(program, x, tolerance=1e-11)


@pytest.mark.parametrize("program", LOOPS, ids=lambda one: one.__name__)
def test_loops_stay_loops(program, rng):
    assert lines(program, rng.uniform(0.1, 0.9, N)) < 130


def test_exchanged_objects(rng):
    x = rng.uniform(0.1, 0.9, 12)
    assert_value_and_slope(exchanged, x, tolerance=1e-11)


def test_compiled_gradients(rng):
    x = rng.uniform(0.1, 0.9, N)

    def both(x):
        return nearest(x) + last_moves(x) + by_branches(x) + followed(x)

    assert sdfgad.differentiate(both).value(x) == pytest.approx(both(x), rel=1e-11)
    sdfgad.check_grads(both, x)


# --- None or an object


def kept_when_replaced(x):
    """What changes after the choice is what the chosen name reads."""
    a, b, best = Agent(x[0], 1.0), Agent(x[1], 1.0), None
    if x[1] > 0.0:
        best = a
    a.x = x[2] * 3.0
    if best is not None:
        return best.x
    return b.x


def changed_by_the_name(x):
    a, best = Agent(x[0], 1.0), None
    for i in range(3):
        if x[i] > 0.3:
            best = a
    if best is not None:
        best.v = x[2]
    return a.v + a.x


def list_or_none(x):
    values, best = [x[0], x[1]], None
    if x[1] > 0.0:
        best = values
    values[0] = x[2] * 3.0
    return 0.0 if best is None else best[0]


@pytest.mark.parametrize("program", [kept_when_replaced, changed_by_the_name, list_or_none])
@pytest.mark.parametrize("first", [0.9, -0.9])
def test_one_object_or_none(program, first):
    x = np.array([0.7, first, 0.2])
    assert_value_and_slope(program, x)


# --- refusals


def new_attribute(x):
    agents = made(x)
    best = agents[0]
    for p in agents:
        if p.x > best.x:
            best = p
    best.prize = 1.0 * x[0]
    return total(agents)


def test_attributes_that_only_the_chosen_object_has(rng):
    with pytest.raises(sdfgad.UnsupportedProgram, match="an object of Agent that may be one of several") as refused:
        sdfgad.differentiate(new_attribute)(rng.uniform(0.1, 0.9, N))
    assert "best.prize = 1.0 * x[0]" in str(refused.value)


def aliased(x):
    agents = made(x)
    best = leader_of(agents)
    best.path = agents[2].path
    agents[2].path[1] += x[3]
    return total(agents)


def test_chosen_objects_with_arrays_of_others_are_refused(rng):
    # Attempts to parse it followed each other for ever.
    with pytest.raises(sdfgad.UnsupportedProgram, match="an object of Agent that may be one of several") as refused:
        sdfgad.differentiate(aliased)(rng.uniform(0.1, 0.9, 12))
    assert "best.path = agents[2].path" in str(refused.value)


def with_an_old_array(x):
    agents = made(x)
    best = leader_of(agents)
    old = best.path
    best.path = best.path * 2.0
    old[0] += x[1]
    return old @ old + total(agents)


def test_old_arrays_of_chosen_objects_are_refused(rng):
    # The statement was parsed again for ever.
    with pytest.raises(sdfgad.UnsupportedProgram, match="an object of Agent that may be one of several") as refused:
        sdfgad.differentiate(with_an_old_array)(rng.uniform(0.1, 0.9, 12))
    assert "best.path = best.path * 2.0" in str(refused.value)


def new_lists(x):
    a, b = Agent(x[0], 1.0), Agent(x[1], 2.0)
    first = a if x[2] > x[3] else b
    a.tags, b.tags = [x[4]], [x[5]]
    return first.tags[0]


def new_numbers(x):
    a, b, s = Agent(x[0], 1.0), Agent(x[1], 2.0), 0.0
    for i in range(12):
        first = a if x[i] > 0.5 else b
        a.name = "a"
        s += first.x
        b.x = x[i]
        s += first.x
    return s


@pytest.mark.parametrize("program", [new_lists, new_numbers])
def test_changes_after_the_choice(program, rng):
    x = rng.uniform(0.1, 0.9, 12)
    assert_value_and_slope(program, x)


def at_any_place(x):
    agents = made(x)
    for i in range(len(agents)):
        p = agents[int(x[i] * 10.0)]
        p.v += p.x * x[0]
    return total(agents)


def test_places_beyond_the_list(rng):
    x = rng.uniform(0.0, 0.9, 10)
    g = sdfgad.differentiate(at_any_place)
    assert g.value(x) == pytest.approx(at_any_place(x), rel=1e-12)
    sdfgad.check_grads(at_any_place, x)
    for beyond in (3.0, 1e9, -1e9):
        x[4] = beyond
        with pytest.raises(IndexError) as caught:
            g(x)
        assert "p = agents[int(x[i] * 10.0)]" in str(caught.value)


class Layer:
    def __init__(self, density, top, bottom):
        self.density, self.top, self.bottom = density, top, bottom

    def depth(self):
        return self.density * (self.bottom - self.top)


def layers_of(x, top):
    layers = []
    for density, thickness in zip(x[:4], x[4:8], strict=True):
        layers.append(Layer(density, top, top + thickness))
        top += thickness
    return layers


def down_to(x):
    layers, left, k, total = layers_of(x, 0.0), 3 * x[8], 0, 0.0
    while left > 0 and k < len(layers):
        left = left - layers[k].depth()
        total += layers[k].top
        k += 1
    return total + left


def deepest(x):
    layers = layers_of(x, 0)
    best = layers[0]
    for layer in layers:
        if layer.depth() > best.depth():
            best = layer
    layers[int(2 * x[8])].top += x[0]
    return best.top * best.density + sum(layer.depth() * layer.top for layer in layers)


@pytest.mark.parametrize("program", [down_to, deepest])
def test_attributes_of_which_some_are_numbers_of_python(program):
    assert_value_and_slope(program, np.linspace(0.86, 0.15, 12))
