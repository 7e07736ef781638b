"""Strategies and limits side by side: what each holds and takes, and that all have the same gradients."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import sdfgad
from sdfgad.errors import ArgumentError, UnusedArgument

BUDGETS = (1.0, 0.25, "least", 1000, "64 MiB")
STEPS, POINTS = 40, 512


def burgers(T, u, a):
    for _ in range(T):
        u[1:-1] -= a * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u * u)


def softmax(x):
    y = np.exp(x - np.max(x, axis=1, keepdims=True))
    return y / np.sum(y, axis=1, keepdims=True)


def halves(x, y):
    return np.sum(x * x)


def arguments():
    return STEPS, 1.0 + 0.1 * np.sin(np.arange(float(POINTS))), 0.1


@pytest.fixture(scope="module")
def comparison():
    texts = []
    found = sdfgad.compare(
        burgers, *arguments(), budgets=BUDGETS, repeats=2, progress=lambda text, done: texts.append((text, done))
    )
    assert all(0.0 <= done <= 1.0 for _, done in texts)
    assert any("round 2 of 2" in text for text, _ in texts)
    return found


def rows(comparison, strategy):
    return [row for row in comparison.rows if row.strategy == strategy]


def test_there_is_a_row_for_each_strategy_and_limit(comparison):
    labels = ["100%", "25%", "least", "1000 B", "64.0 MiB"]
    assert [row.budget for row in rows(comparison, "store_all")] == [""]
    assert [row.budget for row in rows(comparison, "recompute_all")] == [""]
    assert [row.budget for row in rows(comparison, "revolve")] == labels
    assert [row.budget for row in rows(comparison, "ilp")] == ["", *labels]
    assert comparison.rows[0].strategy == "store_all"


def test_limits_are_kept_and_gradients_are_the_same(comparison):
    for row in comparison.rows:
        if row.peak_bytes is not None:
            assert not row.is_over_budget
            assert row.peak_bytes <= row.predicted_bytes
            assert row.difference <= 1e-12
            assert row.seconds > 0.0
            assert row.ratio == pytest.approx(row.seconds / comparison.rows[0].seconds)


def test_shares_are_of_intermediate_memory(comparison):
    u = arguments()[1]
    # u, its gradient and the numbers; the output and its cotangent.
    assert comparison.floor_bytes == pytest.approx(2 * u.nbytes, abs=64)
    assert comparison.intermediate_bytes >= (STEPS - 1) * u.nbytes
    assert comparison.rows[0].share == 1.0
    quarter = next(row for row in rows(comparison, "ilp") if row.budget == "25%")
    expected = comparison.floor_bytes + 0.25 * (comparison.rows[0].predicted_bytes - comparison.floor_bytes)
    assert quarter.budget_bytes == math.ceil(expected)
    assert quarter.share <= 0.26
    least = next(row for row in rows(comparison, "ilp") if row.budget == "least")
    assert least.budget_bytes == comparison.least_bytes
    assert least.peak_bytes is not None


def test_a_limit_that_no_plan_keeps_has_a_row(comparison):
    infeasible = next(row for row in rows(comparison, "ilp") if row.budget == "1000 B")
    assert infeasible.peak_bytes is infeasible.seconds is infeasible.ratio is None
    assert infeasible.status == "infeasible"
    assert infeasible.minimum_bytes == comparison.least_bytes
    assert "no plan keeps memory_limit=1000 bytes" in infeasible.error
    assert not infeasible.is_over_budget


def test_plans_that_would_take_too_long_are_not_run():
    found = sdfgad.compare(burgers, *arguments(), budgets=("least",), strategies=("ilp",), repeats=1, patience=0.0)
    row = found.rows[-1]
    assert row.status == "not run"
    assert row.error.startswith("not run: ")
    assert row.predicted_bytes == row.budget_bytes
    assert row.peak_bytes is None
    assert row.error in str(found)


def test_text_has_every_row_and_the_machine(comparison):
    text = str(comparison)
    assert text.startswith("burgers: store-all holds ")
    for strategy in ("store_all", "recompute_all", "revolve", "ilp"):
        assert text.count(f"\n {strategy} ") == len(rows(comparison, strategy))
    assert "infeasible below" in text
    assert "OVER" not in text
    assert f"numpy {np.__version__}" in text
    assert {"processor", "cores", "threads", "python", "numpy", "dace", "pulp", "solver", "date"} <= set(
        comparison.machine
    )


def test_what_is_over_its_limit_is_marked(comparison):
    row = replace(rows(comparison, "ilp")[1], budget_bytes=10)
    assert row.is_over_budget
    assert "OVER THE LIMIT" in str(replace(comparison, rows=(row,)))


def test_json_and_back(comparison):
    text = comparison.to_json()
    assert json.loads(text)["rows"][0]["strategy"] == "store_all"
    assert sdfgad.Comparison.from_json(text) == comparison


def test_picture(comparison, tmp_path):
    figure = comparison.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    (axes,) = figure.axes
    texts = {text for note in axes.texts for text in note.get_text().split(", ")}
    assert {"100%", "25%", "least", "no limit"} <= texts
    assert "1000 B" not in texts
    assert comparison.plot().axes


def test_default_budgets_are_those_that_can_be_kept():
    found = sdfgad.compare(burgers, *arguments(), strategies=("ilp",), repeats=1)
    budgets = [row.budget for row in found.rows]
    assert budgets[:3] == ["", "", "100%"]
    assert budgets[-1] == "least"
    assert all(row.peak_bytes is not None for row in found.rows)
    assert {row.strategy for row in found.rows} == {"store_all", "ilp"}


def test_an_output_that_is_no_scalar_is_weighted():
    """The gradient of the plain sum would be zero, and any difference of it without meaning."""
    x = np.random.default_rng(0).standard_normal((6, 5))
    found = sdfgad.compare(softmax, x, budgets=(1.0,), repeats=1)
    assert found.floor_bytes == 4 * x.nbytes
    assert all(row.difference <= 1e-12 for row in found.rows if row.peak_bytes is not None)
    summed = sdfgad.compare(softmax, x, budgets=(), strategies=(), reduce="sum", repeats=1)
    assert [row.strategy for row in summed.rows] == ["store_all"]


def test_wrong_gradients_are_told(monkeypatch):
    right = sdfgad.DifferentiatedProgram.vjp

    def wrong(self, *args, cotangent, **kwargs):
        found = right(self, *args, cotangent=cotangent, **kwargs)
        return found if self._options.strategy == "store_all" else {n: g * 1.5 for n, g in found.items()}

    monkeypatch.setattr(sdfgad.DifferentiatedProgram, "vjp", wrong)
    found = sdfgad.compare(burgers, *arguments(), budgets=(), repeats=1, strategies=("recompute_all",))
    assert [row.difference for row in found.rows] == [0.0, 0.5]


def test_unused_arguments():
    x = np.ones(3)
    with pytest.raises(UnusedArgument):
        sdfgad.compare(halves, x, x)
    found = sdfgad.compare(halves, x, x, allow_unused=True, budgets=(), strategies=(), repeats=1)
    assert found.rows[0].difference == 0.0


@pytest.mark.parametrize(
    "options", [{"budgets": (0.0,)}, {"budgets": (1.5,)}, {"budgets": ("few",)}, {"strategies": ("luck",)}]
)
def test_what_is_not_understood_is_refused(options):
    with pytest.raises(ArgumentError):
        sdfgad.compare(burgers, *arguments(), **options)
