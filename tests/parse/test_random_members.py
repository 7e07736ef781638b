"""Random loops over lists of objects, which assign to attributes, alias and update them: as in Python, or refused."""

import random

import numpy as np
import pytest

from sdfgad.errors import SdfgadError
from tests.helpers import module_from
from tests.helpers_ir import outputs_of, parsed

N = 12
HEAD = f"""
import copy
import numpy as np

PLACES = [(7 * j) % {N} for j in range({N})]

class World:
    def __init__(self):
        self.g, self.t = 0.3, 0.0

class Spring:
    def __init__(self, left, right, k):
        self.left, self.right, self.k = left, right, k
    def pull(self, dt):
        e = dt * self.k * np.sum(self.right.x - self.left.x)
        self.left.f += e
        self.right.f -= e

class Body:
    def __init__(self, x, m, w):
        self.x, self.m, self.w = x, m, w
        self.v, self.f = np.zeros(3), 0.1
        self.n, self.k, self.on, self.mode = 0, len(PLACES), True, "new"
    def push(self, dt):
        self.v = self.v + dt * self.f * self.x
        self.x = self.x + dt * self.v
    def kick(self, d):
        self.v += d * self.m
    @property
    def energy(self):
        return 0.5 * self.m * (self.v @ self.v)
    def turn(self, to):
        self.n += 1
        if self.n > 2:
            self.mode, self.on = to, not self.on

"""
ARRAYS = ("np.sin(a[i])", "a[i]", "a[i] * 0.5 + u", "a[i].copy()")
MASSES = ("a[i, 0]", "1.0", "1.0 + a[i][1]", "float(i) * 0.1 + 0.2")
LISTS = (
    "{o}[::-1]",
    "{o}[3:] + {o}[:3]",
    "list({o})",
    "[{o}[(5 * j) % 12] for j in range(12)]",
    "[{o}[j] for j in PLACES]",
)
LISTS += ("[copy.copy(p) for p in {o}]", "[{o}[j] if j % 3 else {o}[0] for j in range(12)]")
READS = ("{p}.m * {p}.x[0]", "{p}.x @ {p}.v", "{p}.f * {p}.m", "{p}.energy", "np.sum({p}.x)", "{p}.w.g * {p}.f")
WRITES = (
    "{p}.x = {p}.x * 0.9 + 0.1 * {q}.v",
    "{p}.v = 0.5 * {p}.x + {q}.x * 0.1",
    "{p}.m = 0.9 * {p}.m + 0.01 * {q}.f",
    "{p}.f = np.tanh({q}.m)",
    "{p}.f += 0.01 * {q}.x[1]",
    "{p}.v += 0.1 * {q}.x",
    "{p}.x *= 0.95",
    "{p}.v[1] = {q}.m * 0.1",
    "{p}.v[:] = 0.0",
    "{p}.v = np.zeros(3)",
    "{p}.x = {q}.x",
    "{p}.f = 0",
    "{p}.new = {p}.x * 0.5",
    "{p}.before = {p}.x",
    "{p}.x, {p}.v = {p}.v * 0.5, {p}.x",
    "{p}.push(0.1)",
    "{p}.kick(0.1)",
    "{p}.w.t = {p}.w.t + 0.01 * {p}.f",
)
# Those of attributes that are integers, truth values and strings.
DISCRETE_READS = (
    "{p}.n * {p}.m",
    "{p}.k / 7 - {p}.n",
    "a[{p}.n % 12, 1]",
    "({p}.f if {p}.on else {p}.m)",
    "(0.1 if {p}.mode == 'new' else {p}.n * 0.2)",
    "({p}.n > 1 and {p}.on) * {p}.m",
    "sum({p}.m * j for j in range(3) if j < {p}.n)",
)
DISCRETE_WRITES = (
    "{p}.n += 1",
    "{p}.n = {q}.n + 2",
    "{p}.n -= {p}.on",
    "{p}.k = ({p}.k * 3 + {q}.n) % 11",
    "{p}.k, {q}.k = {q}.k, {p}.k",
    "{p}.k = {q}.k // 2 if {q}.on else -{p}.k",
    "{p}.on = not {q}.on",
    "{p}.on = {p}.f > 0.15",
    "{p}.on = {p}.on and {q}.n < 3",
    "{p}.on = bool({p}.m > 0.5)",
    "{p}.mode = 'old' if {p}.on else {q}.mode",
    "{p}.mode = 'new'",
    "{p}.mode = None",
    "{p}.turn('big')",
    "{p}.turn({q}.mode)",
    "{p}.rank = {p}.n + 1",
    "{p}.n = {p}.n * 0.5",
)
BETWEEN = (
    "u = {o}[2].x",
    "{o}[0].v += 0.1",
    "{o}[1].x = {o}[2].x * 2.0",
    "s = s + {o}[3].m",
    "{o}[4], {o}[5] = {o}[5], {o}[4]",
)
KEPT = ("xs = [p.x for p in {o}]", "xs = [p.v for p in {o}]", "xs = [p.m for p in {o}]")


