"""The fuzzer: a short run with fixed seeds, what its parts do, and that it finds faults which are planted."""

import collections
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from scripts import fuzz
from scripts.fuzzing.campaign import Campaign
from scripts.fuzzing.case import Argument, Case, case_of, function_of
from scripts.fuzzing.check import Check
from scripts.fuzzing.grammar import case_of_seed
from scripts.fuzzing.process import ROOT, Process
from scripts.fuzzing.reference import Line, Rejected, is_chaotic, moderate_value, value_of
from scripts.fuzzing.report import write_test
from scripts.fuzzing.shrink import shrunk
from scripts.fuzzing.state import state_in
from scripts.fuzzing.verdict import Verdict, of_error
from sdfgad import errors
from sdfgad.cache import cache_folder
from tests.helpers_cache import cache_with_headers

ARCTAN = Case(
    7,
    """\
import numpy as np


def program(x, y, n):
    s = y[0] * 0.5
    for i in range(n):
        s = s * 0.9 + x[0]
    z = np.arctan(x) * 0.5 + y
    z[1:] += 0.1 * x[:-1]
    return np.sum(z) + s
""",
    {"x": Argument("float", (4,)), "y": Argument("float", (4,)), "n": Argument("trips", high=3)},
)
# NumPy's result is in single precision where no trip is made, else in double precision.
WIDENED = Case(
    12,
    """\
import numpy as np


def program(x, n):
    s = x[0]
    for i in range(n):
        s = 0.5 * s + np.tanh(0.1 * i)
    return x * s
""",
    {"x": Argument("float", (5,), "float32"), "n": Argument("trips", high=1)},
)
# An infinity that the output does not depend on.
OVERFLOW = Case(
    9,
    """\
import numpy as np


def program(x):
    y = x * 1e200
    y[1:] = y[1:] * y[1:]
    return np.sum(x * x) + 1e-200 * y[0]
""",
    {"x": Argument("float", (3,))},
)
# The same of what is not a number.
INVALID = Case(
    10,
    """\
import numpy as np


def program(x):
    y = x * 1.0
    y[1:] = np.sin(np.sqrt(-1.0 - y[1:] * y[1:]))
    return np.sum(x * x) + y[0]
""",
    {"x": Argument("float", (3,))},
)
SQUARE = Case(8, "import numpy as np\ndef program(x):\n    return np.sum(x * x)\n", {"x": Argument("float", (3,))})


@pytest.fixture
def cache(tmp_path):
    """An empty cache folder, but for what is built once."""
    return cache_with_headers(tmp_path / "cache")


def problems(verdicts):
    return [f"seed {v.seed}, {v.kind}: {v.detail}" for v in verdicts if v.is_failure]


# --- runs


def test_some_programs_are_right():
    assert [WIDENED.drawn(k)[1] for k in range(3)] == [0, 0, 1]
    with Process(cache_folder()) as process:
        verdicts = process.check([WIDENED, *(case_of_seed(seed) for seed in range(100, 112))])
    assert problems(verdicts) == []
    assert sum(v.status == "right" for v in verdicts) >= 11


@pytest.mark.long
def test_more_programs_are_right_with_all_checks():
    with Process(cache_folder(), everything=True) as process:
        verdicts = process.check([case_of_seed(seed) for seed in range(200, 212)])
    assert problems(verdicts) == []


# --- faults that are planted


def test_a_wrong_rule_is_found(cache):
    with Process(cache, before="tests.scripts.planted:wrong_rule") as process:
        wrong, right = process.check([ARCTAN, SQUARE])
    assert (wrong.status, wrong.kind, right.status) == ("failed", "wrong gradient", "right")
    assert "slope" in wrong.detail


@pytest.mark.long
def test_a_wrong_rule_is_found_made_smaller_and_written_as_a_test(cache, tmp_path, monkeypatch):
    campaign = Campaign(tmp_path, 7, 1, before="tests.scripts.planted:wrong_rule")
    monkeypatch.setattr("scripts.fuzzing.campaign.case_of_seed", lambda seed: ARCTAN)
    state = campaign.run(1, 600)
    found = state.failures["7"]
    assert (found["kind"], found["blame"]) == ("wrong gradient", "engine")
    assert "arctan" in found["text"]
    assert len(found["text"]) < len(ARCTAN.text) * 0.6
    assert "for" not in found["text"]
    test = (tmp_path / "failures" / "test_seed_7.py").read_text()
    # The rule is right where the test runs, so it passes; and it fails where the fault is planted.
    planted = test.replace("checked_once(CASE, tmp_path)", "planted_once(CASE)") + PLANTED.format(cache=str(cache))
    for text, status in ((test.replace("tmp_path)\n", f"Path({str(cache)!r}))\n"), 0), (planted, 1)):
        path = tmp_path / f"test_written_{status}.py"
        path.write_text(f"from pathlib import Path\n{text}")
        assert run_pytest(path) == status


