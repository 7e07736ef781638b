"""`explain` shows each stage, with its record, and what each pass changes."""

from functools import partial

import dace
import numpy as np
import pytest

import npbench_suite
import sdfgad
from sdfgad.errors import ArgumentError, InfeasibleBudget
from sdfgad.explain.stages import STAGES
from sdfgad.ir.program import Program
from sdfgad.optimise.before_ad import EARLY
from sdfgad.plan import Plan
from sdfgad.reverse.adjoint import Adjoint
from sdfgad.runtime.compile import source_of

ARGS = 4, np.linspace(0.0, 1.0, 9), np.full(9, 0.1)
RECORDS = {"parsed": Program, "adjoint": Adjoint, "plan": Plan, "gradient": Program, "optimised": Program}
RECORDS |= {"sdfg": dace.SDFG, "code": str}


def heat(T, u, a):
    for t in range(T):
        u[1:-1] += a[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


HAS = {
    "parsed": "for p_2 < 7: u[p_2 + 1] = t_1[p_2]",
    "adjoint": "# residuals\nu[p_2 + 1] for p_2 < 7, in each trip of t < T\n    overwritten by: u[1:-1] +=",
    "plan": "needed by the reverse sweep, but overwritten",
    "gradient": "temporary u_tape: float64[T, 7]",
    "optimised": "loop parallel f < 7:",
    "sdfg": "; (t < T); t = (t + 1)\n",
    "code": "for (int64_t t = 0; t < T; ++t)",
}


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage(stage):
    found = sdfgad.explain(heat, *ARGS, stage=stage)
    assert found.stage == stage
    assert isinstance(found.record, RECORDS[stage])
    assert HAS[stage] in str(found)


def test_stages_are_those_of_the_compiler():
    g = sdfgad.differentiate(heat)
    whole = g.programs(*ARGS)[0]
    assert sdfgad.explain(heat, *ARGS).record == whole
    assert str(sdfgad.explain(heat, *ARGS, stage="code")) == source_of(whole).code
    assert str(sdfgad.explain(heat, *ARGS, stage="plan")) == str(g.plan(*ARGS))
    nodes = [
        [type(node) for node, _ in graph.all_nodes_recursive()]
        for graph in (
            sdfgad.explain(heat, *ARGS, stage="sdfg").record,
            g.sdfg(*ARGS),
        )
    ]
    assert nodes[0] == nodes[1]


def test_what_each_pass_changes():
    found = sdfgad.explain(heat, *ARGS, diff=True)
    text = str(found)
    assert found.stage == "optimised"
    assert "products, " in text
    assert "ms: Copy propagation and dead-code elimination: " in text
    assert "\n+    loop parallel f < 7:\n" in text
    early = "split_complex, forward_rotations, factor_sums, scale_once, spread_loops, share_factors, move_invariants"
    assert f"no change by {early}, drop_held" in text
    (fuse,) = [step for step in found.passes if step.name == "fuse"]
    assert fuse.is_change
    assert fuse.seconds > 0
    assert found.passes[-1].after == found.record


def test_what_passes_before_differentiation_change():
    entry = npbench_suite.load("symm")
    explain = partial(
        sdfgad.explain, entry.program, *entry.arguments_for("test"), wrt=entry.arrays, output=entry.output
    )
    found = explain(diff=True, stage="gradient")
    assert [step.name for step in found.passes] == [one.name for one in EARLY]
    assert [step.name for step in found.passes if step.is_change] == ["spread_loops"]
    assert "spread_loops, " in str(found)
    assert explain(diff=True, stage="parsed").passes == ()
    without = explain(stage="adjoint", without="spread_loops")
    assert without.passes[-1].after == explain(stage="parsed").record
    assert explain(stage="adjoint").record.primal != without.record.primal


def test_a_pass_is_left_out_of_the_code():
    code = str(sdfgad.explain(heat, *ARGS, stage="code"))
    without = sdfgad.explain(heat, *ARGS, stage="code", without="fuse")
    assert "t < T" in str(without)
    assert str(without) != code
    assert "fuse" not in [step.name for step in without.passes]
    # And nothing remembers that it was.
    assert str(sdfgad.explain(heat, *ARGS, stage="code")) == code


def test_a_pass_is_left_out_of_statements_in_pieces():
    def wide(x):
        return np.sum(np.exp(x[:, None] * x[None, :]) @ np.cos(x[:, None] * x[None, :]))

    x = np.linspace(0.0, 1.0, 64)
    with pytest.raises(InfeasibleBudget) as caught:
        sdfgad.differentiate(wide, memory_limit=1)(x)
    limit = caught.value.minimum_bytes
    found = sdfgad.explain(wide, x, memory_limit=limit, stage="optimised", without=("assign_first", "inline"))
    assert {"assign_first", "inline"}.isdisjoint(step.name for step in found.passes)


def test_what_is_not_known_is_listed():
    with pytest.raises(ArgumentError, match=r"there is no stage 'sdgf'\n.*parsed, adjoint, plan"):
        sdfgad.explain(heat, *ARGS, stage="sdgf")
    with pytest.raises(ArgumentError, match=r"there is no pass 'fus'\n.* fuse, run_in_lanes, tile, contract"):
        sdfgad.explain(heat, *ARGS, without=("fuse", "fus"))


def test_stages_and_bisection_exclude_each_other():
    for settings in ({"stage": "code"}, {"diff": True}):
        with pytest.raises(ArgumentError, match="goes through all stages"):
            sdfgad.explain(heat, *ARGS, bisect=True, **settings)


def chooses(theta, u):
    return np.sum(np.linspace(0.0, 1.0, 5)[np.searchsorted(np.linspace(0.0, 1.0, 5), u)] * theta)


def test_what_is_parsed_needs_no_derivative():
    text = str(sdfgad.explain(chooses, np.array([0.1, 0.2]), np.array([0.3, 0.6]), stage="parsed"))
    assert "input u: float64[2]" in text
