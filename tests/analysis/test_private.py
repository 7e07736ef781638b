"""Which buffers carry nothing from one trip to the next."""

import pytest

from sdfgad.analysis.private import begins_anew
from tests.helpers_text import sample

ANEW = {
    "written by a statement": """
        for p < 6: b[p] = x[p]
        for p < 6: z[p] = b[p]
        """,
    "written in parallel": """
        loop parallel f < 6:
            b[f] = x[f]
        for p < 6: z[p] = b[p]
        """,
    "written and read in each trip": """
        loop parallel f < n:
            for p < 6: b[p] = x[p + f]
            for p < 6: Z[f, p] = b[p]
        """,
    "written in each of some trips": """
        loop parallel f < 3:
            for p < 6: b[p] = x[p + f]
            for p < 6: Z[f, p] = b[p]
        for p < 6: z[p] = b[p]
        """,
}
NOT_ANEW = {
    "read first": """
        for p < 6: z[p] = b[p]
        for p < 6: b[p] = x[p]
        """,
    "written in part": """
        for p < 5: b[p] = x[p]
        for p < 6: z[p] = b[p]
        """,
    "written where there are trips": """
        loop parallel f < n:
            for p < 6: b[p] = x[p + f]
        for p < 6: z[p] = b[p]
        """,
    "written in one trip, read in the next": """
        loop f < 6:
            z[f] = b[f]
            b[f] = x[f]
        """,
}


@pytest.mark.parametrize("name", ANEW)
def test_anew(name):
    assert begins_anew(sample(ANEW[name], n=3)[0].body, "b")


@pytest.mark.parametrize("name", NOT_ANEW)
def test_not_anew(name):
    assert not begins_anew(sample(NOT_ANEW[name], n=3)[0].body, "b")
