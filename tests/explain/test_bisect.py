"""The first stage or pass after which a program computes something else is named."""

from dataclasses import replace

import numpy as np
import pytest

import npbench_suite
import sdfgad
from sdfgad.explain import bisect
from sdfgad.explain.bisect import difference
from sdfgad.ir.expr import Const
from sdfgad.ir.program import Loop, changed, rewrite_statement, transform
from sdfgad.optimise.before_ad import EARLY
from sdfgad.optimise.passes import PASSES

ARGS = 4, np.linspace(0.0, 1.0, 9) ** 2, np.full(9, 0.1)


def heat(T, u, a):
    for t in range(T):
        u[1:-1] += a[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def searched(x, bound):
    total = 0.0
    for i in range(x.size):
        if x[i] > bound:
            break
        total += x[i] * x[i] / 3.0
    return {"total": total, "rest": x * total}


def inject(monkeypatch, name, wrong, passes=PASSES):
    """Has a pass do something wrong besides."""
    for one in passes:
        if one.name == name:
            monkeypatch.setitem(vars(one), "run", lambda program, run=one.run: wrong(run(program)))


def threes(program):
    """Twos become threes."""

    def three(node):
        return Const(3.0, node.dtype) if isinstance(node, Const) and node.value == 2.0 else None

    return program.with_body(transform(program.body, lambda s: (rewrite_statement(s, replace_node=three),)))


def parallel(program):
    """Every loop over time is parallel."""
    return program.with_body(
        transform(
            program.body, lambda s: (changed(s, is_parallel=True) if isinstance(s, Loop) and s.var == "t" else s,)
        )
    )


def crash(program):
    raise ValueError("no such thing")


def test_all_agree():
    found = sdfgad.explain(heat, *ARGS, bisect=True)
    assert found.record.wrong is None
    assert str(found).endswith("All agree.")
    names = [one.name for one in found.record.outcomes]
    assert names[:3] == ["parsed", "gradient", "gradient by differences"]
    assert names[-1] == "code"
    assert "fuse" in names


@pytest.mark.parametrize("name", ["gather", "fuse"])
def test_a_wrong_pass_is_named(monkeypatch, name):
    inject(monkeypatch, name, threes)
    found = sdfgad.explain(heat, *ARGS, bisect=True)
    wrong = found.record.wrong
    assert (wrong.kind, wrong.name) == ("pass", name)
    assert 1e-3 < wrong.difference < 100
    motive = next(one.motive for one in PASSES if one.name == name)
    assert f"The pass `{name}` is the first that differs: `" in str(found)
    assert str(found).endswith(motive)


def test_a_pass_that_is_left_out_is_not_to_blame(monkeypatch):
    inject(monkeypatch, "fuse", threes)
    assert sdfgad.explain(heat, *ARGS, bisect=True, without="fuse").record.wrong is None


def test_a_broken_promise_is_named(monkeypatch):
    inject(monkeypatch, "fuse", parallel)
    wrong = sdfgad.explain(heat, *ARGS, bisect=True).record.wrong
    assert wrong.name == "fuse"
    assert "trips of the parallel loop over `t` meet at" in wrong.detail


def test_a_program_that_is_none_is_named(monkeypatch):
    inject(monkeypatch, "fuse", lambda program: replace(program, buffers={}))
    wrong = sdfgad.explain(heat, *ARGS, bisect=True).record.wrong
    assert (wrong.name, wrong.difference) == ("fuse", np.inf)
    assert "is not well-formed: there is no buffer" in wrong.detail


def test_a_pass_that_fails_is_named(monkeypatch):
    inject(monkeypatch, "unfold", crash)
    wrong = sdfgad.explain(heat, *ARGS, bisect=True).record.wrong
    assert (wrong.name, wrong.detail) == ("unfold", "ValueError: no such thing")


def test_a_wrong_pass_before_differentiation_is_named(monkeypatch):
    inject(monkeypatch, "spread_loops", threes, EARLY)
    wrong = sdfgad.explain(heat, *ARGS, bisect=True).record.wrong
    assert (wrong.kind, wrong.name) == ("pass", "spread_loops")


def test_wrong_parsing_is_named(monkeypatch):
    part_of = bisect.part_of
    monkeypatch.setattr(bisect, "part_of", lambda *args: 1.5 * part_of(*args))
    wrong = sdfgad.explain(heat, *ARGS, bisect=True).record.wrong
    assert (wrong.kind, wrong.name) == ("stage", "parsed")
    assert wrong.difference == pytest.approx(1 / 3)


def test_wrong_gradients_are_named(monkeypatch):
    interpreted = bisect._Run.interpreted

    def wrong(self, program):
        return {n: 2 * v if n.startswith("gradient") else v for n, v in interpreted(self, program).items()}

    monkeypatch.setattr(bisect._Run, "interpreted", wrong)
    found = sdfgad.explain(heat, *ARGS, bisect=True).record.wrong
    assert found.name == "gradient by differences"
    assert "it is not smooth here" in found.detail


def test_gradients_that_are_zero_but_for_rounding():
    u = np.linspace(0.0, 1.0, 9)
    found = sdfgad.explain(heat, 4, u, np.full(9, 0.1), bisect=True)
    assert np.max(np.abs(sdfgad.differentiate(heat, wrt="a")(4, u, np.full(9, 0.1)))) < 1e-12
    assert found.record.wrong is None, str(found)


def test_trips_that_are_data_and_parts_of_results():
    found = sdfgad.explain(searched, np.linspace(0.1, 0.9, 7), 0.65, bisect=True, wrt="x", output="return['rest']")
    assert found.record.wrong is None, str(found)


def test_kept_states_and_limits():
    limit = sdfgad.differentiate(heat, wrt=("u", "a"), strategy="revolve").plan(40, *ARGS[1:]).peak_bytes
    for settings in ({"strategy": "revolve"}, {"memory_limit": limit}):
        found = sdfgad.explain(heat, 40, *ARGS[1:], bisect=True, wrt=("u", "a"), **settings)
        assert found.record.wrong is None, str(found)


def test_single_precision_and_complex_numbers():
    def waves(x, z):
        return np.sum((z * np.exp(1j * x[: z.size]) * np.conj(z)).real)

    x = np.linspace(0.0, 1.0, 6, dtype=np.float32)
    found = sdfgad.explain(waves, x, np.array([1 + 1j, 2 - 1j], np.complex64), bisect=True)
    assert found.record.wrong is None, str(found)


@pytest.mark.parametrize("name", ["cholesky", "seidel_2d", "symm", "go_fast"])
def test_programs_of_the_suite(name):
    entry = npbench_suite.load(name)
    args = entry.arguments_for("test")
    found = sdfgad.explain(entry.program, *args, wrt=entry.arrays, output=entry.output, bisect=True)
    assert found.record.wrong is None, str(found)


def test_differences():
    x = np.array([1.0, np.inf, np.nan, -4.0])
    assert difference(x, x) == 0.0
    assert difference(x + 0.1, x) == pytest.approx(0.1 / 4)
    assert difference(x[:2], x) == np.inf
    assert difference(np.full(3, 1e-9), np.zeros(3), 1e-3) == pytest.approx(1e-6)
    assert difference(np.nan_to_num(x), x) == np.inf
    assert difference(np.array([1, 2]), np.array([1, 3])) == np.inf
