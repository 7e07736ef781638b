"""``sdfgad plan``: what is stored and what is recomputed under a memory limit."""

from __future__ import annotations

import argparse
from pathlib import Path

from sdfgad.api.differentiate import differentiate
from sdfgad.command.target import add_options, target_of
from sdfgad.options import STRATEGIES

HELP = "Show what the gradient of a program stores and recomputes, and the peak of its memory."

PICTURES = (".png", ".pdf", ".svg")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_options(command)
    command.add_argument("--memory-limit", help='such as "512 MiB"')
    command.add_argument("--strategy", choices=STRATEGIES, default="ilp")
    command.add_argument("--html", type=_new_file, metavar="FILE", help="also write the plan as a page")
    command.add_argument("--plot", type=_picture, metavar="FILE", help="also draw it, as a PNG, PDF or SVG")
    command.add_argument("--json", action="store_true", help="print it as JSON")


def run(options: argparse.Namespace) -> int:
    """Returns the exit status, 0: a limit that no plan keeps raises."""
    target = target_of(options)
    gradient = differentiate(
        target.program, memory_limit=options.memory_limit, strategy=options.strategy, **target.settings
    )
    plan = gradient.plan(*target.args)
    print(plan.to_json() if options.json else plan)
    if options.html is not None:
        options.html.write_text(plan.to_html(), encoding="utf-8")
    if options.plot is not None:
        plan.plot(options.plot)
    return 0


def _new_file(text: str) -> Path:
    """A file in a folder that there is: said before the work, not after it."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def _picture(text: str) -> Path:
    if Path(text).suffix.lower() not in PICTURES:
        raise argparse.ArgumentTypeError(f"{text} does not end in {', '.join(PICTURES)}")
    return _new_file(text)
