"""Pytrees: values are flattened to leaves and rebuilt from them."""

import pytest

from sdfgad.parse import trees
from sdfgad.parse.values import UNDEFINED, MaybeBound

NESTED = (1, [2, {"a": 3, "b": (4, 5)}], "text")


def test_leaves_in_order():
    assert trees.leaves(NESTED) == [1, 2, 3, 4, 5, "text"]
    assert trees.leaves(7) == [7]
    assert trees.leaves(()) == []


def test_rebuilt_has_the_structure_and_the_new_leaves():
    assert trees.rebuilt(NESTED, "abcdef") == ("a", ["b", {"a": "c", "b": ("d", "e")}], "f")
    maybe = trees.rebuilt(MaybeBound((1, 2), True), [5, 6, False])
    assert (maybe.value, maybe.bound) == ((5, 6), False)


def test_what_is_undefined_takes_the_structure_of_the_others():
    assert trees.matched([(1, (2, 3)), UNDEFINED]) == [(1, (2, 3)), (UNDEFINED, (UNDEFINED, UNDEFINED))]
    assert trees.matched_like((1, 2), [UNDEFINED]) == [(UNDEFINED, UNDEFINED)]
    assert trees.matched([1, UNDEFINED]) == [1, UNDEFINED]


@pytest.mark.parametrize("other", [(1,), [1, 2], {"a": 1, "b": 2}])
def test_other_structures_do_not_match(other):
    assert trees.matched([(1, 2), other]) is None


@pytest.mark.parametrize("values", [[1, (2, 3)], [(1, 2), (3, (4, 5))]])
def test_a_number_does_not_match_a_tuple(values):
    assert trees.matched(values) is None


def test_dicts_match_by_their_keys_in_order():
    assert trees.matched([{"a": 1, "b": 2}, {"b": 1, "a": 2}]) is None
    assert trees.matched([{"a": 1}, {"a": 2}]) == [{"a": 1}, {"a": 2}]
