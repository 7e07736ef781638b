"""The page docs/supported.md shows what the table of functions tests."""

import sys

from scripts import supported


def test_the_page_is_up_to_date(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["supported.py", "--check"])
    assert supported.main() == 0


def test_a_page_that_is_not_up_to_date_is_told(monkeypatch, tmp_path):
    page = tmp_path / "supported.md"
    page.write_text("old\n")
    monkeypatch.setattr(supported, "PAGE", page)
    monkeypatch.setattr(sys, "argv", ["supported.py", "--check"])
    assert supported.main() == 1
    assert page.read_text() == "old\n"
