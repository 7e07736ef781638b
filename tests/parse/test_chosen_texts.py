"""Strings and members of enumerations that data decides: the states of machines, in loops."""

from enum import Enum, IntEnum, StrEnum

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import Rebound, SdfgadError
from tests.helpers import line_of

X = np.random.default_rng(7).standard_normal(60)


def agrees(program, *args):
    value = sdfgad.differentiate(program, wrt="h").value(*args)
    np.testing.assert_allclose(value, program(*args), rtol=1e-13)
    sdfgad.check_grads(program, *args)


def hysteresis(x, h):
    mode, previous, switches = "low", "low", 0
    total = 0.0
    for v in x:
        if mode == "low" and v > 0.5:
            mode = "high"
        elif mode == "high" and v < -0.5:
            mode = "low"
        if mode != previous:
            switches += 1
        previous = mode
        total += v * h if mode in ("high", "other") else v * v
    return total + switches * h


def test_a_loop_hands_on_a_string():
    agrees(hysteresis, X, 0.3)
    assert len(str(sdfgad.explain(hysteresis, X, 0.3, stage="parsed")).splitlines()) < 60


class Phase(Enum):
    IDLE = 1
    HEATING = 2


class Thermostat:
    def __init__(self, low):
        self.low, self.phase, self.reason = low, Phase.IDLE, ""

    def update(self, T):
        match self.phase:
            case Phase.IDLE:
                if self.low > T:
                    self.phase, self.reason = Phase.HEATING, "cold"
            case Phase.HEATING:
                if self.low + 3.0 < T:
                    self.phase = Phase.IDLE
                    self.reason = ""
        return 1.0 if self.phase is Phase.HEATING else 0.0


def heated(x, h):
    thermostat, T, energy = Thermostat(18.0), 19.0, 0.0
    for outside in x:
        q = thermostat.update(T)
        T += 0.1 * (5 * outside + 10.0 - T) + 3 * h * q
        if thermostat.reason:
            energy += h * q * T
    return energy + T


def test_objects_have_members_of_enumerations_and_empty_strings():
    agrees(heated, X, 0.3)


class Gear(StrEnum):
    LOW = "low"
    HIGH = "high"


def shifted(x, h):
    gear, total = Gear.LOW, 0.0
    for v in x:
        if v > 0.5:
            gear = Gear.HIGH
        elif v < -0.5:
            gear = "low"
        total += h * v if gear == "high" or (gear == Gear.LOW and v > 0) else h * h
    return total


def test_members_that_are_strings_equal_them():
    agrees(shifted, X, 0.3)


def known_member(x, h):
    """A member that equals a string is another object, of another class."""
    gear, total = "low", 0.0
    for v in x:
        total += h * v if isinstance(gear, Gear) else h
        gear = Gear.LOW
    return total


def test_members_are_told_from_the_strings_that_they_equal():
    agrees(known_member, X, 0.3)


class Level(IntEnum):
    LOW = 1
    HIGH = 3


def leveled(x, h):
    level, total = Level.LOW, 0.0
    for v in x[:5]:
        if v > 0.5:
            level = Level.HIGH
        total += h * v * level if level is Level.HIGH else h * h
    return total * level


def by_expressions(x, h):
    level, total = Level.HIGH if x[0] > 0 else Level.LOW, 0.0
    other = Level.HIGH if x[1] > 0 else Level.LOW
    return (h if level is Level.HIGH else h * h) + (x[2] * other if isinstance(other, Level) else total)


def test_members_that_are_integers():
    """They ended in a KeyError."""
    agrees(leveled, X, 0.3)
    for sign in (1, -1):
        agrees(by_expressions, sign * X, 0.3)


def level_of(a):
    return Level.HIGH if a > 0.1 else Level.LOW


def beside_a_string(x, h):
    word = "a" + ("a" if x[1] > 0 else "bc")
    return h * len(word) * level_of(x[0]) + (x[2] if word.endswith("c") else 0.5)


def test_members_that_are_integers_beside_strings():
    for sign in (1, -1):
        agrees(beside_a_string, sign * X, 0.3)


class Law(tuple, Enum):
    LOW = (1.0, 2.0)
    HIGH = (3.0, 4.0)


