"""Which values the reverse sweep may make again, and until where."""

import numpy as np

from sdfgad.analysis.model import numbered
from sdfgad.ir.program import writes_of
from tests.helpers_ir import adjoint_of, parsed
from tests.helpers_memory import case_of, options_of

X, Y, N = np.linspace(0.3, 1.1, 5), np.linspace(0.5, 1.3, 5), 3


def found(program, *args, output="return"):
    """What can be made again: the lines that make it -> the last line before whose adjoint it can be."""
    adjoint = adjoint_of(parsed(program, *(args or (X, Y, N))), output=output)
    statements = numbered(adjoint.primal.body)
    return {tuple(_line(statements[m]) for m in a.members): _line(statements[a.latest]) for a in adjoint.recomputable}


def _line(statement):
    return statement.where.text.strip()


def test_a_temporary_of_a_loop():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = np.sin(u)
            u = d * d * y
        return np.sum(u)

    assert found(program) == {("d = np.sin(u)",): "u = d * d * y"}


def test_the_latest_place_is_before_what_it_is_made_of_is_overwritten():
    def program(x, y, n):
        u, v = x * 1.0, y * 1.0
        for _ in range(n):
            d = np.sin(u)
            v = v * d + d * d
            u[:] = v * v * 0.1
            v[:] = np.sin(v)
        return np.sum(u * v)

    # After the adjoint of `u[:] = …` has put `u` back, that is.
    assert found(program) == {("d = np.sin(u)",): "u[:] = v * v * 0.1"}


def test_a_reader_after_that_place_forbids_it():
    def program(x, y, n):
        u, v = x * 1.0, y * 1.0
        for _ in range(n):
            d = np.sin(u)
            u[:] = v * v * 0.1
            v = np.sin(v * d)
        return np.sum(u * v)

    assert not any("d = np.sin(u)" in lines for lines in found(program))


def test_values_of_the_trip_before_cannot():
    def program(x, y, n):
        u, d = x * 1.0, y * 1.0
        for _ in range(n):
            u = u * np.sin(d)
            d = u * u
        return np.sum(u)

    assert found(program) == {}


def test_a_border_from_before_the_loop_cannot():
    def program(x, y, n):
        u, d = x * 1.0, np.zeros(5)
        for _ in range(n):
            d[1:-1] = np.sin(u[2:])
            u = u * d * d
        return np.sum(u)

    assert found(program) == {}


def test_parts_are_made_together():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = np.empty(5)
            d[::2] = np.sin(u[::2])
            d[1::2] = np.cos(u[1::2])
            u = d * d * y
        return np.sum(u)

    assert found(program) == {("d[::2] = np.sin(u[::2])", "d[1::2] = np.cos(u[1::2])"): "u = d * d * y"}


def test_a_value_that_changes_between_its_readers_cannot():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = np.sin(u)
            e = d * d
            d *= y
            u = u * d * e
        return np.sum(u)

    lines = {line for members in found(program) for line in members}
    assert "d = np.sin(u)" not in lines
    assert "d *= y" not in lines


def test_values_that_only_something_unneeded_reads_are_left_out():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = u * 2.0
            e = d + y
            u = e * 0.5
        return np.sum(u)

    assert found(program) == {}


def test_what_is_needed_to_make_something_else_is_found_too():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = u * 2.0
            e = np.sin(d + y)
            u = e * e
        return np.sum(u)

    assert ("d = u * 2.0",) in found(program)


def test_the_outermost_block():
    def program(x, y, n):
        c = np.sin(x)
        e = np.exp(c)
        w = c * e
        w[0] = 2.0
        return np.sum(w * e * y)

    assert set(found(program)) == {("c = np.sin(x)",), ("e = np.exp(c)",), ("w = c * e", "w[0] = 2.0")}


def test_nothing_of_the_outermost_block_that_is_made_of_what_changes():
    def program(x, y, n):
        w = x * y
        c = np.sin(w)
        w *= 2.0
        return np.sum(np.cos(w) * c)

    lines = {line for members in found(program) for line in members}
    assert "c = np.sin(w)" not in lines


def test_the_output_and_arguments_are_never_made_again():
    def program(x, y, n):
        out = np.sin(x)
        return out * 1.0, out * y

    for output in ("return[0]", "return[1]"):
        primal = parsed(program, X, Y, N)
        adjoint = adjoint_of(primal, output=output)
        kept = {primal.program.outputs[output], *primal.program.inputs}
        assert not any(kept & recompute.buffers for recompute in adjoint.recomputable)


def test_loops_that_a_test_ends_are_never_made_again():
    def program(x, y, n):
        u, s = x * 1.0, 1.0
        for _ in range(n):
            d = np.sin(u)
            while s < 3.0:
                s = s * 1.5
                d = d * s
            u = d * d
        return np.sum(u) * s

    assert not any("d = d * s" in lines for lines in found(program))


def test_a_loop_is_made_again_as_a_whole():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = np.zeros(5)
            for i in range(1, 5):
                d[i] = np.sin(u[i])
            u = d * d * y
        return np.sum(u)

    assert ("d = np.zeros(5)", "for i in range(1, 5):") in found(program)


def test_a_branch_makes_its_own():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            if u[0] > 0.1:
                d = np.sin(u)
                u = d * d * y
        return np.sum(u)

    assert ("d = np.sin(u)",) in found(program)


def test_every_choice_is_made_by_its_own_statements_alone():
    def program(x, y, n):
        u, v = x * 1.0, y * 1.0
        for _ in range(n):
            a = np.sin(u)
            b = a * v
            for k in range(1, 5):
                c = np.cos(b[k] * b[k - 1])
                v[k] = c * c
            u = a * b + v
        return np.sum(u * v)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    statements = numbered(adjoint.primal.body)
    assert len(adjoint.recomputable) == 2
    for recompute in adjoint.recomputable:
        buffers, members, (first, end) = recompute.buffers, recompute.members, recompute.block
        writers = {n for n, s in enumerate(statements) for access, _ in writes_of(s) if access.buffer in buffers}
        assert writers == set(members)
        assert first <= min(members) <= max(members) <= recompute.latest < end
        assert recompute.is_outermost == (recompute.block[0] == 0) == (not recompute.loops)


def test_two_that_cannot_both_be_made_again_are_in_conflict():
    def program(x, y, n):
        u, v = x * 1.0, y * 1.0
        for _ in range(n):
            d = np.sin(u)
            w = d * d
            u[:] = np.cos(u) * w
            v = np.sin(v) * w + d
        return np.sum(u * v)

    options = options_of(case_of(program, (X, Y, N)))
    # `w` may be made again after `u` has been overwritten, and is made of `d`, which then cannot.
    pairs = [[next(iter(options.inner[k].buffers)) for k in pair] for pair in options.conflicts]
    assert pairs == [["w", "d"]]
