"""The site builds without a warning, has a reference of all that is public, and can be searched."""

import json
import re
import subprocess
import sys

import pytest

import sdfgad
from tests.docs.pages import DOCS, ROOT, navigation

REFERENCE = [page for page in navigation() if page.startswith("api/")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site, and what mkdocs said."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-X", "importtime", "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return folder, done


def test_the_site_builds_without_warnings(site):
    folder, done = site
    said = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("import time:"))
    assert done.returncode == 0, said
    assert "WARNING -" not in said
    assert "ERROR -" not in said
    for page in navigation():
        place = page.removesuffix(".md").removesuffix("index")
        assert (folder / place / "index.html").is_file(), page


def test_nothing_of_ours_is_imported_for_it(site):
    imported = re.findall(r"^import time:.*\| +(\S+)$", site[1].stderr, re.MULTILINE)
    assert "mkdocs" in imported
    assert {"sdfgad", "numpy", "dace", "jax", "torch", "dask"}.isdisjoint(imported)


def test_functions_are_found(site):
    entries = json.loads((site[0] / "search" / "search_index.json").read_text())["docs"]
    (place,) = (entry["location"] for entry in entries if "scipy.stats.norm.logpdf" in entry["text"])
    assert place.startswith("supported/#")


def test_names_in_the_reference_are_documented(site):
    html = "".join((site[0] / page.removesuffix(".md") / "index.html").read_text() for page in REFERENCE[1:])
    for name in (
        "sdfgad.api.differentiate.differentiate",
        "sdfgad.DifferentiatedProgram.plan",
        "sdfgad.errors.Location",
    ):
        assert f'id="{name}"' in html
    # A function that is called like its module is not taken for it.
    assert html.count('<code class="doc-symbol doc-symbol-heading doc-symbol-module"></code>') == 1
    # Prompts of examples are code, not quotations.
    assert "<blockquote" not in html


def test_all_that_is_public_is_in_the_reference():
    text = "".join((DOCS / page).read_text() for page in REFERENCE)
    documented = re.findall(r"^(?:::: |      heading: )sdfgad\.(\w+)$", text, re.MULTILINE)
    assert sorted(documented) == sorted(sdfgad.__all__)
    of_scipy = re.findall(r"^(?:::: |      heading: )sdfgad\.scipy\.(\w+)$", text, re.MULTILINE)
    assert sorted(of_scipy) == sorted(sdfgad.scipy.__all__)


def test_all_pages_are_in_the_navigation():
    found = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if path.parent.name != "adr"}
    assert found == set(navigation())
