"""What a program changes of the outside: work arrays, lists, dicts, objects, names of modules and classes."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import evaluated_gradients, gradient_of, outputs_of, parsed

X = np.linspace(0.2013, 1.7071, 12)
HEAD = """
import copy
import logging
import sys
import threading
import types
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
import numpy as np
"""
ARRAYS = """
U, V, W = np.zeros(12), np.zeros((4, 3)), [np.zeros(12), np.zeros(12)]
S, I, B = np.array(0.0), np.zeros(5, dtype=int), np.zeros(12, dtype=bool)
M = {"a": np.zeros(3), "b": [0.0, 0.0]}
PAIR = (np.zeros(3), [0.0])
V2 = U


def stencil(x):
    U[:] = 0.0
    for t in range(5):
        U[1:-1] += 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])
    return np.sum(U**2)


def in_a_loop(x):
    for t in range(6):
        V[...] = V + 0.1 * x.reshape(4, 3) * (t + 1)
    return np.sum(V * x.reshape(4, 3))


def two_buffers(x):
    W[0][:] = x
    W[1][:] = W[0] * 2
    for t in range(4):
        a, b = W[t % 2], W[(t + 1) % 2]
        b[:] = a * 0.5 + b
    return np.sum(W[0] * W[1])


def in_containers(x):
    M["a"] += x[:3]
    M["b"][0] = x[4]
    M["b"].append(x[5])
    PAIR[0][:] = x[:3]
    PAIR[1].append(x[5])
    return np.sum(M["a"] ** 2) + sum(M["b"]) + np.sum(PAIR[0]) * sum(PAIR[1])


def by_functions(x):
    np.multiply(x, 2, out=U)
    U.sort()
    return np.sum(U * np.arange(12))


def by_data(x):
    if x[0] > 0.1:
        U[:] = x
    else:
        U[:] = 2 * x
    part = U[2:5]
    part *= 3
    return np.sum(U)


def until(x):
    U[:] = x
    n = 0
    while np.max(U) > 0.5 and n < 50:
        U[:] = U * 0.9
        n += 1
    return np.sum(U)


def without_axes(x):
    total = S
    for k in range(12):
        total += x[k]
    return S * x[0]


def integers_and_masks(x):
    for k in range(12):
        if x[k] > 0.8:
            I[k % 5] += 1
    B[:] = x > 0.9
    return np.sum(I * x[:5]) + np.sum(x[B])


T = np.zeros((5, 3))
ROWS = [T[i] for i in range(5)]


def rows_of_an_array(x):
    for row in ROWS:
        row += x[:3]
    ROWS[0], ROWS[1] = ROWS[1] * 2, ROWS[0]
    return np.sum(np.array(ROWS) ** 2)


def two_names(x):
    V2[0] = x[0]
    U[1] = x[1]
    return U[0] * V2[1] + np.sum(U.copy() * x) + (U + 1)[2]


def filled(x, buffer=np.zeros(12), calls=[0]):
    buffer += x
    calls[0] += 1
    return np.sum(buffer**2) * calls[0]


def defaults(x):
    return filled(x) + filled(2 * x)
"""
OBJECTS = """
@dataclass
class Cell:
    m: float = 0.0
    h: list = field(default_factory=list)

    def add(self, v):
        self.m += v
        self.h.append(v)


class Grid:
    buffer = np.zeros(12)

    def __init__(self, n):
        self.cells = [Cell() for _ in range(n)]
        self.t, self.log, self.u, self.best, self.flag = 0.0, deque(maxlen=2), np.zeros(n), None, False
        self.options, self.lock, self.names = {"dt": 0.1}, threading.Lock(), np.array(["a", "b"], dtype=object)
        self.function = self.twice

    def twice(self, x):
        return 2 * x * self.options["dt"]

    def step(self, x):
        for cell, v in zip(self.cells, x):
            cell.add(v * 0.5)
        self.t += 0.1
        self.u += x[: len(self.u)]
        self.log.append(self.total)
        self.options["dt"] = self.options["dt"] * 0.9
        if self.t > 0.25:
            self.flag = True

    @property
    def total(self):
        return sum(cell.m for cell in self.cells)


class Node:
    __slots__ = ("v", "kids", "parent")

    def __init__(self, v, parent=None):
        self.v, self.kids, self.parent = v, [], parent
        if parent is not None:
            parent.kids.append(self)

    def push(self, x, k=0):
        self.v = self.v + x[k]
        for kid in self.kids:
            k = kid.push(x, k + 1)
        return k

    def up(self):
        return self.v if self.parent is None else self.v * 0.5 + self.parent.up()


