"""Batches of expressions in the fuzzer: a short run with fixed seeds, and that faults which are planted are found."""

import numpy as np
import pytest

from scripts import fuzz
from scripts.fuzzing.batches import alone, batch_of_seed, expressions_of, failing_parts, without
from scripts.fuzzing.campaign import Campaign
from scripts.fuzzing.case import Argument, Case, case_of, function_of
from scripts.fuzzing.closeness import Closeness
from scripts.fuzzing.process import Process
from scripts.fuzzing.report import write_test
from scripts.fuzzing.themes import THEMES
from scripts.fuzzing.verdict import Verdict
from sdfgad.cache import cache_folder
from tests.helpers_cache import cache_with_headers

SMALL = Case(
    7,
    """\
import numpy as np


def program(x, i):
    for t in range(2):
        x = x * (1.0 - 0.25 * t)
        e0 = np.arctan(x)
        e1 = i // 3  # exact
        e2 = np.fix(x * 3.0)  # exact
        e3 = np.sum(x * x)
        e4 = np.busday_count(x, x)
    return (e0, e1, e2, e3, e4, )
""",
    {"x": Argument("special", (4,)), "i": Argument("integer", (4,), "int8")},
    theme="elementwise",
)


def test_a_batch_is_right_and_what_is_refused_left_out():
    text = SMALL.text.replace("np.busday_count(x, x)", "np.sort(x + 1j)")
    with Process(cache_folder()) as process:
        verdict, refused = process.check([batch_of_seed(3, ("reductions",), many=16), SMALL.with_text(text)])
    assert verdict.status == "right", verdict.detail
    assert verdict.notes["expressions"] == 16
    assert verdict.notes["gradients right"] > 5
    assert (refused.status, refused.notes["expressions refused"]) == ("right", 1)


def test_planted_faults_are_found(tmp_path):
    cache = cache_with_headers(tmp_path / "cache")
    with Process(cache, before="tests.scripts.planted:wrong_rule_and_value") as process:
        (verdict,) = process.check([without(SMALL, {"e4"})])
    kinds = {name: kind for name, (kind, _) in verdict.culprits.items()}
    assert (verdict.status, kinds) == ("failed", {"e0": "wrong gradient", "e2": "wrong value"})
    parts = failing_parts(SMALL, verdict)
    assert list(parts) == ["7_e2", "7_e0"]
    assert expressions_of(parts["7_e0"][0]) == {"e0": ("np.arctan(x)", False)}


def test_a_seed_stands_for_one_batch():
    assert batch_of_seed(5) == batch_of_seed(5) == case_of(batch_of_seed(5).as_dict())
    assert {batch_of_seed(seed).theme for seed in range(60)} == set(THEMES)
    assert {batch_of_seed(seed, ("special",)).theme for seed in range(3)} == {"special"}


def test_special_numbers_are_in_every_other_draw():
    cases = [batch_of_seed(seed, ("elementwise",)) for seed in range(9)]
    assert {"special", "integer", "mask"} <= {one.kind for case in cases for one in case.arguments.values()}
    argument = Argument("special", (400,))
    drawn = [argument.drawn(np.random.default_rng(1), draw) for draw in (0, 1)]
    assert np.isnan(drawn[0]).any()
    assert abs(drawn[1]).max() < 2
    assert Argument("integer", (400,), "int8").drawn(np.random.default_rng(1)).min() == -128


def test_parts_of_a_batch(tmp_path):
    assert list(expressions_of(SMALL)) == ["e0", "e1", "e2", "e3", "e4"]
    assert expressions_of(SMALL)["e1"] == ("i // 3", True)
    assert expressions_of(without(SMALL, {"e4"}))["e4"] == ("0.0", False)
    x, i = np.array([4.0, 0.0]), np.array([7, -7], np.int8)
    (third,) = function_of(alone(SMALL, "e3"), tmp_path)(x, i)
    assert third == 9.0


@pytest.mark.parametrize(
    ("name", "change", "kind"),
    [
        ("e0", lambda v: v, None),
        ("e0", lambda v: v * (1 + 1e-15), None),
        ("e0", lambda v: v * (1 + 1e-12), "wrong value"),
        ("e0", lambda v: np.where(np.isnan(v), 0.0, v), "wrong value"),
        ("e0", lambda v: v.astype(np.float32), "another dtype"),
        ("e0", lambda v: v[None], "another shape"),
        ("e2", lambda v: v * (1 + 1e-15), "wrong value"),
        ("e3", lambda v: v, None),
    ],
)
def test_values_are_compared(name, change, kind, tmp_path):
    case = without(SMALL, {"e4"})
    args = np.array([0.3, np.nan, -2.5, np.inf]), np.array([1, 2, 3, 4], np.int8)
    values = dict(zip(expressions_of(case), map(np.asarray, function_of(case, tmp_path)(*args)), strict=True))
    problem = Closeness(case).problem(name, change(values[name]), values[name], args)
    assert (problem and problem[0]) == kind


def test_rounding_errors_may_be_as_large_as_those_of_arguments():
    text = SMALL.text.replace("np.sum(x * x)", "np.sum(x) - x[0]")
    args, wanted = (np.array([1e17, 1.0, 2.0, 3.0]), np.zeros(4, np.int8)), np.float64(6.0)
    closeness = Closeness(without(SMALL.with_text(text), {"e4"}))
    assert closeness.problem("e3", np.float64(0.0), wanted, args) is None
    assert closeness.problem("e3", np.float64(1e6), wanted, args)[0] == "wrong value"


def test_themes_are_chosen(tmp_path, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(Campaign, "run", lambda self, *_: calls.append(self.make(4)) or self.state)
    assert fuzz.main(["--expressions", "complex,integers", "--folder", str(tmp_path)]) == 0
    assert calls == [batch_of_seed(4, ("complex", "integers"))]
    assert fuzz.main(["--expressions", "complexes", "--folder", str(tmp_path)]) == 2
    assert "no such theme: complexes" in capsys.readouterr().err


def test_each_failing_expression_becomes_a_test(tmp_path):
    verdict = Verdict(7, "failed", "wrong value", culprits={"e0": ("wrong value", "1"), "e2": ("another dtype", "2")})
    paths = [write_test(part, why, tmp_path, name) for name, (part, why) in failing_parts(SMALL, verdict).items()]
    assert [path.name for path in paths] == ["test_seed_7_e0.py", "test_seed_7_e2.py"]
    names = {}
    exec(compile(paths[1].read_text(), str(paths[1]), "exec"), names)
    assert names["CASE"] == alone(SMALL, "e2")
