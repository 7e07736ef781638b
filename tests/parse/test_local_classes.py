"""Classes that the differentiated function, or a function around it, defines."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_slope, assert_value_and_slope, parsed

HEAD = """
import abc
import dataclasses
import enum
import functools
import typing
from dataclasses import dataclass, field
import numpy as np

class Outer:
    def __init__(self, u):
        self.u = u

    def energy(self):
        return np.sum(self.u * self.u)

def make(k, s):
    class Scaled:
        def __init__(self, u):
            self.u = u * k

        def energy(self):
            return np.sum(self.u) * s * k
    return Scaled

def program(x, s):
"""
UNDERSTOOD = {
    "how attributes are set by super": "class P:\n    def __setattr__(self, k, v):\n"
    "        super().__setattr__(k, v * 2.0)\np = P()\np.u = x\nsetattr(p, 'v', s)\nreturn p.u * p.v",
    "how attributes are set by object": "class P:\n    def __setattr__(self, k, v):\n"
    "        object.__setattr__(self, k, v * 0.5)\np = P()\np.u = x\n"
    "for k in range(300):\n    p.u = p.u + s\nreturn p.u",
    "a frozen dataclass that sets one": "@dataclass(frozen=True)\nclass P:\n    u: float\n"
    "    def __post_init__(self):\n        object.__setattr__(self, 'w', self.u ** 2)\nreturn P(x).w * s",
    "how attributes are set": "class P:\n    def __setattr__(self, k, v):\n        self.__dict__[k] = 2.0 * v\n"
    "p = P()\np.u = x\np.u += 1.0\nreturn p.u * s",
    "plain": """
class P:
    "A state."
    k, = 2.0,
    def __init__(self, u):
        self.u = u
    def step(self, f, *, g=s):
        self.u = np.sin(self.u) * f * g
p = P(x)
p.step(2.0)
p.step(s, g=3.0)
return p.u
""".replace("    k, = 2.0,\n", "    k = 2.0\n"),
    "what names around it are bound to later": """
class P:
    def at(self, u):
        return u * k * s
k = 2.0
p = P()
y = p.at(x)
k = 3.0
return y + p.at(x)
""",
    "class attributes, properties, and methods of the class": """
class P:
    k = 2.0
    names = ("u", "v")
    def __init__(self, u):
        self.u = u * self.k
    @property
    def energy(self):
        return np.sum(self.u**2)
    @staticmethod
    def twice(v):
        return v * 2 * s
    @classmethod
    def make(cls, v):
        return cls(v * cls.k)
return P.make(x).energy * P.twice(x) + P(x).twice(s) * len(P.names)
""",
    "a parent in the function": """
class A:
    def __init__(self, u):
        self.u = u
    def f(self):
        return self.u * s
class B(A):
    def __init__(self, u, w):
        super().__init__(u * w)
        self.w = w
    def f(self):
        return super().f() + self.w
b = B(x, s)
return b.f() * isinstance(b, A)
""",
    "a parent in the module": """
class B(Outer):
    def energy(self):
        return super().energy() * s
return B(x).energy() * x
""",
    "an abstract one": """
class A(abc.ABC):
    @abc.abstractmethod
    def f(self, u): ...
    def g(self, u):
        return self.f(u) * 2.0
class B(A):
    def f(self, u):
        return u * s
return B().g(x)
""",
    "operators and calls": """
class V:
    def __init__(self, a):
        self.a = a
    def __add__(self, other):
        return V(self.a + other.a)
    def __call__(self, k):
        return self.a * k
    def __getitem__(self, k):
        return self.a[k]
    def __len__(self):
        return len(self.a)
v = V(x) + V(x * s)
return v(s) * v[1] * len(v)
""",
    "a dataclass": """
@dataclass
class Q:
    u: np.ndarray
    w: float = 2.0
    us: list = field(default_factory=list)
    n: int = field(default=3)
    kind: typing.ClassVar[float] = 2.0
    _: dataclasses.KW_ONLY
    m: float = 1.0
    def __post_init__(self):
        self.v = self.u * self.w
    def total(self):
        self.us.append(self.v)
        return np.sum(self.us[0]) * self.n * s
q = Q(x, w=s)
return q.total() * Q(x * x, m=s).total() * q.kind * len(q.us)
""",
    "a frozen dataclass": """
@dataclasses.dataclass(frozen=True)
class Q:
    u: np.ndarray
    z: np.ndarray = field(default_factory=lambda: np.ones(3) * s)
class R(Q):
    def total(self):
        return np.sum(self.u * self.z)
r = R(x)
return r.total() * dataclasses.replace(r, u=x * s).total()
""",
    "a named tuple": """
class N(typing.NamedTuple):
    a: float
    b: float = 2.0
    def product(self):
        return self.a * self.b
n = N(x, s)
a, b = n
return n.product() + N(a).product() * b + n._replace(b=3.0).b
""",
    "of another function, with what it captures": """
A, B = make(2.0, s), make(s, 3.0)
return A(x).energy() * B(x).energy()
""",
    "in a class": """
class A:
    class B:
        def __init__(self, u):
            self.u = u
    def __init__(self, u):
        self.b = A.B(u * s)
return A(x).b.u
""",
    "its objects in a loop": """
