"""Lists that functions fill which a loop calls: the rows of an array where nothing in the loop looks into the list."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.program import walk
from sdfgad.parse import filled_loops
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

HEAD = """
import copy
import dataclasses
import numpy as np

def record(log, u):
    log.append(u)

def record_by_name(logs, name, u):
    logs[name].append(u)

class Sim:
    def __init__(self, u, s):
        self.u, self.s, self.t, self.log, self.times = u, s, 0.0, [], []
        self.other, self.inner = [], None

    def step(self, f):
        self.u = np.tanh(self.u * self.s + f) + f * self.u

    def advance(self, f):
        self.step(f)
        self.log.append(self.u)

    def observe(self, f):
        self.step(f)
        self.t += 0.1
        self.note(self.t, np.sum(self.u))

    def note(self, t, e):
        times = self.times
        times.append(t)
        if self.inner is not None:
            self.inner.log.append(e)
        self.log.append(e)

    def before(self, f):
        self.u = self.u + len(self.log) * f
        self.log.append(self.u * 1.0)

    def mean(self):
        return np.mean(np.stack(self.log))

    def fluent(self, f):
        self.advance(f)
        return self

    def pick(self, f):
        if np.sum(f) > 0.0:
            return self.log
        return self.other

    def swap(self):
        kept = self.log
        self.log = self.other
        self.other = kept

    @property
    def last(self):
        return self.log[-1]

    @property
    def all(self):
        return self.log

    def __len__(self):
        return len(self.log)

class Child(Sim):
    def advance(self, f):
        super().advance(f * 2.0)
        self.other.append(self.u[::2])

@dataclasses.dataclass
class Run:
    u: object
    us: list = dataclasses.field(default_factory=list)

    def __call__(self, f):
        self.u = self.u * f + 0.1
        self.us.append(self.u)

def program(x, s):
    a = Sim(x[0] * s, s)
