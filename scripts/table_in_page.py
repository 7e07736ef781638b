"""Tables in pages of the documentation: what scripts make stands between two marks, and ``--check`` compares it."""

from __future__ import annotations

import argparse
from pathlib import Path

BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


def page(path: Path, table: str) -> str:
    """The page with another table."""
    before, rest = path.read_text().split(BEGIN)
    return before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1]


def main(path: Path, table: str, description: str | None, arguments: list[str] | None) -> int:
    """Writes the table into the page, or with ``--check`` tells whether it is there, as the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="only tell whether the page is up to date")
    text = page(path, table)
    if parser.parse_args(arguments).check:
        return int(path.read_text() != text)
    path.write_text(text)
    return 0
