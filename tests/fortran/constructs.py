"""The constructs of two files, each a subroutine of six numbers, whose line says what it is."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.fortran.cases import PROGRAMS

# Files, and the routines of each that add all of its constructs up.
ALL = {PROGRAMS / "constructs.f90": "weighed", PROGRAMS / "shared.f90": "weighed_shared"}
HEAD = re.compile(r"^  subroutine (\w+)\(x, y\) ! (.+?) \| (.+)$", re.MULTILINE)
# Where they are evaluated: away from kinks.
AT = np.array([0.7, 1.3, 1.9, -0.4, 0.2, 1.1])


@dataclass(frozen=True)
class Construct:
    """A construct that is read and differentiated."""

    path: Path
    routine: str
    group: str
    name: str


CONSTRUCTS = [Construct(path, *found) for path in ALL for found in HEAD.findall(path.read_text())]


def constructs_of(path: Path) -> list[Construct]:
    """Those of a file, in the order in which they are called."""
    return [one for one in CONSTRUCTS if one.path == path]