def by_law(x, h):
    law = Law.HIGH
    for v in x:
        law = Law.LOW if v > 0 else law
    return h * law[0] + law[1]


def test_members_that_are_tuples_stay_whole():
    agrees(by_law, np.array([-0.5, 0.7, -0.9]), 0.3)
    agrees(by_law, np.array([-0.5, -0.7, -0.9]), 0.3)


def stepped(total, mode, v, h):
    if mode is None:
        return total + h, "start"
    if v > 0.5 and mode != "run":
        return total * 0.9, "run"
    if v < -1.0:
        return total + h * v, None
    return total + h * v * v, mode if v < 0.2 else "slow"


RATES = {"start": 1.0, "run": 2.0, "slow": 0.5}


def dosed(x, h):
    total, mode, log = 0.0, None, []
    for k, v in enumerate(x):
        total, mode = stepped(total, mode, v, h)
        log.append((k, mode))
        if mode:
            total += RATES[mode] * h * v
    return total


def test_functions_return_strings_or_none_in_tuples_and_dicts_have_them_as_keys():
    agrees(dosed, X, 0.3)


def rated(x, h):
    mode = "a"
    for v in x:
        if v > 1.0:
            mode = "b"
    return h * {"a": h, "c": 2.0}[mode]


def test_a_key_that_is_not_there_is_reported():
    g = sdfgad.differentiate(rated, wrt="h")
    assert g.value(np.zeros(60), 0.3) == rated(np.zeros(60), 0.3)
    with pytest.raises(SdfgadError, match="a key that data decides is not in this dict") as caught:
        g.value(X, 0.3)
    assert line_of(rated, '"c"') in str(caught.value)


def by_sign(x, h):
    """A string that data decides in the place of an item that is changed."""
    kept, steps = {"up": 0.0, "down": h}, 0
    while kept["up"] < 5.0 and steps < 50:
        for v in x:
            kept["up" if v > 0.0 else "down"] += h * abs(v) * 0.1
        steps += 1
    return kept["up"] - 2.0 * kept["down"]


def test_a_conditional_expression_chooses_the_item_that_is_changed():
    agrees(by_sign, X, 0.3)


def by_value(x, h):
    """A constructed member of an enumeration."""
    return h * x[0] if Phase(len(x) - 58) is Phase.HEATING else h * h


def test_members_of_enumerations_are_made_of_their_values():
    agrees(by_value, X, 0.3)


def by_name(x, h):
    mode, total = "sin", 0.0
    for v in x:
        if v > 1.0:
            mode = "cos"
        total += getattr(np, mode)(v * h)
    return total


def returned(x, h):
    mode = "a"
    for v in x:
        if v > 1.0:
            mode = "b"
    return h * h, mode


def ordered(x, h):
    mode = "a"
    for v in x:
        if v > 1.0:
            mode = "b"
        h = h * v if mode < "b" else h
    return h


@pytest.mark.parametrize(
    ("program", "what", "at"),
    [
        (by_name, "an argument of `getattr` is a string that data decides", "getattr"),
        (returned, "the value that is returned is a string that data decides", "return h"),
        (ordered, "a string that data decides is compared by its order, or by `is`", "if mode <"),
    ],
)
def test_other_uses_are_refused(program, what, at):
    with pytest.raises(Rebound, match=what) as caught:
        sdfgad.differentiate(program, wrt="h", output="return[0]" if program is returned else None).plan(X, 0.3)
    assert line_of(program, at) in str(caught.value)


def unlike_items(x, h):
    """Items of a table that are tuples, dicts or objects, as data chooses one of two keys."""
    table = {"root": (2.0, h), "tip": (1.0, h * h)}
    nested = {"root": {"cl": 2.0, "cd": h}, "tip": {"cl": 1.0, "cd": 0.5}}
    total = 0.0
    for v in x:
        p, q = table["root" if v > 0.1 else "tip"]
        coefficients = nested["root" if v < 0.4 else "tip"]
        total += p * v + q + coefficients["cl"] * v**2 + coefficients["cd"]
    return total


def test_unlike_items():
    agrees(unlike_items, X, 0.3)
