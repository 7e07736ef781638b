"""The constructs of programs/constructs.f90, each a subroutine of six numbers, whose line says what it is."""

import re
from dataclasses import dataclass

import numpy as np

from tests.fortran.cases import PROGRAMS

PATH = PROGRAMS / "constructs.f90"
HEAD = re.compile(r"^  subroutine (\w+)\(x, y\) ! (.+?) \| (.+)$", re.MULTILINE)
# Where they are evaluated: away from kinks.
AT = np.array([0.7, 1.3, 1.9, -0.4, 0.2, 1.1])


@dataclass(frozen=True)
class Construct:
    """A construct that is read and differentiated."""

    routine: str
    group: str
    name: str


CONSTRUCTS = [Construct(*found) for found in HEAD.findall(PATH.read_text())]
