"""Upward-exposed reads: what a block may read before it writes it, exactly where indices are affine."""

import numpy as np
import pytest

from sdfgad.analysis.exposure import exposed
from sdfgad.analysis.flow import AFTER, BEFORE, Request
from sdfgad.dependence.regions import overwrites
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Access, Loop, walk, writes_of, written
from tests.helpers_ir import parsed

X, N = np.linspace(0.3, 1.1, 6), 4


def exposed_in(program, *args):
    """What the first loop's body exposes of what it writes, as positions in the order of the first writes."""
    primal = parsed(program, *(args or (X, N)))
    loop = next(s for s in walk(primal.program.body) if isinstance(s, Loop))
    found = exposed(loop.body, written(loop.body), primal.program.buffers, primal.context, {})
    order = [access.buffer for statement in walk(loop.body) for access, _ in writes_of(statement)]
    order = [name for name in dict.fromkeys(order) if name != "status"]
    return {order.index(name) for name in found - {"status"}}


def whole(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        d[:] = u * 2.0
        u[:] = d * x
    return u


def border_is_read(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        d[1:-1] = x[2:]
        u[:] = d
    return u


def interior_is_read(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        d[1:-1] = x[2:]
        u[1:-1] = d[1:-1]
    return u


def two_parts_cover(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        d[:3] = x[:3]
        d[3:] = x[3:]
        u[:] = d
    return u


def two_parts_leave_one(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        d[:3] = x[:3]
        d[4:] = x[4:]
        u[:] = d
    return u


def loop_covers(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        for k in range(6):
            d[k] = x[k] * x[k]
        u[:] = d
    return u


def loop_leaves_the_first(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        for k in range(1, 6):
            d[k] = x[k] + d[k - 1]
        u[1:] = d[1:]
    return u


def loop_after_a_start(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        d[0] = x[0]
        for k in range(1, 6):
            d[k] = x[k] + d[k - 1]
        u[1:] = d[1:]
    return u


def one_branch_writes(x, n):
    u, d = x * 1.0, np.zeros(6)
    for _ in range(n):
        if x[0] > 0.5:
            d[:] = x
        u[:] = d
    return u


def both_branches_write(x, n):
    u, d = x * 1.0, np.zeros(6)
    for t in range(n):
        if t > 1:
            d[:] = x
        else:
            d[:] = 2.0 * x
        u[:] = d
    return u


def element_of_the_counter(x, n):
    u, d = x * 1.0, np.zeros(6)
    for t in range(n):
        d[t] = x[t]
        u[t] = d[t]
    return u


def element_before_the_counter(x, n):
    u, d = x * 1.0, np.zeros(6)
    for t in range(n):
        d[t] = x[t]
        u[t] = d[t - 1]
    return u


def accumulated(x, n):
    u = x * 1.0
    for _ in range(n):
        u += np.sin(x)
    return u


def index_that_is_data(x, n):
    u, d, i = x * 1.0, np.zeros(6), np.argsort(x)
    for t in range(n):
        d[i[t]] = x[t]
        u[:] = d
    return u


def only_written(x, n):
    u = x * 1.0
    for t in range(n):
        u[t] = 2.0
    return u


CASES = [
    (whole, {1}),
    (border_is_read, {0}),
    (interior_is_read, set()),
    (two_parts_cover, set()),
    (two_parts_leave_one, {0}),
    (loop_covers, set()),
    (loop_leaves_the_first, {0}),
    (loop_after_a_start, set()),
    # The first write is of a scalar: a condition, an index.
    (one_branch_writes, {1}),
    (both_branches_write, set()),
    (element_of_the_counter, set()),
    (element_before_the_counter, {0}),
    (accumulated, {0}),
    (index_that_is_data, {1}),
    (only_written, set()),
]


@pytest.mark.parametrize(("program", "expected"), CASES, ids=[case[0].__name__ for case in CASES])
def test_exposed(program, expected):
    assert exposed_in(program) == expected


def test_a_request_after_a_write_sees_it_and_one_before_does_not():
    primal = parsed(interior_is_read, X, N)
    loop = next(s for s in primal.program.body if isinstance(s, Loop))
    target = loop.body[0].target.buffer
    element = Access(target, (Lin(2),))
    for phase, expected in ((AFTER, frozenset()), (BEFORE, frozenset({target}))):
        requests = {0: [Request(element, (), phase)]}
        assert exposed(loop.body, {target}, primal.program.buffers, primal.context, requests) == expected


def test_a_request_for_the_border_is_answered_from_before():
    primal = parsed(interior_is_read, X, N)
    loop = next(s for s in primal.program.body if isinstance(s, Loop))
    target = loop.body[0].target.buffer
    for index, expected in ((0, {target}), (1, set()), (4, set()), (5, {target})):
        requests = {1: [Request(Access(target, (Lin(index),)), (), AFTER)]}
        assert exposed(loop.body, {target}, primal.program.buffers, primal.context, requests) == expected


def test_what_overwrites_a_buffer():
    primal = parsed(whole, X, N)
    buffers = primal.program.buffers
    loop = next(s for s in primal.program.body if isinstance(s, Loop))
    first, second = loop.body
    assert overwrites(first, buffers[first.target.buffer])
    assert not overwrites(first, buffers[second.target.buffer])
    assert not overwrites(loop, buffers[first.target.buffer])
    partial = next(s for s in parsed(border_is_read, X, N).program.body if isinstance(s, Loop)).body[0]
    assert not overwrites(partial, parsed(border_is_read, X, N).program.buffers[partial.target.buffer])


def test_a_transposed_write_is_exact(rng):
    def transposed(p, n):
        q, r = p * 1.0, p * 1.0
        for _ in range(n):
            q[:] = p.T
            r[:] = q
        return r

    assert exposed_in(transposed, rng.random((3, 3)), 2) == set()


def test_a_call_overwrites_its_outputs(rng):
    def solved(a, n):
        u = a[0] * 1.0
        for _ in range(n):
            u[:] = np.linalg.solve(a, u)
        return u

    # In order: the right-hand side, the solution, whether it failed, u.
    assert exposed_in(solved, np.eye(3) + rng.random((3, 3)), 2) == {3}
