"""Writes the table of docs/fortran.md from the tests: constructs of Fortran that are read, or refused.

With ``--check`` nothing is written, and the exit status says whether the page is up to date.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.fortran.constructs import CONSTRUCTS
from tests.fortran.refusals import REFUSALS

PAGE = ROOT / "docs" / "fortran.md"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


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


def page() -> str:
    """The page with the table of today."""
    before, rest = PAGE.read_text().split(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether the page is up to date")
    if parser.parse_args(arguments).check:
        return int(PAGE.read_text() != page())
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