G = Grid(6)
CELLS = [Cell() for _ in range(5)]
NS = types.SimpleNamespace(u=0.0, a=np.ones(12))
ROOT = Node(1.0)
LEAF = Node(4.0, Node(2.0, ROOT))


def simulated(x):
    for k in range(4):
        G.step(x * (k + 1))
    return G.total * G.t + np.sum(G.u**2) + sum(G.log) + G.cells[2].h[1] + G.function(x[0]) * (2 if G.flag else 1)


def in_a_list(x):
    for k in range(30):
        for i, cell in enumerate(CELLS):
            cell.m = cell.m + x[i] * 0.1
    return sum(cell.m**2 for cell in CELLS)


def one_object(x):
    first = CELLS[0]
    first.m = x[0]
    again = CELLS[0]
    again.m *= 2
    return CELLS[0].m + first.m


def optional(x):
    for k in range(12):
        if x[k] > 0.9:
            G.best = x[k]
    return 0.0 if G.best is None else G.best * 2


def grown(x):
    total = 0.0
    for cell in G.cells:
        cell.m = x[0]
        total += cell.m
    G.cells.append(Cell(x[1]))
    return total + len(G.cells) * x[2] + G.cells[-1].m


def of_the_class(x):
    G.buffer[:] = x
    return np.sum(Grid.buffer**2)


def namespace(x):
    NS.u = x[0]
    NS.a = NS.a * x
    return NS.u * np.sum(NS.a)


def by_its_dict(x):
    names = CELLS[1].__dict__
    names["m"] = x[0]
    G.cells[0].__dict__["m"] = x[1]
    return CELLS[1].m * G.cells[0].m


def copied(x):
    cells = copy.deepcopy(CELLS)
    cells[0].m = x[0]
    cells[1].add(x[1])
    WS.m[0][1] = x[3]
    other = copy.deepcopy(WS)
    other.m[0][2] = x[4]
    total = cells[0].m + cells[1].h[0] + CELLS[0].m + len(CELLS[1].h)
    return total + np.sum(WS.m[0]) * np.sum(other.m[0])


WS = Cell([np.zeros(3)])


def graph(x):
    ROOT.push(x)
    return LEAF.up()
"""
CONTAINERS = """
Q, GROUPS, COUNTS, SEEN, LOG, CACHE = deque(maxlen=3), defaultdict(list), Counter(), set(), [], {}
NETWORK = {"layers": [{"w": np.ones(3), "b": 0.0}, {"w": np.ones(3), "b": 1.0}]}


def queue(x):
    for i in range(6):
        Q.append(x[i])
    return sum(Q) + Q[0] * Q[-1]


def groups(x):
    for i in range(6):
        GROUPS[i % 2].append(x[i])
    return sum(GROUPS[0]) * sum(GROUPS[1])


def counts(x):
    for i in range(6):
        COUNTS["a" if i % 3 else "b"] += 1
        SEEN.add(i % 4)
    return COUNTS["a"] * x[0] + COUNTS["b"] * x[1] + len(SEEN) * x[2]


def history(x):
    log = LOG
    for k in range(12):
        log.append(x[k])
    return sum(LOG[-3:])


def stack(x):
    LOG.clear()
    for k in range(12):
        LOG.append(x[k])
        while len(LOG) > 3:
            LOG.pop(0)
    return LOG[0] * LOG[-1]


def memoised(n, x):
    if n < 2:
        return x[n]
    if n not in CACHE:
        CACHE[n] = memoised(n - 1, x) + 0.5 * memoised(n - 2, x)
    return CACHE[n]


def recursive(x):
    return memoised(6, x)


def trained(x):
    for layer in NETWORK["layers"]:
        layer["w"] -= 0.1 * x[:3]
        layer["b"] = layer["b"] + x[0]
    return sum(np.sum(layer["w"] ** 2) * layer["b"] for layer in NETWORK["layers"])


def make():
    log, buffer, state = [], np.zeros(12), {"n": 0, "e": 0.0}

    def program(x):
        buffer[:] = x * 2
        log.append(np.sum(buffer))
        state["n"] += 1
        state["e"] += log[-1]
        return state["e"] * state["n"] + np.sum(buffer**2)

    return program


enclosed = make()
"""
NAMESPACES = """
dt = 0.1
here = sys.modules[__name__]


