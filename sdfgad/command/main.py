"""Parses the command line, and runs the command."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from sdfgad.command import bench, cache, check, explain, info, plan
from sdfgad.errors import SdfgadError

COMMANDS = {"check": check, "plan": plan, "explain": explain, "bench": bench, "cache": cache, "info": info}
# Commands that hand their options on to a script.
TAKE_OTHERS = frozenset({"bench"})
# What the shell gets where something is refused.
REFUSED = 2
# And where its output is not read to the end.
CLOSED = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit status: 0; 1 where a check fails, or nobody reads what is printed; 2 where sdfgad refuses something,
        which is printed.
    """
    made = parser()
    options, rest = made.parse_known_args(argv)
    if rest and options.command not in TAKE_OTHERS:
        made.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # Plans have lines and source texts beyond ASCII.
    try:
        status = COMMANDS[options.command].run(options)
        sys.stdout.flush()
        return status
    except SdfgadError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return REFUSED
    except BrokenPipeError:
        # Who reads has enough, such as `head`; what is left is not to be written at exit, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    made = argparse.ArgumentParser(prog="sdfgad", description="Gradients of NumPy programs.")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        has_help = name not in TAKE_OTHERS
        module.add_arguments(commands.add_parser(name, help=module.HELP, description=module.HELP, add_help=has_help))
    return made
