"""The page docs/how-it-works.md and its pictures show what the engine does."""

import re
import sys

import numpy as np
import pytest

from scripts import how_it_works
from scripts.draw_sdfg import to_dot
from scripts.how_it_works import PAGE, PICTURES, ROOT, filled
from tests.helpers import numpy_output


@pytest.fixture(scope="module")
def stages():
    return how_it_works.stages()


def test_the_page_is_up_to_date(stages):
    page = PAGE.read_text()
    assert filled(page, stages[0]) == page


def test_every_text_is_on_the_page(stages):
    assert re.findall(r"<!-- made: (\w+) -->", PAGE.read_text()) == list(stages[0])


def test_filling_replaces_blocks_only():
    page = "a\n<!-- made: one -->\n```text\nold\n\nold\n```\nb\n<!-- made: two -->\n```\n```\n```text\nkept\n```\n"
    expected = "a\n<!-- made: one -->\n```text\n1\n```\nb\n<!-- made: two -->\n```\n2\n```\n```text\nkept\n```\n"
    assert filled(page, {"one": "1\n", "two": "2"}) == expected
    assert filled(expected, {"one": "1", "two": "2"}) == expected


def test_check_writes_nothing_and_says_whether_it_would(monkeypatch, tmp_path, stages):
    monkeypatch.setattr(how_it_works, "stages", lambda: stages)
    monkeypatch.setattr(sys, "argv", ["how_it_works.py", "--check"])
    page = tmp_path / "page.md"
    monkeypatch.setattr(how_it_works, "PAGE", page)
    page.write_text(PAGE.read_text())
    assert how_it_works.main() == 0
    old = page.read_text().replace("u_tape", "v_tape")
    page.write_text(old)
    assert how_it_works.main() == 1
    assert page.read_text() == old


def test_links_and_pictures_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE.read_text()):
        assert (PAGE.parent / target).exists(), target
    for folder in re.findall(r"`(sdfgad/\w+|scripts/\w+\.py)`", PAGE.read_text()):
        assert (ROOT / folder).exists(), folder


@pytest.mark.parametrize("name", ["forward", "gradient"])
def test_drawing_mentions_each_buffer(stages, name):
    sdfg = stages[1][name]
    text = to_dot(sdfg)
    for buffer in sdfg.arrays:
        assert f'label="{buffer}"' in text
    assert text.count("{") == text.count("}")
    names = set(re.findall(r"^(n\d+) \[", text, re.MULTILINE))
    linked = set(re.findall(r"\b(n\d+) -> (n\d+)", text))
    assert {end for pair in linked for end in pair} <= names
    assert text.count("subgraph") == len(set(re.findall(r"cluster_n\d+(?= \{)", text)))


@pytest.mark.parametrize("name", ["forward", "gradient"])
def test_pictures_show_each_buffer(stages, name):
    picture = (PICTURES / f"{name}.svg").read_text()
    for buffer in stages[1][name].arrays:
        assert f">{buffer}</text>" in picture


def test_the_example_is_a_numpy_program():
    u = np.linspace(0.0, 1.0, 10)
    assert np.isfinite(numpy_output(how_it_works.burn, (20, u, 0.1)))
