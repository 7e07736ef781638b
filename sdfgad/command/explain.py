"""``sdfgad explain``: what becomes of a program."""

from __future__ import annotations

import argparse

from sdfgad.command.target import add_options, target_of
from sdfgad.explain.explain import explain

HELP = "Show what becomes of a program: after a stage, after each pass, or where it goes wrong."


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_options(command)
    command.add_argument("--stage", help="parsed, adjoint, plan, gradient (the default), optimised, sdfg or code")
    command.add_argument("--diff", action="store_true", help="show what each pass changes")
    command.add_argument(
        "--bisect", action="store_true", help="name the first stage or pass after which results differ"
    )
    command.add_argument("--without", metavar="PASS", action="append", default=[], help="leave a pass out")
    command.add_argument("--reduce", choices=["sum"])
    command.add_argument("--memory-limit", help='such as "512 MiB"')


def run(options: argparse.Namespace) -> int:
    """Returns the exit status: 1 where `--bisect` finds a difference."""
    target = target_of(options)
    chosen = {name: getattr(options, name) for name in ("stage", "without", "diff", "bisect", "reduce")}
    explanation = explain(target.program, *target.args, memory_limit=options.memory_limit, **chosen, **target.settings)
    print(explanation)
    return 1 if options.bisect and explanation.record.wrong is not None else 0