class Writer:
    """Writes a random program; `lists` are the names of its lists."""

    reads, writes, kept, watched = READS, WRITES, KEPT, "xmvf"

    def __init__(self, seed):
        self.random, self.lists, self.lines = random.Random(seed), [], []

    def add(self, indent, *lines):
        self.lines += [" " * indent + line for line in lines]

    def read(self, p):
        return self.random.choice(self.reads).format(p=p)

    def write(self, p, q):
        return self.random.choice(self.writes).format(p=p, q=q)

    def make(self):
        name, one = f"ps{len(self.lists)}", f"Body({self.random.choice(ARRAYS)}, {self.random.choice(MASSES)}, w)"
        how = self.random.randrange(3)
        if how == 0 and self.lists:
            self.add(4, f"{name} = " + self.random.choice(LISTS).format(o=self.random.choice(self.lists)))
        elif how == 1:
            self.add(4, f"{name} = []", f"for i in range({N}):", f"    {name}.append({one})")
        else:
            self.add(4, f"{name} = [{one} for i in range({N})]")
        self.lists.append(name)

    def body(self, indent, p, q):
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.12:
                old = f"old = {p}.{self.random.choice(self.watched)}"
                self.add(indent, old, self.write(p, q), "s = 0.5 * np.sin(s) + 0.1 * np.sum(old)")
            elif kind < 0.22:
                self.add(indent, f"if {self.read(p)} > 0.2:", f"    {self.write(p, q)}")
                self.add(indent, *(["else:", f"    {self.write(q, p)}"] if self.random.random() < 0.5 else []))
            else:
                self.add(indent, self.write(p, q) if kind < 0.6 else f"s = 0.3 * np.sin(s) + 0.2 * {self.read(p)}")

    def loop(self, indent):
        n, o = self.random.choice(self.lists), self.random.choice(self.lists)
        heads = (
            (f"for p in {n}:", "p", "p"),
            (f"for j, p in enumerate({n}):", "p", f"{o}[j]"),
            (f"for p, q in zip({n}, {o}):", "p", "q"),
            (f"for j in range({N}):", f"{n}[j]", f"{n}[j - 1]"),
            (f"for p in reversed({n}):", "p", f"{o}[0]"),
            (f"for q, x in zip(reversed({o}), xs):", "q", "q"),
            (f"for k in [Spring({n}[j], {o}[(j + 1) % {N}], 1.0 + a[j, 1]) for j in range({N})]:", "k.left", "k.right"),
        )
        head, p, q = self.random.choice(heads)
        if " x in " in head:
            self.add(indent, self.random.choice(self.kept).format(o=n))
        self.add(indent, head)
        self.body(indent + 4, p, q)
        if " x in " in head:
            self.add(indent, "    s = 0.4 * s + 0.1 * np.sum(x)")
        elif self.random.random() < 0.2:
            same = f"        if z is not {p}:"
            self.add(indent, f"    for z in {o}:", same, f"            s = 0.3 * s + 0.01 * {self.read('z')}")

    def program(self):
        self.add(0, "def program(a):")
        self.add(4, "s, u, w = 0.3, a[0] * 0.5, World()")
        for _ in range(self.random.randint(1, 2)):
            self.make()
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.6:
                self.add(4, "for step in range(3):")
                self.loop(8)
                self.loop(8)
            else:
                self.loop(4)
            if self.random.random() < 0.3:
                self.add(4, self.random.choice(BETWEEN).format(o=self.random.choice(self.lists)))
        self.add(4, f"for p in {self.random.choice(self.lists)}:")
        self.add(8, "s = 0.9 * s + 0.1 * (p.m * np.sum(p.x) + p.f + p.energy)")
        self.add(4, "return s + u[1] + w.t + p.m * np.sum(p.v)")
        return HEAD + "\n".join(self.lines) + "\n"


