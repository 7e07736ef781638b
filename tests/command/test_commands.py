"""``sdfgad check``, ``plan``, ``bench``, ``cache`` and ``info``."""

import json
import os
import re
import subprocess
import sys

import pytest

from sdfgad.command.main import main

TEXT = """
import numpy as np

import sdfgad


def heat(T, u, k):
    for t in range(T):
        u[1:-1] += k * np.sin(u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@sdfgad.custom_vjp
def wrong(x):
    return x * x


wrong.defvjp(lambda x: (x * x, x), lambda x, c: (x * c,))


def with_wrong_rule(x):
    return np.sum(wrong(x))


def reads(x):
    return np.sum(x) + len(open("data").read())
"""
ARGS = "4, np.linspace(0, 1, 9), 0.1"


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "some_programs.py"
    path.write_text(TEXT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "some_programs", raising=False)
    return str(path)


def test_check_says_what_was_done(file, capsys):
    assert main(["check", f"{file}:heat", "--args", ARGS]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" in ")[0] for line in lines if " in " in line and "directions" not in line] == [
        "parsed, derived and planned",
        "compiled",
        "compared with finite differences",
    ]
    assert "Taylor rate 2.0" in lines[-1]


def test_check_finds_a_wrong_gradient(file, capsys):
    assert main(["check", f"{file}:with_wrong_rule", "--args", "np.ones(3)"]) == 1
    assert "WRONG: the gradient" in capsys.readouterr().out


def test_check_says_what_is_refused_and_where(file, capsys):
    assert main(["check", f"{file}:reads", "--args", "np.ones(3)"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("UnsupportedProgram: ")
    assert re.search(r"some_programs\.py:\d+: return np\.sum\(x\) \+ len\(open", error)


def test_plan_prints_and_writes_the_plan(file, tmp_path, capsys):
    page, picture = tmp_path / "plan.html", tmp_path / "plan.png"
    options = ["--args", ARGS, "--memory-limit", "1 MiB", "--html", str(page), "--plot", str(picture)]
    assert main(["plan", f"{file}:heat", *options]) == 0
    assert "limit 1.0 MiB" in capsys.readouterr().out
    assert "some_programs.py" in page.read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["plan", f"{file}:heat", "--args", ARGS, "--json", "--strategy", "store_all"]) == 0
    assert json.loads(capsys.readouterr().out)["strategy"] == "store_all"
    assert main(["plan", f"{file}:heat", "--args", ARGS, "--memory-limit", "10 B"]) == 2
    assert "InfeasibleBudget: no plan keeps memory_limit=10 bytes" in capsys.readouterr().err


def test_cache_shows_its_size_and_is_cleared(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path / "cache"))
    main(["plan", "gemm"])
    capsys.readouterr()
    assert main(["cache", "info"]) == 0
    assert str(tmp_path / "cache") in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0
    assert "deleted " in capsys.readouterr().out
    assert main(["cache", "info"]) == 0
    assert ": 0 B of at most" in capsys.readouterr().out


def test_info_has_what_a_report_needs(monkeypatch, capsys):
    monkeypatch.setenv("SDFGAD_CHECK", "on")
    assert main(["info"]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert {"platform", "processor", "cores", "threads", "python", "compiler", "cache", "dace", "numpy"} <= rows.keys()
    assert rows["SDFGAD_CHECK"] == "on"


def test_bench_hands_its_options_on(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main(["bench", "--help"]) == 0
    assert "--preset PRESET" in capsys.readouterr().out
    assert main(["bench", "-b", "nothing"]) == 2
    assert "unknown programs: nothing" in capsys.readouterr().err


def test_bench_needs_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sdfgad.command.__file__", str(tmp_path / "sdfgad" / "command" / "__init__.py"))
    assert main(["bench", "-p", "S"]) == 2
    assert "Clone the repository" in capsys.readouterr().err


def test_an_unknown_option_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["info", "--colour"])
    assert "unrecognized arguments: --colour" in capsys.readouterr().err


def test_it_is_a_module_that_runs():
    done = subprocess.run([sys.executable, "-m", "sdfgad", "--help"], capture_output=True, text=True, check=True)
    for name in ("check", "plan", "explain", "bench", "cache", "info"):
        assert f"    {name} " in done.stdout


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["plan", "--html", "missing/plan.html"], "there is no folder missing"),
        (["plan", "--plot", "plan.xyz"], "plan.xyz does not end in .png, .pdf, .svg"),
        (["check", "--seed", "-1"], "'-1' is no natural number"),
    ],
)
def test_bad_values_are_refused_before_the_work(option, message, file, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([option[0], f"{file}:unknown", *option[1:]])
    assert message in capsys.readouterr().err


def test_a_message_with_which_the_benchmark_ends_is_passed_on(tmp_path, monkeypatch):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "npbench_gradients.py").write_text("raise SystemExit('no such program')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    with pytest.raises(SystemExit, match="no such program"):
        main(["bench"])


def test_output_that_is_not_read_or_has_no_such_letters(file):
    command = [sys.executable, "-m", "sdfgad", "plan", f"{file}:heat", "--args", ARGS]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=ascii_only, check=True)
    assert "peak" in done.stdout
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")
