"""Tail duplication: names that a loop re-binds refer to their arrays from before it where it has no trip."""

import functools

import numpy as np
import pytest

import sdfgad
from scripts.fuzzing.case import Argument, Case
from scripts.fuzzing.process import Process
from sdfgad.cache import cache_folder
from sdfgad.errors import UpdateOfCopy
from tests.helpers import line_of
from tests.helpers_tiers import packed, packs

PROGRAMS = {
    "another name": """
    x = u * 1.0
    y = x
    for _ in range(n):
        x = x + np.sin(x)
    x[0] = 5.0 * c
    return np.sum(y * y) + np.sum(x)
""",
    "a view": """
    x = u * 1.0
    y = x[1:]
    for _ in range(n - 1, -1, -1):
        x = x + np.sin(x)
    x[1] *= 3.0
    return np.sum(y * y) + np.sum(x)
""",
    "in a list": """
    x = u * 1.0
    y = [x, 2.0 * x]
    for _ in range(n):
        x = np.cos(x)
    x *= 2.0
    return np.sum(y[0] * y[1]) + np.sum(x)
""",
    "the other name is updated": """
    x = u * 1.0
    y = x
    for k in range(n - 1):
        x = x + np.sin(x) * k
    y[1] = c
    return np.sum(x ** 2) + np.sum(y)
""",
    "both names": """
    x = u * 1.0
    y = x
    for k in range(n):
        y = x
        x = x + np.sin(x)
    x[1] = c
    return np.sum(x ** 2) + np.sum(y)
""",
    "an argument": """
    for _ in range(n):
        u = u + 0.1 * np.sin(u)
    u[0] = c
    return np.sum(u ** 2)
""",
    "an argument, always": """
    for _ in range(3):
        u = u + 0.1 * np.sin(u)
    u[0] = c
    return np.sum(u ** 2)
""",
    "in a triangle": """
    for i in range(4):
        for k in range(i):
            u = u + 0.1 * np.sin(u)
        u[i] = c * i
    return np.sum(u ** 2)
""",
    "as often as data say": """
    for _ in range(int(2.0 * abs(u[0]))):
        u = u + 0.1 * np.sin(u)
    u[1] = c
    return np.sum(u ** 2)
""",
    "while": """
    k = 0
    while np.sum(u) < 3.0 and k < 5:
        u = u + 0.1 * np.sin(u) + 1.0
        k += 1
    u[1] = c
    return np.sum(u ** 2)
""",
    "while, another name": """
    x = u * 1.0
    y = x
    k = 0
    while np.sum(x) < 3.0 and k < 5:
        x = x + 0.1 * np.sin(x) + 1.0
        k += 1
    x[1] = c
    return np.sum(x ** 2) + np.sum(y)
""",
    "two loops": """
    x = u * 1.0
    y = x
    for _ in range(n):
        x = x + np.sin(x)
    for k in range(int(2.0 * abs(c))):
        x = x * 0.5 + k
    x[0] = 5.0 * c
    return np.sum(y * y) + np.sum(x)
""",
    "by a function's argument": """
    x = u * 1.0
    y = x
    for _ in range(n):
        x = x + np.sin(x)
    np.multiply(x, y, out=x)
    return np.sum(y * y) + np.sum(x)
""",
    "by a method": """
    for _ in range(n):
        u = u + np.sin(u)
    v = u * u
    u.fill(c)
    return np.sum(u) + np.sum(v)
""",
    "at positions": """
    for _ in range(n):
        u = u + np.sin(u)
    np.add.at(u, [0, 2, 0], c * u[1])
    return np.sum(u * u)
""",
    "sorted": """
    x = u * 1.0
    y = x
    for _ in range(n):
        x = x + np.sin(x)
    x.sort()
    return np.sum(y[1:] * y[:-1]) + np.sum(x[0])
""",
}
# Each program by default with up to three trips, and some of them without any.
PACKS = list(packs([(name, most) for name in PROGRAMS for most in (3, 0)], 32, every=4, kind=lambda key: key[0]))


def case_of(seed, name, most):
    arguments = {"u": Argument("float", (5,)), "c": Argument("float"), "n": Argument("trips", high=most)}
    return Case(seed, f"import numpy as np\ndef program(u, c, n):{PROGRAMS[name]}", arguments)


@functools.cache
def verdicts(number):
    # NumPy's values for several numbers of trips, gradients by differences; all of a pack are compiled together.
    keys = PACKS[number].values
    with Process(cache_folder()) as process:
        found = process.check([case_of(seed, *key) for seed, key in enumerate(keys)])
    return dict(zip(keys, found, strict=True))


@pytest.mark.parametrize(("number", "key"), packed(PACKS))
def test_value_and_gradients(number, key):
    verdict = verdicts(number)[key]
    assert verdict.status == "right", (verdict.kind, verdict.detail)


def left_by_a_break(u, c):
    x = u * 1.0
    y = x
    for _ in range(5):
        if np.sum(x) > 3.0:
            break
        x = x + 0.5 * np.cos(x) + 0.5
    x[0] = 5.0 * c
    return np.sum(y * y) + np.sum(x)


def test_any_trip_may_leave_the_array_from_before():
    with pytest.raises(UpdateOfCopy, match="chosen or re-bound at run time is updated in place") as caught:
        sdfgad.grad(left_by_a_break)(np.ones(3), 0.5)
    assert str(caught.value.where) == line_of(left_by_a_break, "x[0] = 5.0 * c")
