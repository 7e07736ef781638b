"""What the pages docs/extending add to the repository can be added to it as it is now, and works."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT, blocks, navigation

PAGES = [page for page in navigation() if page.startswith("extending/") and page != "extending/index.md"]


def hunks(block):
    """The lines before and after each of the changes that a block shows; an empty line is the same in both."""
    for hunk in block.text.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        yield "".join(map(shown, lines_but(lines, "+"))), "".join(map(shown, lines_but(lines, "-")))


def lines_but(lines, sign):
    return [line for line in lines if not line.startswith(sign)]


def shown(line):
    """A line without the sign before it."""
    return line if line == "\n" else line[1:]


def changed(block, text):
    """The text of a file after the change."""
    for before, after in hunks(block):
        assert text.count(before) == 1, f"{block.title} has these lines {text.count(before)} times:\n{before}"
        text = text.replace(before, after)
    return text


def apply(page, folder):
    """Makes the additions of a page in a folder, which has copies of all files that are changed."""
    for block in blocks(page):
        path = folder / block.title
        if block.language == "diff":
            path.write_text(changed(block, path.read_text()))
        elif block.title not in ("", "run"):
            assert not path.exists(), f"{block.title} is in the repository already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)


@pytest.mark.parametrize("page", PAGES)
def test_the_additions_can_be_made(page, tmp_path):
    for block in blocks(page):
        if (ROOT / block.title).is_file():
            (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / block.title, tmp_path / block.title)
    apply(page, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_additions_work(page, tmp_path):
    for folder in ("sdfgad", "tests", "scripts", "npbench_suite", "benchmarks", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    apply(page, tmp_path)
    (run,) = (block for block in blocks(page) if block.title == "run")
    for line in run.text.splitlines():
        command = shlex.split(line, comments=True)
        if command[0] == "python":
            subprocess.run(
                [sys.executable, *command[1:]], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)}, check=True
            )


def test_a_change_that_cannot_be_made_is_told():
    (block,) = (block for block in blocks("extending/pass.md") if block.language == "diff")
    with pytest.raises(AssertionError, match="0 times"):
        changed(block, "nothing of it")
