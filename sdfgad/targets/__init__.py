"""Targets: what generates code for the scopes that carry our schedules, registered in DaCe's code generator.

Importing this makes them known to DaCe, with the schedule, the storage and the library nodes of our graphs: a saved
graph can then be loaded by `dace.SDFG.from_file`, and compiled.
"""

from sdfgad.sdfg import library
from sdfgad.targets import generator

__all__ = ["generator", "library"]
