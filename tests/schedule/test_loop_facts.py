"""What the code generator asks of blocks: how far apart the trips of a loop get into each other's way."""

import numpy as np
import pytest

from sdfgad.dependence.distance import dependence_distance
from sdfgad.dependence.uses import uses_of
from sdfgad.ir.expr import Lin, Op, Read
from sdfgad.ir.program import Access, Compute
from sdfgad.schedule.loop_facts import scalar_reductions
from sdfgad.schedule.work import work_of
from tests.helpers_text import sample

COMPLEX = np.dtype(np.complex128)
DISTANCES = {
    "Z[f, c] += x[c]": 1,
    "Z[c, f] += x[c]": 1,
    "z[2*f] += x[c]": 1,
    "z[f + c] += x[c]": 4,
    "z[2*f + c] += x[c]": 2,
    "z[c] += x[f]": None,
    "z[i[f]] += x[c]": None,
    "z[f + n] += x[c]": 1,
}


def adds(lines):
    text = "loop parallel f < 5:\n" + "".join(f"    for c < 4: {line}\n" for line in lines)
    (loop,) = sample(text, n=3)[0].body
    return [use for use in uses_of(loop) if use.kind == "add"]


@pytest.mark.parametrize("line", DISTANCES)
def test_distance_within_one_place(line):
    assert dependence_distance(adds([line]), "f") == DISTANCES[line]


def test_distance_between_places():
    assert dependence_distance(adds(["Z[f, c] += x[c]", "Z[f + 2, c] += x[c]"]), "f") == 3
    assert dependence_distance(adds(["Z[f, c] += x[c]", "Z[f + n, c] += x[c]"]), "f") is None
    assert dependence_distance(adds(["Z[f, c] += x[c]", "Z[c, f] += x[c]"]), "f") is None
    assert dependence_distance([], "f") == 1


SUMS = {
    "one element": (["z[f] += x[c]", "z[f] += y[c]"], 1),
    "elements apart": (["z[2*f] += x[c]", "z[2*f + 1] += y[c]"], 2),
    "elements that may be one": (["z[f] += x[c]", "z[n] += y[c]"], 0),
    "one that is assigned": (["z[2*f] += x[c]", "z[2*f + 1] = y[c]"], 0),
    "one that is read": (["z[2*f] += x[c]", "z[2*f + 1] += z[0]"], 0),
    "an element of each trip": (["z[2*f] += x[c]", "z[c] += y[c]"], 0),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums(name):
    lines, count = SUMS[name]
    body = sample("loop c < 4:\n" + "".join(f"    {line}\n" for line in lines), n=3, f=2)[0].body[0].body
    assert len(scalar_reductions(body, "c")) == count


WORK = {
    "for p < 20: z[p] = x[p]": 20,
    "for p < 20: q += x[p]": 20,
    "for p < 20: q max= x[p]": 80,
    "loop k < 3:\n    for p < 20: z[p] = (x[p] + y[p])": 180,
}


@pytest.mark.parametrize("text", WORK)
def test_work(text):
    assert work_of(sample(text)[0].body) == WORK[text]


def test_work_on_complex_numbers():
    x = Read("x", (Lin.symbol("p"),), COMPLEX)
    product = Op("multiply", (x, Op("conjugate", (x,), COMPLEX)), COMPLEX)
    assert work_of((Compute((("p", Lin(20)),), Access("z", (Lin.symbol("p"),)), product),)) == 20 * (2 + 6)
