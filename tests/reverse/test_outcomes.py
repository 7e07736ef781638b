"""Outcomes of comparisons are kept in place of what was compared, where that is less."""

import numpy as np
import pytest

import sdfgad
from sdfgad.gradient.assemble import assemble
from sdfgad.ir.text import program_text
from sdfgad.optimise.passes import optimise
from sdfgad.reverse.adjoint import differentiate_program
from tests.helpers_ir import evaluated_gradients, floating, parsed

X, Y, N = np.linspace(-0.9, 1.1, 6), np.linspace(0.5, -1.3, 6), 3
NAN, INF = np.nan, np.inf


def derived(program, *args, noting=True):
    primal = parsed(program, *args)
    wrt = [primal.inputs[name] for name in floating(primal)]
    output = primal.program.outputs["return"]
    return primal, differentiate_program(primal.program, primal.context, wrt, output, noting=noting)


def kept(program, *args, noting=True):
    """The dtypes of what is kept, by the statement's text."""
    _, adjoint = derived(program, *args, noting=noting)
    return sorted(adjoint.primal.buffers[key[1]].dtype.name for key in adjoint.residuals)


def gradients(program, *args, noting, passes=()):
    primal, adjoint = derived(program, *args, noting=noting)
    made = assemble(adjoint, tuple(primal.inputs[name] for name in floating(primal)), "return")
    cotangent = np.linspace(1.0, 2.0, 6)
    return evaluated_gradients(primal, made, cotangent, *args, passes=passes)


def shortest(x, y, n):
    for _ in range(n):
        x[:] = np.minimum(x, y + x[0])
    return x


def in_place(x, y, n):
    u = x + y
    u[u < y] = 0.0
    return u * 2.0


def repeated(x, y, n):
    u = x + 0.0
    for k in range(n):
        u = np.where((u > 0) & (u < y + k), u + y, u - 1.0)
    return u


def in_a_branch(x, y, n):
    u = x + 0.0
    for k in range(n):
        if k % 2 == 0:
            u[1:4] = np.maximum(u[1:4], y[2:5])
        u[:] = u[::-1] + y
    return u


def rectified_twice(x, y, n):
    for _ in range(n):
        x[:] = np.maximum(x, 0.0) + y
        x[:] = np.minimum(x, y)
    return x


NOTED = (shortest, in_place, repeated, in_a_branch, rectified_twice)
TIES = (np.array([0.0, 1.0, NAN, -1.0, INF, -INF]), np.array([0.0, 1.0, 1.0, NAN, INF, 2.0]))


@pytest.mark.parametrize("program", NOTED)
def test_a_byte_is_kept_in_place_of_a_number(program):
    assert "float64" in kept(program, X.copy(), Y, N, noting=False)
    assert "float64" not in kept(program, X.copy(), Y, N)


@pytest.mark.parametrize("program", NOTED)
@pytest.mark.parametrize("arrays", [(X, Y), TIES])
@pytest.mark.parametrize("passes", [(), (optimise,)])
def test_gradients_stay_the_same(program, arrays, passes):
    expected = gradients(program, *(a.copy() for a in arrays), N, noting=False)
    found = gradients(program, *(a.copy() for a in arrays), N, noting=True, passes=passes)
    np.testing.assert_array_equal(found[0], expected[0])
    for name, gradient in expected[1].items():
        # The passes may add up the same terms of the two programs in other orders.
        np.testing.assert_allclose(found[1][name], gradient, rtol=1e-14 if passes else 0, atol=0)


def test_one_outcome_is_a_boolean():
    assert kept(repeated, X.copy(), Y, N) == ["bool"]
    assert kept(shortest, X.copy(), Y, N) == ["uint8"]


def test_what_is_needed_anyway_is_not_noted():
    def program(x, y, n):
        for _ in range(n):
            x[:] = np.where(x > y, x * x, y)
        return x

    assert kept(program, X.copy(), Y, N) == kept(program, X.copy(), Y, N, noting=False) == ["float64"]


def test_what_another_statement_needs_is_not_noted():
    def program(x, y, n):
        for _ in range(n):
            d = np.sin(x)
            x[:] = np.maximum(x, 0.0) + d
        return x

    assert kept(program, X.copy(), Y, N) == ["float64"]


def test_what_is_not_kept_is_not_noted():
    def program(x, y, n):
        return np.maximum(x, y)

    _, adjoint = derived(program, X, Y, N)
    assert adjoint.residuals == {}
    assert not any("choice" in name for name in adjoint.primal.buffers)


def test_a_note_is_not_larger_than_what_it_replaces():
    def program(x, y, n):
        u = np.float64(0.0)
        for k in range(n):
            x[:] = np.where(u > 1.0, x * 2.0, x)
            u = u + y[k]
        return x

    assert "uint8" not in kept(program, X.copy(), Y, N)
    assert kept(program, X.copy(), Y, N) == kept(program, X.copy(), Y, N, noting=False)


@pytest.mark.parametrize("options", [{"strategy": "recompute_all"}, {"strategy": "revolve"}, {"memory_limit": 600}, {}])
def test_every_strategy_keeps_notes(options):
    g = sdfgad.differentiate(repeated, **options)
    expected = gradients(repeated, X.copy(), Y, N, noting=False)[1]
    found = g.vjp(X.copy(), Y, N, cotangent=np.linspace(1.0, 2.0, 6))
    for name, gradient in expected.items():
        np.testing.assert_allclose(found[name], gradient, rtol=1e-14)


def test_the_note_is_a_statement_of_the_program():
    _, adjoint = derived(shortest, X.copy(), Y, N)
    assert "_choice[p" in program_text(adjoint.primal)
