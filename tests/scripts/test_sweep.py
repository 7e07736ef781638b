"""The sweep over sizes: a short run with a fixed seed, and that it finds optimised code that is wrong."""

import json

import numpy as np
import pytest

import sdfgad
from scripts import sweep
from sdfgad.runtime.compiler import Level
from tests.helpers_cache import cache_with_headers
from tests.helpers_compiled import change_code

SHORT = ["heat_3d", "jacobi_1d", "trmm"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = cache_with_headers(tmp_path / "cache")
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(folder))
    monkeypatch.setenv("SDFGAD_CHECK", "on")
    return folder


def state(folder):
    return json.loads((folder / "sweep.json").read_text())


def test_a_few_sizes_are_right_and_a_run_goes_on(cache, tmp_path, capsys):
    command = [*SHORT, "--seed", "3", "--batch", "3", "--most", "9", "--folder", str(tmp_path)]
    assert sweep.main([*command, "--cases", "3"]) == 0
    assert sweep.main([*command, "--cases", "6"]) == 0
    found = state(tmp_path)
    assert found["done"] == 6
    assert found["right"] + sum(found["refused"].values()) + found["impossible"] == 6
    assert found["right"] >= 4
    assert 0 < found["interpreted"] <= found["right"]
    assert capsys.readouterr().out.count("cases, ") == 2


def test_wrong_code_is_found(cache, tmp_path, capsys, monkeypatch):
    change_code(monkeypatch, "0.125", "0.1250001")
    assert sweep.main(["heat_3d", "--cases", "1", "--seed", "1", "--most", "6", "--folder", str(tmp_path)]) == 1
    ((case, said), *_) = state(tmp_path)["wrong"]
    assert case[0] == "heat_3d"
    assert "is wrong" in said
    assert "WRONG" in capsys.readouterr().out


def test_what_is_wrong_at_every_level_is_found_by_the_references(cache, tmp_path, monkeypatch):
    change_code(monkeypatch, "0.125", "0.1250001", levels=Level)
    assert sweep.main(["heat_3d", "--cases", "1", "--seed", "1", "--most", "6", "--folder", str(tmp_path)]) == 1
    said = [one for _, one in state(tmp_path)["wrong"]]
    assert [one.rpartition(" by ")[0] for one in said] == [
        "the value differs from NumPy's",
        "the gradient differs from the interpreter's",
    ]


def test_long_programs_are_not_interpreted(cache, tmp_path, monkeypatch):
    monkeypatch.setattr("scripts.references.MOST_ELEMENTS", 10)
    assert sweep.main(["heat_3d", "--cases", "1", "--seed", "1", "--most", "6", "--folder", str(tmp_path)]) == 0
    found = state(tmp_path)
    assert (found["right"], found["interpreted"]) == (1, 0)


def test_every_dimension_and_size_comes_once():
    found = sweep.cases(["trmm", "lenet"], 40, 5)
    assert len(found) == len(set(found))
    assert {size for _, _, size in found} == set(range(1, 41))
    assert {dimension for name, dimension, _ in found if name == "trmm"} == {"M", "N"}
    assert not {"H", "W"} & {dimension for name, dimension, _ in found if name == "lenet"}
    assert sweep.cases(["trmm", "lenet"], 40, 5) == found != sweep.cases(["trmm", "lenet"], 40, 6)


def test_what_numpy_cannot_compute_is_no_case(monkeypatch):
    assert np.shape(sweep.arguments_of(("trmm", "M", 3))[1])[0] == 3
    with pytest.raises(TypeError):
        sweep.arguments_of(("trmm", "no dimension of it", 3))
    monkeypatch.setattr(np, "dot", lambda *_: np.zeros(2).reshape(3))
    assert sweep.arguments_of(("trmm", "M", 3)) is None


def test_a_compiler_that_fails_is_no_refusal(tmp_path):
    found = sweep.Sweep(tmp_path, print)
    found.refuse(("trmm", "M", 3), sdfgad.UnsupportedProgram("no"))
    assert found.totals.refused == {"UnsupportedProgram: trmm": 1}
    with pytest.raises(sdfgad.CompilerError):
        found.refuse(("trmm", "M", 3), sdfgad.CompilerError("no compiler"))
