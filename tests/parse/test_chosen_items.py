"""Items of lists, tuples and dicts of numbers at places that data decides."""

import bisect

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import InvalidIndex, ProgramRaises
from sdfgad.ir.program import walk
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_slope, assert_value_and_slope, outputs_of, parsed

X = np.array([0.7013, 0.3127, 1.1741])
HEAD = """import bisect
import numpy as np
KNOTS = [0.0, 0.5, 1]
WEIGHTS = (1.5, 2.0, 0.25)

def program(x, s):
"""
RIGHT = {
    "of a list of knots": "knots = [0]\nknots.extend(np.cumsum(x))\ni = bisect.bisect(knots, s) - 1\n"
    "return knots[i] * s + x[i]",
    "of a tuple, and of lists from outside": "i = bisect.bisect_left(KNOTS, s, 0, 2)\n"
    "return (x[0] * x[1], 2, x[2])[i] * WEIGHTS[i] * s",
    "from the end": "i = -1 - int(s)\nreturn [x[0], x[1] * x[1]][i] * s",
    "as it is at that time": "v = [x[0], x[1]]\ni = int(s * 1.2)\nv[1] = v[0] * v[i]\nfirst = v[i] * 1.0\nv[0] = 7.0\n"
    "return first * v[i] * s",
    "in a loop": "v, t = [x[0], x[1] * x[2], s], 0.0\nfor k in range(9):\n    i = int(abs(np.sin(k * s)) * 3)\n"
    "    t = t + v[i] * v[k % 3]\nreturn t",
    "of complex numbers": "i = int(s * 1.2)\nreturn np.real([x[0] * 1j, x[1] + x[2] * 2j, 3][i] * (1.0 + s * 1j))",
    "of attributes": "class Line:\n    def __init__(self, y):\n        self.a, self.b = [], []\n"
    "        for k in range(2):\n            self.a.append(y[k])\n            self.b.append(y[k + 1] - y[k])\n"
    "    def at(self, t):\n        i = bisect.bisect_right([0.0, 1.0], t) - 1\n"
    "        return self.a[i] + self.b[i] * (t - i)\nreturn Line(x ** 2).at(s)",
}


@pytest.mark.parametrize("name", RIGHT)
def test_as_in_python(name, tmp_path):
    program = module_from(HEAD + "".join(f"    {line}\n" for line in RIGHT[name].split("\n")), tmp_path).program
    primal = parsed(program, X, 0.4)
    for s in (0.4, 0.9):
        np.testing.assert_allclose(outputs_of(primal, X, s)["return"], program(X.copy(), s), rtol=1e-14)
        assert_slope(program, X, s)


def chosen(x, s):
    return [x[0], x[1] * x[1]][int(s)] * s


def test_places_that_are_out_of_range():
    g = sdfgad.grad(chosen, (0, 1))
    np.testing.assert_allclose(g(X, 1.5)[0], [0.0, 3.0 * X[1], 0.0], rtol=1e-14)
    np.testing.assert_allclose(g(X, -1.5)[1], X[1] ** 2, rtol=1e-14)
    for s in (2.5, -3.5):
        with pytest.raises(InvalidIndex, match="NumPy raises IndexError here, too"):
            g(X, s)


def test_places_of_items_that_are_arrays_or_of_several_types_are_those_of_the_call():
    def arrays(x, s):
        return [x, x * 2.0][int(s)][0] * s

    def kinds(x, s):
        return [x[0], s > 0.5][int(s)] * s

    for program in (arrays, kinds):
        for s in (0.4, 1.4):
            assert_value_and_slope(program, X, s)


def test_loops_over_places_stay_loops():
    def program(x, t):
        knots, s = [0.0, x[0], x[0] + x[1]], 0.0
        for u in t:
            i = bisect.bisect(knots, u) - 1
            s = s + (u - knots[i]) * [x[2], 2.0, x[1]][i]
        return s

    few, many = np.linspace(0.1, 1.5, 7), np.linspace(0.1, 1.5, 31)
    assert len([*walk(parsed(program, X, few).program.body)]) == len([*walk(parsed(program, X, many).program.body)])
    np.testing.assert_allclose(outputs_of(parsed(program, X, many), X, many)["return"], program(X, many), rtol=1e-13)
    assert_slope(program, X, many)


def harvested(y, end, times):
    """Events at times in a short list, of which a counter has the next one."""
    t, k = 0.0, 0
    while t < end:
        t += 0.05
        y = y * 1.01
        if k < len(times) and t >= times[k]:
            y = y * 0.7 * times[k]
            k += 1
    return y


def test_a_counter_in_a_loop_chooses_of_a_short_list():
    times = [2.0, 5.03, 8.01]
    assert len(str(sdfgad.explain(harvested, 1.0, 10.0, times, stage="parsed")).splitlines()) < 60
    assert sdfgad.differentiate(harvested, wrt="y").value(1.0, 10.0, times) == pytest.approx(
        harvested(1.0, 10.0, times)
    )
    sdfgad.check_grads(harvested, 1.0, 10.0, times, wrt=("y",))


# What a key that data decides chooses in a dict whose keys are integers.
BY_KEYS = {
    "numbers": "table = {3: x[0], 4: x[1], -2: 1.5}",
    "a table of constants": "table = RATIOS",
    "arrays": "table = {3: x[:2] * 2.0, 4: x[1:3] ** 2, -2: np.ones(2)}",
}
KEYED = """
import numpy as np

RATIOS = {3: 3.5, 4: 2.1, -2: 1.4}

def program(x, last):
    %s
    total, key = 0.0, 3
    for k in range(300):
        total += x[k %% 3] * np.sum(table[key])
        if total > 5.0:
            key = 4
        elif total < -5.0:
            key = -2
        if total > 800.0:
            key = last
    return total
"""


@pytest.mark.parametrize("table", BY_KEYS.values(), ids=BY_KEYS)
def test_items_of_dicts_at_integers_that_data_decides(tmp_path, table):
    program = module_from(KEYED % table, tmp_path).program
    gradient, x = sdfgad.differentiate(program, wrt="x"), np.array([0.3, -0.2, 1.1])
    assert gradient.value(x, 4) == pytest.approx(program(x, 4), rel=1e-13)
    assert sdfgad.check_grads(program, x, 4, wrt="x").error < 1e-6


def test_an_integer_that_is_no_key_is_python_s_error(tmp_path):
    program = module_from(KEYED % BY_KEYS["numbers"], tmp_path).program
    gradient, x = sdfgad.differentiate(program, wrt="x"), np.array([30.0, -0.2, 1.1])
    with pytest.raises(KeyError):
        program(x, 9)
    with pytest.raises(ProgramRaises, match="a key that data decides is not in this dict") as error:
        gradient(x, 9)
    assert line_of(program, "table[key]") in str(error.value)
