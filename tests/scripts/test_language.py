"""Random programs of Python's own constructs: a short run, what they are, and that planted faults are found."""

import collections
import random

import numpy as np
import pytest

from scripts import fuzz
from scripts.fuzzing.case import Case, function_of
from scripts.fuzzing.language.check import LanguageCheck
from scripts.fuzzing.language.notation import Sentences
from scripts.fuzzing.language.shared import ARGUMENTS
from scripts.fuzzing.language.subjects import SUBJECTS, language_case_of_seed
from scripts.fuzzing.process import Process
from sdfgad.cache import cache_folder
from sdfgad.parse import throwing


def checked(case, folder):
    """The verdict on a program that is not compiled."""
    check = LanguageCheck(case, folder)
    check.chosen = lambda share: False
    check.step(check.prepare)
    return check.verdict


def case_of(body):
    lines = "".join(f"    {line}\n" for line in body)
    return Case(3, f"import math\n\nimport numpy as np\n\n\ndef program(x, y, c, n):\n{lines}", dict(ARGUMENTS))


CAUGHT = case_of([
    "try:",
    "    s = math.sqrt(c)",
    "except ValueError:",
    "    s = x[0] * c",
    "if n > 1:",
    "    raise KeyError('n')",
    "return s + np.sum(y)",
])  # fmt: skip


@pytest.mark.parametrize("subject", SUBJECTS)
def test_some_programs_are_right(subject, tmp_path):
    verdicts = [checked(language_case_of_seed(seed, (subject,)), tmp_path) for seed in range(40, 43)]
    assert [f"{v.seed}: {v.kind}\n{v.detail}" for v in verdicts if v.is_failure] == []
    assert sum(v.status == "right" for v in verdicts) >= 2
    assert sum(v.notes.get("slopes judged", 0) for v in verdicts) >= 6


def test_some_are_compiled():
    with Process(cache_folder(), everything=True) as process:
        (verdict,) = process.check([language_case_of_seed(7, ("classes",))])
    assert (verdict.status, verdict.detail) == ("right", "")
    assert verdict.notes["programs under several plans"] == 1


def test_a_program_that_raises_is_compared_too(tmp_path):
    verdict = checked(CAUGHT, tmp_path)
    assert (verdict.status, verdict.detail) == ("right", "")
    assert verdict.notes["runs that raise"] >= 1


def test_a_wrong_way_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(throwing, "_in_all", lambda b, condition, box: throwing.Const(True, throwing.BOOL))
    verdict = checked(CAUGHT.with_text(CAUGHT.text.replace("raise KeyError('n')", "s += 1.0")), tmp_path)
    assert (verdict.status, verdict.kind) == ("failed", "wrong value")


def test_a_seed_stands_for_one_program():
    cases = [language_case_of_seed(seed) for seed in range(400)]
    assert cases[7] == language_case_of_seed(7)
    assert collections.Counter(case.theme for case in cases).keys() == SUBJECTS.keys()
    assert len({case.text for case in cases}) == 400


def test_python_runs_nearly_all_programs(tmp_path):
    fine = 0
    for seed in range(160):
        case = language_case_of_seed(seed)
        with np.errstate(all="ignore"):
            try:
                fine += bool(np.isfinite(function_of(case, tmp_path)(*case.drawn(0))))
            except Exception as error:
                assert case.theme in ("exceptions", "dicts", "views"), repr(error)
    assert fine > 130


def test_a_name_alone_on_its_line_stands_for_several_lines():
    rules = {"block": ("a = <leaf>\nb = 2",), "leaf": ("1",), "deep": ("f(<deep>)", "<leaf>")}
    sentences = Sentences(rules, random.Random(0))
    assert sentences.of("if x:\n    <block>", 1) == "if x:\n    a = 1\n    b = 2"
    assert sentences.of("<deep>", 0) == "1"


def test_a_subject_that_is_none():
    with pytest.raises(ValueError, match="no such subject: poems; there are exceptions, classes"):
        fuzz.maker(None, "poems")
