"""What Python evaluates once, or not at all, has its effects once: conditions and items of comprehensions, say."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.array([0.5, 0.3, -0.2, 0.7, -0.4, 0.6])
RIGHT, REFUSED = [], {}


def right(program):
    RIGHT.append(program)
    return program


def refused(text):
    def of(program):
        REFUSED[program] = text
        return program

    return of


class Particle:
    def __init__(self, x, i):
        self.x, self.i = x, i


def particles(x):
    return [Particle(v, i) for i, v in enumerate(x)]


class Group:
    def __init__(self, x):
        self.particles, self.asked = particles(x), 0

    def step(self):
        for p in self.particles:
            p.x += 0.1
        return self.particles

    def is_positive(self, v):
        self.asked += 1
        return v > 0


@right
def conditions_that_count(x):
    n = 0

    def ok(v):
        nonlocal n
        n += 1
        return v > 0

    kept = [v for v in x if ok(v)]
    return sum(kept) * n


@right
def conditions_that_append(x):
    log = []
    kept = [v for v in x if log.append(v) is None and v > 0]
    return sum(kept) * len(log)


@right
def conditions_that_are_methods(x):
    group = Group(x)
    return max(v for v in x if group.is_positive(v)) * group.asked


@right
def conditions_that_bind(x):
    t = 0.0
    return max(v for v in x if (t := t + v) < 0.65) + t


@right
def conditions_whose_names_items_read(x):
    return sum([y * 2 for v in x if (y := v - 0.1) > 0])


class Registered:
    def __init__(self, x, world):
        self.x = x
        world.append(self)


@right
def objects_that_register(x):
    world = []
    kept = [Registered(v, world) for v in x if v > 0]
    return sum(p.x for p in world) + len(world) + len(kept)


@right
def objects_made_of_a_pool(x):
    pool = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    kept = [Particle(v, pool.pop()) for v in x if v > 0]
    return sum(p.x * p.i for p in kept)


@right
def objects_taken_from_a_list(x):
    everyone = particles(x)
    kept = [everyone.pop(0) for k in range(6) if x[k] > 0]
    return len(everyone) * x[0] + kept[0].x


@right
def what_a_method_returns(x):
    group = Group(x)
    kept = [p for p in group.step() if p.x > 0]
    return sum(p.x for p in kept)


@right
def a_loop_over_what_a_method_returns(x):
    total = 0.0
    for p in [p for p in Group(x).step() if p.x > 0]:
        total += p.x
    return total


@right
def an_extremum_of_what_a_method_returns(x):
    group = Group(x)
    return max((p for p in group.step() if p.x > 0), key=lambda p: p.x).x


@right
def functions_of_filters(x):
    t = total = 0.0
    for v in filter(lambda q, t=t: q > t, x):
        t += 0.3
        total += v * (t + 1)
    return total


@right
def methods_of_filters(x):
    class Above:
        def __init__(self, t):
            self.t = t

        def ok(self, q):
            return q > self.t

    above, total = Above(0.0), 0.0
    for v in filter(above.ok, x):
        above = Above(0.4)
        total += v
    return total


@right
def filters_in_filters(x):
    total = 0.0
    for v in filter(lambda q: q > 0.1, x):
        for w in filter(lambda q, v=v: q > v, x):
            total += v * w
    return total


@right
def dict_displays(x):
    stock = [4, 3, 2, 1]
    made = {stock.pop(): stock.pop() * x[0], stock.pop(): stock.pop()}
    named = {(n := 1): n * x[0], (n := 2): n * x[1]}
    return made[1] + made[3] + named[1] + named[2]


@right
def assertions(x):
    stock = [1.0, 2.0]
    assert stock.pop() > 1
    assert (n := 3) > 1  # noqa: RUF018
    return stock[-1] * x[0] * n


def is_there(path):
    with open(path) as file:
        return file.readable()


@right
def assertions_that_are_not_supported(x):
    assert is_there("/dev/null")
    return x[0] * 2


@right
def divisions_of_chosen_integers(x):
    large = any(int(v * 10) // int(w * 10) > 1 for v, w in zip(x, x[::-1], strict=True) if v > 0.55)
    return large * x[0] + all(x[int(abs(v) * 5)] > -1 for v in x if v > 0) * x[1]


@right
def targets_that_are_attributes(x):
    group = Group(x)
    near = [p for p in group.particles if p.x < 0.65]
    for group.best in near:
        pass
    return group.best.x


@right
def targets_of_functions_around(x):
    best = Particle(9.0, 9)

    def search():
        nonlocal best
        for best in [p for p in particles(x) if p.x < 0.65]:
            pass

    search()
    return best.x


@right
def identity_by_branches_and_places(x):
    everyone = particles(x)
    a, b = everyone[int(np.argmax(x))], max(everyone, key=lambda p: p.x)
    c = next((p for p in everyone if p.x > 0.65), None)
    d = everyone[0] if x[0] > 0 else everyone[1]
    e = everyone[int(x[0] <= 0)]
    return (a is b) * x[0] + (b == c) * x[1] + (d is e) * x[2] + (a in [b]) * x[3] + (a is d) * x[4]


@right
def elements_of_sets(x):
    seen = {1, 5}
    seen.update([int(x[0] > 0)])
    more = seen.union([int(x[0] > 0)], (int(x[1] > 0), 7))
    return len(seen) * x[1] + len(more) * x[2] + {1, 2}.issubset([int(x[0] > 0), 2]) + seen.isdisjoint([1])


@refused("a comprehension with a condition on data")
def a_search_that_binds(x):
    c = 0
    return next((v for v in x if (c := c + 1) and v > 0.55), 0.0) * c


@refused("a comprehension with a condition on data")
def a_search_in_what_a_method_returns(x):
    group = Group(x)
    return next(p for p in group.step() if p.x > 0.5).x


@refused("each binds a name or changes something")
def a_test_that_appends(x):
    log = []
    found = any(log.append(v) is None and v > 0.2 for v in x)
    return len(log) * x[1] + found


@right
def a_choice_behind_a_change(x):
    stock = [0.9, 0.1]
    t = (stock.pop(), x[:2] if x[1] > len(stock) * 0.31 else x[2:5])
    return t[0] * np.sum(t[1])


@dataclass
class Tagged:
    x: float
    tags: list = field(default_factory=list)


@refused("the attributes `tags` of the objects in a list are not alike")
def equality_of_lists_at_places(x):
    everyone = [Tagged(v) for v in x]
    best = everyone[int(np.argmax(x))]
    return sum(p == best for p in everyone) + x[0]


@refused("an integer that is computed")
def identity_of_integers(x):
    j, k = int(x[1] * 3), int(x[0] * 3)
    return (j is k) + x[0]


# --- chains of comparisons, and names that only some paths of an expression bind


@right
def chain_with_calls(x):
    asked, total = [0], 0.0

    def asks():
        asked[0] += 1
        return 0.43 * asked[0]

    for k in range(6):
        if 0.2 < x[k] < asks():
            total = total + x[k] ** 2
    return total + asked[0] + (x[0] < asks() < asks() != 7)


@right
def chain_that_pops(x):
    left, total = [5.0, 4.0, 3.0, 0.1, 2.0, 1.0], 0.0
    for k in range(6):
        total += (0.2 < x[k] <= left.pop() < 9.0) * x[k]
    return total + len(left)


@right
def chain_that_binds(x):
    n, total = 0, 0.0
    while -1.0 < x[n % 6] < (bound := 3.0 - n * 0.3):
        total += bound * x[n % 6]
        n += 1
    return total + n + bound


@right
def bound_by_and(x):
    last, total = 0.0, 0.0
    for k in range(6):
        _ = x[k] > 0.0 and (last := x[k]) > 0.0
        total = total + last * x[k]
    return total


@right
def bound_by_one_side(x):
    last, total = 0.0, 0.0
    for k in range(12):
        value = (last := x[k % 6]) if k % 3 == 2 else 0.5
        total = total + last * value
    return total


@right
def bound_by_a_chain(x):
    last, total = 0.0, 0.0
    for k in range(6):
        _ = 0.2 < x[k] < (last := x[k] + 1.0)
        total = total + last * x[k]
    return total


@right
def declared_and_not_bound(x):
    last, total = 0.0, 0.0
    for k in range(6):
        last: float
        total = total + last * x[k]
        last = x[k]
    return total


@right
def bound_in_the_body_of_an_inverted_loop(x):
    def values():
        for k in range(6):
            yield x[k]

    last, total = 0.0, 0.0
    for value in values():
        _ = value > 0.0 and (last := value) > 0.0
        total = total + last * value
    return total


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_value_and_slope(program):
    assert_value_and_slope(program, X)


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_would_be_evaluated_otherwise_is_refused(program):
    with pytest.raises(SdfgadError, match=REFUSED[program]) as caught:
        parsed(program, X)
    first = program.__code__.co_firstlineno
    assert first < caught.value.where.line <= first + 6
