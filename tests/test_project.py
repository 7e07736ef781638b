"""Files about the project: they can be read by those that they are for, and agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import sdfgad

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(file for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if file.name != "config.yml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def load(file):
    return yaml.safe_load(file.read_text())


def test_there_are_workflows_and_forms():
    assert {file.stem for file in WORKFLOWS} >= {"release", "tests"}
    assert {file.stem for file in FORMS} >= {"bug", "unsupported"}
    assert load(ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml") == {"blank_issues_enabled": True}


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows(file):
    workflow = load(file)
    assert workflow[True]  # YAML reads the key `on` as a truth value, and GitHub as a name.
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 120
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"[\w./-]+@[\w./]+", step.get("uses", "a@b"))
    assert "secrets." not in file.read_text()


def test_scripts_that_workflows_run_are_there():
    named = re.findall(r"python (\S+\.py)", "\n".join(file.read_text() for file in WORKFLOWS))
    assert named
    assert all((ROOT / name).is_file() for name in named)


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_forms(file):
    form = load(file)
    assert form["name"]
    assert form["description"]
    names = [item["id"] for item in form["body"]]
    assert len(set(names)) == len(names) > 1
    assert all(item["type"] == "textarea" and item["attributes"]["label"] for item in form["body"])


def test_all_versions_are_one():
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    version = sdfgad.__version__
    citation = load(ROOT / "CITATION.cff")
    released = re.findall(r"^## \[(\d.*?)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == (version, citation["date-released"])
    assert citation["version"] == version
    assert citation["license"] == PROJECT["license"]


def test_pythons_are_those_that_are_tested():
    tested = load(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"]
    prefix = "Programming Language :: Python :: 3."
    assert tested == [f"3.{text.removeprefix(prefix)}" for text in PROJECT["classifiers"] if text.startswith(prefix)]
    assert PROJECT["requires-python"] == f">={tested[0]}"
    makefile = re.search(r"^PYTHONS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert makefile == [*(f"python{version}" for version in tested), "python3"]


def test_what_the_extras_name_is_there():
    extras = PROJECT["optional-dependencies"]
    named = [name for items in extras.values() for item in items for name in re.findall(r"sdfgad\[(.*)\]", item)]
    assert named
    assert {part for names in named for part in names.split(",")} <= set(extras)
