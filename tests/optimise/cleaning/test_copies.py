"""Copies are read through, and what ends in a copy is made there."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.expr import INT
from sdfgad.ir.program import computes, reads_of, walk
from sdfgad.ir.rename import renamed
from sdfgad.optimise.cleaning import copies
from sdfgad.optimise.cleaning.copies import forward_copies, make_in_place
from tests.helpers import assert_close
from tests.helpers_passes import assert_becomes, assert_stays, check_passes
from tests.helpers_text import program_of, sample


def test_what_a_copy_holds_is_read_where_it_comes_from():
    assert_becomes(
        forward_copies,
        """
        for p < 20: a[p] = x[p]
        for p < 20: b[p] = a[p]
        for p < 19: z[p] = a[p + 1] * b[p]
        z[19] = b[3]
        """,
        """
        for p < 20: a[p] = x[p]
        for p < 20: b[p] = x[p]
        for p < 19: z[p] = (x[p + 1] * x[p])
        z[19] = x[3]
        """,
    )


def test_constants_are_forwarded_and_sums_of_zeros_dropped():
    assert_becomes(
        forward_copies,
        """
        for p < 20: a[p] = 0.0
        for p < 20: z[p] = x[p]
        for p < 20: z[p] += a[p]
        for p < 20: z[p] += -a[p]
        s = 2.0
        for p < 20: z[p] += s
        """,
        """
        for p < 20: a[p] = 0.0
        for p < 20: z[p] = x[p]
        s = 2.0
        for p < 20: z[p] += 2.0
        """,
    )


STALE = {
    "the source changes": """
        for p < 20: z[p] = x[p]
        for p < 20: a[p] = z[p]
        z[3] = 5.0
        for p < 20: w[p] = a[p]
        """,
    "the copy changes": """
        for p < 20: a[p] = x[p]
        a[3] = 5.0
        for p < 20: z[p] = a[p]
        """,
    "it changes in a later trip": """
        for p < 20: a[p] = x[p]
        loop j < 3:
            for p < 20: z[p] = a[p]
            a[j] = 5.0
        """,
    "it changes in a branch": """
        for p < 20: a[p] = x[p]
        if x[0] > 0.0:
            a[1] = 5.0
        for p < 20: z[p] = a[p]
        """,
    "it is made in a branch": """
        for p < 20: a[p] = y[p]
        if x[0] > 0.0:
            for p < 20: a[p] = x[p]
        for p < 20: z[p] = a[p]
        """,
    "part of a copy": """
        for p < 20: a[p] = y[p] * 2.0
        for p < 19: a[p] = x[p]
        for p < 20: z[p] = a[p]
        """,
    "shifted": """
        a[19] = 0.0
        for p < 19: a[p] = x[p + 1]
        for p < 20: z[p] = a[p]
        """,
    "an update in place would read itself": """
        for p < 20: z[p] = x[p]
        for p < 20: a[p] = z[p]
        for p < 19: z[p + 1] = a[p]
        """,
    "a bound": """
        k = 3
        loop j < k:
            k = k + 1
            z[j] = x[j]
        """,
}


@pytest.mark.parametrize("name", STALE)
def test_what_may_have_changed_is_read_from_the_copy(name):
    program, arrays, _ = sample(STALE[name])
    check_passes(program, arrays, passes=[forward_copies])


def test_swap():
    text = """
        for p < 20: z[p] = x[p] * 2.0
        for p < 20: w[p] = x[p] + 1.0
        for p < 20: a[p] = z[p]
        for p < 20: z[p] = w[p]
        for p < 20: w[p] = a[p]
        """
    assert_stays(forward_copies, text)


def test_a_value_is_made_where_it_ends():
    assert_becomes(
        make_in_place,
        """
        for p < 20: a[p] = (x[p] * 2.0)
        loop j < 3:
            a[j] = y[j]
        for p < 20: z[p] = a[p]
        z[0] = 1.0
        """,
        """
        for p < 20: z[p] = (x[p] * 2.0)
        loop j < 3:
            z[j] = y[j]
        z[0] = 1.0
        """,
    )


NOT_IN_PLACE = {
    "an input": "for p < 20: z[p] = x[p]",
    "another output": """
        for p < 20: w[p] = x[p] * 2.0
        for p < 20: z[p] = w[p]
        """,
    "read later": """
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: z[p] = a[p]
        w[0] = a[0]
        """,
    "the target is in use": """
        z[0] = y[0]
        for p < 20: a[p] = x[p] * z[0]
        for p < 20: z[p] = a[p]
        """,
    "a part": """
        for p < 20: a[p] = x[p]
        for p < 19: z[p] = a[p]
        """,
    "another order": """
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: z[-p + 19] = a[p]
        """,
    "in a loop": """
        for p < 20: a[p] = x[p]
        loop j < 2:
            for p < 20: z[p] = a[p]
        """,
}


def test_positions_are_forwarded():
    program = program_of(
        """
        for p < 4, c < 3: a[p, c] = c - p
        for p < 4: b[p] = 3 - p
        loop j < 3:
            for p < 4: z[p, j] = x[b[p]] * a[p, j]
        """,
        {"x": (4,), "z": (4, 3), "a": (4, 3), "b": (4,)},
        ["x"],
        ["z"],
        dtypes=dict.fromkeys("ab", INT),
    )
    found = check_passes(program, {"x": np.arange(4.0)}, passes=[forward_copies])
    assert {read.buffer for s in walk(found.body) for read in reads_of(s)} == {"x"}


def test_positions_in_a_trip_are_not():
    program = program_of(
        """
        loop j < 3:
            for p < 4: a[p] = p + j
        for p < 4: z[p] = x[a[p] - 2] + 0.0
        """,
        {"x": (4,), "z": (4,), "a": (4,)},
        ["x"],
        ["z"],
        dtypes={"a": INT},
    )
    assert forward_copies(program) == program


@pytest.mark.parametrize("name", NOT_IN_PLACE)
def test_not_in_place(name):
    assert_stays(make_in_place, NOT_IN_PLACE[name])


def test_copies_of_copies_end_in_one_place():
    program, arrays, _ = sample("""
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: b[p] = a[p]
        for p < 20: t[p] = b[p]
        for p < 20: z[p] = t[p]
        """)
    check_passes(program, arrays, passes=[make_in_place])
    assert make_in_place(make_in_place(program)) == make_in_place(program)


def test_all_copies_are_renamed_at_once(monkeypatch):
    """One walk for each copy took a time that grew with the square of the number of statements."""
    walks = []
    monkeypatch.setattr(copies, "renamed", lambda block, names: walks.append(names) or renamed(block, names))
    program, _, _ = sample("""
        for p < 20: a[p] = x[p] * 2.0
        for p < 20: b[p] = a[p]
        for p < 20: t[p] = b[p] + 1.0
        for p < 20: z[p] = t[p]
        """)
    assert len(make_in_place(program).body) == 2
    assert walks == [{"t": "z", "a": "b"}]


BACK = """
    for p < 20: b[p] = y[p]
    loop n < 3:
        for p < 20: a[p] = b[p]
        for p < 20: z[p] += a[p] * x[p]
        for p < 20: b[p] = a[p]
    for p < 20: w[p] = b[p]
    """


def test_a_copy_back_goes():
    program, arrays, _ = sample(BACK)
    found = check_passes(program, arrays, passes=[forward_copies])
    assert [s.target.buffer for s in computes(found.body)].count("b") == 1


@pytest.mark.parametrize("between", ["a[0] = 1.0", "b[0] = 1.0"])
def test_a_copy_back_of_what_has_changed_stays(between):
    back = "        for p < 20: b[p] = a[p]"
    program, arrays, _ = sample(BACK.replace(back, f"        {between}\n{back}"))
    found = check_passes(program, arrays, passes=[forward_copies])
    assert [s.target.buffer for s in computes(found.body)].count("b") == 2 + between.startswith("b")


def reversed_thrice(x):
    y = x * 0.9
    for _ in range(3):
        y = y[::-1]
        x[0] += 0.1
    return np.sum(y * np.arange(6.0)) + x[0]


def transposed_thrice(x):
    a = np.outer(x, np.arange(6.0))
    for _ in range(3):
        a = a.T
    return np.sum(a * np.arange(36.0).reshape(6, 6) * x)


def turned(x):
    a = np.outer(x, np.arange(6.0))
    for _ in range(3):
        a = np.rot90(a)
        a[0, 0] *= 2.0
    return np.sum(a * np.arange(36.0).reshape(6, 6) * x)


@pytest.mark.parametrize("program", [reversed_thrice, transposed_thrice, turned])
def test_what_loops_reverse_and_transpose_is_no_copy_back(program):
    """``t[p] = y[5 - p]; y[p] = t[p]`` was taken for a copy and a copy back, and the loop did nothing."""
    x = np.linspace(0.5, 1.7, 6)
    value, gradient = sdfgad.value_and_grad(program)(x)
    assert_close(value, program(x.copy()), 1e-13)
    steps = [(program(x + 1e-6 * e) - program(x - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
    assert_close(gradient, np.array(steps), 1e-7)
