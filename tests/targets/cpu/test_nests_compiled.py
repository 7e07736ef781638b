"""Compiled loop nests compute what the interpreter does, with threads wherever they are possible."""

import numpy as np
import pytest

from sdfgad.ir.program import Loop, walk
from sdfgad.optimise.passes import optimise
from sdfgad.targets.cpu.nests import nest_of
from tests.helpers import with_target
from tests.helpers_compiled import run_packed, threads
from tests.helpers_passes import assert_same, outputs
from tests.helpers_text import program_of, sample

I = np.int64
N = 200
CASES = {}


def case(name, text, shapes, inputs, results, is_optimised=True, dtypes=None, integers=None, given=None):
    """A program, as it is compiled and as it is written, its inputs and its integers."""
    rng = np.random.default_rng(0)
    program = program_of(text, shapes, inputs, results, tuple(integers or {}), dtypes)
    arrays = {n: (given or {}).get(n, rng.normal(size=shapes[n])) for n in inputs}
    arrays = {n: np.asarray(value).astype((dtypes or {}).get(n, float)) for n, value in arrays.items()}
    CASES[name] = (optimise(program) if is_optimised else program, program, arrays, integers or {})


case(
    "sum column",
    """
loop parallel f < 50:
    t[1] = x[f]
    t[1] += y[f] * 2.0
    z[f] = t[1]
""",
    {"x": (50,), "t": (2,), "z": (50,), "y": (50,)},
    ["x", "y"],
    ["z"],
    False,
)
case(
    "sum column opt",
    """
for f < 50: t[f, 1] = x[f]
for f < 50: t[f, 1] += y[f] * 2.0
for f < 50: z[f] = t[f, 1]
""",
    {"x": (50,), "t": (50, 2), "z": (50,), "y": (50,)},
    ["x", "y"],
    ["z"],
)
case(
    "adds meet",
    """
for p < 200, q < 200: b[p, q] = 0.0
loop parallel f < 200:
    for q < 200: b[f, q] += x[f, q]
    for q < 200: b[q, f] += y[f, q]
""",
    {"b": (N, N), "x": (N, N), "y": (N, N)},
    ["x", "y"],
    ["b"],
    False,
)
case(
    "adds meet opt",
    """
for p < 200, q < 200: b[p, q] = 0.0
for q < 200, p < 200: b[0, p] += x[q, p]
for p < 200, q < 200: b[p, q] += y[p, q]
""",
    {"b": (N, N), "x": (N, N), "y": (N, N)},
    ["x", "y"],
    ["b"],
)
case(
    "adds shifted",
    """
for p < 201: b[p] = 0.0
loop parallel f < 200:
    for q < 200: b[f] += x[f, q]
    for q < 200: b[f + 1] += y[f, q]
""",
    {"b": (201,), "x": (N, N), "y": (N, N)},
    ["x", "y"],
    ["b"],
    False,
)
case(
    "rows of sums meet their neighbours",
    """
for p < 203, q < 7: b[p, q] = 0.0
s = 0.0
loop parallel f < 200:
    for q < 7: b[f + 3, q] += x[f, q]
    for q < 7: b[f, q] += y[f, q]
    s += x[f, 0]
""",
    {"b": (203, 7), "x": (N, N), "y": (N, N), "s": ()},
    ["x", "y"],
    ["b", "s"],
    False,
)
case(
    "few rows of sums meet their neighbours",
    """
for p < 5, q < 7: b[p, q] = 0.0
loop parallel f < 2:
    for q < 7: b[f + 3, q] += x[f, q]
    for q < 7: b[f, q] += y[f, q]
""",
    {"b": (5, 7), "x": (N, N), "y": (N, N)},
    ["x", "y"],
    ["b"],
    False,
)
case(
    "scatter into a small array",
    """
for p < 4: b[p] = 0.0
for p < 3000: b[i[p]] += x[p]
""",
    {"b": (4,), "x": (3000,), "i": (3000,)},
    ["x", "i"],
    ["b"],
    False,
    {"i": I},
    given={"i": np.random.default_rng(5).integers(0, 4, 3000)},
)
case(
    "a total of all",
    """
for p < 300, q < 7: s = sum of x[p, q]
r = 2.0
for p < 300, q < 7: r += x[p, q]
for p < 300, q < 7: t max= all x[p, q]
""",
    {"s": (), "r": (), "t": (), "x": (300, 7)},
    ["x"],
    ["s", "r", "t"],
    False,
)
case(
    "totals across memory",
    """
for p < 300, q < 7: b[q] = sum of x[p, q]
for q < 7: z[q] = 1.0
for p < 300, q < 7: z[q] += x[p, q] * b[q]
""",
    {"b": (7,), "z": (7,), "x": (300, 7)},
    ["x"],
    ["b", "z"],
    False,
)
case(
    "arrays within a trip",
    """
loop parallel f < 9:
    loop parallel g < 20:
        loop parallel h < 30:
            t[h] = x[f, g, h] * 2.0
        for h < 30: w[h] = t[h] + 1.0
        for h < 30: z[f, g, h] = t[h] * w[h]
""",
    {"x": (9, 20, 30), "z": (9, 20, 30), "t": (30,), "w": (30,)},
    ["x"],
    ["z"],
    False,
)
case(
    "adds fixed and moving",
    """
for p < 200: b[p] = 0.0
loop parallel f < 200:
    b[0] += x[f]
    b[f] += y[f]
""",
    {"b": (N,), "x": (N,), "y": (N,)},
    ["x", "y"],
    ["b"],
    False,
)
case(
    "two sums same place",
    """
for p < 4: b[p] = 0.0
loop i < 4:
    loop j < 4:
        loop parallel f < 20:
            b[i] += x[f]
            b[j] += y[f]
""",
    {"b": (4,), "x": (20,), "y": (20,)},
    ["x", "y"],
    ["b"],
    False,
)
case(
    "trips change",
    """
n = 3
s = 0.0
loop i < n:
    n = n - 1
    s += x[i]
y = s
""",
    {"n": (), "s": (), "y": (), "x": (40,)},
    ["x"],
    ["y"],
    False,
    {"n": I},
)
case(
    "trips change backwards",
    """
n = 3
m = 0
s = 0.0
loop backwards m <= i < n:
    n = n - 1
    m = m + 1
    s += x[i]
y = s
""",
    {"n": (), "s": (), "y": (), "x": (40,), "m": ()},
    ["x"],
    ["y"],
    False,
    {"n": I, "m": I},
)
case(
    "zero trips oob",
    """
for p < 4: z[p] = x[p]
loop i < n:
    z[n - 1] += x[i]
for p < n: z[n - 1] += x[p]
loop parallel f < n:
    z[n - 1] += x[f]
""",
    {"z": (4,), "x": (4,)},
    ["x"],
    ["z"],
    False,
    integers={"n": 0},
)
case(
    "fresh zero",
    """
for p < 4, q < n: z[p] = sum of x[q]
for p < n: m max= all x[p]
y = m
for p < n: s = sum of x[p]
w = s
""",
    {"z": (4,), "x": (4,), "m": (), "y": (), "s": (), "w": ()},
    ["x"],
    ["z", "y", "w"],
    False,
    integers={"n": 0},
)
case(
    "private scalar two loops",
    """
loop i < 3:
    loop parallel f < 30:
        t = x[f] * 2.0
        z[i, f] = t + t
    loop parallel f < 30:
        t = x[f] * 3.0
        t += 1.0
        w[i, f] = t * t
""",
    {"t": (), "x": (30,), "z": (3, 30), "w": (3, 30)},
    ["x"],
    ["z", "w"],
    False,
)
case(
    "private scalar fresh",
    """
loop parallel f < 30:
    for q < 30: t = sum of x[f, q]
    for q < 30: z[f, q] = t * x[q, f]
""",
    {"t": (), "x": (30, 30), "z": (30, 30)},
    ["x"],
    ["z"],
    False,
)
case(
    "scalar sums",
    """
s = 1.0
m = 0.0
loop parallel f < 300:
    loop j < 3:
        s += x[f] * 2.0
    for q < 3: m += x[f]
y = s + m
""",
    {"s": (), "m": (), "y": (), "x": (300,)},
    ["x"],
    ["y"],
    False,
)
case(
    "single arrays",
    """
for p < 1: s[p] = 2.0
for p < 1: t[p] = s[p] + x[0]
loop i < 3:
    for p < 1: s[p] += t[p]
for p < 30: y[p] = s[0] * x[p]
""",
    {"s": (1,), "t": (1,), "y": (30,), "x": (30,)},
    ["x"],
    ["y"],
)
case(
    "int and bool",
    """
for p < 20: k[p] = i[p] * 2
for p < 20: c += k[p]
for p < 20: g[p] = k[p] > 3
for p < 20: a[p] = select(g[p], x[p], 0.0)
d = c
""",
    {"k": (20,), "i": (20,), "c": (), "d": (), "g": (20,), "a": (20,), "x": (20,)},
    ["i", "x"],
    ["a", "k", "g"],
    True,
    {"k": I, "i": I, "c": I, "d": I, "g": bool},
)
case(
    "scatter",
    """
for p < 60: b[p] = 0.0
for p < 60: b[i[p]] += x[p]
for p < 60, q < 3: c[p, q] = 0.0
for p < 60, q < 3: c[i[p], q] += x[p]
for p < 60: d[3 * p] = x[p]
for p < 60: d[3 * p + 1] = x[i[p]]
for p < 60: d[3 * p + 2] = 1.0
""",
    {"b": (60,), "i": (60,), "x": (60,), "c": (60, 3), "d": (180,)},
    ["i", "x"],
    ["b", "c", "d"],
    True,
    {"i": I},
    given={"i": np.arange(60) // 7},
)
case(
    "if inside",
    """
loop i < 40:
    if x[i] > 0.0:
        t = x[i]
        s[i] = t
    else:
        s[i] = 1.0
t = 4.0
loop i < 40:
    if x[i] > 0.0:
        t = t + x[i]
    w[i] = t
u = t
""",
    {"t": (), "x": (40,), "s": (40,), "w": (40,), "u": ()},
    ["x"],
    ["s", "w", "u"],
)
case(
    "carried",
    """
t = 1.0
loop i < 40:
    w[i] = t
    t = x[i]
loop backwards i < 40:
    v[i] = t
    t = t * x[i]
""",
    {"t": (), "x": (40,), "v": (40,), "w": (40,)},
    ["x"],
    ["v", "w"],
)
case(
    "scalars of a trip in branches",
    """
s = 0.5
loop i < 40:
    if x[i] > 0.0:
        loop parallel f < 300:
            t = X[i, f] * 2.0
            Z[i, f] = t * t
    else:
        if x[i] > -1.0:
            loop parallel f < 300:
                t = X[i, f] * s
                Z[i, f] = t + 1.0
        else:
            loop parallel f < 300:
                Z[i, f] = s
    if x[i] > 0.5:
        v[i] = s
        s = x[i]
    else:
        v[i] = s * 2.0
""",
    {"t": (), "s": (), "x": (40,), "v": (40,), "X": (40, 300), "Z": (40, 300)},
    ["x", "X"],
    ["Z", "v"],
    False,
)
case(
    "an array of a trip in one branch",
    """
loop i < 40:
    if x[i] > 0.0:
        for p < 30: t[p] = X[i, p] * 2.0
        for p < 30: Z[i, p] = t[p] * t[-p + 29]
    else:
        for p < 30: Z[i, p] = 1.0
""",
    {"t": (30,), "x": (40,), "X": (40, 30), "Z": (40, 30)},
    ["x", "X"],
    ["Z"],
    False,
)
case(
    "stencil adj",
    """
for p < 100: b[p] = 0.0
for p < 98: b[p] += x[p]
for p < 98: b[p + 1] += x[p] * 2.0
for p < 98: b[p + 2] += x[p] * 3.0
s = 0.0
for p < 100: s += b[p]
y = s
""",
    {"b": (100,), "x": (100,), "s": (), "y": ()},
    ["x"],
    ["b", "y"],
)
case(
    "max dims",
    """
for p < 30, q < 20: m[p] max= all x[p, q]
for q < 20, p < 30: h[q] min= all x[p, q]
for p < 30: g max= all m[p]
for p < 30: z[p] = m[p] - g
""",
    {"m": (30,), "h": (20,), "g": (), "z": (30,), "x": (30, 20)},
    ["x"],
    ["z", "h"],
)
case(
    "bool sum",
    """
for p < 30: g = sum of x[p] > 2.0
h = g
for p < 30: k = sum of x[p] > -9.0
l = k
""",
    {"g": (), "h": (), "k": (), "l": (), "x": (30,)},
    ["x"],
    ["h", "l"],
    True,
    {"g": bool, "h": bool, "k": bool, "l": bool},
)
case(
    "complex",
    """
s = 0.0
for p < 300: s += x[p] * x[p]
for p < 300: w[p] = x[p] * s
for p < 20, q < 15: b[p] = sum of x[15 * p + q] * s
""",
    {"s": (), "w": (300,), "b": (20,), "x": (300,)},
    ["x"],
    ["w", "b"],
    True,
    {"s": complex, "w": complex, "b": complex, "x": complex},
)
case(
    "float32",
    """
for p < 300: s = sum of x[p] * x[p]
for p < 20, q < 15: b[q] = sum of x[15 * p + q] * s
""",
    {"s": (), "b": (15,), "x": (300,)},
    ["x"],
    ["b"],
    True,
    {"s": np.float32, "b": np.float32, "x": np.float32},
)
case(
    "chain tile",
    """
for p < 50: t[p, 0] = x[p]
loop j < 6:
    for p < 50: t[p, j + 1] = t[p, j] * 0.5 + x[p]
    for p < 50: y[p] = t[p, j] * 1.0
for p < 50: y[p] += t[p, 6]
""",
    {"t": (50, 7), "x": (50,), "y": (50,)},
    ["x"],
    ["y"],
)

case(
    "private array two loops",
    """
for g < 3, h < 300: z[g, h] = 0.0
for g < 3, h < 300: w[g, h] = 0.0
loop i < 3:
    loop parallel f < 300:
        for p < 40: t[p] = x[f] * 2.0
        for p < 40: z[i, f] += t[p] * x[p]
    loop parallel f < 300:
        for p < 40: t[p] = x[f] * 3.0
        for p < 40: w[i, f] += t[p] * x[p]
""",
    {"t": (40,), "x": (300,), "z": (3, 300), "w": (3, 300)},
    ["x"],
    ["z", "w"],
    False,
)
case(
    "one trip",
    """
for p < 1: z[p] = 5.0
for p < 1, c < 300: z[p] = sum of x[p, c]
for p < 1: w[p] = 7.0
loop parallel f < 1:
    for c < 300: w[f] = sum of x[f, c]
    for c < 300: y[f, c] = w[f]
s = 7.0
loop parallel f < 1:
    for c < 300: s = sum of x[f, c]
    for c < 300: v[f, c] = s * 2.0
u = s
""",
    {"x": (1, 300), "z": (1,), "w": (1,), "y": (1, 300), "v": (1, 300), "s": (), "u": ()},
    ["x"],
    ["z", "w", "y", "v", "u"],
    False,
)
case(
    "array sum",
    """
for q < 5: z[q] = 0.0
loop parallel f < 3000:
    for q < 5: z[q] += x[f] * y[q]
    for q < 4: z[q + 1] += x[f]
    loop j < 3:
        z[j] += x[f]
""",
    {"x": (3000,), "y": (5,), "z": (5,)},
    ["x", "y"],
    ["z"],
    False,
)
case(
    "array sum of bools",
    """
for q < 5: g[q] = x[q] > 9.0
loop parallel f < 3000:
    for q < 5: g[q] += x[f] > y[q]
""",
    {"x": (3000,), "y": (5,), "g": (5,)},
    ["x", "y"],
    ["g"],
    False,
    {"g": bool},
)
case(
    "array sum complex",
    """
for q < 5: z[q] = 0.0
loop parallel f < 3000:
    for q < 5: z[q] += x[f] * x[q]
""",
    {"x": (3000,), "z": (5,)},
    ["x"],
    ["z"],
    False,
    {"x": complex, "z": complex},
)
case(
    "maximum by data names",
    """
loop p_0 < 3:
    for p < 40: z[p_0] max= all x[p_0, p]
""",
    {"x": (3, 40), "z": (3,)},
    ["x"],
    ["z"],
    False,
)
case(
    "max nan",
    """
for p < 40: q max= all y[p]
z = q
for p < 40: r min= all y[p]
w = r
for p < 1: s max= all y[p]
v = s
""",
    {"y": (40,), "q": (), "r": (), "s": (), "z": (), "w": (), "v": ()},
    ["y"],
    ["z", "w", "v"],
    False,
    given={"y": [1.0] * 37 + [np.nan] + [3.0] * 2},
)
case(
    "select guards",
    """
loop i < 39:
    z[i] = select(i > 0, sin(x[i - 1]), 1.0)
    w[i] = select(x[i] > 0.0, log(x[i]), 0.0)
for p < 39: v[p] = select(k[p] < 40, exp(x[k[p]]), 0.0)
""",
    {"x": (40,), "z": (39,), "w": (39,), "v": (39,), "k": (39,)},
    ["x", "k"],
    ["z", "w", "v"],
    True,
    {"k": I},
    given={"k": np.arange(39)},
)

case(
    "extrema of many",
    """
q = 0.0
for p < 1000: s min= all x[p]
for p < 1000, c < 3: r max= all x[p] * y[c]
k = -3
for p < 1000: k max= select(x[p] < 1.0, -5, 7)
loop f < 7:
    t[f] = y[f]
    for c < 1000: t[f] max= x[c] * y[f]
    q += t[f]
z[0] = s
z[1] = r
z[2] = 1.0 * k
""",
    {"x": (1000,), "y": (7,), "z": (3,), "t": (7,), "s": (), "r": (), "q": (), "k": ()},
    ["x", "y"],
    ["z", "q"],
    False,
    {"k": I},
)

case(
    "rows together",
    """
q = 0.0
for c < 71: w[c] = 0.0
for f < 67, c < 71: Z[f, c] = (u[f] * v[c] + x[f] * y[c])
for f < 67, c < 71: w[c] += Z[f, c] * u[f]
for f < 67, c < 71: z[f] = sum of Z[f, c] * v[c]
for f < 67, c < 71: q += Z[f, c] * y[c]
""",
    {"u": (67,), "v": (71,), "x": (67,), "y": (71,), "Z": (67, 71), "z": (67,), "w": (71,), "q": ()},
    ["u", "v", "x", "y"],
    ["Z", "z", "w", "q"],
)


@pytest.fixture(scope="module", params=["one function", "outlined"])
def found(request):
    """What all of the cases compute, compiled as one program, whose statements may be functions of their own."""
    outlined = {"long_body": 1, "outlined_work": 1, "long_run": 2} if request.param == "outlined" else {}
    with pytest.MonkeyPatch.context() as patch:
        with_target(patch, parallel_work=1, **outlined)
        with threads(4):
            results = run_packed([(made, arrays, integers) for made, _, arrays, integers in CASES.values()])
    return dict(zip(CASES, results, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_as_interpreted(name, found):
    _, program, arrays, integers = CASES[name]
    assert_same(found[name], outputs(program, arrays, integers), "")


def test_sums_of_rows_that_run_together_are_in_registers():
    made, _, _, _ = CASES["rows together"]
    loop = next(s for s in made.body if isinstance(s, Loop))
    code = nest_of((loop,), "nest", made.buffers, {*made.inputs, *made.outputs.values()}).code
    assert "4 * f_1_rows" in code
    assert "reduction(+ : sum0_, sum1_, sum2_, sum3_, sum4_)" in code


def text_of(text, **integers):
    """The code of the first statement that is a loop."""
    program, _, _ = sample(text, **integers)
    outside = {*program.inputs, *program.outputs.values()}
    return nest_of((next(s for s in walk(program.body) if isinstance(s, Loop)),), "nest", program.buffers, outside)


def test_threads_share_loops_with_enough_work(monkeypatch):
    text = """
        loop parallel f < 20:
            for c < 6: Z[f, c] = X[f, c] * y[f]
        """
    assert "parallel for" not in text_of(text).code
    with_target(monkeypatch, parallel_work=1)
    nest = text_of(text)
    assert "parallel for" in nest.code
    assert (set(nest.passed), nest.writes) == ({"X", "y", "Z"}, {"Z"})


def test_threads_share_loops_with_arrays_of_one_trip(monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    _, program, _, _ = CASES["arrays within a trip"]
    code = nest_of((program.body[0],), "nest", program.buffers, {"x", "z"}).code
    assert code.count("parallel for") == 1
    assert "b_t_[30]" in code.partition("parallel for")[0]


SHARED = {
    "scattered": "for p < 20000: b[i[p]] += x[p]\n",
    "of all": "for p < 20000: s = sum of x[p]\n",
    "an extremum": "for p < 20000: s min= all x[p]\n",
    "a check": "for p < 20000: k max= select(x[p] < 1.0, 0, 7)\n",
    "across memory": "for p < 20000, q < 7: b[q] = sum of y[p, q]\n",
}


@pytest.mark.parametrize("name", SHARED)
def test_threads_share_sums(name, monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    shapes = {"b": (7,), "x": (20000,), "y": (20000, 7), "s": (), "i": (20000,), "k": ()}
    program = program_of(SHARED[name], shapes, dtypes={"i": I, "k": I})
    code = nest_of((program.body[0],), "nest", program.buffers, set(shapes)).code
    assert "parallel for" in code
    assert "parts_" in code


def test_threads_share_what_is_written_in_another_order(monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    assert "parallel for" in text_of("loop parallel f < 4:\n    for c < 2, d < 2: z[2*f + 8*c + d] = x[c]\n").code


LONG = """
loop j < 50:
    for p < 20: X[j, p] = x[p] * 2.0
    if x[0] > 0.0:
        for p < 20: y[p] = x[p] + X[j, p]
    s = x[0]
    for p < 20: s += y[p]
    for p < 20: x[p] = s * y[p]
"""


def test_statements_of_long_bodies_are_functions(monkeypatch):
    shapes = {"X": (50, 20), "x": (20,), "y": (20,), "s": ()}
    program = program_of(LONG, shapes)

    def functions(**numbers):
        with_target(monkeypatch, **numbers)
        nest = nest_of(program.body, "nest", program.buffers, set(shapes))
        return nest.code.count("static void nest_step")

    assert functions(long_body=100) == 0
    assert functions(long_body=5, outlined_work=20) == 3
    assert functions(long_body=5, outlined_work=1000) == 0


NOT_SHARED = {
    "sums that meet": """
        loop parallel f < 6:
            for c < 6: Z[f, c] += X[f, c]
            for c < 6: Z[c, f] += X[f, c]
        """,
    "digits that meet": """
        loop parallel f < 5:
            for c < 2, d < 2: z[2*f + 8*c + d] = x[c]
        """,
    "one trip": """
        loop parallel f < 1:
            for c < 6: q = sum of X[f, c]
        """,
    "scattered": """
        loop parallel f < 20:
            for c < 6: z[i[f]] += X[f, c]
        """,
    "sequential": """
        loop f < 20:
            for c < 1: z[f] = x[f]
        """,
    "backwards": """
        loop backwards f < 20:
            z[f] = x[f]
        """,
}


@pytest.mark.parametrize("name", NOT_SHARED)
def test_threads_do_not_share(name, monkeypatch):
    with_target(monkeypatch, parallel_work=1)
    first = text_of(NOT_SHARED[name]).code.rpartition("static void nest(")[2]
    assert "nest_part(" not in first.partition("for (")[0]


def test_vectors_where_trips_are_apart():
    assert "omp simd" in text_of("loop parallel f < 20:\n    z[f] = x[f]\n").code
    summed = text_of("loop parallel f < 20:\n    q += x[f]\n").code
    assert "omp simd reduction(+ : sum0_)" in summed
    two = text_of("loop parallel f < 19:\n    z[f] += x[f]\n    z[f + 1] += y[f]\n").code
    assert "omp simd" not in two
    scattered = text_of("loop parallel f < 20:\n    z[i[f]] += x[f]\n").code
    assert "omp simd" not in scattered
    chain = text_of("loop f < 19:\n    z[f + 1] = z[f] * x[f]\n").code
    assert "omp simd" not in chain


def test_symbols_of_shapes_are_passed():
    text = "loop j < 4:\n    b[j, 1] = x[j]\n    z[j] = b[j, 1]\n"
    program = program_of(text, {"x": (4,), "z": (4,), "b": (4, "n + 1")}, ["x"], ["z"], ["n"])
    assert nest_of((program.body[0],), "nest", program.buffers, {"x", "z", "b"}).integers == ("n",)
