"""Arrays of strings, which are known before the run: groups of elements, and keys."""

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import UnsupportedProgram
from tests.helpers_ir import assert_value_and_slope

X = np.array([0.9, 0.6, 1.2, 0.7])
SPECIES = np.array(["oak", "fir", "oak", "elm"])


class Stand:
    def __init__(self, species):
        self.species = species


STAND = Stand(np.array([["oak", "fir"], ["oak", "elm"]]))


def means_of_groups(x):
    species = np.array(["oak", "fir", "oak", "elm"])
    labels, inverse, counts = np.unique(species, return_inverse=True, return_counts=True)
    return np.sum(np.bincount(inverse, weights=x) / counts * np.arange(1, 4)) + len(labels)


def by_masks(x):
    return sum(x[one == SPECIES].mean() ** 2 * k for k, one in enumerate(np.unique(SPECIES), 1)) + SPECIES.shape[0]


def as_keys(x):
    weights = {"oak": 1.0, "fir": x[0], "elm": 3.0}
    return sum(v * weights[one] for v, one in zip(x, SPECIES, strict=True))


def in_conditions(x):
    total = 0.0
    for k in range(4):
        if SPECIES[k] == "oak":
            total += x[k] ** 2
        elif SPECIES[k] in ("fir",):
            total += x[0]
    mask = np.where(SPECIES == "oak", 1.0, 0.5)
    return total + mask @ x + x[np.isin(SPECIES, ["oak", "elm"])].sum() + (SPECIES != "fir").sum()


def of_an_object(x):
    return sum(x.reshape(2, 2)[STAND.species == one].prod() for one in sorted(set(STAND.species.ravel())))


def put_together(x):
    names = np.concatenate([SPECIES, np.array(["ash"])])
    return np.append(x, x[0] * x[1])[np.argsort(names)] @ np.arange(5.0) + names.tolist().index("elm")


@pytest.mark.parametrize("program", [put_together, means_of_groups, by_masks, as_keys, in_conditions, of_an_object])
def test_value_and_slope(program):
    assert_value_and_slope(program, X)


def chosen(x):
    return len(np.where(x > 0.7, SPECIES, "none")[0]) * x[0]


def test_strings_that_data_chooses_are_refused():
    with pytest.raises(UnsupportedProgram, match=r"an array of strings beside data.*\n.*np.where.*\n.*Number"):
        sdfgad.differentiate(chosen)(X)


def test_later_calls_see_what_has_changed():
    g = sdfgad.differentiate(as_keys, wrt="x")
    assert np.isclose(g.value(X), as_keys(X))
    before = SPECIES[1]
    try:
        SPECIES[1] = "elm"
        assert np.isclose(g.value(X), as_keys(X))
    finally:
        SPECIES[1] = before
    assert np.isclose(g.value(X), as_keys(X))
