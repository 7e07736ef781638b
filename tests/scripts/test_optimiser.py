"""The ablation of the passes: what is measured of a program, and the page that is written of it."""

import json

import pytest

from scripts import optimiser
from sdfgad.optimise.passes import TABLE


def test_what_is_measured_of_a_program(monkeypatch):
    monkeypatch.setattr(optimiser, "LEAST", 0.0)
    monkeypatch.setattr(optimiser, "ROUNDS", 1)
    names = {one.name for one in TABLE}
    found = optimiser.measured("atax", "test", sorted(names))
    assert {"", "fuse"} <= set(found["seconds"]) <= {"", *names}
    assert all(seconds > 0 for seconds in found["seconds"].values())
    assert set(found["examples"]) <= names
    assert any(line[:1] == "+" for line in found["examples"]["clean"])


def test_some_passes_are_measured_anew():
    old = {"seconds": {"": 2.0, "fuse": 4.0, "clean": 3.0, "widen": 5.0}, "examples": {"fuse": ["-a"], "clean": ["-b"]}}
    new = {"seconds": {"": 1.0, "fuse": 1.5}, "examples": {"fuse": ["-c"]}}
    found = optimiser.merged(old, new, ["fuse", "widen"])
    assert found["seconds"] == {"": 2.0, "fuse": 3.0, "clean": 3.0}
    assert found["examples"] == {"fuse": ["-c"], "clean": ["-b"]}


RESULTS = {
    "atax": {"seconds": {"": 1.0, "fuse": 2.0}, "examples": {"fuse": ["-a", "+b", "+c"]}},
    "sph": {"seconds": {"": 1.0, "fuse": 0.5, "tile": 3.0}, "examples": {"fuse": ["-a", "+d"]}},
}


def test_the_page():
    text = optimiser.page(RESULTS)
    assert "on 1 programs of NPBench and 1 of the second suite" in text
    assert "| [`fuse`](#fuse) | 1 | 1 | 1.00 | 2.00 (atax) |" in text
    assert "| [`tile`](#tile) | 0 | 1 | 3.00 | 3.00 (sph) |" in text
    assert "| [`hoist`](#hoist) | 0 | 0 | – | – |" in text
    assert "```diff\n-a\n+d\n```" in text
    assert text.count("\n## ") == len({one.name for one in TABLE})


def test_the_page_is_written_of_what_was_measured(tmp_path, monkeypatch):
    results = tmp_path / "results.json"
    results.write_text(json.dumps(RESULTS))
    monkeypatch.setattr(optimiser, "PAGE", tmp_path / "page.md")
    assert optimiser.main(["write", "-o", str(results)]) == 0
    assert (tmp_path / "page.md").read_text() == optimiser.page(RESULTS)


def test_the_page_in_the_docs_has_all_passes():
    text = optimiser.PAGE.read_text()
    # A pass that runs several times has the text of its last record.
    for one in {one.name: one for one in TABLE}.values():
        assert f"[`{one.name}`](#{one.name})" in text
        assert one.motive in text


def test_only_known_programs(capsys):
    with pytest.raises(SystemExit):
        optimiser.main(["measure", "-b", "nothing"])
    assert "unknown programs: nothing" in capsys.readouterr().err
