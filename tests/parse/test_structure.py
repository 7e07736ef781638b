"""Structures of containers: their leaves, the names of these, and containers rebuilt from other leaves."""

import dataclasses
import enum
import types
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest

from sdfgad.errors import ArgumentError
from sdfgad.parse.structure import build, container, flattened, identifier, names, part_named, path_of


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass(frozen=True)
class Layer:
    w: np.ndarray
    b: float = 0.0


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Derived(Slotted):
    def __init__(self, a, c):
        super().__init__(a)
        self.c = c


class Color(enum.Enum):
    RED = 1


VALUES = {
    "a dict": ({"w": 1.0, "b": 2.0}, ["p['w']", "p['b']"]),
    "an ordered dict": (OrderedDict(w=1.0), ["p['w']"]),
    "a list": ([1.0, [2.0, 3.0]], ["p[0]", "p[1][0]", "p[1][1]"]),
    "a tuple": ((1.0, ()), ["p[0]"]),
    "a named tuple": (Point(1.0, 2.0), ["p.x", "p.y"]),
    "a dataclass": (Layer(1.0, 2.0), ["p.w", "p.b"]),
    "slots": (Slotted(1.0), ["p.a"]),
    "slots and a dict": (Derived(1.0, 2.0), ["p.a", "p.c"]),
    "a namespace": (types.SimpleNamespace(x=1.0, y="text"), ["p.x", "p.y"]),
    "nested": (
        {"layers": [Layer(1.0), Layer(2.0)], 3: None},
        [
            "p['layers'][0].w",
            "p['layers'][0].b",
            "p['layers'][1].w",
            "p['layers'][1].b",
            "p[3]",
        ],
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_leaves_names_and_what_is_rebuilt(name):
    value, expected = VALUES[name]
    structure, found = flattened(value, "p")
    assert list(names(structure, "p")) == expected
    assert len(found) == len(expected)
    for text, leaf in zip(expected, found, strict=True):
        assert eval(text, {"p": value}) is leaf
    again = build(structure, iter(found), container)
    assert type(again) is type(value)
    assert flattened(again, "p") == (structure, found)
    assert hash(flattened(again, "p")[0]) == hash(structure)


@pytest.mark.parametrize("value", [1.0, None, "text", len, np, {1, 2}, Color.RED, Point, range(3)])
def test_what_is_no_container(value):
    assert flattened(value, "p") == (None, [value])


def test_structures_differ_in_class_keys_and_order():
    found = {flattened(v, "p")[0] for v in ({"a": 1, "b": 2}, {"b": 1, "a": 2}, [1, 2], (1, 2), Point(1, 2), {"a": 1})}
    assert len(found) == 6


def test_a_container_in_itself():
    value = [1.0]
    value.append(value)
    with pytest.raises(ArgumentError, match="the argument `p` is nested too deeply, or contains itself"):
        flattened(value, "p")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", ("p", ())),
        ("p.w", ("p", ("w",))),
        ("p['w'][0].b", ("p", ("w", 0, "b"))),
        ("p[-1]", ("p", (-1,))),
        ("return[1]", ("return", (1,))),
        ("returned.x", ("returned", ("x",))),
        ("p[", None),
        ("p[k]", None),
        ("p + 1", None),
        ("f(p)", None),
    ],
)
def test_paths(text, expected):
    assert path_of(text) == expected


def test_parts_by_path():
    structure, _ = flattened({"layers": [Layer(1.0)]}, "p")
    assert part_named(structure, "p", ("layers", 0, "w")) == (None, "p['layers'][0].w")
    assert part_named(structure, "p", ("layers",)) == (structure.parts[0], "p['layers']")
    assert part_named(structure, "p", ("layers", 1)) is None
    assert part_named(structure, "p", ("layers", 0, "w", 0)) is None


def test_names_for_code():
    assert identifier("params['w'][0].b") == "params_w_0_b"
    assert identifier("größe") == "größe"
