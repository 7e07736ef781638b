"""The comparison of programs: tables, files, and an exit status that tells whether all is well."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from scripts import compare_schedules
from scripts.compare_schedules import BUILT, DEFAULT, DOUBLE, Result, load, parse_budget

TWO = ("nonlinear_stencil", "seidel_2d")


def show(*argv):
    """The exit status, and the text that is printed."""
    console = Console(file=io.StringIO(), width=compare_schedules.PLAIN_WIDTH)
    return compare_schedules.main(list(argv), console), console.file.getvalue()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    files = ("--json", str(folder / "all.json"), "--markdown", str(folder / "all.md"), "--plots", str(folder / "plots"))
    status, text = show(*TWO, "-p", "test", "-r", "1", "--budgets", "1,0.5,least,1000", *files)
    results = [Result.from_json(json.dumps(entry)) for entry in json.loads((folder / "all.json").read_text())]
    return status, text, results, folder


def test_two_programs(run):
    status, text, _, _ = run
    assert status == 0
    for name in TWO:
        assert f"{name}: store-all holds" in text
        row = next(line for line in text.splitlines() if line.startswith(f" {name} test"))
        assert row.split()[-1] == "no"
    assert "1000 B" in text


def test_json(run):
    _, _, results, _ = run
    assert [(result.name, result.preset, result.problem) for result in results] == [(name, "test", "") for name in TWO]
    assert all(result.is_right for result in results)
    assert [row.budget for row in results[0].rows if row.strategy == "ilp"] == ["", "100%", "50%", "least", "1000 B"]


def test_markdown_names_machine_and_command(run):
    page = (run[3] / "all.md").read_text()
    assert "python scripts/compare_schedules.py nonlinear_stencil seidel_2d -p test" in page
    assert "processor " in page
    assert "date 20" in page
    for name in TWO:
        assert f"| {name} test" in page
        assert f"### {name}, preset test" in page


def test_pictures(run):
    for name in TWO:
        assert (run[3] / "plots" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_what_makes_a_result_wrong(run):
    right = run[2][0]
    row = next(row for row in right.rows if row.budget == "100%" and row.strategy == "ilp")

    def with_row(changed):
        return replace(right, comparison=replace(right.comparison, rows=(changed,)))

    assert with_row(row).is_right
    assert not with_row(replace(row, budget_bytes=1)).is_right
    assert not with_row(replace(row, difference=2 * DOUBLE)).is_right
    assert not with_row(replace(row, difference=float("nan"))).is_right
    assert not Result("x", "S", problem="it fell over").is_right


def test_what_was_not_run_is_in_the_tables(run):
    right = run[2][0]
    row = next(row for row in right.rows if row.budget == "50%" and row.strategy == "ilp")
    rest = dict.fromkeys(("peak_bytes", "share", "seconds", "ratio", "difference", "plan_seconds", "minimum_bytes"))
    skipped = replace(row, **rest, status="not run", error="not run: it would take 5 days")
    page = compare_schedules.markdown(
        [
            replace(right, comparison=replace(right.comparison, rows=(skipped,))),
            Result("x", "S", problem="it fell over"),
        ],
        "compare",
    )
    assert "not run: it would take 5 days" in page
    assert " failed |" in page
    assert "it fell over" in page


def test_a_program_that_fails_is_shown_and_the_others_run(monkeypatch):
    monkeypatch.setattr(compare_schedules, "compare_apart", failing(compare_schedules.compare_apart))
    status, text = show("sine_chain", "nonlinear_stencil", "-p", "test", "-r", "1", "--budgets", "1")
    assert status == 1
    assert "it fell over" in text
    assert "nonlinear_stencil: store-all holds" in text


def failing(right):
    return lambda name, chosen: (
        Result(name, "S", problem="it fell over") if name in "sine_chain" else right(name, chosen)
    )


def test_a_program_that_takes_too_long():
    status, text = show("nonlinear_stencil", "-p", "test", "--timeout", "0.01")
    assert status == 1
    assert "not finished after 0.01 s" in text


def test_an_error_in_the_process_of_a_program_is_told():
    status, text = show("nonlinear_stencil", "-p", "test", "--budgets", "plenty")
    assert status == 1
    assert "ArgumentError: memory_limit='plenty' is no size" in text


@pytest.mark.parametrize(
    ("text", "budget"), [("0.5", 0.5), ("1", 1.0), ("4096", 4096), ("64MiB", "64MiB"), ("least", "least")]
)
def test_budgets(text, budget):
    assert parse_budget(text) == budget
    assert type(parse_budget(text)) is type(budget)


def test_default_programs_exist():
    for name, preset in DEFAULT.items():
        assert preset in load(name).presets
    assert set(BUILT) <= set(DEFAULT)


@pytest.mark.parametrize("argv", [["nothing"], ["-p", "XXL"], ["-r", "0"]])
def test_bad_options(argv, capsys):
    with pytest.raises(SystemExit):
        show(*argv)
    assert "error:" in capsys.readouterr().err
