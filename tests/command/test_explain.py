"""``python -m sdfgad explain``."""

import subprocess
import sys

import pytest

from sdfgad.command.main import main
from sdfgad.optimise.passes import PASSES

TEXT = """
import numpy as np

RATE = 0.1


def heat(T, u, k):
    for t in range(T):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)
"""
ARGS = "4, np.linspace(0, 1, 9), RATE"


@pytest.fixture
def target(tmp_path, monkeypatch):
    path = tmp_path / "some_heat.py"
    path.write_text(TEXT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "some_heat", raising=False)
    return f"{path}:heat"


def test_as_a_command(target):
    done = subprocess.run(
        [sys.executable, "-m", "sdfgad", "explain", target, "--args", ARGS, "--stage", "optimised", "--wrt", "u"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "loop parallel f" in done.stdout
    assert "gradient of k" not in done.stdout
    assert not done.stderr


def test_options(target, capsys):
    assert main(["explain", target, "--args", ARGS, "--diff", "--without", "fuse", "--without", "gather"]) == 0
    text = capsys.readouterr().out
    assert "products, " in text
    assert "gather" not in text
    assert main(["explain", target, "--args", ARGS, "--stage", "plan", "--memory-limit", "1 MiB"]) == 0
    assert "limit 1.0 MiB" in capsys.readouterr().out


def test_programs_of_the_suite(capsys):
    assert main(["explain", "gemm", "--stage", "parsed"]) == 0
    small = capsys.readouterr().out
    assert main(["explain", "gemm", "--stage", "parsed", "--preset", "S"]) == 0
    assert capsys.readouterr().out != small


def test_what_a_bisection_finds_is_the_exit_status(target, capsys, monkeypatch):
    assert main(["explain", target, "--args", ARGS, "--bisect"]) == 0
    assert capsys.readouterr().out.endswith("All agree.\n")
    fuse = next(one for one in PASSES if one.name == "fuse")
    monkeypatch.setitem(vars(fuse), "run", lambda program: program.with_body(program.body[:-1]))
    assert main(["explain", target, "--args", ARGS, "--bisect"]) == 1
    assert "The pass `fuse` is the first that differs" in capsys.readouterr().out


ERRORS = [
    (["nothing.py:f"], "there is no Python file nothing.py"),
    (["nothing"], "there is no program 'nothing'"),
    (["gemm", "--preset", "XXL"], "there is no preset 'XXL'\n  There are "),
    (["{}x", "--args", ARGS], "has no 'heatx'\n  It has heat."),
    (["{}", "--args", "4, u"], "NameError"),
    (["{}", "--args", "4"], "the call does not fit `heat`"),
    (["{}", "--args", ARGS, "--stage", "none"], "It is one of parsed, adjoint"),
    (["{}", "--args", ARGS, "--without", "none"], "The passes are: clean, split_complex"),
]


@pytest.mark.parametrize(("arguments", "what"), ERRORS, ids=[what for _, what in ERRORS])
def test_errors(arguments, what, target, capsys):
    assert main(["explain", *(argument.replace("{}", target) for argument in arguments)]) == 2
    assert what in capsys.readouterr().err
