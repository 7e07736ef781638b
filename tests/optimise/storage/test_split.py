"""What lives within a trip has its own name where its buffer has other values elsewhere; what is read later has not."""

import itertools

import pytest

from sdfgad.ir.program import Node
from sdfgad.ir.text import program_text
from sdfgad.optimise.cleaning.dead_code import remove_dead_code
from sdfgad.optimise.storage.contract import contract
from sdfgad.optimise.storage.split import split
from tests.helpers_passes import assert_stays, check_passes
from tests.helpers_text import program_of, sample, tidy

FORWARD = """
        for f < 20: a[f] = x[f]
        for f < 20: z[f] = 0.0
        loop n < 6:
            loop parallel f < 20:
                T[f, n] = a[f]
                a[f] = sin(a[f])"""
LATER = (
    FORWARD
    + """
        loop backwards n < 6:
            loop parallel g < 20:
                a[g] = T[g, n]
                z[g] += cos(a[g])"""
)


def check(text, expected):
    program, arrays, _ = sample(text)
    changed = check_passes(program, arrays, passes=[split, contract])
    assert program_text(changed) == tidy(expected)


def test_a_value_that_is_put_back():
    changed = LATER.replace("a[g]", "a_1")
    check(LATER, changed)


def test_on_one_side_of_a_branch():
    text = (
        FORWARD
        + """
        loop backwards n < 6:
            if (n < 4):
                q = 1.0
            else:
                loop parallel g < 20:
                    a[g] = T[g, n]
                    z[g] += cos(a[g])
        """
    )
    check(text, text.replace("a[g]", "a_1"))


def test_twice_in_one_program():
    again = (
        LATER
        + """
        loop parallel h < 20:
            a[h] = (y[h] * 2.0)
            w[h] = (a[h] * a[h])
        """
    )
    check(again, again.replace("a[g]", "a_2").replace("a[h]", "a_1"))


def test_an_output_that_is_written_anew_later():
    text = """
        loop parallel f < 20:
            z[f] = (x[f] * 2.0)
            w[f] = (z[f] * z[f])
        for p < 20: z[p] = y[p]
        """
    check(text, text.replace("z[f]", "z_1"))


KEPT = {
    "read after the loop": LATER + "\n        q = a[3]\n",
    "read by the next trip of a loop around": FORWARD
    + """
        loop backwards n < 6:
            for g < 20: w[g] = a[g]
            loop parallel g < 20:
                a[g] = T[g, n]
                z[g] += cos(a[g])
        """,
    "read where a trip does not assign it": FORWARD
    + """
        loop backwards n < 6:
            if n < 4:
                loop parallel g < 20:
                    a[g] = T[g, n]
                    z[g] += cos(a[g])
            else:
                for g < 20: z[g] += a[g]
        """,
    "partly assigned before it is read again": FORWARD
    + """
        loop parallel g < 20:
            a[g] = y[g]
            z[g] += cos(a[g])
        for g < 19: a[g] = 1.0
        for g < 20: z[g] += a[g]
        """,
    "added to afterwards": FORWARD
    + """
        loop parallel g < 20:
            a[g] = y[g]
            z[g] += cos(a[g])
        for g < 20: a[g] += 1.0
        for g < 20: z[g] += a[g]
        """,
    "a branch asks": FORWARD
    + """
        loop parallel g < 20:
            a[g] = y[g]
            z[g] += cos(a[g])
        if a[3] > 0.0:
            q = 1.0
        else:
            q = 2.0
        """,
    "no axis for the trips": FORWARD
    + """
        loop parallel g < 6:
            for h < 20: a[h] = y[h]
            for h < 20: Z[h, g] = cos(a[h])
        """,
    "an output": """
        for p < 20: z[p] = y[p]
        loop parallel f < 20:
            z[f] = x[f] * 2.0
            w[f] = z[f] * z[f]
        """,
    "contract does it": """
        loop n < 6:
            loop parallel f < 20:
                a[f] = X[f, n]
                Z[f, n] = a[f]
        """,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    program, arrays, _ = sample(KEPT[name])
    check_passes(program, arrays, passes=[split, contract])
    assert_stays(split, KEPT[name])


def test_a_box_of_some_size_is_not_all_of_an_axis_of_any_size():
    text = """
loop parallel f < n + 4:
    T[f] = y[f]
    z[f] = T[f] * T[f]
for p < 4: T[p] = y[p] * 2.0
q = T[n + 3]
"""
    program = program_of(text, {"y": (6,), "z": (6,), "T": ("n + 4",), "q": ()}, ["y"], ["z", "q"], ["n"])
    assert split(program) == program
    assert remove_dead_code(program) == program


@pytest.mark.parametrize(("width", "is_split"), [(4096, True), (4097, False)])
def test_what_is_left_fits_into_a_thread(width, is_split):
    text = f"""
for f < 40, p < {width}: A[f, p] = X[f, p]
for f < 40, p < {width}: Z[f, p] = A[f, p] + A[-f + 39, p]
loop parallel g < 40:
    for p < {width}: A[g, p] = X[g, p] * 2.0
    for p < {width}: Z[g, p] += A[g, -p + {width - 1}] * A[g, p]
"""
    program = program_of(text, dict.fromkeys("AXZ", (40, width)), ["X"], ["Z"])
    assert (split(program) != program) == is_split


def test_no_buffer_that_nothing_mentions():
    program, _, _ = sample(KEPT["read by the next trip of a loop around"])
    assert split(program).buffers == program.buffers


def test_a_triangle_is_not_the_rows_below_a_counter_of_the_same_name():
    text = """
for h < 3, f < 6: Z[h, f] = 0.0
for h < 3, f < 6, p < 6: B[h, f, p] = X[f, p]
loop parallel h < 3:
    loop parallel f < 6:
        for p < f: B[h, f, p] = X[p, f] * 2.0
    loop f < 6:
        for g < 6, p < f: Z[h, g] += B[h, g, p]
"""
    program = program_of(text, {"B": (3, 6, 6), "X": (6, 6), "Z": (3, 6)}, ["X"], ["Z"])
    assert split(program) == program


def test_twice_as_many_statements_are_not_asked_four_times_as_often(monkeypatch):
    asked, compute = [], Node.__dict__["mentioned"].func

    def mentioned(statement):
        asked.append(statement)
        if "mentioned_" not in statement.__dict__:
            statement.__dict__["mentioned_"] = compute(statement)
        return statement.__dict__["mentioned_"]

    monkeypatch.setattr(Node, "mentioned", property(mentioned))

    def times(count):
        asked.clear()
        names = [f"t{k}" for k in range(count)]
        lines = [f"    for f < 6: {a}[f] = {a}[f] * x[f] + {b}[5]" for a, b in itertools.pairwise(names)]
        split(program_of("\n".join(["", "loop n < 4:", *lines]), dict.fromkeys(["x", *names], (6,)), ["x"], names[-1:]))
        return len(asked)

    assert times(80) < 3 * times(40)