PLANTED = """

def planted_once(case):
    from scripts.fuzzing.process import Process
    with Process(Path({cache!r}), before="tests.scripts.planted:wrong_rule") as process:
        return process.check([case])[0]
"""


def run_pytest(path):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, cwd=ROOT, env=environment).returncode


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("crash", "crashes in prepare"), pytest.param("hang", "hangs in prepare", marks=pytest.mark.long)],
)
def test_a_process_that_ends_is_blamed_on_its_program(cache, fault, kind):
    with Process(cache, before=f"tests.scripts.planted:{fault}", patience=60 if fault == "crash" else 25) as process:
        first, second = process.check([ARCTAN, SQUARE])
    assert (first.seed, first.status, first.kind) == (7, "failed", kind)
    assert (second.seed, second.status) == (8, "right")


# --- the grammar


def test_a_seed_stands_for_one_program():
    assert case_of_seed(5) == case_of_seed(5)
    assert case_of_seed(5) != case_of_seed(6)
    assert case_of(case_of_seed(5).as_dict()) == case_of_seed(5)
    for one, other in zip(case_of_seed(5).drawn(1), case_of_seed(5).drawn(1), strict=True):
        np.testing.assert_array_equal(one, other)


def test_numpy_runs_nearly_all_programs(tmp_path):
    finite = 0
    for seed in range(200):
        case = case_of_seed(seed)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            returned = function_of(case, tmp_path)(*case.drawn(0))
        finite += returned is None or bool(np.isfinite(returned).all())
    assert finite > 190


FEATURES = """
while |break|continue|elif |else:| in enumerate(|, -1, -|range(n)|range(i|range(3, 3)|[::-1|-1]|[idx]|np.add.at|mask]
> 0.2]|.T|reshape(-1)| @ |axis=-1|np.max(|h0(| *= | /= | -= |[:, None]|np.where|m = (m +|0.5j|:i|np.empty_like|np.dot(
"""


def test_the_grammar_has_all_features():
    texts = [case_of_seed(seed).text for seed in range(800)]
    features = FEATURES.strip().replace("\n", "|").split("|")
    assert [feature for feature in features if not any(feature in text for text in texts)] == []


def test_extents_and_dtypes_are_of_all_kinds():
    seen = collections.Counter()
    for seed in range(400):
        for argument in case_of_seed(seed).arguments.values():
            seen.update([argument.kind, argument.dtype, *argument.shape])
    assert {"float", "index", "permutation", "mask", "trips", "float32", "complex128", 3, 7, 8, 5000} <= seen.keys()


# --- differences


def case_returning(text, x):
    return Case(3, f"import numpy as np\ndef program(x):\n    return {text}\n", {"x": Argument("float", np.shape(x))})


def judged(text, x, gradient, tmp_path):
    case = case_returning(text, x)
    line = Line(function_of(case, tmp_path), case, (x,), np.float64(1.0), 0)
    return line.judged({"x": gradient}, 1e-6).state


X = np.array([0.3, -0.7, 1.1])


@pytest.mark.parametrize(
    ("text", "x", "gradient", "state"),
    [
        ("np.sum(np.sin(x))", X, np.cos(X), "right"),
        ("np.sum(np.sin(x))", X, np.cos(X) * (1 + 1e-4), "wrong"),
        ("np.sum(np.sin(x))", X, np.array([np.nan, 1.0, 1.0]), "wrong"),
        # Constant, so that the slope certainly is 0; and so small that rounding hides the slope, which may be infinite.
        ("np.sum(0.0 * x)", X, np.array([np.nan, 0.0, 0.0]), "wrong"),
        ("1e-20 * np.sum(np.sin(x))", X, np.array([np.nan, 0.0, 0.0]), "unclear"),
        ("np.sum(np.sin(x))", X, np.cos(X) * [1, 1, 0], "wrong"),
        ("np.sum(np.abs(x))", X, np.sign(X), "right"),
        ("np.sum(np.abs(x))", X, -np.sign(X), "wrong"),
        # A kink at the very place, and one next to it.
        ("np.sum(np.abs(x))", X * 0, np.ones(3), "unclear"),
        ("np.sum(np.abs(x - 1e-4))", X * 0, np.ones(3), "unclear"),
        ("np.sum(x > 1e-5) + np.sum(x)", X * 0, np.zeros(3), "unclear"),
        ("np.sum(np.sin(x))", X * 0, np.zeros(3), "wrong"),
        ("np.sum(x * 1e-9)", X, X * 0 + 1e-9, "right"),
        ("0.0 * np.sum(x)", X, X * 0, "right"),
    ],
)
def test_gradients_are_judged(text, x, gradient, state, tmp_path):
    assert judged(text, x, gradient, tmp_path) == state


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        # Seed 142049: chaos that shrinks in the end.
        ("1e-17 * np.sum(np.sin(1e16 * x))", X, True),
        ("np.sin(x)", X, False),
        # What merely vanishes here, or does not depend on x.
        ("np.sin(x)", X * 0, False),
        ("x * 1e-20", X, False),
        ("np.sum(x > 0)", X, False),
        ("x[:0]", X, False),
    ],
)
def test_chaos_is_no_case(text, x, expected, tmp_path):
    case = case_returning(text, x)
    assert is_chaotic(function_of(case, tmp_path), case, (x,)) == expected


