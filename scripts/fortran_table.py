"""Writes the table of docs/fortran.md from the tests: constructs of Fortran that are read, or refused.

With ``--check`` nothing is written, and the exit status says whether the page is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import table_in_page
from tests.fortran.constructs import CONSTRUCTS
from tests.fortran.refusals import REFUSALS

PAGE = ROOT / "docs" / "fortran.md"


def table() -> str:
    """The table, in groups; what is refused has no other marks."""
    groups = {one.group: "" for one in CONSTRUCTS}
    rows = [(one.group, f"{one.name} | yes | yes |") for group in groups for one in CONSTRUCTS if one.group == group]
    rows += [("refused", f"{one.name} | | | yes") for one in REFUSALS]
    lines, present = ["| | construct | read | differentiated | refused |", "|---|---|---|---|---|"], ""
    for group, row in rows:
        lines.append(f"| {group if group != present else ''} | {row} |")
        present = group
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    return table_in_page.main(PAGE, table(), __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
