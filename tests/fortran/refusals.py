"""The constructs of refused.f90: what each is, its text, the line that the error names, and a part of the message."""

import re
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).parent / "refused.f90"
NAMED, MARKED = re.compile(r"^!= ", re.MULTILINE), re.compile(r"  ! <- (.+)$")


@dataclass(frozen=True)
class Refusal:
    """A construct that is refused at a line of its text, of which the first is 1."""

    name: str
    text: str
    line: int
    message: str


def _refusal(part):
    name, text = part.split("\n", 1)
    marked = [(k, found[1]) for k, line in enumerate(text.splitlines(), 1) if (found := MARKED.search(line))]
    assert len(marked) == 1, name
    return Refusal(name, text.rstrip() + "\n", *marked[0])


REFUSALS = [_refusal(part) for part in NAMED.split(PATH.read_text())[1:]]