def test_a_program_that_fails_next_to_its_arguments_is_rejected(tmp_path):
    case = case_returning("x[9 * (x[0] != 0.0)]", X)
    (x,) = case.drawn(0)
    check = Check(case.with_text(case.text.replace("0.0", repr(float(x[0])))), tmp_path)
    check.step(check.prepare)
    assert check.verdict.status == "rejected"


# --- shrinking, verdicts, states


def test_what_is_not_needed_goes():
    small = shrunk(ARCTAN, lambda candidates: ["np.arctan" in one.text for one in candidates])
    assert small.seed == 7
    assert len(small.text.splitlines()) <= 6
    assert "np.arctan" in small.text
    assert set(small.arguments) <= {"x"}
    assert small.arguments["x"].shape == (1,)


def test_a_cut_that_never_ends_is_no_candidate():
    body = "w = 0\n    while w < 3:\n        w += 1\n    return np.sum(x * x) * w\n"
    text = f"import numpy as np\ndef program(x):\n    {body}"
    case = Case(1, text, {"x": Argument("float", (2,))})
    small = shrunk(case, lambda candidates: ["while" in one.text for one in candidates])
    assert "w += 1" in small.text
    assert "x * x" not in small.text


def test_a_refusal_names_a_line():
    where = errors.Location("a.py", 3, "x = y")
    refused = of_error(1, errors.UnsupportedProgram("`x` of 3 is too much", where))
    assert (refused.status, refused.kind) == ("refused", "UnsupportedProgram: `...` of # is too much")
    assert of_error(1, errors.UnsupportedProgram("no")).kind == "no line: UnsupportedProgram: no"
    assert of_error(1, errors.MissingRule([("f", where)])).status == "refused"
    for error in (errors.CompilerError("x"), errors.InvalidIndex("x", where), errors.ShapeMismatch("x", where)):
        assert of_error(1, error).status == "failed"


def test_a_written_test_holds_any_text(tmp_path):
    verdict = Verdict(7, "failed", 'kind """ \\N', 'detail """ \\x')
    path = write_test(ARCTAN, verdict, tmp_path)
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    assert names["CASE"] == ARCTAN


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys):
    checked = []

    def check(self, cases, tell):
        checked.extend(case.seed for case in cases)
        self.seconds["check"] = float(len(cases))
        statuses = {0: "refused", 1: "rejected"}
        return [Verdict(c.seed, statuses.get(c.seed, "right"), "kind", notes={"largest": c.seed}) for c in cases]

    monkeypatch.setattr(Process, "check", check)
    (tmp_path / "cache").mkdir()
    options = ["--folder", str(tmp_path), "--batch", "3"]
    assert fuzz.main(["-p", "2", *options]) == 0
    assert fuzz.main(["-p", "5", "--jobs", "2", *options]) == 0
    assert sorted(checked) == list(range(6))
    state = state_in(tmp_path / "state.json", 0)
    assert (state.programs, state.following, state.refusals) == (5, 6, {"kind": 1})
    assert (state.notes, state.phases) == ({"largest": 5}, {"check": 6.0})
    assert "5/5 programs" in capsys.readouterr().out
    assert fuzz.main(["-p", "5", "--seed", "9", *options]) == 2
    assert "from seed 0" in capsys.readouterr().err


def test_a_run_ends_when_the_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(Process, "check", lambda self, cases, tell: [])
    assert Campaign(tmp_path, 0, 2).run(10, 0.0).following == 0


@pytest.mark.parametrize("case", [OVERFLOW, INVALID], ids=["overflow", "invalid"])
def test_an_overflow_on_the_way_is_no_case(case, tmp_path):
    # Seed 41763: a finite output beside infinities, whose cotangents of 0 give NaN.
    function, args = function_of(case, tmp_path), (np.array([0.3, 0.7, -1.1]),)
    assert np.isfinite(value_of(function, case, args))
    with pytest.raises(Rejected):
        moderate_value(function, case, args)
