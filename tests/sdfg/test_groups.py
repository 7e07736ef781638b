"""The groups of an SDFG that the viewer shades: what is stored, made again, and kept of loops."""

import json

import dace
import numpy as np
import pytest
from dace.sdfg.nodes import AccessNode

import sdfgad
from sdfgad.sdfg.groups import KEPT, RECOMPUTED, STORED

X = np.linspace(0.1, 1.0, 64)
ARGS = (50, X, X * 0.5)


def program(steps, u, a):
    y = np.exp(a)
    for _ in range(steps):
        d = np.sin(u) * y
        u = u + 0.1 * d * d
    return np.sum(u * y)


def sdfg_of(*args, function=program, **options):
    g = sdfgad.differentiate(function, **options)
    call, made = g._bind_and_specialise(args, {})
    return g.sdfg(*args), made.layout(call).gradient_program


def groups(sdfg):
    """Name -> colour, and the arrays of its nodes with how many there are of each, in all nested SDFGs."""
    found = {}
    for nested in sdfg.all_sdfgs_recursive():
        for group in nested.logical_groups:
            shade, arrays = found.setdefault(group.name, (group.color, []))
            assert shade == group.color
            arrays += [node.data for node in nodes_of(nested, group)]
    return found


def nodes_of(sdfg, group):
    """The access nodes with a group's numbers; a state's number is one within its loop or branch."""
    states = {}
    for state in sdfg.states():
        states.setdefault(state.parent_graph.node_id(state), []).append(state)
    for state_number, number in group.nodes:
        fitting = [s for s in states[state_number] if number < s.number_of_nodes()]
        assert fitting
        yield from (s.node(number) for s in fitting if isinstance(s.node(number), AccessNode))


@pytest.fixture(scope="module")
def coloured():
    return sdfg_of(*ARGS, strategy="recompute_all")


def test_all_that_is_stored_is_in_its_group():
    sdfg, made = sdfg_of(*ARGS, strategy="store_all")
    found = groups(sdfg)
    assert set(found) == {"stored"}
    shade, arrays = found["stored"]
    assert shade == STORED
    assert set(made.tapes.values()) <= set(arrays)


def test_each_kind_has_its_group_and_colour(coloured):
    sdfg, made = coloured
    found = groups(sdfg)
    assert {name: shade for name, (shade, _) in found.items()} == {
        "stored": STORED,
        "recomputed": RECOMPUTED,
        "kept states": KEPT,
    }
    assert set(found["recomputed"][1]) >= {new for names in made.copies for new in names.values()}
    states = {buffer.name for kept in made.checkpoints.values() for buffer, _ in kept.states.values()}
    assert set(found["kept states"][1]) >= states
    assert len(states) == 1


def test_groups_hold_every_access_to_their_arrays(coloured):
    sdfg, made = coloured
    tapes = set(made.tapes.values())
    nested = list(sdfg.all_sdfgs_recursive())
    nodes = [n for one in nested for state in one.states() for n in state.nodes()]
    count = sum(isinstance(n, AccessNode) and n.data in tapes for n in nodes)
    stored = [group for one in nested for group in one.logical_groups if group.name == "stored"]
    # One to write, one to read; they may share their numbers with others in other loops.
    assert sum(len(group.nodes) for group in stored) == count >= 2


def test_a_program_that_keeps_nothing_has_no_groups():
    def linear(steps, u, a):
        for _ in range(steps):
            u = 0.5 * u + a
        return np.sum(u)

    assert groups(sdfg_of(*ARGS, function=linear)[0]) == {}


def test_saved_sdfgs_keep_their_groups(coloured, tmp_path):
    sdfg, _ = coloured
    sdfg.save(str(tmp_path / "made.sdfg"))
    loaded = dace.SDFG.from_file(str(tmp_path / "made.sdfg"))
    for inner, kept in zip(loaded.all_sdfgs_recursive(), sdfg.all_sdfgs_recursive(), strict=True):
        assert [(g.name, g.color) for g in inner.logical_groups] == [(g.name, g.color) for g in kept.logical_groups]
        for mine, other in zip(inner.logical_groups, kept.logical_groups, strict=True):
            assert [tuple(pair) for pair in mine.nodes] == [tuple(pair) for pair in other.nodes]
    assert groups(loaded) == groups(sdfg)


def test_the_viewer_of_dace_finds_what_it_asks_for(coloured):
    saved = json.loads(json.dumps(coloured[0].to_json()))
    for group in saved["attributes"]["logical_groups"]:
        assert {"nodes", "states", "name", "color"} <= group.keys()
