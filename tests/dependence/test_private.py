"""Privatisation: which buffers carry no value from one trip to the next."""

import pytest

from sdfgad.dependence.private import carries_no_value, is_privatisable
from tests.helpers_text import sample

PRIVATISABLE = {
    "written by a statement": """
        for p < 6: b[p] = x[p]
        for p < 6: z[p] = b[p]
        """,
    "written in parallel": """
        loop parallel f < 6:
            b[f] = x[f]
        for p < 6: z[p] = b[p]
        """,
    "written and read in each trip": """
        loop parallel f < n:
            for p < 6: b[p] = x[p + f]
            for p < 6: Z[f, p] = b[p]
        """,
    "written in each of some trips": """
        loop parallel f < 3:
            for p < 6: b[p] = x[p + f]
            for p < 6: Z[f, p] = b[p]
        for p < 6: z[p] = b[p]
        """,
    "written first in each trip of a sequential loop": """
        loop f < 3:
            for p < 6: b[p] = x[p + f]
            for p < 6: Z[f, p] = b[p]
        for p < 6: z[p] = b[p]
        """,
}
NOT_PRIVATISABLE = {
    "read first": """
        for p < 6: z[p] = b[p]
        for p < 6: b[p] = x[p]
        """,
    "written in part": """
        for p < 5: b[p] = x[p]
        for p < 6: z[p] = b[p]
        """,
    "written where there are trips": """
        loop parallel f < n:
            for p < 6: b[p] = x[p + f]
        for p < 6: z[p] = b[p]
        """,
    "written in later trips": """
        loop parallel 2 <= f < 6:
            b[f] = x[f]
        for p < 4: z[p] = b[p]
        """,
    "written in sequential trips, if there are any": """
        loop f < n:
            for p < 6: b[p] = x[p + f]
        for p < 6: z[p] = b[p]
        """,
    "written in nested trips, if there are any": """
        loop f < 4:
            loop j < n:
                for p < 6: b[p] = x[p]
        for p < 6: z[p] = b[p]
        """,
    "written in nested parallel trips, if there are any": """
        loop f < 4:
            loop parallel j < n:
                for p < 6: b[p] = x[p]
        for p < 6: z[p] = b[p]
        """,
    "written in nested trips of parallel ones, if there are any": """
        loop parallel f < 3:
            loop j < n:
                for p < 2: b[p + 2*f] = x[p]
        for p < 6: z[p] = b[p]
        """,
    "never written": """
        loop f < 6:
            z[f] = x[f]
        """,
    "written in another place in each sequential trip": """
        loop f < 3:
            b[f] = x[f]
            z[f] = b[2 - f]
        """,
    "written in one trip, read in the next": """
        loop f < 6:
            z[f] = b[f]
            b[f] = x[f]
        """,
}


@pytest.mark.parametrize("name", PRIVATISABLE)
def test_privatisable(name):
    assert is_privatisable(sample(PRIVATISABLE[name], n=3)[0].body, "b")


@pytest.mark.parametrize("name", NOT_PRIVATISABLE)
def test_not_privatisable(name):
    assert not is_privatisable(sample(NOT_PRIVATISABLE[name], n=3)[0].body, "b")


