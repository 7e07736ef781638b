"""Names that may stand for several arrays, one of which is updated: right, or refused."""

import numpy as np
import pytest

from sdfgad.errors import AmbiguousArray, Rebound, UnsupportedProgram
from tests.helpers import module_from
from tests.helpers_ir import assert_like_python, assert_value_and_slope, parsed


def swapped(x, s):
    a, b, g = x[1] * 1.0, x[2] * 1.0, x[3] * 1.0
    for _ in range(8):
        g, a, b = a, b, g
        g = b
        g *= s
    return a + 2.0 * b + 3.0 * g


def bound_in_an_inner_loop(x, s):
    b, prev = x[1] * 1.0, x[0]
    for _ in range(7):
        for _ in range(6):
            prev = b
        b += s
    return prev + b


def chosen_at_run_time(x, s):
    b, c = x[1] * 1.0, x[2] * 1.0
    g = c
    for t in range(7):
        g = c
        c = b if np.sum(c) > 0.1 else x[t]
        b += s
    return b * b + c * g


def chosen_and_kept_in_a_list(x, s):
    c, g = x[1] * 1.0, x[2] * 1.0
    items = [c if np.sum(x[2]) > 0.1 else g]
    c *= s
    g *= 3.0
    return items[0] * 1.0


def arguments():
    return np.random.default_rng(3).uniform(-0.5, 0.5, (8, 3)), 0.7


@pytest.mark.parametrize("program", [swapped, bound_in_an_inner_loop])
def test_aliases_that_loops_carry(program):
    assert_value_and_slope(program, *arguments())


@pytest.mark.parametrize(
    ("program", "line"),
    [(chosen_at_run_time, "`c` may.*\n.*g = c"), (chosen_and_kept_in_a_list, "list may.*\n.*return")],
)
def test_aliases_that_have_changed(program, line):
    with pytest.raises(AmbiguousArray, match=f"{line}"):
        parsed(program, *arguments())


def stacked_after_a_change(x, s):
    c, g = x[1] * 1.0, x[2] * 1.0
    items = [c if np.sum(x[2]) > 0.1 else g, x[3]]
    c *= s
    return np.stack(items)


def test_items_that_have_changed():
    with pytest.raises(AmbiguousArray, match="an item may stand for several arrays"):
        parsed(stacked_after_a_change, *arguments())


HEAD = "import numpy as np\nfrom functools import partial\n\ndef program(x, s):\n    a, b = x[1] * 1.0, x[2] * 1.0\n"
CHOICE = "a if np.sum(x[2]) > 0.1 else b"
# Bodies of programs, and the line that is quoted where they are refused.
STALE = {
    "popped": (f"L = [{CHOICE}]\na *= s\nreturn L.pop() * 2.0", "return L.pop()"),
    "looked up": (f"d = {{'k': {CHOICE}}}\na *= s\nreturn d.get('k') * 2.0", "return d.get"),
    "summed": (f"L = [{CHOICE}]\na *= s\nreturn sum(L)", "return sum"),
    "as an array": (f"L = [np.asarray({CHOICE})]\na *= s\nreturn L[0] * 2.0", "return L[0]"),
    "in another dtype": (
        "k = np.arange(3)\nL = [np.float64(a if np.sum(x[2]) > 0.1 else k)]\na *= s\nreturn L[0] * 2.0",
        "return L[0]",
    ),
    "without a copy": (
        "k = np.arange(3)\nL = [(a if np.sum(x[2]) > 0.1 else k).astype(np.float64, copy=False)]\n"
        "a *= s\nreturn L[0] * 2.0",
        "return L[0]",
    ),
    "a view": (f"L = [({CHOICE})[1:]]\na *= s\nu = L[0]\nreturn u * 2.0", "u = L[0]"),
    "in an operand": (
        f"def g(u):\n    u *= s\n    return u\nL = [{CHOICE}]\nreturn L[0] * g(a)",
        "return L[0]",
    ),
    "by a function, in a loop": (
        f"L = [{CHOICE}]\nf = partial(np.sum, L[0])\nt = 0.0\n"
        "for k in range(60):\n    t = t + f()\n    a += s\nreturn t",
        "for k",
    ),
    "by a closure, in a loop": (
        f"L = [{CHOICE}]\nz = L[0]\ndef f():\n    t = 0.0\n    for k in range(60):\n        t = t + z[0]\n"
        "        a[:] = a + s\n    return t\nreturn f()",
        "for k",
    ),
}
CURRENT = {
    "copies": f"L = [{CHOICE}]\nu, v, w = L[0].copy(), L[0] * 2.0, L[0][0]\na *= s\nreturn u + v + w",
    "read before": f"L = [{CHOICE}]\nu = np.sum(L[0]) + np.sum(sum(L))\na *= s\nreturn u * a",
    "by a function": f"f = partial(np.sum, {CHOICE})\nt = 0.0\nfor k in range(6):\n    t = t + f()\nreturn t * a",
    "an array without axes": "u = x[1, 0, ...]\nv = u.squeeze() if s > 0.5 else u * 2.0\nu += 1.0\nreturn v * 3.0",
    "updated without axes": "u = x[1, 0, ...]\nv = u\nif s > 0.5:\n    v = u[...]\nv += 1.0\nreturn u * v",
}


