"""Writes the table of docs/dace.md from the tests: constructs of SDFGs that are read and differentiated, or refused.

With ``--check`` nothing is written, and the exit status says whether the page is up to date.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.sdfg.foreign.constructs import CONSTRUCTS

PAGE = ROOT / "docs" / "dace.md"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


def table() -> str:
    """The table, in groups; what is refused has no other marks."""
    rows = ["| | construct | read | differentiated | refused |", "|---|---|---|---|---|"]
    group = ""
    for one in CONSTRUCTS:
        name = one.group if one.group != group else ""
        group = one.group
        rows.append(f"| {name} | {one.name} | {'| | yes' if one.refusal else 'yes | yes |'} |")
    return "\n".join(rows) + "\n"


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
