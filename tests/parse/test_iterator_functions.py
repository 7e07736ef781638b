"""Functions of functions and of iterators: operator, functools, itertools, map, filter, range and next."""

import numpy as np
import pytest

from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope

RNG = np.random.default_rng(3)
X, Y = RNG.random(4) + 0.5, RNG.random((3, 4)) + 0.5
HEAD = """
import numpy as np

def program(x, y, s, n):
"""
PROGRAMS = {
    "operator add": "import operator\nreturn np.sum(operator.add(x, s)) * operator.mul(2.0, s)",
    "operator getitem": "import operator\nreturn operator.getitem(x, 1) * operator.neg(s)",
    "operator matmul": "import operator\nreturn operator.matmul(x, x) * s",
    "itemgetter": "from operator import itemgetter\ng = itemgetter('a', 'b')\na, b = g({'a': x, 'b': s})\n"
    "return np.sum(a) * b",
    "attrgetter": "from operator import attrgetter\nreturn np.sum(attrgetter('T')(y)) * s",
    "map": "t = 0.0\nfor v in map(lambda a: a * s, [x, x + 1]):\n    t = t + np.sum(v)\nreturn t",
    "map list": "a, b = map(np.sum, (x, y))\nreturn a * b",
    "map float": "a, b = list(map(float, ['1', '2']))\nreturn np.sum(x) * a * b",
    "map two": "L = list(map(lambda a, b: a * b, [x, s], [s, x]))\nreturn np.sum(L[0] * L[1])",
    "filter": "t = 0.0\nfor v in filter(lambda a: a % 2, range(4)):\n    t = t + x[v]\nreturn t",
    "filter none": "L = list(filter(None, [1, 0, 2]))\nreturn x[L[1]] * s",
    "reduce": "from functools import reduce\nreturn np.sum(reduce(lambda a, b: a * b, [x, s, y]))",
    "reduce init": "import functools\nimport operator\nreturn np.sum(functools.reduce(operator.add, [x, y], s))",
    "reduce np": "from functools import reduce\nreturn np.sum(reduce(np.dot, [y, y.T, y]))",
    "product": "import itertools\nt = 0.0\nfor i, j in itertools.product(range(3), range(4)):\n"
    "    t = t + y[i, j] * x[j]\nreturn t",
    "product repeat": "from itertools import product\nt = 0.0\nfor i, j in product(range(2), repeat=2):\n"
    "    t = t + y[i, j] * x[j]\nreturn t",
    "combinations": "from itertools import combinations\nt = 0.0\nfor i, j in combinations(range(4), 2):\n"
    "    t = t + x[i] * x[j] * s\nreturn t",
    "combinations n": "from itertools import combinations\nt = 0.0\n"
    "for i, j in combinations(range(n - 1), 2):\n    t = t + x[i] * x[j] * s\nreturn t",
    "combinations arrays": "from itertools import combinations\nt = 0.0\n"
    "for i, j in combinations([x, x * s, y[0]], 2):\n    t = t + i @ j\nreturn t",
    "chain": "from itertools import chain\nt = 0.0\nfor v in chain([x], (x * s, y)):\n    t = t + np.sum(v)\nreturn t",
    "chain from": "from itertools import chain\nL = list(chain.from_iterable([[x, s], [s]]))\n"
    "return np.sum(L[0]) * L[1] * L[2]",
    "accumulate": "from itertools import accumulate\nL = list(accumulate([x, x * s, y[0]]))\n"
    "return np.sum(L[0] * L[1] * L[2])",
    "accumulate f": "from itertools import accumulate\n"
    "L = list(accumulate([s, 2.0, 3.0], lambda a, b: a * b))\nreturn L[2] * np.sum(x)",
    "accumulate array": "from itertools import accumulate\nL = list(accumulate(x))\nreturn L[2] * s",
    "zip_longest": "from itertools import zip_longest\nt = 0.0\n"
    "for a, b in zip_longest([x, y], [s], fillvalue=2.0):\n    t = t + np.sum(a) * b\nreturn t",
    "repeat": "from itertools import repeat\nt = 0.0\nfor a, b in zip([x, y], repeat(s)):\n"
    "    t = t + np.sum(a) * b\nreturn t",
    "repeat n": "from itertools import repeat\nt = 0.0\nfor a in repeat(s, 3):\n    t = t * a + np.sum(x)\nreturn t",
    "islice": "from itertools import islice, count\nt = 0.0\nfor i in islice(count(), 3):\n"
    "    t = t + x[i] * s\nreturn t",
    "islice list": "from itertools import islice\nt = 0.0\nfor i in islice([x, y, s], 1, 3):\n"
    "    t = t + np.sum(i)\nreturn t",
    "pairwise": "from itertools import pairwise\nt = 0.0\nfor a, b in pairwise([x, x * s, y[0]]):\n"
    "    t = t + a @ b\nreturn t",
    "cycle": "from itertools import cycle\nt = 0.0\nfor a, b in zip(range(4), cycle([s, 2.0])):\n"
    "    t = t + x[a] * b\nreturn t",
    "permutations": "from itertools import permutations\nt = 0.0\nfor i, j, k in permutations(range(3)):\n"
    "    t = t + x[i] * y[j, k]\nreturn t",
    "zip star": "rows = [(x, s), (x * 2, 3.0)]\na, b = zip(*rows)\nreturn np.sum(a[1]) * b[0]",
    "enumerate start": "t = 0.0\nfor i, v in enumerate([x, y], start=2):\n    t = t + np.sum(v) * i\nreturn t",
    "enumerate array": "t = 0.0\nfor i, v in enumerate(x, 1):\n    t = t + v * i * s\nreturn t",
    "range item": "r = range(n)\nreturn x[r[1]] * len(r) * s",
    "range slice": "r = range(10)\nt = 0.0\nfor i in r[1:4]:\n    t = t + x[i]\nreturn t * r[-1]",
    "range in": "return np.sum(x) * (2.0 if n in range(3, 8) else 1.0)",
    "meshgrid range": "a, b = np.meshgrid(range(4), range(3))\nreturn np.sum(y * a * b)",
    "array range": "return np.sum(x * np.array(range(4)))",
    "array range n": "return np.sum(np.array(range(n)) * s)",
    "list range": "L = list(range(4))\nreturn np.sum(x[L]) * s * L[2]",
    "index range": "return np.sum(x[range(2)]) * s",
    "sum range": "return np.sum(x) * sum(range(n)) * max(range(4))",
    "range attrs": "r = range(1, 7, 2)\nreturn np.sum(x) * r.stop * r.step * r.start",
    "gen name": "g = (v * s for v in [x, y])\nt = 0.0\nfor v in g:\n    t = t + np.sum(v)\nreturn t",
    "gen sum": "return sum(x[i] * s for i in range(4))",
    "gen next": "g = (v * s for v in [x, y])\nreturn np.sum(next(g))",
    "iter next": "it = iter([x, y])\na = next(it)\nb = next(it)\nreturn np.sum(a) * np.sum(b)",
    "next default": "w = next((v for v in [1, 2, 3] if v > 1), None)\nreturn np.sum(x) * w",
    "stop iteration loop": "it = iter([x[0], x[1]])\nt = 0.0\nwhile True:\n    try:\n"
    "        v = next(it)\n    except StopIteration:\n        break\n    t = t + v * s\nreturn t",
    "next then for": "it = iter([x[0], x[1], x[2]])\nt = next(it)\nfor v in it:\n    t = t * s + v\nreturn t",
    "next of array iter": "it = iter(x)\na = next(it)\nb = next(it)\nreturn a * b * s + sum(it)",
    "next of zip": "z = zip(x, y[0])\na, b = next(z)\nreturn a * b * s",
    "range n as value": "r = range(n)\nreturn np.sum(x) * s * len(r) * r[-1] * (2 if 3 in r else 1)",
    "arange from range n": "return np.sum(np.array(range(n)) * s) + np.sum(np.asarray(range(1, n)))",
    "enumerate range n": "t = 0.0\nfor i, k in enumerate(range(1, n)):\n    t = t + i * k * s\nreturn t",
    "min max range": "return np.sum(x) * s * (max(range(n)) + min(range(2, n)))",
    "groupby": "from itertools import groupby\nt = 0.0\nfor k, g in groupby([0, 0, 1, 0]):\n"
    "    t = t * s + x[k] * len(list(g))\nreturn t",
    "groupby key": "from itertools import groupby\nt = 0.0\n"
    "for k, g in groupby(enumerate(x), key=lambda p: p[0] // 2):\n"
    "    t = t + k * sum(v for _, v in g) * s\nreturn t",
    "groupby list": "from itertools import groupby\nL = [(k, list(g)) for k, g in groupby('aaba')]\n"
    "return x[len(L)] * len(L[0][1]) * s",
    "ndenumerate": "t = 0.0\nfor i, v in np.ndenumerate(x * s):\n    t = t + v * i[0]\nreturn t",
    "ndenumerate two axes": "t = 0.0\nfor (i, j), v in np.ndenumerate(y):\n    t = t + v * i * j * s\n"
    "    y[i, j] = v * 0.5\nreturn t + y[2, 3] * y[1, 1]",
    "ndindex": "t = 0.0\nfor i, j in np.ndindex(y.shape):\n    t = t * s + y[i, j]\nreturn t",
    "ndindex of one": "for i in np.ndindex(x.shape):\n    x[i] *= s + i[0]\nreturn np.sum(x * x)",
    "combos nbody": "from itertools import combinations\np = np.zeros(4)\n"
    "for i, j in combinations(range(4), 2):\n    d = x[i] - x[j]\n    p[i] += d * s\n    p[j] -= d * s\n"
    "return np.sum(p * x)",
    "any short": "L = []\ndef g():\n    for k in range(3):\n        L.append(k)\n        yield k == 1\n"
    "a = any(g())\nreturn np.sum(x) * s * len(L)",
    "map effect": "L = []\ndef f(v):\n    L.append(v)\n    return v * s\nm = map(f, [x[0], x[1]])\n"
    "a = len(L)\nt = sum(m)\nreturn t * (a + 10 * len(L))",
    "filter fn": "t = 0.0\n"
    "for d in filter(lambda d: d['on'], [{'on': True, 'v': x[0]}, {'on': False, 'v': s}]):\n"
    "    t = t + d['v'] * s\nreturn t",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}{lines}\n", folder).program


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_python(name, tmp_path):
    program = program_of(PROGRAMS[name], tmp_path)
    assert_value_and_slope(program, X, Y, 0.7, 5)
