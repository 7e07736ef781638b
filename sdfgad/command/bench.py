"""``sdfgad bench``: the gradient benchmark, in a checkout."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

import sdfgad.command
from sdfgad.errors import ArgumentError

HELP = "Time the gradients of NPBench in sdfgad, JAX and DaCe; options as of scripts/npbench_gradients.py."
SCRIPT = "scripts/npbench_gradients.py"


def add_arguments(_: argparse.ArgumentParser) -> None:
    """All options are the script's."""


def run(options: argparse.Namespace) -> int:
    """Returns the script's exit status.

    Raises:
        ArgumentError: there is no checkout.
    """
    checkouts = (Path.cwd(), Path(sdfgad.command.__file__).resolve().parents[2])
    found = next((one / SCRIPT for one in checkouts if (one / SCRIPT).is_file()), None)
    if found is None:
        raise ArgumentError(
            f"there is no {SCRIPT} here, and it is not part of the installed package",
            todo="Clone the repository of sdfgad, and run this in it.",
        )
    sys.argv = [str(found), *options.rest]
    try:
        runpy.run_path(str(found), run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):  # A message: Python prints it, and exits with 1.
            raise
        return int(end.code or 0)
    return 0
