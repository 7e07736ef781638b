"""Writes the table of docs/dace.md from the tests: constructs of SDFGs that are read and differentiated, or refused.

With ``--check`` nothing is written, and the exit status says whether the page is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import table_in_page
from tests.sdfg.foreign.rows import CONSTRUCTS

PAGE = ROOT / "docs" / "dace.md"


def table() -> str:
    """The table, in groups; what is refused has no other marks."""
    rows = ["| | construct | read | differentiated | refused |", "|---|---|---|---|---|"]
    group = ""
    for one in CONSTRUCTS:
        name = one.group if one.group != group else ""
        group = one.group
        rows.append(f"| {name} | {one.name} | {'| | yes' if one.refusal else 'yes | yes |'} |")
    return "\n".join(rows) + "\n"


def main(arguments: list[str] | None = None) -> int:
    return table_in_page.main(PAGE, table(), __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
