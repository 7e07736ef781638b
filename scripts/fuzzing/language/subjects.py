"""From a seed a program of one of the subjects."""

from __future__ import annotations

import random
import textwrap

from scripts.fuzzing.case import Case
from scripts.fuzzing.language.classes import CLASSES
from scripts.fuzzing.language.dicts import DICTS
from scripts.fuzzing.language.exceptions import EXCEPTIONS
from scripts.fuzzing.language.names import NAMES
from scripts.fuzzing.language.none import NONE
from scripts.fuzzing.language.notation import Sentences, Subject
from scripts.fuzzing.language.sequences import SEQUENCES
from scripts.fuzzing.language.shared import ARGUMENTS, END, RULES, START
from scripts.fuzzing.language.text import TEXT
from scripts.fuzzing.language.views import VIEWS

SUBJECTS: dict[str, Subject] = {
    "exceptions": EXCEPTIONS,
    "classes": CLASSES,
    "none": NONE,
    "dicts": DICTS,
    "views": VIEWS,
    "sequences": SEQUENCES,
    "text": TEXT,
    "names": NAMES,
}
DEPTH = 4
IMPORTS = "import math\n\nimport numpy as np\n"


def language_case_of_seed(seed: int, subjects: tuple[str, ...] = tuple(SUBJECTS)) -> Case:
    """The program of a seed, of one of some subjects; equal arguments give equal programs."""
    rng = random.Random(f"language {seed}")
    name = rng.choice(subjects)
    subject = SUBJECTS[name]
    sentences = Sentences(RULES | dict(subject.rules), rng)
    before = sentences.of(subject.before, 2).strip()
    body = sentences.of(f"{START}\n{subject.body}\n{END}", DEPTH)
    program = f"def program({', '.join(ARGUMENTS)}):\n{textwrap.indent(body, '    ')}\n"
    return Case(seed, "\n\n".join(filter(None, (IMPORTS, before, program))), dict(ARGUMENTS), theme=name)