class P:
    n, total, unit = 0, 0.0, 2.0

    def __init__(self, v):
        self.v, self.id = v, P.n
        P.n += 1
        P.total += v

    @classmethod
    def reset(cls):
        cls.n, cls.total = 0, 0.0

    @staticmethod
    def scale():
        return P.unit

    def u(self):
        return self.unit * self.v


class Q(P):
    pass


class Registry:
    items, order = {}, []

    def __init__(self, name, v):
        self.v = v
        Registry.items[name] = self
        self.order.append(name)


class Lazy:
    w = None

    def get(self):
        if Lazy.w is None:
            Lazy.w = np.zeros(3)
        return Lazy.w


def counter(x):
    P.reset()
    objects = [P(x[i]) for i in range(4)]
    return sum(p.v * p.id for p in objects) / P.n + P.total


def read_through_objects(x):
    P.unit = x[0]
    return P(x[1]).u() * P.scale() + Q(x[2]).u()


def of_a_derived_class(x):
    q = Q(x[0])
    Q.unit = x[3]
    return q.u() + P(x[1]).u()


def by_data(x):
    for k in range(20):
        P.total += x[k % 12]
        if x[k % 12] > 1.0:
            P.n += 1
    return P.total * P.n


def by_the_object(x):
    p = P(x[0])
    type(p).n += 1
    p.__class__.n += 2
    p.n += 7
    return p.n * x[1] + P.n


def registered(x):
    Registry("a", x[0])
    Registry("b", x[1])
    return sum(r.v * (k + 1) for k, r in enumerate(Registry.items.values())) + len(Registry.order) * x[2]


def made_once(x):
    w = Lazy().get()
    w += x[:3]
    return np.sum(Lazy().get() ** 2)


def counted(x):
    counted.calls = getattr(counted, "calls", 0) + 1
    return np.sum(x) * counted.calls


def helper(x):
    helper.calls += 1
    if not hasattr(helper, "cache"):
        helper.cache = {}
    if "a" not in helper.cache:
        helper.cache["a"] = x[0] * 2
    return x * helper.calls * helper.cache["a"]


helper.calls = 0


def of_functions(x):
    return np.sum(helper(x)) + np.sum(helper(x))


def use(x):
    return x * dt


def of_a_module(x):
    here.dt = x[0]
    return np.sum(use(x)) * here.dt
"""
TEXTS = {"arrays": ARRAYS, "objects": OBJECTS, "containers": CONTAINERS, "namespaces": NAMESPACES}
NOT_PROGRAMS = {"filled", "memoised", "make", "helper", "use"}
PROGRAMS = [
    (kind, line.partition("(")[0].removeprefix("def "))
    for kind, text in TEXTS.items()
    for line in text.splitlines()
    if line.startswith("def ") and line.partition("(")[0].removeprefix("def ") not in NOT_PROGRAMS
] + [("containers", "enclosed")]


@pytest.fixture(params=PROGRAMS, ids=[f"{kind}-{name}" for kind, name in PROGRAMS])
def fresh(request, tmp_path, monkeypatch):
    """What makes a program of the list anew, with the state that it has in the beginning."""
    kind, name = request.param

    def make():
        module = module_from(HEAD + TEXTS[kind].replace("sys.modules[__name__]", "types.ModuleType('later')"), tmp_path)
        if hasattr(module, "here"):
            module.here = module
        return getattr(module, name)

    return make


def test_each_call_begins_with_what_is_there(fresh):
    program = fresh()
    primal = parsed(program, X.copy())
    value = fresh()(X.copy())
    for _ in range(2):
        np.testing.assert_allclose(outputs_of(primal, X.copy())["return"], value, rtol=1e-12)
    direction, h = np.random.default_rng(3).standard_normal(X.shape), 1e-6
    _, gradients = evaluated_gradients(primal, gradient_of(primal), 1.0, X.copy())
    (gradient,) = gradients.values()
    slope = (fresh()(X + h * direction) - fresh()(X - h * direction)) / (2 * h)
    np.testing.assert_allclose(gradient @ direction, slope, rtol=1e-6, atol=1e-7)
    # What is outside is as it was.
    np.testing.assert_allclose(program(X.copy()), value, rtol=1e-12)


COMPILED = """
state, work, model = {"n": 0, "log": []}, np.zeros(12), None


class Model:
    made = 0

    def __init__(self, k):
        self.k, self.w = k, np.ones(12)
        Model.made += 1

    def __call__(self, x):
        self.w = self.w * self.k + x
        self.k = self.k * 0.9
        return np.sum(self.w)


