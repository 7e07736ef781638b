"""The Python code on the pages of the site runs, in order within each page, and prints what the page says.

A block with a title is not run: it is a file ("title" is its path), or what the blocks before it print ("printed").
"""

import re

import pytest

from tests.docs.pages import blocks, navigation
from tests.helpers import module_from


def is_run(block):
    return block.language == "python" and not block.title


# Those of the examples are made from scripts, which `test_examples` runs.
PAGES = [page for page in navigation() if not page.startswith("examples/") and any(map(is_run, blocks(page)))]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_runs(page, tmp_path, capsys):
    module_from("\n\n".join(block.text for block in blocks(page) if is_run(block)), tmp_path)
    printed = capsys.readouterr().out
    for block in blocks(page):
        if block.title == "printed":
            assert re.search(re.escape(block.text).replace("…", ".*"), printed), block.text


def test_pages_that_must_have_code():
    assert {"index.md", "first-gradient.md", "memory-limits.md", "derivatives.md"} <= set(PAGES)
