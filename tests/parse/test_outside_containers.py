"""Lists, dicts and sets from outside a program: what changes in them between calls counts at the next one."""

import numpy as np
import pytest

import sdfgad

FACTORS = [1.0, 2.0]
ROWS = [[1.0, 2.0], [3.0]]
SETTINGS = {"scale": 1.0}
SHOWN = {1}
PAIRS = ([0.5, 0.25], 2.0)
PLACES = [0, 1, 2] * 30


def scaled(x, by=3.0):
    return x * by


def program(x):
    y = x * len(FACTORS) * sum(FACTORS) * ROWS[0][1] * PAIRS[0][1]
    for value in SETTINGS.values():
        y = y * value
    if 3 in SHOWN:
        y = y * 2.0
    total = 0.0
    for k in PLACES:
        total += x[k] * y[k]
    return scaled(total) + np.sum(y * np.array(FACTORS[:2])[1])


CHANGES = {
    "a longer list": lambda: FACTORS.append(4.0),
    "a list in a list": lambda: ROWS[0].__setitem__(1, 7.0),
    "a list in a tuple": lambda: PAIRS[0].__setitem__(1, 0.75),
    "another key": lambda: SETTINGS.__setitem__("more", 3.0),
    "a larger set": lambda: SHOWN.add(3),
    "what a loop goes over": lambda: PLACES.append(2),
    "another default": lambda: setattr(scaled, "__defaults__", (4.0,)),
    "an integer for a float": lambda: FACTORS.__setitem__(0, 1),
}


def test_the_next_call_sees_changes():
    x = np.array([0.5, 1.5, 2.5])
    g = sdfgad.differentiate(program)
    assert g.value(x) == pytest.approx(program(x), rel=1e-14)
    for name, change in CHANGES.items():
        change()
        assert g.value(x) == pytest.approx(program(x), rel=1e-14), name


def test_what_is_unchanged_is_not_read_again():
    x = np.array([0.5, 1.5, 2.5])
    g = sdfgad.differentiate(program)
    g.compile(x)
    specialised = g._bind_and_specialise((x,), {})[1]
    assert g._bind_and_specialise((x,), {})[1] is specialised
    FACTORS[1] = FACTORS[1] * 1.0
    assert g._bind_and_specialise((x,), {})[1] is specialised
