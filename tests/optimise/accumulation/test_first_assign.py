"""The first contribution to an adjoint assigns it; everything else is as before."""

import numpy as np
import pytest

from sdfgad.ir.expr import Const, Lin, Op, Read
from sdfgad.ir.program import Access, Branch, Buffer, Compute, Loop, Program
from sdfgad.ir.text import program_text
from sdfgad.optimise.accumulation.first_assign import assign_first
from tests.helpers import assert_close
from tests.helpers_ir import Interpreter, evaluated_gradients, gradient_of, parsed
from tests.helpers_passes import assert_becomes, check_passes
from tests.helpers_text import sample
from tests.parse.test_control import CASES

F64 = np.dtype(np.float64)
P, Q = Lin.symbol("p"), Lin.symbol("q")
N = Lin(4)


def read(buffer, *index):
    return Read(buffer, index, F64)


def product(x, y):
    return Op("multiply", (x, y), F64)


def clear(buffer="b", value=0.0):
    return Compute((("p", N),), Access(buffer, (P,)), Const(value, F64))


def add(value, buffer="b", index=(P,), params=(("p", N),)):
    return Compute(params, Access(buffer, index), value, "add")


def program(*body):
    buffers = {name: Buffer(name, (N,), F64) for name in "xbc"} | {"m": Buffer("m", (N, N), F64)}
    return Program("program", buffers, ("x", "m"), (), {"b": "b", "c": "c"}, body)


def outputs(made):
    inputs = {"x": np.array([0.5, 2.0, -1.0, 3.0]), "m": np.arange(16.0).reshape(4, 4)}
    run = Interpreter(made, inputs)
    return {name: np.nan_to_num(value, nan=77.0) for name, value in run.outputs.items()}


OTHER = Compute((("p", N),), Access("c", (P,)), read("x", P))
CHANGED = {
    "at once": (clear(), add(read("x", P))),
    "later": (clear(), OTHER, add(read("x", P)), add(product(read("x", P), read("x", P)))),
    "two": (clear(), clear("c"), add(read("x", P)), add(product(read("b", P), read("x", P)), "c")),
    "twice": (clear(), add(read("x", P)), OTHER, clear(), add(read("x", 3 - P))),
}
KEPT = {
    "a small part": (clear(), add(read("x", P), params=(("p", Lin(1)),))),
    "into another buffer": (clear(), add(product(read("b", P), read("x", P)), "c")),
    "another order": (clear(), add(read("x", P), index=(3 - P,))),
    "one place": (clear(), add(read("x", P), index=(Lin(0),))),
    "itself": (clear(), add(product(read("b", P), read("x", P)))),
    "read before": (clear(), Compute((("p", N),), Access("c", (P,)), read("b", P)), add(read("x", P))),
    "in a loop": (clear(), Loop("i", Lin(2), (add(read("x", P)),), (Lin.symbol("i"), 1 - Lin.symbol("i")))),
    "in a branch": (clear(), Branch(Const(True, np.dtype(bool)), (add(read("x", P)),), ())),
    "not zero": (clear(value=1.0), add(read("x", P))),
    "never added to": (clear(), OTHER),
}


@pytest.mark.parametrize("name", CHANGED)
def test_changed(name):
    made = program(*CHANGED[name])
    found = assign_first(made)
    assert not any(isinstance(s.value, Const) for s in found.body)
    for key, value in outputs(made).items():
        np.testing.assert_array_equal(outputs(found)[key], value)
    assert assign_first(found) == found


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    made = program(*KEPT[name])
    assert assign_first(made) == made


def test_text_of_the_first_contribution():
    assert program_text(assign_first(program(clear(), add(read("x", P))))) == "for p < 4: b[p] = x[p]"


def test_a_sum_clears_its_target_itself():
    assert_becomes(
        assign_first,
        """
        for p < 20: z[p] = 0.0
        for p < 20, c < 6: z[p] += X[p, c]
        q = -1e999
        for p < 20: q max= x[p]
        """,
        """
        for p < 20, c < 6: z[p] = sum of X[p, c]
        for p < 20: q max= all x[p]
        """,
    )


def test_a_large_part_is_assigned_and_the_rest_cleared():
    assert_becomes(
        assign_first,
        """
        for p < 20, c < 6: Z[p, c] = 0.0
        for p < 18, c < 5: Z[p + 1, c] += X[p, c]
        for p < 18, c < 5: Z[p, c] += X[p, c]
        """,
        """
        for p < 18, c < 5: Z[p + 1, c] = X[p, c]
        for p < 1, c < 6: Z[p, c] = 0.0
        for p < 1, c < 6: Z[p + 19, c] = 0.0
        for p < 18, c < 1: Z[p + 1, c + 5] = 0.0
        for p < 18, c < 5: Z[p, c] += X[p, c]
        """,
    )


MOVED = {
    "the place is read anew": """
        k = 0
        for p < 20, c < 6: Z[p, c] = 7.0
        for p < 20: Z[p, k] = 0.0
        k = 1
        for p < 20: Z[p, k] += x[p]
        """,
    "the other place of two": """
        for p < 20: z[p] = x[p]
        z[2] = 0.0
        w[2] = y[0]
        w[2] += z[0]
        z[0] = 0.0
        """,
    "an empty sum": """
        z[3] = 0.0
        for p < n: z[3] += x[p]
        for p < 0: z[4] = 0.0
        for p < 0: z[4] += x[p]
        """,
}


@pytest.mark.parametrize("name", MOVED)
def test_what_a_clear_does_is_not_lost(name):
    program, arrays, integers = sample(MOVED[name], **({"n": 0} if " n:" in MOVED[name] else {}))
    check_passes(program, arrays, integers, passes=[assign_first])


@pytest.mark.parametrize(("function", "size"), [(f, n) for f, _, n in CASES], ids=[c[0].__name__ for c in CASES])
def test_gradients_stay(rng, function, size):
    args = (rng.uniform(0.2, 1.2, size), 0.8)
    primal = parsed(function, *args)
    made = gradient_of(primal, [name for name in ("x", "s") if name in primal.inputs])
    value, expected = evaluated_gradients(primal, made, 1.5, *args)
    found_value, found = evaluated_gradients(primal, made, 1.5, *args, passes=(assign_first,), seed=5)
    assert_close(found_value, value)
    assert found.keys() == expected.keys()
    for name in expected:
        assert_close(found[name], expected[name], what=name)
