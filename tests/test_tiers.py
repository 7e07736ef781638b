"""The default run has some of many cases alike, `-m long` all others, and neither compiles what the other runs."""

import pytest

from tests.helpers_tiers import chosen, packed, packs, some

NUMBERS = range(1, 13)


def is_long(parameter):
    return pytest.mark.long.mark in parameter.marks or pytest.mark.long in parameter.marks


def of(parameters, long):
    return [one.values[-1] for one in parameters if is_long(one) == long]


def test_without_kinds_it_is_a_stride():
    assert [n for n, is_in in zip(NUMBERS, chosen(NUMBERS, 4), strict=True) if is_in] == [1, 5, 9]
    assert chosen([], 4) == []


def test_the_first_of_each_kind_is_there_and_others_in_turn():
    words = ["a1", "a2", "a3", "b1", "b2", "b3", "c1"]
    kept = [w for w, is_in in zip(words, chosen(words, 3, kind=lambda w: w[0]), strict=True) if is_in]
    # The third of the others a2, a3, b2, b3.
    assert kept == ["a1", "b1", "b2", "c1"]


def test_parameters_that_are_left_out_are_long():
    parameters = some(NUMBERS, 4)
    assert (of(parameters, False), len(of(parameters, True))) == ([1, 5, 9], 9)
    assert [one.values for one in some([("x", 1), ("y", 2)], 2)] == [("x", 1), ("y", 2)]


def test_packs_have_one_tier_and_one_sort():
    made = list(packs(NUMBERS, 2, 3, together=lambda n: n % 2))
    assert [(pack.values, pack.is_default) for pack in made] == [
        ([1, 7], True),
        ([4, 10], True),
        *(([2, 6], False), ([8, 12], False), ([3, 5], False), ([9, 11], False)),
    ]
    parameters = packed(made)
    assert sorted(of(parameters, False) + of(parameters, True)) == list(NUMBERS)
    assert all(one.values[1] in made[one.values[0]].values for one in parameters)
    assert all(is_long(one) != made[one.values[0]].is_default for one in parameters)