class Counting(Writer):
    """Also counts, and changes flags and strings."""

    reads, writes, watched = READS[:2] + DISCRETE_READS, WRITES[:3] + DISCRETE_WRITES, "xnk"
    kept = (*KEPT, "xs = [p.n for p in {o}]", "xs = [p.k * p.m for p in {o}]")


# How `c` becomes an object of the list {n} or {o} by data; {r}, {t} are what is read of `p` and `c`.
CHOICES = (
    ("c = {n}[0]", "for p in {n}:", "    if {r} < {t}:", "        c = p"),
    ("c = None", "for p in {n}:", "    if c is None or {r} > {t}:", "        c = p"),
    (
        "c, top = None, 0.15",
        "for p in {n}:",
        "    if {r} > top:",
        "        c, top = p, {r}",
        "if c is None:",
        "    c = {o}[5]",
    ),
    ("c = {o}[5]", "for p in {n}:", "    if {r} > 0.3:", "        c = p", "        break"),
    ("c = min({n}, key=lambda p: {r})",),
    ("c = {n}[int(np.argmin(np.array([{r} for p in {n}])))]",),
    ("p, c = {n}[2], {o}[4]", "c = p if {r} > {t} else c"),
)
HANDED_ON = (
    ("before = p",),
    ("if {r} > {t}:", "    before = p"),
    ("before = p if {r} > 0.2 else {o}[3]",),
)


class Chooser(Writer):
    """Also lets data, or the trip before, decide which object is read and changed."""

    def choose(self, indent):
        n, o = self.random.choice(self.lists), self.random.choice(self.lists)
        words = {"n": n, "o": o, "r": self.read("p"), "t": self.read("c")}
        self.add(indent, *(line.format(**words) for line in self.random.choice(CHOICES)))
        self.body(indent, "c", self.random.choice([f"{o}[1]", f"{n}[0]", "c"]))
        if self.random.random() < 0.3:
            self.add(
                indent, f"if c is {o}[2]:", f"    s = s * 0.5 + {self.read('c')}", "    " + self.write("c", f"{n}[1]")
            )

    def hand_on(self, indent):
        n, o = self.random.choice(self.lists), self.random.choice(self.lists)
        self.add(indent, f"before = {o}[0]", f"for p in {n}:")
        self.body(indent + 4, "p", "before")
        words = {"o": o, "r": self.read("p"), "t": self.read("before")}
        self.add(indent + 4, *(line.format(**words) for line in self.random.choice(HANDED_ON)))
        self.add(indent, self.write("before", f"{o}[2]"))

    def order(self, indent):
        n, o = self.random.choice(self.lists), self.random.choice(self.lists)
        self.add(indent, f"for p, q in zip({n}, {o}):")
        self.add(indent + 4, f"high, low = (p, q) if {self.read('p')} > {self.read('q')} else (q, p)")
        self.body(indent + 4, "high", "low")

    def loop(self, indent):
        self.random.choice([self.choose, self.hand_on, self.order, super().loop])(indent)


