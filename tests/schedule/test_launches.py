"""Which statements share a launch."""

import numpy as np
import pytest

import sdfgad
from sdfgad.ir.program import Loop, walk
from sdfgad.optimise.passes import optimise
from sdfgad.schedule import launches as module
from sdfgad.schedule.kernels import Form
from sdfgad.schedule.launches import launches


def independent(steps, a, b):
    for _ in range(steps):
        a[1:] = a[1:] * 0.5
        b[1:] = np.sin(b[1:])
        a[0] = a[0] * 2.0
        b[0] = b[0] + a[0]
    return np.sum(a * b)


@pytest.fixture
def block(rng):
    """The block of a sequential loop, and the buffers of its program."""
    x = rng.normal(size=40_000)
    g = sdfgad.differentiate(independent, device="gpu")
    program = optimise(g.programs(3, x, x.copy())[1])
    loop = next(s for s in walk(program.body) if isinstance(s, Loop) and not s.is_parallel)
    return loop.body, program.buffers


def kernels(found):
    return [launch for launch in found if launch.form is not Form.HOST]


def test_independent_statements_share_a_launch_and_dependent_ones_do_not(block):
    found = kernels(launches(*block))
    assert len(found) < len(block[0])
    for launch in found:
        if launch.form is Form.POINTS:
            pairs = [(a, b) for k, a in enumerate(launch.statements) for b in launch.statements[:k]]
            assert all(module.are_independent(a, b) for a, b in pairs)


def test_all_statements_are_launched_once_and_in_an_order_that_keeps_dependences(block):
    statements, buffers = block
    order = [s for launch in launches(statements, buffers) for s in launch.statements]
    assert sorted(map(id, order)) == sorted(map(id, statements))
    for k, late in enumerate(order):
        for early in order[:k]:
            if statements.index(early) > statements.index(late):
                assert module.are_independent(early, late)


def test_a_launch_has_no_more_buffers_than_a_kernel_has_parameters(block, monkeypatch):
    monkeypatch.setattr(module, "MOST_BUFFERS", 1)
    assert all(len(launch.statements) == 1 for launch in launches(*block))
