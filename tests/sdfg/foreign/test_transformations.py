"""Graphs after random transformations of DaCe: the same values and gradients, or a refusal."""

import contextlib
import io
import random
import warnings
from collections import Counter

import dace
import numpy as np
import pytest
from dace.transformation import dataflow, interstate

from sdfgad.errors import SdfgadError
from sdfgad.ir.specialise import NeedsConstant
from tests.helpers import assert_close
from tests.helpers_graphs import gradients_of
from tests.helpers_tiers import some
from tests.sdfg.foreign.dace_programs import DACE, NUMPY
from tests.sdfg.foreign.rows import CONSTRUCTS

TRANSFORMATIONS = (
    *(dataflow.MapTiling, dataflow.MapExpansion, dataflow.MapCollapse, dataflow.MapInterchange, dataflow.StripMining),
    *(dataflow.MapToForLoop, dataflow.MapFusionVertical, dataflow.MapFusionHorizontal, dataflow.TrivialMapElimination),
    *(dataflow.InLocalStorage, dataflow.MapReduceFusion, dataflow.MapUnroll, dataflow.RedundantArray),
    *(dataflow.MapWCRFusion, dataflow.AugAssignToWCR, dataflow.MapDimShuffle, dataflow.TaskletFusion),
    *(interstate.LoopToMap, interstate.StateFusion, interstate.InlineSDFG, interstate.LoopPeeling),
    *(interstate.LoopUnroll, interstate.MoveLoopIntoMap, dataflow.AccumulateTransient, dataflow.BufferTiling),
)
# What makes a graph, the function that computes the same, arguments, `wrt`, and both outputs.
CASES = [
    *((lambda f=f: dace.program(f).to_sdfg(simplify=False), f, a, w, o, o) for f, a, w, o in NUMPY.values()),
    *((lambda p=p: p.to_sdfg(simplify=False), f, a, w, o, o) for p, f, a, w, o in DACE.values()),
    *((lambda c=c: c.graph().sdfg, c.reference, c.arguments, c.wrt, "z", "return") for c in CONSTRUCTS if c.reference),
]


def transformed(make, rng):
    """A graph after some transformations; None where one fails, or makes a graph that is invalid."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sdfg = make()
        try:
            if rng.random() < 0.5:
                sdfg.simplify()
            for _ in range(rng.randrange(1, 7)):
                kind = rng.choice(TRANSFORMATIONS)
                options = {"tile_sizes": (2,)} if kind is dataflow.MapTiling else None
                sdfg.apply_transformations(kind, options=options, validate=False)
            sdfg.validate()
        except Exception:
            return None
    return sdfg


def in_full(program, wrt, output, arguments):
    constant = ()
    while True:
        try:
            return gradients_of(program, wrt, output, None, constant, **arguments)
        except NeedsConstant as need:
            constant = (*constant, *need.symbols)


def outcome(seed):
    """ "same", "refused", or "" where DaCe makes no graph; fails where a value or a gradient is another one."""
    rng = random.Random(seed)
    make, function, arguments, wrt, output, returned = CASES[rng.randrange(len(CASES))]
    sdfg = transformed(make, rng)
    if sdfg is None:
        return ""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    value, gradients = in_full(function, wrt, returned, {n: arguments[n] for n in names})
    passed = {"z": np.zeros(np.shape(value) or (1,)), **arguments} if output == "z" else arguments
    try:
        found_value, found = in_full(sdfg, wrt, output, passed)
    except SdfgadError:
        return "refused"
    assert_close(np.reshape(found_value, np.shape(value)), value, 1e-9, f"seed {seed}")
    for name, one in found.items():
        assert_close(one, gradients[name], 1e-9, f"{name} of seed {seed}")
    return "same"


@pytest.mark.slow
@pytest.mark.parametrize("first", some(range(0, 300, 30), 4))
def test_transformed_graphs(first, tmp_path, monkeypatch):
    # DaCe saves a graph that is invalid where it runs.
    monkeypatch.chdir(tmp_path)
    found = Counter(map(outcome, range(first, first + 30)))
    assert found["same"] >= 24