class CountingChooser(Counting, Chooser):
    """Counts of objects that data chooses."""


# Which objects of a list {o}, or of {h}, which is such a list already, are in a list.
CONDITIONS = (
    "{r} > 0.2",
    "p.on",
    "p.n > 1 or {r} > 0.4",
    "p.mode == 'new'",
    "{r} > 0.1 and p.k % 2",
    "p is not {o}[3]",
)
OF_FILTERED = (
    "s = 0.3 * np.sin(s) + 0.1 * len({h})",
    "s = 0.3 * np.sin(s) + 0.1 * sum({r} for p in {h})",
    "s = 0.3 * np.sin(s) + 0.1 * sum([{r} for p in {h} if {r} > 0.1])",
    "s = 0.3 * np.sin(s) + (0.2 if any({r} > 0.3 for p in {h}) else 0.1)",
    "s = 0.3 * np.sin(s) + 0.1 * all({r} > 0.1 for p in {h})",
    "s = 0.3 * np.sin(s) + 0.1 * max([{r} for p in {h}], default=0.2)",
    "s = 0.3 * np.sin(s) + 0.1 * ({o}[2] in {h})",
    "s = 0.3 * np.sin(s) + (0.1 * {h}[-1].m if {h} else 0.2)",
    "s = 0.3 * np.sin(s) + 0.1 * len({h}[1:]) - 0.1 * sum(p.m for p in {h}[:2])",
)


class Filtering(Counting):
    """Lists of the objects for which a condition on data holds."""

    def filter(self, indent):
        n = self.random.choice([*self.lists, "here"] if "here" in "".join(self.lines) else self.lists)
        words = {"o": self.random.choice(self.lists), "r": self.read("p")}
        condition = self.random.choice(CONDITIONS).format(**words)
        self.add(indent, f"here = [p for p in {n} if {condition}]")

    def loop(self, indent):
        o = self.random.choice(self.lists)
        self.filter(indent)
        for _ in range(self.random.randint(1, 2)):
            kind = self.random.random()
            if kind < 0.5:
                self.add(indent, "for p in here:")
                self.body(indent + 4, "p", f"{o}[3]")
                jump = self.random.choice(["", "", "", "break", "continue"])
                if jump:
                    self.add(indent + 4, f"if {self.read('p')} > 0.5:", f"    {jump}", self.write("p", "p"))
            elif kind < 0.6:
                self.add(indent, "for q in here:", f"    for p in {o}:")
                self.body(indent + 8, "p", "q")
            else:
                line = self.random.choice(OF_FILTERED)
                self.add(indent, line.format(h="here", o=o, r=self.read("p")))
        if self.random.random() < 0.5:
            super().loop(indent)


@pytest.mark.parametrize("first", range(0, 20, 5))
def test_as_in_python_or_refused(tmp_path, first):
    assert_followed(Writer, range(first, first + 5), tmp_path)


@pytest.mark.parametrize("first", range(6, 12, 3))
def test_chosen_as_in_python_or_refused(tmp_path, first):
    assert_followed(Chooser, range(first, first + 3), tmp_path)


@pytest.mark.parametrize("writer", [Counting, CountingChooser, Filtering])
def test_counting_as_in_python_or_refused(tmp_path, writer):
    assert_followed(writer, range(6), tmp_path)


def assert_followed(writer, seeds, folder):
    """Programs have the value that they have in Python, if they are not refused; not all of them are."""
    followed = 0
    for seed in seeds:
        a = np.random.default_rng(seed).uniform(0.1, 0.9, (N, 3))
        program = module_from(writer(seed).program(), folder).program
        try:
            primal = parsed(program, a)
        except SdfgadError:
            continue
        followed += 1
        assert outputs_of(primal, a)["return"] == pytest.approx(program(a.copy()), rel=1e-10), seed
    assert followed
