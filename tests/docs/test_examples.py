"""The worked examples of docs/examples run, and their pages show their code and text."""

import json
import os
import re
import subprocess
import sys

import pytest

from scripts import docs_examples
from scripts.docs_examples import EXAMPLES, NAMES, PICTURES, ROOT, Cell, cells_of, notebook_of, outdated, page_of
from tests.helpers_tiers import some

MADE = [
    Cell(True, "# Squares\n\nWhat they add up to.\n\nMore.", 1),
    Cell(False, "print(1 + 4)", 5, "5\nand more", (b"png", b"png")),
    Cell(True, "The end.", 8),
]


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The examples in a folder that tests may change."""
    for path in EXAMPLES.iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    monkeypatch.setattr(docs_examples, "EXAMPLES", tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", some(NAMES, 3))
def test_it_runs(name, tmp_path):
    """As a user runs it; what it claims it asserts at its end."""
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_it_asserts_something_at_its_end(name):
    assert re.search(r"^assert ", cells_of(name)[-1].source, re.MULTILINE)


def test_every_example_is_listed():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*NAMES}


def test_pages_are_up_to_date():
    assert outdated() == []


def test_links_exist():
    for page in EXAMPLES.glob("*.md"):
        for target in re.findall(r'\]\(([^)#:]+)\)|src="([^"]+)"', page.read_text()):
            assert (EXAMPLES / "".join(target)).exists(), f"{page.name}: {target}"


def test_pictures_are_those_of_the_pages():
    shown = {name for page in EXAMPLES.glob("*.md") for name in re.findall(r"examples/(\w+-\d\.png)", page.read_text())}
    assert {path.name for path in PICTURES.iterdir()} == shown


@pytest.mark.parametrize(("old", "new"), [("np.roll(", "np.rol("), ("Nine velocities", "Ten velocities")])
def test_changed_code_and_text_make_page_and_notebook_stale(copied, old, new):
    program = copied / "lattice_boltzmann.py"
    program.write_text(program.read_text().replace(old, new))
    assert outdated() == ["lattice_boltzmann.md", "lattice_boltzmann.ipynb"]


def test_a_changed_title_makes_the_index_stale(copied):
    program = copied / "swing_up.py"
    program.write_text(program.read_text().replace("# # A pendulum", "# # One pendulum"))
    assert "index.md" in outdated()


def test_other_outputs_do_not_make_pages_stale(copied):
    page = copied / "lattice_boltzmann.md"
    changed = page.read_text().replace("flow rate 0", "flow rate 1")
    assert changed != page.read_text()
    page.write_text(changed)
    assert outdated() == []


def test_a_page_has_text_code_output_and_pictures():
    parts = page_of("squares", MADE).split("\n\n")
    assert parts[0] == "# Squares"
    assert "```python\nprint(1 + 4)\n```" in parts
    assert "```text\n5\nand more\n```" in parts
    assert [part for part in parts if part.startswith("![")] == [
        "![Squares](../pictures/examples/squares-1.png)",
        "![Squares](../pictures/examples/squares-2.png)",
    ]
    assert parts[-1] == "The end.\n"


def test_a_notebook_has_cells_with_outputs():
    cells = json.loads(json.dumps(notebook_of(MADE)))["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown"]
    assert "outputs" not in cells[0]
    assert "".join(cells[1]["source"]) == "print(1 + 4)"
    assert [output["output_type"] for output in cells[1]["outputs"]] == ["stream", "display_data", "display_data"]
    assert cells[1]["outputs"][0]["text"] == ["5\n", "and more\n"]
