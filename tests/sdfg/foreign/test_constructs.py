"""Each construct of SDFGs: read and differentiated as the NumPy function beside it, or refused by its name."""

import pytest

import sdfgad
from sdfgad.errors import UnsupportedGraph
from tests.helpers_graphs import assert_like, primal_of
from tests.sdfg.foreign.rows import CONSTRUCTS

READ = [one for one in CONSTRUCTS if one.reference]
REFUSED = [one for one in CONSTRUCTS if one.refusal]


@pytest.mark.parametrize("one", READ, ids=lambda one: one.name)
def test_what_is_read(one):
    assert_like(one.graph().sdfg, one.reference, one.wrt, "z", "return", **one.arguments)


@pytest.mark.parametrize("one", REFUSED, ids=lambda one: one.name)
def test_what_is_refused(one):
    with pytest.raises(UnsupportedGraph, match=one.refusal) as found:
        primal_of(one.graph().sdfg, one.arguments)
    assert found.value.todo


def test_every_construct_is_one_or_the_other():
    assert len(READ) + len(REFUSED) == len(CONSTRUCTS)
    assert sdfgad.UnsupportedGraph is UnsupportedGraph
