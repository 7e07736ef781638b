"""The script that times builds and starts, on one small program."""

import io

import pytest
from rich.console import Console

from scripts import build_times


def test_options_are_checked(capsys):
    for options in (["-b", "nothing"], ["-s", "0"]):
        with pytest.raises(SystemExit):
            build_times.parse_arguments(options)
    assert "unknown programs: nothing" in capsys.readouterr().err


def test_rows_are_summed_up():
    chosen = build_times.parse_arguments(["-b", "gemm", "atax", "mlp"])
    rows = [dict.fromkeys((*build_times.BUILD, *build_times.START), seconds) for seconds in (1.0, 2.0, 9.0)]
    text = io.StringIO()
    Console(file=text, width=120).print(build_times.make_table(chosen, rows))
    found = {line.split()[0]: set(line.split()[1:]) for line in text.getvalue().splitlines() if line.strip()}
    assert (found["median"], found["worst"], found["total"]) == ({"2.00"}, {"9.00"}, {"12.00"})


def test_builds_are_drawn_over_statements(tmp_path):
    rows = [{"statements": n, "build": 0.5 + 0.1 * n, "dace": 0.4} for n in (1, 10, 100)]
    build_times.draw(["small", "middle", "large"], rows, tmp_path / "builds.png")
    assert (tmp_path / "builds.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_program_is_timed(tmp_path):
    chosen = build_times.parse_arguments(["-p", "test", "-b", "gemm", "-s", "1", "--cpu"])
    row = build_times.measure("gemm", chosen, str(tmp_path))
    assert set(row) == {*build_times.BUILD, *build_times.START, "statements"}
    stages = [row[stage] for stage in build_times.BUILD if stage != "build"]
    assert sum(stages) == pytest.approx(row["build"])
    assert min(stages) >= 0
    assert 0 < row["import"] < row["ready"] < row["build"]
