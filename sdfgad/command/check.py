"""``sdfgad check``: whether a program can be differentiated, and whether its gradient is right."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from sdfgad.api.check import check_grads
from sdfgad.api.differentiate import differentiate
from sdfgad.command.target import Target, add_options, target_of
from sdfgad.errors import GradientMismatch
from sdfgad.plan.units import size_text

HELP = "Parse a program, derive, plan and compile its gradient, and compare that with finite differences."


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_options(command)
    command.add_argument("--order", type=int, choices=[1, 2], default=1, help="2: also check second derivatives")
    command.add_argument("--seed", type=_seed, default=0, help="of the random directions (0)")


def run(options: argparse.Namespace) -> int:
    """Returns the exit status: 1 where the gradient is wrong. What is refused raises."""
    target = target_of(options)
    gradient = differentiate(target.program, **target.settings)
    plan = _step("parsed, derived and planned", lambda: gradient.plan(*target.args))
    print(f"  peak {size_text(plan.peak_bytes)}; {len(plan.decisions)} values or loops to decide about")
    _step("compiled", lambda: gradient.compile(*target.args))
    try:
        found = _step("compared with finite differences", lambda: _checked(target, options))
    except GradientMismatch as error:
        print(f"WRONG: {error}")
        return 1
    print(f"  largest relative error {found.error:.1e}, Taylor rate {found.rate:.2f} in {found.directions} directions")
    return 0


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no natural number")
    return int(text)


def _checked(target: Target, options: argparse.Namespace) -> Any:
    return check_grads(target.program, *target.args, order=options.order, seed=options.seed, **target.settings)


def _step(what: str, work: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    found = work()
    print(f"{what} in {time.perf_counter() - start:.1f} s", flush=True)
    return found
