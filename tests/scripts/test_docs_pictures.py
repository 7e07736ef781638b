"""The pictures of docs/memory-limits.md can be drawn, and are those that the page shows."""

import re

from scripts import docs_pictures
from tests.docs.pages import DOCS


def test_plans_are_drawn(tmp_path):
    docs_pictures.draw_plans(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {f"{name}.png" for name in docs_pictures.PLANS}
    shown = re.findall(r"\(pictures/(\w+\.png)\)", (DOCS / "memory-limits.md").read_text())
    assert sorted(shown) == sorted(drawn | {"compare_burn.png"})


def test_a_comparison_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(docs_pictures, "ROD", (docs_pictures.ROD[0][:2000], 0.1, 50))
    compared = docs_pictures.draw_comparison(tmp_path)
    assert (tmp_path / "compare_burn.png").stat().st_size > 10_000
    assert {"store_all", "recompute_all", "revolve", "ilp"} == {row.strategy for row in compared.rows}
