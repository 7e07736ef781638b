"""Names that a branch in a loop binds, and that the other side of the branch reads in a later trip."""

import textwrap

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnboundVariable
from tests.helpers import line_of, module_from
from tests.helpers_ir import assert_value_and_slope


def other_side(x):
    known, s = 0, x[0]
    for i in range(5):
        if x[1] > i:
            m = i * x[0]
            known = 1
        elif known == 1:
            s = s * m + x[2]
    return s


def in_a_while(x):
    state, s, n = 0, x[0], 0
    while True:
        n += 1
        if n > 9 or s > 20.0:
            break
        if x[1] > n or state == 0:
            state, m = 1, 1
            s = s * 1.1
        else:
            if state == 2:
                s = s * (1.0 + m * 0.1)
            else:
                m = 1
            for _ in range(m):
                s = s + 0.1 * x[2]
                if s > 15.0:
                    break
            state = 2
            m = min(m + 1, 4)
    return s


def arrays(x):
    seen, s = False, 0.0
    for i in range(4):
        if x[i % 3] < 1.5:
            kept = x * (i + 1.0)
            seen = True
        else:
            if seen:
                s += np.sum(kept**2)
            kept = x[::-1]
            seen = True
    return s + np.sum(kept)


def bound_anew_behind(x):
    """Velocity Verlet: the first trip computes the forces, the others have those of the trip before."""

    def forces(q):
        return -q * x[2], np.sum(q * q)

    v, q, total = x * 0.1, x * 1.0, 0.0
    for step in range(20):
        if step % 5 == 0:
            f, energy = forces(q)
        v += 0.05 * f
        q += 0.1 * v
        f, energy = forces(q)
        v += 0.05 * f
        total += energy
    return total


def bound_anew_behind_a_loop(x):
    v = x * 0.1
    for step in range(12):
        for j in range(3 if step == 0 else 0):
            f = np.sin(v) * j
        v += 0.05 * f
        f = v * x[0]
    return v @ x


def bound_anew_by_a_function(x):
    v = x * 0.1

    def bind():
        nonlocal f
        f = v * x[0]

    for step in range(6):
        if step % 4 == 0:
            f = np.sin(v)
        v += 0.05 * f
        bind()
    return v @ x


def bound_anew_in_a_while(x):
    v, k = x * 0.1, 0
    while v[0] < 0.3:
        if k % 3 == 0:
            f = (np.sin(v), 2.0)
        v += 0.05 * f[0] * f[1]
        f = (v * x[1], 1.5)
        k += 1
    return v @ x


def read_by_a_loop_that_the_first_trip_skips(x):
    total = 0.0
    for k in range(9):
        for j in range(k):
            if x[j % 3] > 0.6:
                total += before * x[j % 3]  # noqa: F821
        total *= 0.9
        before = x[k % 3]  # noqa: F841
    return total


BOUND_ANEW = [
    read_by_a_loop_that_the_first_trip_skips,
    bound_anew_behind,
    bound_anew_behind_a_loop,
    bound_anew_by_a_function,
    bound_anew_in_a_while,
]


@pytest.mark.parametrize("program", [other_side, in_a_while, arrays, *BOUND_ANEW])
@pytest.mark.parametrize("x", [[1.3, 2.5, 0.8], [1.6, 0.5, 2.8]])
def test_read_in_a_later_trip(program, x):
    assert_value_and_slope(program, np.array(x))


def test_compiled_gradient():
    x, steps = np.array([1.3, 2.5, 0.8]), np.eye(3) * 1e-6
    value, gradient = sdfgad.differentiate(in_a_while, wrt="x").value_and_grad(x)
    assert np.isclose(value, in_a_while(x), rtol=1e-13)
    differences = [(in_a_while(x + e) - in_a_while(x - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(gradient, differences, rtol=1e-7)


def read_too_early(x):
    s = x[0]
    for i in range(5):
        if x[1] > i:
            m = x[0] * (i + 1.0)
        elif i > 0:
            s = s * m
    return s


def test_what_no_trip_has_bound_is_an_error_as_in_python():
    g = sdfgad.differentiate(read_too_early, wrt="x")
    assert np.isclose(g.value(np.array([1.3, 2.5, 0.8])), read_too_early(np.array([1.3, 2.5, 0.8])))
    with pytest.raises(UnboundLocalError):
        read_too_early(np.array([1.3, -0.5, 0.8]))
    with pytest.raises(UnboundVariable, match="`m` has no value here") as caught:
        g(np.array([1.3, -0.5, 0.8]))
    assert line_of(read_too_early, "s = s * m") in str(caught.value)


# Loops whose trips are parsed one by one: a later trip reads, at an earlier place, what a branch leaves.
HEADS = {
    "list": "for _ in ['u', 'v', 'w']:",
    "range": "for _ in range(3):",
    "while": "i = 0\nwhile i < 3:\n    i += 1",
}
ALIASED = """    s = s + np.sum(a * b)
    if x[0] > 1.0 - k:
        b = a
    else:
        b = np.sin(x)
    b += 1.0
    k += 0.5
return s + np.sum(b)"""
ALIASED_IN_THE_BRANCH = """    if x[0] > 1.0 - k:
        s = s + np.sum(a * b)
        b = a
    else:
        b = np.sin(x)
    b[0] = 0.3 * s
    k += 0.5
return s + np.sum(b)"""
BOUND_IN_THE_BRANCH = """    if x[0] > 0.1 + k:
        c = x * 2.0 + k
    elif k > 0.0:
        s = s + np.sum(c * c)
    k += 0.5
return s + np.sum(a * b)"""


@pytest.mark.parametrize("body", [ALIASED, ALIASED_IN_THE_BRANCH, BOUND_IN_THE_BRANCH])
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("first", [0.3, 0.7, 1.2])
def test_names_that_the_next_trip_of_an_unrolled_loop_reads(head, body, first, tmp_path):
    lines = f"a, b, s, k = x * 1.0, x * 2.0, 0.0, 0.0\n{head}\n{body}"
    text = "import numpy as np\n\n\ndef program(x):\n" + textwrap.indent(lines, "    ")
    program = module_from(text, tmp_path).program
    x = np.array([first, 2.0, 3.0])
    assert_value_and_slope(program, x)


def read_in_another_loop(x):
    s, h = x[0], 0.0
    while s < 5.0:
        k = 3
        s = s * 2.0 + 0.1
    for i in range(len(x)):
        h = h + x[k % 2] * x[i]
    return s + k * h


def test_a_name_of_a_loop_that_another_loop_reads_and_what_follows_it():
    assert_value_and_slope(read_in_another_loop, np.array([0.3, 1.0, 2.0]))


def of_levels(x, a, n):
    """Names of loops that break, one after the other; their arrays differ in shape."""
    for matrix in (a, a[:2, :2]):
        x = x[: matrix.shape[0]]
        for _ in range(n):
            r = matrix @ x
            x = x - 0.1 * r
            if np.linalg.norm(r) < 1e-6:
                break
    return np.sum(r**2) + x[0]


def test_a_name_of_two_loops_that_break_is_bound_where_they_have_a_trip():
    a = np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3)
    g = sdfgad.differentiate(of_levels, wrt=("x", "a"))
    np.testing.assert_allclose(g.value(np.ones(3), a, 3), of_levels(np.ones(3), a, 3), rtol=1e-13)
    with pytest.raises(UnboundVariable, match="`r` may have no value here") as caught:
        g(np.ones(3), a, 0)
    assert "return np.sum(r**2) + x[0]" in str(caught.value)
