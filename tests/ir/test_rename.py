"""Renaming reaches every place where a buffer is named, and nothing else."""

import numpy as np

from sdfgad.ir.program import buffers_of, walk, written
from sdfgad.ir.rename import renamed
from tests.helpers_ir import parsed


def everything(x, idx, n):
    u, k = x * 1.0, idx * 1
    for _ in range(n):
        if u[k[0]] > 0.2:
            u[k] = np.sin(u[k[1]])
        for j in range(k[1]):
            u[j] += u[k[j]]
        u = np.linalg.solve(np.outer(u, u) + np.eye(3), u)
    while u[0] > 9.0:
        u = u * 0.5
    return u


ARGS = (np.linspace(0.3, 1.0, 3), np.array([2, 1, 0]), 2)


def mentioned(block):
    return {name for statement in walk(block) for name in buffers_of(statement)}


def test_all_places_are_renamed():
    body = parsed(everything, *ARGS).program.body
    names = {name: f"{name}_new" for name in mentioned(body)}
    assert mentioned(renamed(body, names)) == set(names.values())
    assert written(renamed(body, names)) == {names[name] for name in written(body)}


def test_each_buffer_alone_is_renamed():
    body = parsed(everything, *ARGS).program.body
    for name in mentioned(body):
        assert mentioned(renamed(body, {name: "new"})) == mentioned(body) - {name} | {"new"}


def test_a_swap_is_simultaneous_and_undone_by_itself():
    body = parsed(everything, *ARGS).program.body
    first, second = sorted(written(body))[:2]
    swapped = renamed(body, {first: second, second: first})
    assert swapped != body
    assert renamed(swapped, {first: second, second: first}) == body


def test_structure_and_lines_stay():
    body = parsed(everything, *ARGS).program.body
    other = renamed(body, {name: f"{name}_new" for name in mentioned(body)})
    assert [type(s) for s in walk(other)] == [type(s) for s in walk(body)]
    assert [s.where for s in walk(other)] == [s.where for s in walk(body)]


def test_no_names_and_unknown_names_change_nothing():
    body = parsed(everything, *ARGS).program.body
    assert renamed(body, {}) is body
    assert renamed(body, {"elsewhere": "new"}) == body