model = Model(0.5)


def program(x):
    for t in range(3):
        work[:] = work * 0.5 + x
        state["log"].append(model(work))
    state["n"] += 1
    other = Model(x[0])
    return sum(state["log"]) * state["n"] * Model.made + other(x) + np.sum(work**2)
"""


def test_compiled(tmp_path):
    module = module_from(HEAD + COMPILED, tmp_path)
    gradient = sdfgad.differentiate(module.program)

    def value(x):
        one = module_from(HEAD + COMPILED, tmp_path)
        one.state["n"], one.state["log"][:], one.work[:] = module.state["n"], module.state["log"], module.work
        one.model.k, one.model.w, one.Model.made = module.model.k, module.model.w.copy(), module.Model.made
        return one.program(x.copy())

    def check():
        found, slopes = gradient.value_and_grad(X)
        np.testing.assert_allclose(found, value(X), rtol=1e-12)
        direction, h = np.random.default_rng(4).standard_normal(X.shape), 1e-6
        slope = (value(X + h * direction) - value(X - h * direction)) / (2 * h)
        np.testing.assert_allclose(slopes["x"] @ direction, slope, rtol=1e-7)

    check()
    check()
    module.work[:] = 0.25
    check()
    module.work = np.full(12, 0.5)
    check()
    module.model.k, module.state["n"] = 0.75, 2
    check()
    module.state["log"].append(1.5)
    check()
    # Python's own run moves on, and the next call begins from there.
    module.program(X.copy())
    check()


REFUSED = """
U = np.zeros(12)
PART = U[2:5]
F = np.asfortranarray(np.zeros((4, 3)))
FIXED = np.zeros(3)
FIXED.flags.writeable = False


@dataclass(frozen=True)
class Frozen:
    a: float


ONE = Frozen(1.0)


class P:
    def f(self):
        return 1.0


def shares_memory(x):
    U[:] = x
    return np.sum(PART)


PARTS = [U[0:3], U[2:5]]


def overlapping(x):
    for part in PARTS:
        part += x[:3]
    return np.sum(PARTS[0])


def by_columns(x):
    F[...] = x.reshape(4, 3)
    return np.sum(F)


def read_only(x):
    FIXED[:] = x[:3]
    return np.sum(FIXED)


def frozen(x):
    ONE.a = x[0]
    return ONE.a


LOG = logging.getLogger("sdfgad.tests")


def of_a_library(x):
    LOG.step = x[0]
    return np.sum(x)


def new_method(x):
    P.f = use
    return P().f() * np.sum(x)


def local_class(x):
    class Local:
        n = 0
    Local.n += 1
    return Local.n * np.sum(x)


def use(x):
    return x


def inner(z):
    U[:] = z
    return np.sum(U)


def within(x):
    return np.sum(sdfgad.grad(inner)(x))


import sdfgad
"""


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("shares_memory", "return np.sum(PART)", "`PART` from outside the function shares memory"),
        ("overlapping", "part += x", "arrays from outside the function that it updates share memory"),
        ("by_columns", "F[...] =", "an array from outside the function"),
        ("read_only", "FIXED[:] =", "an array from outside the function"),
        ("frozen", "ONE.a =", "`Frozen` is frozen"),
        ("of_a_library", "LOG.step =", "`LOG.step` of an object from outside the function is assigned to"),
        ("new_method", "P.f = use", "`f` of the class P is assigned to, and is a function"),
        ("local_class", "Local.n += 1", "an assignment to `Local.n` is not supported"),
        ("within", "U[:] = z", "an array from outside the function"),
    ],
)
def test_refusals(name, line, what, tmp_path):
    module = module_from(HEAD + REFUSED, tmp_path)
    with pytest.raises(UnsupportedProgram, match=what) as caught:
        parsed(getattr(module, name), X.copy())
    assert caught.value.where.text.startswith(line)


def test_arguments_must_not_be_what_is_changed(tmp_path):
    text = "U = np.zeros(4)\n\ndef program(x):\n    U[:] = U + 1\n    return np.sum(U * x)\n"
    module = module_from(HEAD + text, tmp_path)
    gradient = sdfgad.differentiate(module.program)
    assert gradient.value(np.ones(4)) == 4.0
    with pytest.raises(ArgumentError, match="the argument `x` is, or shares memory with, a global or free name"):
        gradient.value(module.U)
    assert gradient.value(module.U.copy()) == 0.0
