"""Index quotients that an innermost loop does not change are computed before it."""

import re

import numpy as np

import sdfgad
from sdfgad.api.differentiate import specialised
from sdfgad.explain.stages import Stages
from sdfgad.runtime.compile import source_of
from sdfgad.targets.cpu.invariants import invariant_quotients
from tests.helpers_text import program_of


def test_what_varies_or_reads_an_array_stays_inside():
    text = """
        for p < 4: t[p + floor_divide(k, 2) + floor_divide(p, 2)] = v[floor_divide(i[0], 2)]
    """
    shapes, dtypes = {"t": (9,), "v": (4,), "i": (1,)}, {"i": np.int64}
    (statement,) = program_of(text, shapes, ["v", "i"], ["t"], ["k"], dtypes).body
    (found,) = invariant_quotients((statement,), {"p"})
    assert found.symbols == {"k"}
    assert not invariant_quotients((statement,), {"p", "k"})


def shrinking(v, a):
    for k in range(v.size - 1, 0, -1):
        v[:k] = np.maximum(a * (v[1 : k + 1] + v[:k]), a - v[:k])
    return v[0]


def test_offsets_of_triangular_tapes_are_outside_of_innermost_loops():
    g = sdfgad.differentiate(shrinking)
    call, specialisation = specialised(g, (np.linspace(1.0, 2.0, 40), 0.4), {}, ())
    code = source_of(Stages(specialisation, call).gradient).code
    assert re.search(r"const int64_t q0_ = sdfgad::floor_divide\(", code)
    assert not re.search(r"\[[^]]*floor_divide", code)


def test_gradient():
    sdfgad.check_grads(shrinking, np.linspace(1.0, 2.0, 40), 0.4)