class P:
    def __init__(self, u):
        self.u, self.log = u, []
    def step(self, f):
        self.u = np.tanh(self.u * s + f)
        self.log.append(np.sum(self.u))
p = P(x)
for t in range(40):
    p.step(x)
return np.mean(p.log) * p.u
""",
    "in a loop": """
y = x
for k in range(3):
    class P:
        def f(self, u):
            return u * k * s + x
    y = P().f(y)
return y
""",
    "an array that a method updates, and others hold": """
h = x * s
class P:
    def grow(self):
        h[0] += s
p = P()
for k in range(20):
    p.grow()
    h[1] = h[0] * 0.9
return h
""",
    "returned": """
@dataclass
class P:
    u: np.ndarray
    e: float
return dataclasses.replace(P(x, s), e=s * s).u
""",
}
REFUSED = {
    "a decorator": (
        "@functools.total_ordering\nclass P:\n    def __lt__(self, o):\n        return s\nreturn x",
        r"decorator `functools.total_ordering` is one of a class, which is not.*\n.*total_ordering[\s\S]*top level",
    ),
    "a decorator of a method": (
        "class P:\n    @functools.cache\n    def f(self):\n        return s\nreturn x",
        r"decorator `functools.cache` is one of a method.*\n.*@functools\.cache[\s\S]*top level",
    ),
    "a statement": (
        "class P:\n    for k in range(3):\n        pass\nreturn x",
        r"`for k in range\(3\):.*stands in the body of a class[\s\S]*for k in range[\s\S]*top level",
    ),
    "an attribute": (
        "class P:\n    k = x * s\nreturn P.k",
        r"an attribute of a class is `x \* s`, no number[\s\S]*k = x \* s[\s\S]*`self` in __init__",
    ),
    "a base": (
        "class P(make(s, s)(x)):\n    pass\nreturn x",
        r"bases and keywords of the class `P` are not all classes[\s\S]*class P[\s\S]*top level",
    ),
    "what Python calls": (
        "class P:\n    def __init_subclass__(cls):\n        pass\nclass Q(P):\n    pass\nreturn x",
        r"`__init_subclass__` of a class inside a function is called by Python itself[\s\S]*class Q",
    ),
    "a field for __post_init__": (
        "@dataclass\nclass P:\n    u: dataclasses.InitVar[float] = 2.0\nreturn x",
        r"a field of a dataclass is `dataclasses.InitVar\[float\]`[\s\S]*u: dataclasses[\s\S]*top level",
    ),
    "how objects are made": (
        "class P:\n    def __new__(cls, v):\n        return object.__new__(cls)\nreturn P(x).u",
        r"`P` defines __new__, which is not called\n.*return P\(x\)\.u\n.*in __init__",
    ),
    "a mutable default": (
        "@dataclass\nclass P:\n    u: list = [1.0]\nreturn x",
        r"Python raises ValueError here: mutable default[\s\S]*class P",
    ),
}


def program_of(body, tmp_path):
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    return module_from(HEAD + lines, tmp_path).program


def arguments():
    return np.random.default_rng(5).uniform(0.2, 0.9, 3), 0.7


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_classes_are_those_of_python(name, tmp_path):
    program = program_of(UNDERSTOOD[name], tmp_path)
    assert_value_and_slope(program, *arguments())


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused(name, tmp_path):
    body, message = REFUSED[name]
    with pytest.raises(UnsupportedProgram, match=message):
        parsed(program_of(body, tmp_path), *arguments())


def test_a_class_in_a_long_loop_is_refused():
    def program(x):
        for k in range(300):

            class P:
                def f(self, u):
                    return u * 1.1

            x = P().f(x)
        return x

    with pytest.raises(UnsupportedProgram, match=r"the class `P` is defined in a loop[\s\S]*class P[\s\S]*top level"):
        parsed(program, np.ones(3))


def test_gradients_of_compiled_classes(tmp_path):
    for name in ("a dataclass", "its objects in a loop", "of another function, with what it captures"):
        program = program_of(UNDERSTOOD[name], tmp_path)

        def loss(x, s, program=program):
            return np.sum(program(x, s))

        sdfgad.check_grads(loss, *arguments())
        g = sdfgad.differentiate(loss)
        assert g.value(*arguments()) == pytest.approx(loss(*arguments()), rel=1e-12)
        first = g(*arguments())["x"]
        assert np.array_equal(g(*arguments())["x"], first)


def test_classes_of_the_function_around():
    class P:
        def __init__(self, u):
            self.u = u

        def energy(self):
            return np.sum(self.u * self.u) * k

    def program(x):
        return P(x * 2.0).energy()

    k = 3.0
    assert_slope(program, np.ones(3))
    assert sdfgad.differentiate(program)(np.ones(3))["x"] == pytest.approx(24.0 * np.ones(3))
    k = 4.0
    assert sdfgad.differentiate(program)(np.ones(3))["x"] == pytest.approx(32.0 * np.ones(3))


def test_attributes_of_local_classes_as_results():
    def program(x, s):
        class P:
            def __init__(self, u):
                self.u, self.e = u, np.sum(u) * s

        return P(x * s)

    g = sdfgad.differentiate(program, output="return.e")
    value, slopes = g.value_and_grad(*arguments())
    x, s = arguments()
    assert slopes["x"] == pytest.approx(np.full(3, s * s))
    assert value == pytest.approx(np.sum(x) * s * s)
