"""The gradient benchmark: right gradients are timed, and nothing that is wrong or does not end looks right."""

import contextlib
import copy
import io
import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from rich import box
from rich.console import Console

import npbench_suite
from scripts import npbench_gradients
from scripts.gradients import guard, shares, verify
from scripts.gradients.results import Record
from scripts.gradients.shares import Rates
from scripts.gradients.table import Outcome, as_text
from scripts.gradients.work import WORK, work_of
from scripts.npbench_gradients import main

MADE = Path(__file__).with_name("made_frameworks.py")
NAME = "atax"


def show(*argv):
    """The exit status, and the text that is printed."""
    console = Console(file=io.StringIO(), width=npbench_gradients.PLAIN_WIDTH)
    return main([*map(str, argv), "-p", "test"], console), console.file.getvalue()


def rows_of(file):
    with contextlib.closing(sqlite3.connect(file)) as base:
        base.row_factory = sqlite3.Row
        return [dict(row) for row in base.execute("select * from results order by id")]


# --- runs


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run of all that is right, and of a gradient that is wrong."""
    folder = tmp_path_factory.mktemp("gradients")
    frameworks = ("sdfgad", "jax-expert", "numpy", "sdfgad-forward", f"{MADE}:off_by_a_hundredth", f"{MADE}:failing")
    frameworks = (*frameworks, f"{MADE}:on_plain_code")
    files = ("--database", folder / "all.db", "--markdown", folder / "all.md", "--pictures", folder / "pictures")
    status, text = show("-b", NAME, "-f", *frameworks, "-r", 2, "-t", 100, *files)
    return status, text, rows_of(folder / "all.db"), folder


def test_right_frameworks_have_times(run):
    status, text, rows, _ = run
    assert status == 0
    assert "jax-expert" in text
    for name in ("sdfgad", "jax-expert", "numpy", "sdfgad-forward"):
        mine = [row for row in rows if row["framework"] == name]
        assert [row["repeat"] for row in mine] == [1, 2]
        assert all(row["seconds"] > 0.0 and row["first_call_seconds"] > 0.0 for row in mine)
        assert all(row["status"] == "ok" and row["validated"] == 1 and row["error"] < 1e-6 for row in mine)
        assert all(row["peak_bytes"] >= 0 for row in mine)


def test_rows_say_where_they_were_measured(run):
    row = run[2][0]
    assert (row["benchmark"], row["preset"], row["mode"]) == (NAME, "test", "grad")
    assert {row["framework"]: row["mode"] for row in run[2]}["numpy"] == "forward"
    assert row["numpy"] == np.__version__
    assert row["cores"] >= 1
    assert row["memory_bytes"] > 2**20
    for column in ("timestamp", "cpu", "threads", "python", "jax", "dace", "sdfgad"):
        assert row[column], column


def test_wrong_gradient_has_no_time(run):
    _, text, rows, _ = run
    row = next(row for row in rows if "off_by_a_hundredth" in row["framework"])
    assert row["status"] == "WRONG 1e-02"
    assert row["validated"] == 0
    assert row["seconds"] is None
    assert "differs from jax-expert" in row["message"]
    assert "WRONG 1e-02" in text


def test_error_is_told_in_a_line(run):
    _, text, rows, _ = run
    row = next(row for row in rows if row["framework"].endswith("failing"))
    assert (row["status"], row["seconds"], row["validated"]) == ("ERROR", None, None)
    assert row["message"] == "RuntimeError: it fell over"
    assert "RuntimeError: it fell over" in text


def test_warnings_of_sdfgad_are_in_the_row(run):
    row = next(row for row in run[2] if row["framework"].endswith("on_plain_code"))
    assert (row["status"], row["message"]) == ("ok", "MiscompiledWarning: optimised code is wrong")


def test_tables(run):
    _, text, _, folder = run
    page = (folder / "all.md").read_text()
    for shown in (text, page):
        for word in ("geometric mean", "arithmetic mean", f"({NAME})", "over 1", "first call [s]"):
            assert word in shown
    assert f"`python scripts/npbench_gradients.py -b {NAME}" in page
    assert "| jax-expert/sdfgad |" in page


def test_stored_results_are_shown_again(run, tmp_path):
    """All that the database has, as it was, and nothing is run."""
    _, text, rows, folder = run
    files = ("--database", folder / "all.db", "--pictures", tmp_path / "pictures")
    status, again = show("-b", NAME, "atax", "gemm", "-f", "sdfgad", "jax-expert", "numpy", *files, "--no-run")
    assert status == 0
    for heading in ("geometric mean", "arithmetic mean"):
        shown, expected = (next(line for line in t.splitlines() if heading in line) for t in (again, text))
        assert shown.split()[2] == expected.split()[2]
    assert len(rows_of(folder / "all.db")) == len(rows)
    assert (tmp_path / "pictures" / "heat_map.png").exists()


def test_ratios_are_guarded(run, tmp_path):
    stored = ("-b", NAME, "-f", "sdfgad", "jax-expert", "sdfgad-forward", "--database", run[3] / "all.db", "--no-run")
    file = tmp_path / "guard.json"
    assert show(*stored, "--set-guard", file)[0] == 0
    assert show(*stored, "--guard", file)[0] == 0
    known = json.loads(file.read_text())
    assert known["test"]["jax-expert/sdfgad"][NAME] > 0.0
    for name, factor in (("jax-expert/sdfgad", 2.0), ("gradient/forward", 0.5)):
        once_better = copy.deepcopy(known)
        once_better["test"][name][NAME] *= factor
        file.write_text(json.dumps(once_better))
        status, text = show(*stored, "--guard", file)
        assert status == 1
        assert f"slower: {NAME}: {name} is " in text


def test_a_guard_keeps_what_is_not_measured_again(tmp_path):
    file = tmp_path / "guard.json"
    for preset, program, ratio in (("S", "a", 1.0), ("S", "b", 2.0), ("M", "a", 3.0), ("S", "a", 4.0)):
        guard.write(file, preset, {"jax-port/sdfgad": {program: ratio}})
    assert guard.read(file, "S") == {"jax-port/sdfgad": {"a": 4.0, "b": 2.0}}
    assert guard.read(file, "M") == {"jax-port/sdfgad": {"a": 3.0}}
    assert guard.read(file, "L") == {}


def test_pictures(run):
    for name in ("heat_map", "jax_vs_sdfgad"):
        assert (run[3] / "pictures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_times_out_and_dies(tmp_path):
    """Neither keeps the others from running; without sdfgad the exit status is 0."""
    file = tmp_path / "all.db"
    frameworks = (f"{MADE}:sleeping", f"{MADE}:dying", "numpy")
    status, text = show("-b", NAME, "-f", *frameworks, "-r", 1, "-t", 2, "--database", file)
    sleeping, dying, numpy = rows_of(file)
    assert status == 0
    assert (sleeping["status"], sleeping["seconds"]) == ("TIMEOUT", None)
    assert "TIMEOUT" in text
    assert "not finished after 2 s" in sleeping["message"]
    assert (dying["status"], dying["message"]) == ("ERROR", "the process ended with status 3")
    assert numpy["seconds"] > 0.0


def test_lone_wrong_gradient_is_found_by_differences():
    """There is nothing to compare it with but the NumPy program."""
    status, text = show("-b", NAME, "-f", f"{MADE}:off_by_a_hundredth", "-r", 1)
    assert status == 0
    assert "WRONG" in text
    assert "differs from differences of the NumPy program" in text


def test_dace(tmp_path):
    """Its gradient is checked by differences, there being no other, and what it compiles by NumPy."""
    file = tmp_path / "all.db"
    show("-b", NAME, "-f", "dace-autodiff", "numpy", "dace-forward", "-r", 1, "--database", file)
    rows = rows_of(file)
    assert [row["framework"] for row in rows] == ["dace-autodiff", "numpy", "dace-forward"]
    for row in rows:
        assert (row["status"], row["validated"], row["message"]) == ("ok", 1, ""), row["framework"]


def test_without_checks_nothing_is_found():
    _, text = show("-b", NAME, "-f", f"{MADE}:off_by_a_hundredth", "-r", 1, "--no-v")
    assert "WRONG" not in text


BAD = (["-b", "nothing"], ["-f", "nothing"], ["-f", "x.py:f"], ["-r", "0"], ["--no-run"], ["--guard", "nothing"])


@pytest.mark.parametrize("argv", BAD)
def test_bad_options(argv, capsys):
    with pytest.raises(SystemExit):
        show(*argv)
    assert "error:" in capsys.readouterr().err


# --- numbers


def record(benchmark, framework, seconds, **values):
    return Record(benchmark, framework, "grad", "S", seconds=[seconds] if seconds else [], **values)


def test_averages():
    outcome = Outcome(
        [
            record("a", "sdfgad", 1.0),
            record("a", "jax-expert", 4.0),
            record("b", "sdfgad", 2.0),
            record("b", "jax-expert", 1.0),
            record("c", "sdfgad", 1.0),
            record("c", "jax-expert", None, status="TIMEOUT"),
            record("d", "sdfgad", 1.0, message="nobody knows"),
            record("d", "jax-expert", 9.0, validated=True),
        ]
    )
    average = outcome.average("jax-expert/sdfgad")
    assert average.count == 2
    assert average.geometric == pytest.approx(2.0**0.5)
    assert average.arithmetic == pytest.approx(2.25)
    assert (average.least, average.least_of, average.above) == (0.5, "b", 1)
    assert outcome.ratios == ["jax-expert/sdfgad"]


def test_distance():
    x = {"x": np.array([1.0, -2.0]), "y": np.array(1e-20)}
    assert verify.distance(x, x) == 0.0
    assert verify.distance({"x": x["x"] * 1.01, "y": x["y"]}, x) == pytest.approx(0.01)
    assert verify.distance({"x": x["x"], "y": np.array(0.0)}, x) < 1e-6  # A rounding error.
    assert verify.distance({"x": x["x"], "y": np.array(1e-3)}, x) > 1.0
    for wrong in ({"x": x["x"]}, {"x": np.array([1.0, np.nan]), "y": x["y"]}, {"x": np.ones(3), "y": x["y"]}):
        assert verify.distance(wrong, x) == float("inf")


@pytest.mark.parametrize(("other", "trusted"), [(1.0, "ours"), (1.1, None)])
def test_families_that_agree_are_trusted(tmp_path, other, trusted):
    values = {"ours": ("sdfgad", 1.0), "ours too": ("sdfgad", 1.0), "theirs": ("dace", other)}
    records = {}
    for name, (family, value) in values.items():
        np.savez(tmp_path / name, x=np.array([value]))
        records[str(tmp_path / f"{name}.npz")] = record("a", name, 1.0, family=family)
    found = verify.confirmed(records)
    assert (found and records[found].framework) == trusted


# --- what the machine could do


def test_rates_are_of_this_century():
    rates = shares.measure(elements=2**20, order=200)
    assert 1e8 < rates.copied < 1e13
    assert 1e8 < rates.multiplied < 1e14
    assert rates | Rates(1.0, 1e20) == Rates(rates.copied, 1e20)


def test_shares():
    """At preset test, gemm (4 · 4 · 5 · 6 operations) in a microsecond; of adi nobody knows the work."""
    outcome = Outcome([record("gemm", "sdfgad", 1e-6), record("adi", "sdfgad", 1.0), record("atax", "sdfgad", None)])
    text = as_text(shares.shares_table(outcome, "test", Rates(1e9, 4.8e9), box.MARKDOWN))
    (row,) = text.splitlines()[2:]
    assert row.split("|")[1].strip() == "gemm"
    assert "0.48 Gflop/s" in row
    assert "10%" in row


@pytest.mark.parametrize("name", WORK)
def test_work_has_formulas_of_the_sizes(name):
    entry = npbench_suite.load(name)
    for preset in ("test", "S", "paper"):
        unit, amount = work_of(entry, preset)
        assert unit in ("bytes", "flops")
        assert amount > 0.0
    arrays = [entry.arguments_for("test")[entry.arguments.index(array)] for array in entry.arrays]
    assert all(np.asarray(array).dtype == np.float64 for array in arrays)
