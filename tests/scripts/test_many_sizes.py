"""The table of code that sizes share."""

import numpy as np

from scripts import many_sizes


def test_a_row_says_whether_code_is_shared_and_how_far_results_differ(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("sys.argv", ["many_sizes", "-b", "jacobi_1d", "--markdown", str(tmp_path / "table.md")])
    monkeypatch.setattr(many_sizes, "SECONDS", 0.0)
    monkeypatch.setenv("SDFGAD_CACHE_DIR", str(tmp_path))
    many_sizes.main()
    text = (tmp_path / "table.md").read_text()
    assert "| equal bits |" in text.splitlines()[2]
    assert "Shared by 1 of 1" in text
    assert text.splitlines()[2] in capsys.readouterr().out


def test_a_difference_is_relative_to_the_largest_element():
    assert many_sizes.difference([np.array([1.0, 4.5])], [np.array([1.0, 5.0])]) == 0.1
    assert many_sizes.line("p", 1.0, 0.5, None, 2e-16) == "| p | 1.00 | 0.50 | own code | 2e-16 |"
