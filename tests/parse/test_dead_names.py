"""Arrays under names that are not read any more: only what else holds them counts as an alias."""

import numpy as np
import pytest

from sdfgad.errors import AmbiguousArray
from tests.helpers import module_from
from tests.helpers_ir import assert_value_and_slope, parsed

X = np.linspace(1.0, 2.0, 5)
HEAD = """
import numpy as np

held = None

class Box:
    pass

def checked(x, s):
    d, e = s * x, x * x
    if np.any(np.isnan(d)) or np.any(np.isnan(e)):
        j = np.where(np.isnan(d))[0][0] if np.any(np.isnan(d)) else np.where(np.isnan(e))[0][0]
        raise ValueError(f"{j}: {d[j]}")
    if np.any(e <= 0.0):
        raise ValueError
    d = d + e
    if np.any(d > 1e6):
        raise ValueError
    return d, e

def chosen(x, s):
    a, b = s * x, x + s
    if x[0] > 1.5:
        return a
    return b

def kept_in_object(box, x, s):
    d = x * s
    box.d = d
    box = None
    if np.any(x < 0.0):
        raise ValueError
    return d

def kept_in_list(values, x, s):
    d = x * s
    values.append(d)
    values = None
    if np.any(x < 0.0):
        raise ValueError
    return d

def kept_in_global(x, s):
    global held
    d = x * s
    held = d
    if np.any(x < 0.0):
        raise ValueError
    return d

def part(y, x):
    v = y[1:]
    if np.any(x < 0.0):
        raise ValueError
    return v

def early_in_object(box, x, s):
    d = x * s
    box.d = d
    box = None
    if np.any(x < 0.0):
        return d * 2.0
    return d

def early_in_list(values, x, s):
    d = x * s
    values.append(d)
    values = None
    if np.any(x < 0.0):
        return d * 2.0
    return d

def early_in_global(x, s):
    global held
    d = x * s
    held = d
    if np.any(x < 0.0):
        return d * 2.0
    return d

def early_part(y, x):
    v = y[1:]
    if np.any(x < 0.0):
        return v * 2.0
    return v
"""
RIGHT = {
    "checked": "d, e = checked(x, s)\nd[0] -= e[1]\ne[2] *= 3.0\nreturn d * d + e",
    "chosen": "d = chosen(x, s)\nd[0] *= 2.0\nreturn d * x",
    "object behind a check": "box = Box()\nr = kept_in_object(box, x, s)\nr[0] = 5.0\nreturn box.d",
    "list behind a check": "values = []\nr = kept_in_list(values, x, s)\nr[0] = 5.0\nreturn values[0]",
    "global behind a check": "r = kept_in_global(x, s)\nr[0] = 5.0\nreturn held * 1.0",
    "view of the caller's behind a check": "y = x * s\nr = part(y, x)\nr[0] = 5.0\nreturn y",
    "in a loop": "for t in range(20):\n    d, e = checked(x, s)\n    d[0] -= e[1]\n    x = x + 0.01 * d\nreturn x",
}
REFUSED = {
    "object": "box = Box()\nr = early_in_object(box, x, s)\nr[0] = 5.0\nreturn box.d",
    "list": "values = []\nr = early_in_list(values, x, s)\nr[0] = 5.0\nreturn values[0]",
    "global": "r = early_in_global(x, s)\nr[0] = 5.0\nreturn held * 1.0",
    "view of the caller's": "y = x * s\nr = early_part(y, x)\nr[0] = 5.0\nreturn y",
    "enclosing list": "values = []\ndef f():\n    d = x * 2.0\n    values.append(d)\n    if x[0] > 9.0:\n"
    "        return d * 2.0\n    return d\nr = f()\nr[0] = 5.0\nreturn values[0]",
    "enclosing name": "u = x * s\ndef f():\n    nonlocal u\n    a = x * 2.0\n    u = a\n"
    "    if x[0] > 0.5:\n        return a\n    return a * 3.0\nr = f()\nr[0] = 5.0\nreturn u",
}


def program_of(body, folder):
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return module_from(f"{HEAD}\ndef program(x, s):\n{lines}\n", folder).program


@pytest.mark.parametrize("name", RIGHT)
def test_results_of_functions_that_check_them_are_updated(name, tmp_path):
    program = program_of(RIGHT[name], tmp_path)
    assert_value_and_slope(program, X, 0.7)


@pytest.mark.parametrize("name", REFUSED)
def test_what_else_holds_the_array_counts(name, tmp_path):
    with pytest.raises(AmbiguousArray, match="is updated in place") as caught:
        parsed(program_of(REFUSED[name], tmp_path), X, 0.7)
    assert caught.value.where.text == "r[0] = 5.0"
