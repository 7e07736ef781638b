"""The Python code on the pages of the site runs, in order within each page, and prints what the page says.

A block with a title is not run: it is a file ("title" is its path), or what the blocks before it print ("printed").
Blocks that import a package which is not installed are left out, and then the test is reported as skipped.
"""

import ast
import re
from importlib.util import find_spec

import pytest

from tests.docs.pages import Block, blocks, navigation
from tests.helpers import module_from


def is_run(block):
    return block.language == "python" and not block.title


# Those of the examples are made from scripts, which `test_examples` runs.
PAGES = [page for page in navigation() if not page.startswith("examples/") and any(map(is_run, blocks(page)))]


def missing(block):
    """The packages that a block imports and that are not installed."""
    statements = list(ast.walk(ast.parse(block.text)))
    names = [alias.name for one in statements if isinstance(one, ast.Import) for alias in one.names]
    names += [one.module for one in statements if isinstance(one, ast.ImportFrom)]
    return {package for package in (name.partition(".")[0] for name in names) if find_spec(package) is None}


@pytest.mark.parametrize("page", PAGES)
def test_the_code_runs(page, tmp_path, capsys):
    code = [block for block in blocks(page) if is_run(block)]
    left_out = set().union(*map(missing, code))
    module_from("\n\n".join(block.text for block in code if not missing(block)), tmp_path)
    printed = capsys.readouterr().out
    for block in blocks(page):
        if block.title == "printed":
            assert re.search(re.escape(block.text).replace("…", ".*"), printed), block.text
    if left_out:
        pytest.skip(f"ran, but for the blocks that need {', '.join(sorted(left_out))}")


def test_missing_packages_are_named():
    text = "import json, no_such_package.part\nfrom numpy import linalg\nfrom no_other.part import name\n"
    assert missing(Block("python", "", text)) == {"no_such_package", "no_other"}


def test_pages_that_must_have_code():
    assert {"index.md", "first-gradient.md", "memory-limits.md", "derivatives.md"} <= set(PAGES)
