"""Objects of classes that derive from dict and list: parameters with dots, portfolios, paths."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from sdfgad.ir.program import walk
from tests.helpers import line_of, module_from
from tests.helpers_ir import parsed

HEAD = """
import numpy as np

class Config(dict):
    __getattr__ = dict.__getitem__

class Dotted(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__

class Written(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)
    def __setattr__(self, name, value):
        self[name] = value

class Portfolio(dict):
    def __init__(self, scale, **more):
        super().__init__(**more)
        self.scale = scale
    def add(self, name, value, count):
        self[name] = (value, count)
    def total(self):
        return sum(v * n for v, n in self.values()) * self.scale

class Twice(dict):
    def __init__(self, *values, **named):
        dict.__init__(self, *values, **named)
    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 2

class Cache(dict):
    def __missing__(self, key):
        self[key] = 2.0 * key
        return self[key]

class Path(list):
    def push(self, value):
        self.append(value)
        return self
    @property
    def last(self):
        return self[-1]
    def length(self):
        return sum(np.sqrt(np.sum((q - p) ** 2)) for p, q in zip(self[:-1], self[1:]))

def product(u, v):
    return u * v

def program(a):
    """
BODIES = {
    "dots": "c = Config(u=a[0], v=a[1], k=3)\n    c['z'] = c.u * c.v\n"
    "    return c.z * c.k + sum(c[k] for k in ('u', 'v')) + len(c) * a[2] + (1.0 if 'u' in c else 0.0)",
    "attributes that are items": "c = Dotted(u=a[0]); c.v = a[1]; c['w'] = a[2]; c.u *= 3.0\n"
    "    return c.u * c['v'] + c.w + sum(c.values()) * len(c) + c['u']",
    "__setattr__": "c = Written(u=a[0]); c.v = a[1]\n    for k in range(300):\n        c.v += c.u * 0.01\n"
    "    return c.v + c.u + sum(c.values())",
    "attributes beside items": "p = Portfolio(2.0)\n    for k, n in enumerate('abc'):\n"
    "        p.add(n, a[k], k + 1.0)\n    t = 0.0\n    for name, (v, n) in sorted(p.items()):\n"
    "        t += v**2 * n\n    for name in p:\n        t += p[name][0]\n"
    "    return p.total() + t + dict(p)['a'][0] * {**p}['b'][0] + len(p)",
    "a list": "p = Path([a[:2]])\n    for k in range(4):\n        p.push(p.last * 1.1 + a[k % 3])\n"
    "    return p.length() + sum(np.sum(q) for q in p) + len(p) * a[0]",
    "methods": "c = Config(zip('uv', a)); c.update(w=a[2]); d = c.copy(); e = Config(c); t = 0.0\n"
    "    for k, v in c.items():\n        t = t * 0.5 + v\n"
    "    return t + c.pop('u') * c.get('x', 2.0) + c.setdefault('y', a[0]) + len(c) + d['u'] + e.u",
    "overridden": "c = Twice(u=a[0]); c['v'] = a[1]\n"
    "    return c['u'] * c['v'] + c.get('u') + sum(c.values()) + dict(c)['u'] + product(**c)",
    "__missing__": "c = Cache(); c[1.0] = a[0]\n    return c[1.0] + c[3.0] * a[1] + len(c)",
    "keywords": "c = Config(u=a[0], v=a[1]); x, y = c.values()\n"
    "    return product(**c) + x * y + max(c.values()) + (2.0 if isinstance(c, dict) else 1.0) + (a[2] if c else 0.0)",
}
A = np.array([0.3, 0.7, 1.1])


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_as_in_python(tmp_path, body):
    program = module_from(HEAD + body, tmp_path).program
    value = sdfgad.differentiate(program, wrt="a").value(A)
    assert value == pytest.approx(program(A.copy()), rel=1e-13)
    assert sdfgad.check_grads(program, A).error < 1e-6


def test_a_loop_carries_the_items(tmp_path):
    body = "c = Config(x=a * 1.0, s=0.0)\n    for k in range(300):\n        c['x'] = c.x * 0.99 + 0.01\n"
    program = module_from(HEAD + body + "        c['s'] = c['s'] + np.sum(c.x)\n    return c.s", tmp_path).program
    assert len(list(walk(parsed(program, A).program.body))) < 20
    assert sdfgad.check_grads(program, A).error < 1e-6


def test_what_is_not_followed_is_refused_where_it_is(tmp_path):
    program = module_from(HEAD + "c = Config(u=a[0])\n    return a[1] if c == {'u': 1.0} else a[2]", tmp_path).program
    with pytest.raises(UnsupportedProgram, match="does not define `__eq__` in Python") as error:
        sdfgad.differentiate(program, wrt="a")(A)
    assert line_of(program, "c ==") in str(error.value)
