"""How statements run: what is a map, what a loop inside the tasklet, and what may be parallel."""

import numpy as np
import pytest

from sdfgad.ir.expr import INT, Const, Int, Lin, Op, Read, as_linear
from sdfgad.ir.program import Access, Buffer, Compute, computes
from sdfgad.schedule.loop_order import is_injective, is_single
from sdfgad.schedule.work import PARALLEL_WORK
from sdfgad.sdfg.kernels import kernel_of, only_element
from tests.helpers_ir import gradient_of, parsed

F64 = np.dtype(np.float64)
P, Q, I = (Lin.symbol(name) for name in "pqi")
MANY = PARALLEL_WORK


def buffer(name, *shape):
    return Buffer(name, tuple(map(Lin, shape)), F64)


BUFFERS = {
    b.name: b
    for b in (
        buffer("a", 30, 20),
        buffer("b", 20, 30),
        buffer("v", 20),
        buffer("w", 30),
        buffer("one", 1, 1),
        buffer("zero"),
        buffer("big", 2 * MANY),
        buffer("other", 2 * MANY),
        Buffer("idx", (Lin(2 * MANY),), INT),
    )
}


def read(name, *index):
    return Read(name, index, F64)


def kernel(target, value, accumulate=None, p=30, q=20):
    params = tuple((name, Lin(n)) for name, n in (("p", p), ("q", q)) if n)
    return kernel_of(Compute(params, target, value, accumulate), BUFFERS)


# --- maps and loops


def test_assignments_are_maps():
    found = kernel(Access("a", (P, Q)), read("b", Q, P))
    assert (found.outer, found.inner) == (("p", "q"), ())
    assert found.output == ("out_", False)
    assert list(found.accesses.values()) == [Access("b", (Q, P))]
    assert list(found.inputs.values()) == [False]


def test_sums_along_memory_are_loops_in_the_tasklet():
    found = kernel(Access("w", (P,)), read("a", P, Q), "add")
    assert (found.outer, found.inner) == (("p",), ("q",))
    assert "reduction(+ : total_)" in found.code
    assert "{q}" in found.code


def test_sums_across_memory_are_maps():
    found = kernel(Access("v", (Q,)), read("a", P, Q), "add")
    assert (found.outer, found.inner) == (("p", "q"), ())


@pytest.mark.parametrize("kind", ["maximum", "minimum"])
def test_extrema_are_not_vectorised(kind):
    found = kernel(Access("w", (P,)), read("a", P, Q), kind)
    assert found.inner == ("q",)
    assert "simd" not in found.code
    assert f"sdfgad::{kind}(total_" in found.code


def test_total_of_everything():
    found = kernel(Access("zero"), read("a", P, Q), "add")
    assert (found.outer, found.inner) == ((), ("p", "q"))
    assert not found.parallel


def test_one_point():
    found = kernel(Access("v", (I,)), read("v", I + 1), p=0, q=0)
    assert (found.outer, found.inner) == ((), ())
    assert list(found.accesses.values()) == [Access("v", (I + 1,))]


def test_indices_from_arrays_see_the_whole_buffer():
    place = as_linear(Read("idx", (P,), INT))
    found = kernel(Access("w", (place,)), read("w", place), q=0)
    assert found.output == ("out_", True)
    assert found.inputs[next(n for n, a in found.accesses.items() if a.buffer == "w")] is True


# --- parallel


def test_large_assignments_are_parallel():
    assert kernel(Access("big", (P,)), read("other", P), p=MANY, q=0).parallel
    assert not kernel(Access("big", (P,)), read("other", P), p=1000, q=0).parallel


def test_what_may_write_an_element_twice_is_not():
    place = as_linear(Read("idx", (P,), INT))
    assert not kernel(Access("big", (place,)), read("other", P), "add", p=MANY, q=0).parallel
    assert not kernel(Access("v", (Q,)), read("a", P, Q), "add", p=MANY).parallel
    wrapped = as_linear(Op("wrap", (Int(P), Int(MANY)), INT))
    assert not kernel(Access("big", (wrapped,)), read("other", P), "add", p=MANY, q=0).parallel


def test_elements_apart_by_a_stride_are():
    assert kernel(Access("big", (P.scaled(2),)), read("other", P), p=MANY, q=0).parallel
    assert kernel(Access("big", (MANY - P,)), read("other", P), "add", p=MANY, q=0).parallel


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((P, Q), True),
        ((Q, P), True),
        ((P + Q, Q), True),
        ((P + Q,), False),
        ((P.scaled(20) + Q,), False),
        ((P, P), False),
        ((P - P, Q), False),
        ((P.scaled(3) + I, -Q), True),
        ((P + as_linear(Read("idx", (P,), INT)), Q), False),
        ((P + as_linear(Read("idx", (Q,), INT)), Q), True),
        ((as_linear(Op("floor_divide", (Int(P), Const(2, INT)), INT)), Q), False),
    ],
)
def test_injective(index, expected):
    assert is_injective(index, ["p", "q"]) is expected
    # A true answer must be right.
    if expected and all(isinstance(atom, str) for lin in index for atom, _ in lin.terms):
        points = [
            tuple(lin.substitute({"p": p, "q": q, "i": 1}).const for lin in index) for p in range(5) for q in range(5)
        ]
        assert len(set(points)) == 25


# --- buffers of one element


def test_single():
    assert is_single(buffer("x"))
    assert is_single(buffer("x", 1, 1))
    assert is_single(buffer("x", 0))
    assert not is_single(buffer("x", 1, 2))
    assert not is_single(Buffer("x", (Lin.symbol("n"),), F64))
    assert only_element(buffer("x", 1, 1)) == Access("x", (Lin(0), Lin(0)))


def test_the_only_element_is_passed_by_value():
    found = kernel(Access("v", (Q,)), read("one", P - P, I - I), p=0)
    assert list(found.inputs.values()) == [False]
    found = kernel(Access("one", (P, Lin(0))), read("w", P), "add", p=1, q=0)
    assert found.output == ("out_", False)


def test_every_statement_of_a_gradient_has_a_kernel(rng):
    def program(m, x):
        for i in range(3):
            x[i:] = np.max(m[:, i:], axis=0) * x[i:]
        return np.sum(m @ x) + np.max(m)

    made = gradient_of(parsed(program, rng.uniform(0, 1, (4, 4)), rng.uniform(0, 1, 4)))
    for statement in computes(made.program.body):
        found = kernel_of(statement, made.program.buffers)
        names = {name for name, _ in statement.params}
        assert {*found.outer, *found.inner} == names
        assert set(found.inputs) == set(found.accesses)