"""
LOOP = "for t in range(8):\n    "
END = "\nreturn np.stack(a.log) * s"
ROLLED = {
    "by get": f"L = {{'u': []}}\n{LOOP}a.step(x[t])\n    record(L['u'], a.u)\n    a.u = a.u * len(L.get('u'))\n"
    "return np.stack(L['u'])",
    "an append that a number decides": f"L = []\n{LOOP}a.advance(x[t])\n    L.append(t) if t > 3 else None\n"
    f"return sum(L) * a.u",
    "an append that a test decides": f"L = []\n{LOOP}a.advance(x[t])\n    t > 3 and L.append(2.0)\nreturn sum(L) * a.u",
    "extended": LOOP + "a.advance(x[t])\n    a.log += [a.u * 2.0]" + END,
    "extended by extend": LOOP + "a.advance(x[t])\n    a.log.extend([a.u * 2.0, x[t]])" + END,
    "in a branch of a method": LOOP + "a.step(x[t])\n    if t % 2 == 0:\n        a.log.append(a.u)" + END,
    "at uneven trips": LOOP + "a.step(x[t])\n    if t * t % 5 == 1:\n        a.log.append(a.u)" + END,
    "read before it is appended to": LOOP + "a.before(x[t])" + END,
    "read by a property": LOOP + "a.advance(x[t])\n    a.u = a.u * a.last" + END,
    "counted by a lambda before": f"n = lambda: len(a.log)\n{LOOP}a.u = a.u * n()\n    a.advance(x[t])" + END,
    "by __dict__": LOOP + "a.advance(x[t])\n    a.u = a.u * len(a.__dict__['log'])" + END,
    "appended to itself by another": LOOP
    + "a.advance(x[t])\n    a.other.append(a.log[-1])\nreturn np.stack(a.other) * s",
    "read in the test of a loop": LOOP + "a.advance(x[t])\n    while len(a.log) < 0:\n        a.u = a.u * 2.0" + END,
    "by a method": LOOP + "a.advance(x[t])" + END,
    "by a method of a parent": f"a = Child(x[0], s)\n{LOOP}a.advance(x[t]){END} + np.sum(np.stack(a.other))",
    "by methods of two objects": f"b = Sim(x[1], s * s)\n{LOOP}a.advance(x[t])\n"
    f"    b.advance(a.u){END} * np.stack(b.log)",
    "numbers and times": f"{LOOP}a.observe(x[t])\nreturn np.array(a.log) * np.array(a.times)",
    "two appends to one list": f"{LOOP}a.advance(x[t])\n    a.advance(x[t, ::-1])\nreturn np.stack(a.log) * s",
    "also in the loop itself": f"{LOOP}a.advance(x[t])\n    a.log.append(a.u * 2.0){END}",
    "an item of an item": f"a.inner = Sim(x[1], s)\n{LOOP}a.inner.advance(x[t])\nreturn np.stack(a.inner.log)",
    "of another object": f"a.inner = Sim(x[1], s)\n{LOOP}a.observe(x[t])\n"
    f"return np.array(a.inner.log) * np.mean(a.log)",
    "by a function": f"h, L = x[0], []\n{LOOP}h = h * s + x[t]\n    record(L, h)\nreturn np.stack(L)",
    "by a keyword": f"h, L = x[0], []\n{LOOP}h = h * s + x[t]\n    record(u=h, log=L)\nreturn np.stack(L)",
    "by a function, in a dict": f"h, L = x[0], {{'u': [], 'v': []}}\n{LOOP}h = h * s + x[t]\n"
    "    record_by_name(L, 'u', h)\n    record_by_name(L, 'v', h * h)\nreturn np.stack(L['u']) * np.stack(L['v'])",
    "by a nested function": f"h, L = x[0], []\ndef note(v):\n    L.append(v * s)\n{LOOP}h = h * s + x[t]\n    note(h)\n"
    "return np.stack(L)",
    "by a lambda": f"h, L = x[0], []\nnote = lambda v: L.append(v * s)\n{LOOP}h = h * s + x[t]\n    note(h)\n"
    "return np.stack(L)",
    "by an object that is called": f"r = Run(x[0])\n{LOOP}r(x[t])\nreturn np.stack(r.us) * s",
    "by a method that is kept": f"go = a.advance\n{LOOP}go(x[t])" + END,
    "by append that is kept": f"h, L = x[0], []\npush = L.append\n{LOOP}h = h * s + x[t]\n    push(h)\n"
    f"return np.stack(L)",
    "by a method that returns the object": f"{LOOP}a.fluent(x[t]).step(x[t])" + END,
    "to what a property gives": f"{LOOP}a.step(x[t])\n    a.all.append(a.u)" + END,
    "with another name": f"L = a.log\n{LOOP}a.step(x[t])\n    L.append(a.u)" + END,
    "after items": f"a.advance(x[1])\na.log.append(x[0])\n{LOOP}a.advance(x[t])" + END,
    "read before and after": f"a.advance(x[1])\nh = len(a.log)\n{LOOP}a.advance(x[t])\n"
    f"return a.mean() * h * a.last * len(a)",
    "in two loops": f"{LOOP}a.advance(x[t])\n{LOOP}a.advance(x[t] * s)" + END,
    "in an inner loop": "y = 0.0\nfor k in range(3):\n    b = Sim(x[k], s)\n    for t in range(8):\n"
    "        b.advance(x[t])\n    y = y + b.mean()\nreturn y",
    "in a while": "t = 0\nwhile t < 8:\n    a.advance(x[t])\n    t += 1" + END,
    "an integer first": f"v, L = 0, []\n{LOOP}L.append(v)\n    v = v + x[t, 0]\nreturn np.array(L) * s",
    "of numbers that begin as an integer": f"v, L = 0, []\n{LOOP}v = v * 0.5 + x[t, 0] * s\n    L.append(v)\n"
    "return np.array(L) * a.u[0]",
    "of pairs that begin as integers": f"v, w, L = 0, 1, []\n{LOOP}v = v - w * x[t, 0]\n    w = w + s * v\n"
    "    L.append((v, w))\nreturn L[3][0] * L[7][1] + L[0][0]",
    "several in each trip, of numbers that begin as an integer": f"v, L = 0, []\n{LOOP}for k in range(3):\n"
    "        v = v * 0.5 + x[t, k] * s\n        L.append(v)\nreturn np.array(L) * a.u[0]",
    "beside an inner loop": f"{LOOP}for k in range(2):\n        a.step(x[t])\n    a.log.append(a.u)" + END,
}
EITHER = {
    "what an integer divides to first": f"v, L = 3, []\n{LOOP}L.append(v // 2)\n    v = v * 0.5 + s\n"
    "return np.array(L) * a.u[0]",
    "made anew": LOOP + "a.advance(x[t])\n    a.log = []\nreturn s * len(a.log) + a.u",
    "by an iterator made before": f"i = iter([a.log, a.other])\n{LOOP}a.advance(x[t])\na.u = a.u * len(next(i))" + END,
    "integers": f"L, M = [], []\n{LOOP}record(L, t * 2 + 1)\n    a.advance(x[t])\n"
    f"return np.array(L) * np.stack(a.log)[:, 0] * s",
    "an integer that is counted": f"L, n = [], 0\n{LOOP}n += t\n    record(L, n)\n    a.advance(x[t])\n"
    "return np.array(L) * np.stack(a.log)[:, 0] * s",
    "integers as indices": f"L = []\n{LOOP}record(L, 7 - t)\n    a.step(x[t])\nreturn sum(x[k] * k for k in L) * a.u",
    "constants": f"L = []\n{LOOP}record(L, 0.5)\n    a.advance(x[t])\nreturn np.array(L) * np.stack(a.log)[:, 0] * s",
}
ONE_BY_ONE = {
    "read by a method": LOOP + "a.advance(x[t])\n    a.u = a.u * a.mean()" + END,
    "its length by the class": LOOP + "a.advance(x[t])\n    a.u = a.u * len(a)" + END,
    "its truth": LOOP + "a.advance(x[t])\n    if a.log:\n        a.u = a.u * 2.0" + END,
    "iterated": LOOP + "a.advance(x[t])\n    for v in a.log:\n        a.u = a.u + v" + END,
    "copied": LOOP + "a.advance(x[t])\n    b = copy.deepcopy(a)\n    a.u = a.u * len(b.log)" + END,
    "replaced": f"r = Run(x[0])\n{LOOP}r(x[t])\n    q = dataclasses.replace(r, u=s)\n    r.u = r.u * len(q.us)\n"
    "return np.stack(r.us)",
    "by vars": LOOP + "a.advance(x[t])\n    a.u = a.u * len(vars(a)['log'])" + END,
    "by getattr": LOOP + "a.advance(x[t])\n    a.u = a.u * len(getattr(a, 'log'))" + END,
    "by a view made before": f"L = {{'u': []}}\nv = L.values()\n{LOOP}a.step(x[t])\n    record(L['u'], a.u)\n"
    "    a.u = a.u * sum(len(one) for one in v)\nreturn np.stack(L['u'])",
    "by a list of lists": f"M = [a.log, a.other]\n{LOOP}a.advance(x[t])\n    a.u = a.u * sum(map(len, M))" + END,
    "by max with a key": f"M = [a.log, a.other]\n{LOOP}a.advance(x[t])\n    a.u = a.u * len(max(M, key=len))" + END,
    "by unpacking": f"M = (a.log, a.other)\n{LOOP}a.advance(x[t])\n    p, q = M\n    a.u = a.u * len(p)" + END,
    "swapped by a method": LOOP + "a.advance(x[t])\n    a.swap()\nreturn np.stack(a.log + a.other) * s",
    "swapped by assignments": LOOP + "a.advance(x[t])\n    a.log, a.other = a.other, a.log\nreturn np.stack(a.log) * s",
    "objects that are swapped": f"b = Sim(x[1], s)\n{LOOP}a.advance(x[t])\n    a, b = b, a\n"
    "return np.stack(a.log) * len(b.log)",
    "cut": LOOP + "a.advance(x[t])\n    if len(a.log) > 3:\n        a.log.pop(0)" + END,
    "as an iterator made before": f"i = map(len, [a.log])\n{LOOP}a.advance(x[t])\n    if t == 7:\n        pass\n"
    f"    a.u = a.u + len(list(zip(a.log)))" + END,
    "updated after it was appended": LOOP + "a.advance(x[t])\n    a.u += s" + END,
    "its item updated after the loop": LOOP + "a.advance(x[t])\na.log[2] += s" + END + " * a.u",
    "its array updated by a method later": LOOP + "a.advance(x[t])\na.u *= s\nreturn np.stack(a.log) * s",
    "shapes that differ": LOOP + "a.log.append(x[t, : 1 + t % 3] * s)\nreturn np.concatenate(a.log)",
    "as an operand": LOOP + "a.advance(x[t])\n    n = len(a.log + a.other)\n    a.u = a.u * n" + END,
    "compared": LOOP + "a.advance(x[t])\n    if a.log == []:\n        a.u = a.u * 2.0" + END,
    "matched": LOOP + "a.advance(x[t])\n    match a.log:\n        case [v]:\n            a.u = a.u * v" + END,
    "cut by del": LOOP + "a.advance(x[t])\n    a.log.append(a.u)\n    del a.log[0]" + END,
    "its items assigned": LOOP + "a.advance(x[t])\n    a.log[0] = a.u * 2.0" + END,
    "tried": LOOP
    + "try:\n        a.u = a.u * a.log[0]\n    except IndexError:\n        pass\n    a.advance(x[t])"
    + END,
    "starred": LOOP + "a.advance(x[t])\n    n = len([*a.log])\n    a.u = a.u * n" + END,
    "by a comprehension": LOOP + "a.advance(x[t])\n    n = sum([1 for v in a.log])\n    a.u = a.u * n" + END,
    "kept by nonlocal": f"L, M = a.log, a.other\ndef swap():\n    nonlocal L, M\n    kept = L\n    L = M\n"
    f"    M = kept\n"
    f"{LOOP}a.advance(x[t])\n    swap()\n    a.u = a.u * (1 + len(L)){END}",
}
CHOSEN = f"{LOOP}a.step(x[t])\n    record(a.pick(x[t]), a.u)\nreturn s * len(a.log)"


def program_of(body, tmp_path):
    lines = "\n".join("    " + line for line in body.splitlines())
    return module_from(HEAD + lines, tmp_path).program


def arguments():
    return np.random.default_rng(3).uniform(-0.5, 0.5, (8, 3)), 0.7


def trips_of_loops(program):
    return [s.trips.const for s in walk(program.body) if hasattr(s, "trips") and s.trips.is_const]


@pytest.mark.parametrize("name", {**ROLLED, **EITHER, **ONE_BY_ONE})
@pytest.mark.parametrize("size", [1, 32])
def test_lists_are_those_of_python(name, size, tmp_path, monkeypatch):
    monkeypatch.setattr(filled_loops, "MANY_STATEMENTS", size)
    body = (ROLLED | EITHER | ONE_BY_ONE)[name]
    program = program_of(body, tmp_path)
    assert_value_and_slope(program, *arguments())


@pytest.mark.parametrize("name", ROLLED)
def test_loops_stay(name, tmp_path, monkeypatch):
    monkeypatch.setattr(filled_loops, "MANY_STATEMENTS", 1)
    program = parsed(program_of(ROLLED[name], tmp_path), *arguments()).program
    assert 8 in trips_of_loops(program)


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_other_loops_are_unrolled(name, tmp_path, monkeypatch):
    monkeypatch.setattr(filled_loops, "MANY_STATEMENTS", 1)
    program = parsed(program_of(ONE_BY_ONE[name], tmp_path), *arguments()).program
    assert 8 not in trips_of_loops(program)


class Chain:
    def __init__(self, u):
        self.u, self.t, self.energies, self.times = u, 0.0, [], []

    def step(self, dt):
        self.u = self.u + dt * np.sin(self.u) * np.roll(self.u, 1)
        self.t += dt
        self.record()

    def record(self):
        self.energies.append(np.sum(self.u * self.u))
        self.times.append(self.t)


def simulated(u, dt, steps):
    chain = Chain(u)
    for _ in range(steps):
        chain.step(dt)
    return np.mean(np.array(chain.energies) * np.array(chain.times))


def test_statements_do_not_grow_with_the_trips():
    u = np.linspace(0.1, 1.0, 7)
    few, many = (len(list(walk(parsed(simulated, u, 0.01, steps).program.body))) for steps in (60, 400))
    assert few == many < 40


def test_gradients_of_compiled_lists():
    args = np.linspace(0.1, 1.0, 7), 0.01, 300
    sdfgad.check_grads(simulated, *args)
    value, _ = sdfgad.differentiate(simulated, wrt="u").value_and_grad(*args)
    assert value == pytest.approx(simulated(*args), rel=1e-12)


def test_gradients_by_an_object_that_has_the_list():
    def program(chain, dt):
        for _ in range(20):
            chain.step(dt)
        return np.mean(np.array(chain.energies))

    def of(u):
        return program(Chain(u), 0.01)

    u = np.linspace(0.1, 1.0, 7)
    slope = sdfgad.differentiate(program, wrt="chain.u")(Chain(u), 0.01)
    assert slope == pytest.approx(sdfgad.differentiate(of, wrt="u")(u), rel=1e-12)


def read_after_it(u):
    chain = Chain(u)
    for _ in range(400):
        chain.step(0.01)
        chain.u = chain.u * len(chain.energies[1:])
    return np.mean(chain.energies)


def read_before_it(u):
    chain = Chain(u)
    for _ in range(400):
        chain.u = chain.u * len(chain.energies[1:])
        chain.step(0.01)
    return np.mean(chain.energies)


CHANGED = r"a list is changed in a loop[\s\S]*self\.energies\.append[\s\S]*Make an array before"
READ = r"a list or dict is read in the loop that fills it[\s\S]*chain\.u \* len[\s\S]*or read the list after it"


@pytest.mark.parametrize(("program", "message"), [(read_after_it, CHANGED), (read_before_it, READ)])
def test_a_long_loop_that_reads_its_list_is_refused(program, message):
    with pytest.raises(UnsupportedProgram, match=message):
        parsed(program, np.ones(3))
