"""Objects of several classes of which data decides one: attributes, methods, operators, updates and narrowing."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ProgramRaises
from tests.helpers_ir import assert_value_and_slope, parsed, size_of

POINTS = [
    np.array(x) for x in ([0.9, 1.1, 0.8, 1.3], [1.3, 0.52, 1.45, 0.7], [0.4, 0.45, 1.63, 0.55], [1.2, 0.6, 0.3, 2.0])
]


class Sphere:
    shine = 0.3

    def __init__(self, c, r):
        self.c, self.r, self.hits = c, r, 0

    def hit(self, o):
        d = o - self.c
        return None if d < 0.1 else d / self.r

    def color(self, p, k=1.0):
        return np.array([self.r, p, k])


class Plane:
    shine = 0.1

    def __init__(self, y):
        self.y, self.hits = y, 0

    def hit(self, o):
        return o * self.y

    def color(self, p, k=2.0):
        return np.array([self.y, p * k, 1.0])


def nearest(x, s):
    """None before the first hit; what is updated is the object itself."""
    scene = [Sphere(0.2 * x[0], x[1]), Plane(x[2] * s)]
    total = 0.0
    for k in range(6):
        o = 0.3 * k * x[3]
        best, t = None, 1e9
        for thing in scene:
            h = thing.hit(o)
            if h is not None and h < t:
                t, best = h, thing
        if best is None:
            total += 1
            continue
        total += best.color(t, k=s).sum() + best.shine * t
        if isinstance(best, Sphere):
            total += best.r**2
        best.hits += 1
        best.last = t
    return total + 10 * scene[0].hits + 3 * scene[1].hits + scene[1].last


def in_tuples(x, s):
    scene = [Sphere(0.2 * x[0], x[1]), Plane(x[2] * s)]
    total = 0.0
    for k in range(6):
        best = None
        for thing in scene:
            h = thing.hit(0.3 * k * x[3])
            if h is not None and (best is None or h < best[0][0]):
                best = ((h, 2 * h), thing)
        if best is None:
            continue
        (t, u), thing = best
        total += thing.color(t)[0] * u
    return total


def of_a_list(x, s):
    """By a place in a list, whose objects of one class are rows."""
    scene = [Sphere(0.1 * k, x[k % 4]) if k % 3 else Plane(x[k % 4]) for k in range(9)]
    total = 0.0
    for o in np.linspace(0.71, 2, 30):
        best = scene[np.argmin([abs(q.shine * x[0] - o * x[1] / (k + 1)) for k, q in enumerate(scene)])]
        least = min(scene, key=lambda q: q.hit(o) if q.hit(o) is not None else 1e3)
        total += best.color(o * s).sum() + least.color(o) @ [1.0, s, 2.0] + (100 if best is least else 0)
        best.hits += 1
    return total + sum(q.hits * k for k, q in enumerate(scene))


class Vec:
    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        return self.a + (other.a if isinstance(other, Vec) else other)

    def __radd__(self, other):
        return 10 * self.a + other

    def __call__(self, v):
        return self.a * v

    def __getitem__(self, k):
        return self.a**k

    def __len__(self):
        return 2

    def __neg__(self):
        return -self.a

    def __lt__(self, other):
        return self.a < other.a


class Two(Vec):
    extra = 5.0

    def __call__(self, v):
        return self.a + v

    def __len__(self):
        return 3

    @property
    def area(self):
        return self.a**2

    @staticmethod
    def triple(v):
        return v * 3


class Three:
    def __init__(self, a, b):
        self.a, self.b = a, b


def operators(x, s):
    a, b = Vec(x[0]), Two(x[1])
    t = 0.0
    for k in range(8):
        best = a if np.sin(k + x[2]) > 0.1 else b
        t += best + s
        t += s + best
        t += best(s) * best[2] + len(best) + (-best) + (best + best)
        t += 1 if best < a else 2
        t += 3 if best == b else 4
        t += 5 if best != b else 6
        t += 7 if best in [b] else 8
        found = [a, b, Two(s)][int(np.argmax(x[:3] * np.sin(k + x[:3])))]
        t += (20 if found in [a, best] else 30) + (50 if found not in (b,) else 60)
        t += 100 * (a in [best, found])
        t += 9 if best else 10
        t += [a, b].index(best) + getattr(best, "a") * (11 if hasattr(best, "extra") else 12)  # noqa: B009
    return t


def narrowed(x, s):
    parts = [Vec(x[0]), Two(x[1]), Three(x[2], x[3]), Vec(s)]
    total = 0.0
    for k in range(6):
        best = parts[int(np.argmax(x * np.sin(k + np.arange(4))))]
        if isinstance(best, Three):
            total += best.b * s
        elif isinstance(best, Two):
            total += best.area + best.triple(s)
        else:
            total += best.a
        match best:
            case Three(a=p, b=q):
                total += p * q
            case Two():
                total -= best.area
    return total


def updated(x, s):
    parts = [Vec(x[0]), Two(x[1]), Three(x[2], x[3]), Vec(s)]
    for _ in range(10):
        big = parts[int(np.argmax([p.a for p in parts]))]
        small = parts[int(np.argmin([p.a for p in parts]))]
        d = 0.3 * (big.a - small.a) + 0.05
        big.a -= d
        small.a = small.a + 0.9 * d
    return sum((k + 1) * p.a**2 for k, p in enumerate(parts))


class Dirichlet:
    def __init__(self, v):
        self.v = v

    def apply(self, u):
        u[0] = u[-1] = self.v
        return u


class Neumann:
    def __init__(self, g):
        self.g, self.count = g, 0

    def apply(self, u):
        u[0], u[-1] = u[1] - self.g, u[-2] + self.g
        self.count += 1
        return u


class Controller:
    def __init__(self, x):
        self.modes = {"cold": Dirichlet(x[0]), "hot": Neumann(0.1 * x[1])}
        self.mode = self.modes["cold"]

    def update(self, t):
        if t > 1.0:
            self.mode = self.modes["hot"]
        elif t < 0.6:
            self.mode = self.modes["cold"]
        return self.mode


def attributes_and_arrays(x, s):
    """An attribute that is one of several objects, whose methods update arrays."""
    controller, u, total = Controller(x), np.linspace(0.2, 1.5, 8) * s, 0.0
    for k in range(30):
        u = controller.update(u.mean()).apply(u.copy())
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]) + 0.1 * x[2] * np.sin(k)
        total += u.max() + (controller.mode is controller.modes["hot"])
    return total + controller.modes["hot"].count


def states(x, s):
    class Idle:
        gain = 0.2

        def step(self, v):
            return (run if v > 0.5 else idle), v * 0.5

    class Run:
        gain = 1.5

        def step(self, v):
            return (idle if v < 0.9 else run), v * 2.0

    idle, run = Idle(), Run()
    state, out = idle, 0.0
    for k in range(20):
        state, y = state.step(x[k % 4] * abs(np.sin(k * s)))
        out += y * state.gain
    return out


def as_keys(x, s):
    a, b, total = Vec(x[0]), Two(x[1]), 0.0
    weights = {a: 1.0, b: x[3]}
    for _ in range(20):
        best = a if total < x[2] else b
        total += weights[best] * s - 0.9 * total
    return total


PROGRAMS = [as_keys, nearest, in_tuples, of_a_list, operators, narrowed, updated, attributes_and_arrays, states]


@pytest.mark.parametrize("program", PROGRAMS)
def test_like_python(program):
    for x in POINTS:
        assert_value_and_slope(program, x, 0.7)


def together(x, s):
    return nearest(x, s) + narrowed(x, s) + updated(x, s) + attributes_and_arrays(x, s)


def test_in_compiled_code():
    g = sdfgad.value_and_grad(together)
    for x in POINTS:
        value, gradient = g(x, 0.7)
        ends = [(together(x + 1e-6 * e, 0.7) - together(x - 1e-6 * e, 0.7)) / 2e-6 for e in np.eye(4)]
        np.testing.assert_allclose(value, together(x, 0.7), rtol=1e-12)
        np.testing.assert_allclose(gradient, ends, rtol=1e-5, atol=1e-7)


def long_loop(x, n):
    a, b, total = Vec(x[0]), Two(x[1]), 0.0
    for _ in range(n):
        best = a if total < x[2] else b
        total += best(x[3]) - total * 0.9
    return total


def test_loops_are_not_written_out():
    assert size_of(parsed(long_loop, POINTS[0], 1000).program.body) < 20


def without_a_test(x):
    parts, total = [Vec(x[0]), Two(x[1])], 0.0
    for k in range(100):
        total += parts[int(np.sin(k * x[2]) > 0.1)].area
    return total


def test_an_attribute_that_one_class_has_not():
    g = sdfgad.value_and_grad(without_a_test)
    with pytest.raises(ProgramRaises, match=r"has no attribute `area`\n.*total \+= parts"):
        g(POINTS[0])
