"""Checks that there is room for what is written come before loops, once for each slot."""

import re

import numpy as np
import pytest

from sdfgad.optimise.passes import optimise
from sdfgad.targets.cpu.nests import nest_of
from tests.helpers_ir import gradient_of, parsed


def nests(program, *args, passes=None):
    """The nests of a gradient program, as one text."""
    program = gradient_of(parsed(program, *args), ("x",), "return").program
    program = optimise(program) if passes is None else optimise(program, passes)
    names = {name for s in program.body for name in s.mentioned}
    bounds = program.bounds
    return "\n".join(
        nest_of((s,), f"nest_{k}_", program.buffers, names, bounds).code for k, s in enumerate(program.body)
    )


def flat(x, bound):
    while np.sum(x) > bound:
        x[:] = np.sin(x)
        x[1:] = x[1:] * x[:-1]
    return np.sum(x)


def nested(x, bound):
    while np.sum(x) > bound:
        k = 0
        while k < 5 and x[k] > 0.3:
            x[k] = np.sin(x[k]) * x[k + 1]
            k += 1
        x[:] = np.sin(x)
    return np.sum(x)


def known(x, T):
    for _ in range(T):
        x[:] = np.sin(x)
    return np.sum(x)


def needs(text):
    return re.findall(r"need\((.*?), (\w+)\)", text)


@pytest.mark.parametrize("passes", [None, ()])
def test_once_in_each_trip(passes):
    text = nests(flat, np.ones(50), 3.0, passes=passes)
    assert len(needs(text)) == 1
    # Right where the trip begins, and so in no loop over elements.
    trip = text[text.index("need(") :]
    head = text[: text.index("need(")].rpartition("for (int64_t k = 0;")[2]
    assert "for (" not in head
    assert "tape_[" not in head
    assert "tape_[" in trip


@pytest.mark.parametrize("passes", [None, ()])
def test_each_loop_has_its_own(passes):
    found = needs(nests(nested, np.ones(50), 3.0, passes=passes))
    assert len({slot for slot, _ in found}) == len({total for _, total in found}) == 2


def test_none_where_the_number_is_known():
    assert not needs(nests(known, np.ones(50), 3))


def test_the_forward_sweep_alone_checks():
    text = nests(flat, np.ones(50), 3.0)
    forward, reverse = text.split("--n" if "--n" in text else "--", 1)
    assert needs(forward)
    assert not needs(reverse)
