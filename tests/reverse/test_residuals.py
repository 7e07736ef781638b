"""Which values must still be kept where others are made again."""

import numpy as np

from sdfgad.analysis.model import numbered
from sdfgad.reverse.residuals import NOTHING, Answers, asked
from tests.helpers_ir import adjoint_of, parsed

X, Y, N = np.linspace(0.3, 1.1, 5), np.linspace(0.5, 1.3, 5), 3


def vanishing(program, *args):
    """For each value that can be made again, by its last line: the lines whose tapes are not needed any more, and
    those whose tapes are needed only then."""
    adjoint = adjoint_of(parsed(program, *(args or (X, Y, N))))
    result = {}
    for recompute in adjoint.recomputable:
        other = adjoint.recomputing([recompute])
        gone, new = set(adjoint.residuals) - set(other.residuals), set(other.residuals) - set(adjoint.residuals)
        result[_line(adjoint, recompute.members[-1])] = (_lines(adjoint, gone), _lines(adjoint, new))
    return result


def _line(adjoint, number):
    return numbered(adjoint.primal.body)[number].where.text.strip()


def _lines(adjoint, keys):
    return {_line(adjoint, number) for number, _ in keys}


def test_the_tape_of_a_temporary_vanishes():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = np.sin(u)
            u = d * d * y
        return np.sum(u)

    assert vanishing(program) == {"d = np.sin(u)": ({"d = np.sin(u)"}, set())}


def test_what_it_is_made_of_must_be_kept_instead():
    def program(x, y, n):
        u, z = x * 1.0, y * 1.0
        for _ in range(n):
            d = z * 2.0
            u = u * d * d
            z = z + 1.0
        return np.sum(u * z)

    assert vanishing(program) == {"d = z * 2.0": ({"d = z * 2.0"}, {"z = z + 1.0"})}


def test_a_chain_vanishes_only_together():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            a = u * 2.0
            b = np.sin(a)
            u = b * b
        return np.sum(u)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    assert len(adjoint.recomputable) == 2
    taped = {buffer for _, buffer in adjoint.residuals}
    assert taped == {"a", "b"}
    assert _lines(adjoint, adjoint.recomputing(adjoint.recomputable).residuals) == {"u = b * b"}
    last = [recompute for recompute in adjoint.recomputable if recompute.buffers == {"b"}]
    assert {buffer for _, buffer in adjoint.recomputing(last).residuals} == {"a"}


def test_a_tape_that_another_reader_asks_for_stays():
    def program(x, y, n):
        u, h = x * 1.0, np.zeros(5)
        for _ in range(n):
            d = np.sin(u)
            u = d * d * y
            h = d
            h = np.sin(h)
        return np.sum(u * h)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    for recompute in adjoint.recomputable:
        made = adjoint.recomputing([recompute])
        for one in asked(made.primal, made.statement_adjoints, frozenset(made.residuals), made.recomputes):
            if Answers(made.recomputes).to(one) == NOTHING and one.request.access.buffer in recompute.buffers:
                assert one.number not in range(*recompute.block) or one.is_index


def test_nothing_again_is_the_same_adjoint():
    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            d = np.sin(u)
            u = d * d * y
        return np.sum(u)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    assert adjoint.recomputing([]) == adjoint
    assert adjoint.recomputing(adjoint.recomputable).recomputing([]).residuals == adjoint.residuals


def test_an_index_of_saved_values_is_kept_though_it_is_made_again():
    """It is read to put values back, and it may itself be made of these."""

    def program(x, y, n):
        u = x * 1.0
        for _ in range(n):
            k = np.argmax(u)
            u[k] = np.sin(u[k]) * y[k]
        return np.sum(u * u)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    made = adjoint.recomputing(adjoint.recomputable)
    statements = numbered(adjoint.primal.body)
    integers = {key for key in made.residuals if not adjoint.primal.buffers[key[1]].is_floating}
    assert integers
    assert all(statements[n].where.text.strip() == "k = np.argmax(u)" for n, _ in integers)


def test_outer_values_cover_their_readers_in_loops():
    def program(x, y, n):
        c = np.sin(x)
        u = y * 1.0
        for _ in range(n):
            u = np.sin(u) * c
        return np.sum(u)

    adjoint = adjoint_of(parsed(program, X, Y, N))
    (recompute,) = [a for a in adjoint.recomputable if a.is_outermost and a.members == (0,)]
    statements = numbered(adjoint.primal.body)
    assert all(recompute.covers(number, name) for number in range(len(statements)) for name in recompute.buffers)
    assert not recompute.covers(len(statements), next(iter(recompute.buffers)))
    assert not recompute.covers(0, "elsewhere")