CASES = {
    "assigned and read": ("for p < 20: a[p] = x[p]\nfor p < 20: z[p] = a[p]", True),
    "read first": ("for p < 20: z[p] = a[p]\nfor p < 20: a[p] = x[p]", False),
    "added to": ("for p < 20: a[p] += x[p]\nfor p < 20: z[p] = a[p]", False),
    "one of what is assigned": ("for p < 20: a[p] = x[p]\nfor p < 20: z[p] = a[3]", True),
    "some of what is assigned": ("for p < 20: a[p] = x[p]\nfor p < 18: z[p] = a[p + 2]", True),
    "more than is assigned": ("for p < 18: a[p] = x[p]\nfor p < 18: z[p] = a[p + 1]", False),
    "before what is assigned": ("for p < 18: a[p + 1] = x[p]\nfor p < 18: z[p] = a[p]", False),
    "in another order": ("for p < 20: a[p] = x[p]\nfor p < 5, c < 4: z[4*p + c] = a[p + 5*c]", True),
    "of every second one": ("for p < 10: a[2*p] = x[p]\nfor p < 10: z[p] = a[p]", False),
    "a row of a matrix": ("for p < 6: A[n, p] = x[p]\nfor p < 6: z[p] = A[n, 2]", True),
    "another row": ("for p < 6: A[n, p] = x[p]\nfor p < 6: z[p] = A[n + 1, p]", False),
    "a place that is read": ("for p < 6: A[i[0], p] = x[p]\nfor p < 6: z[p] = A[i[0], 2]", False),
    "somewhere": ("for p < 20: a[p] = x[p]\nfor p < 20: z[p] = a[i[p]]", False),
    "in a branch": ("if x[0] > 0.0:\n    for p < 20: a[p] = x[p]\n    for p < 20: z[p] = a[4]", True),
    "assigned on both sides": (
        "if x[0] > 0.0:\n    for p < 20: a[p] = x[p]\nelse:\n    for c < 20: a[c] = -x[c]\nfor p < 20: z[p] = a[4]",
        True,
    ),
    "assigned on both sides, in part on one": (
        "if x[0] > 0.0:\n    for p < 20: a[p] = x[p]\nelse:\n    for c < 19: a[c] = -x[c]\nfor p < 20: z[p] = a[4]",
        False,
    ),
    "read, then assigned on both sides": (
        "z[0] = a[4]\nif x[0] > 0.0:\n    for p < 20: a[p] = x[p]\nelse:\n    for c < 20: a[c] = -x[c]",
        False,
    ),
    "asked for, then assigned on both sides": (
        "if a[0] > 0.0:\n    for p < 20: a[p] = x[p]\nelse:\n    for c < 20: a[c] = -x[c]\nfor p < 20: z[p] = a[4]",
        False,
    ),
    "assigned on one side": ("if x[0] > 0.0:\n    for p < 20: a[p] = x[p]\nelse:\n    z[0] = a[4]", False),
    "what a branch asks for": ("if a[0] > 0.0:\n    for p < 20: a[p] = x[p]\n    z[0] = a[4]", False),
}


@pytest.mark.parametrize("name", CASES)
def test_which_uses_are_privatisable(name):
    text, expected = CASES[name]
    program, _, _ = sample(text, **({"n": 2} if "n]" in text or "n," in text or "n +" in text else {}))
    assert is_privatisable(program.body, "A" if "A[" in text else "a") is expected


WHOLE = {
    "assigned, and read at a place that data chooses": ("for p < 20: a[p] = x[p]\nfor p < 20: z[p] = a[i[p]]", True),
    "assigned in two parts": ("a[0] = x[3]\nfor p < 19: a[p + 1] = x[p]\nfor p < 20: z[p] = a[i[p]]", True),
    "assigned in parts that overlap": (
        "for p < 12: a[p + 8] = x[p]\nfor p < 9: a[p] = x[p]\nfor p < 20: z[p] = a[i[p]]",
        True,
    ),
    "assigned in parts in a sequential loop": (
        "loop n < 3:\n    a[19] = x[n]\n    for p < 19: a[p] = x[p]\n    for p < 20: z[p] += a[i[p]]",
        True,
    ),
    "rows of a matrix": ("for p < 6: A[0, p] = x[p]\nfor p < 19, c < 6: A[p + 1, c] = x[p]\nz[0] = A[i[0], 2]", True),
    "a gap between parts": ("a[0] = x[3]\nfor p < 18: a[p + 2] = x[p]\nfor p < 20: z[p] = a[i[p]]", False),
    "read between parts": ("a[0] = x[3]\nz[0] = a[i[0]]\nfor p < 19: a[p + 1] = x[p]", False),
    "a part that reads the other one": ("a[0] = x[3]\nfor p < 19: a[p + 1] = x[p] + a[i[p]]", False),
    "parts of different axes": ("for p < 6: A[0, p] = x[p]\nfor p < 19: A[p + 1, 0] = x[p]\nz[0] = A[i[0], 2]", False),
    "the last ones": ("loop parallel 2 <= p < 20:\n    a[p] = x[p]\nfor p < 20: z[p] = a[i[p]]", False),
    "a diagonal": ("for p < 6: A[p, p] = x[p]\nz[0] = A[i[0], 2]", False),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_assigned_as_a_whole_may_be_read_anywhere(name):
    text, is_so = WHOLE[name]
    program, *_ = sample(text)
    buffer = program.buffers["A" if "A[" in text else "a"]
    assert carries_no_value(program.body, buffer) == is_so