def program_of(body, folder):
    return module_from(HEAD + "\n".join(f"    {line}" for line in body.split("\n")), folder).program


@pytest.mark.parametrize("name", STALE)
def test_stale_copies_are_refused_wherever_they_are_read(name, tmp_path):
    body, line = STALE[name]
    with pytest.raises(AmbiguousArray, match="may stand for several arrays, chosen at run time") as caught:
        parsed(program_of(body, tmp_path), *arguments())
    assert caught.value.where.text.startswith(line)


@pytest.mark.parametrize("s", [0.7, 0.3])
@pytest.mark.parametrize("name", CURRENT)
def test_copies_that_are_current(name, s, tmp_path):
    program = program_of(CURRENT[name], tmp_path)
    assert_value_and_slope(program, arguments()[0], s)


ONE_ARRAY_AFTER_A_TRIP = {
    "names": ("b, c = x[1] * 1.0, x[2] * s", "b", "c", "b = c * 0.5 + x[0]\n    c = b"),
    "a view": ("b, c = x[1] * 1.0, x[2] * s", "b", "c", "b = c * 0.5 + x[0]\n    c = b[::-1]"),
    "items": (
        "p = {'b': x[1] * 1.0, 'c': x[2] * s}",
        "p['b']",
        "p['c']",
        "p['b'] = p['c'] + x[0]\n    p['c'] = p['b']",
    ),
    "parts": ("q = (x[1] * 1.0, x[2] * s)", "q[0]", "q[1]", "d = q[1] * 0.5 + x[0]\n    q = (d, d)"),
    "kept": ("b, c = x[1] * 1.0, x[2] * s", "b", "c", "if t == 2:\n        c = b\n    if t < 2:\n        b = c + x[0]"),
}


@pytest.mark.parametrize("name", ONE_ARRAY_AFTER_A_TRIP)
def test_one_array_under_two_names_after_a_trip(name, tmp_path):
    first, updated, read, body = ONE_ARRAY_AFTER_A_TRIP[name]
    text = (
        f"def program(x, s):\n    {first}\n    for t in range(5):\n        BODY\n    return {read} * 3.0 + {updated}\n"
    )
    body = body.replace("\n", "\n    ")
    x = np.random.default_rng(3).random((4, 5))
    assert_like_python(module_from(text.replace("BODY", body), tmp_path).program, x, 0.7)
    with pytest.raises(AmbiguousArray, match="chosen or re-bound at run time is updated in place"):
        parsed(module_from(text.replace("BODY", f"{updated}[0] *= 0.5\n        {body}"), tmp_path).program, x, 0.7)


def test_an_object_of_arrays_that_are_updated_in_the_next_trip(tmp_path):
    text = """
    class Pair:
        def __init__(self, u, v):
            self.u, self.v = u, v

    def program(x, s):
        a, b = x[0] * 1.0, x[1] * 1.0
        o = Pair(a, b)
        for t in range(3):
            a += a * s
            if b[1] > 0.1:
                o = Pair(x[2], x[1])
        return o.u + a
    """
    x = np.random.default_rng(3).random((4, 5))
    try:
        assert_like_python(module_from(text, tmp_path).program, x, 0.7)
    except (AmbiguousArray, Rebound) as error:
        assert "sdfgad fails" not in str(error)


@pytest.mark.parametrize("test", ["a is y", "a is not y", "operator.is_(a, y)", "y is a"])
@pytest.mark.parametrize(("kind", "of"), [("array", "{}"), ("list", "[{}]")])
def test_identity_that_is_decided_at_run_time(test, kind, of, tmp_path):
    text = f"""
    import operator
    import numpy as np
    def program(u, v):
        x, y, z = {of.format("u")}, {of.format("v")}, {of.format("u * 2.0")}
        if u[0] > 0.3:
            a = x
        else:
            a = y
        if TEST:
            return np.sum(a[0]) * 2.0
        return np.sum(a[0])
    """
    args = np.array([0.5, 2.0]), np.array([1.0, 3.0])
    with pytest.raises(UnsupportedProgram, match=r"`is` holds is known only at run time.*\n.*if .*\n.*flag"):
        parsed(module_from(text.replace("TEST", test), tmp_path).program, *args)
    for known in ("a is z", "a is None", "x is x", "x is y"):
        program = module_from(text.replace("TEST", known), tmp_path).program
        assert_value_and_slope(program, *args)
