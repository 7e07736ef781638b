"""``sdfgad cache``: what is kept between runs."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from sdfgad.cache import cache_folder, clear_cache
from sdfgad.cache.evict import most_bytes
from sdfgad.plan.units import size_text

HELP = "Show or delete what is kept between runs: compiled libraries, plans and measurements."


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    command.add_argument("what", choices=["info", "clear"], help="show its folder and sizes, or delete all of it")


def run(options: argparse.Namespace) -> int:
    """Returns the exit status, 0."""
    if options.what == "clear":
        print(f"deleted {size_text(clear_cache())} in {cache_folder()}")
        return 0
    folder = cache_folder()
    sizes = _sizes(folder)
    print(f"{folder}: {size_text(sizes.total())} of at most {size_text(most_bytes())}")
    for kind, size in sorted(sizes.items()):
        print(f"  {kind:<14}{size_text(size):>10}")
    return 0


def _sizes(folder: Path) -> Counter[str]:
    """The bytes of the files in each part of the cache."""
    found = Counter[str]()
    for path in folder.rglob("*"):
        if path.is_file():
            found[path.relative_to(folder).parts[0]] += path.stat().st_size
    return found
