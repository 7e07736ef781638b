"""Checks gradients of random NumPy programs through compiled code.

    python scripts/fuzz.py --programs 2000 --seconds 1800 --seed 0 --jobs 2 --folder /tmp/fuzz

Each seed stands for one program (`scripts/fuzzing/grammar.py`). Its value is compared with NumPy's, its gradient with
differences along random lines, with an interpreter, and with itself under other plans and on two threads
(`scripts/fuzzing/check.py`). What fails is made smaller and written to ``FOLDER/failures`` as a test. The same command
again goes on where it stopped. The exit status is 1 if there were failures.

    python scripts/fuzz.py --expressions all --batch 1 --programs 300 --folder /tmp/expressions

checks programs of 40 expressions each instead (`scripts/fuzzing/batches.py`): special numbers, dtypes, and every
function for itself, where the others have loops and updates. Themes may be named, separated by commas.

    python scripts/fuzz.py --language all --programs 3000 --folder /tmp/language

checks programs of Python's own constructs (`scripts/fuzzing/language`): exceptions, classes, None, dicts, views, lists,
strings, scopes. Each runs with several arguments in an interpreter, and few are compiled. Subjects may be named.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.fuzzing.batches import batch_of_seed
from scripts.fuzzing.campaign import Campaign
from scripts.fuzzing.case import Case
from scripts.fuzzing.language.subjects import SUBJECTS, language_case_of_seed
from scripts.fuzzing.state import State
from scripts.fuzzing.themes import THEMES

WIDTH = 110
# What is worth a line in a log, too.
RARE = "looking into"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check gradients of random NumPy programs.")
    parser.add_argument("-p", "--programs", type=int, default=200, help="how many in all (default: 200)")
    parser.add_argument("-s", "--seconds", type=float, default=600.0, help="stop after so many (default: 600)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default: 0)")
    parser.add_argument("--folder", type=Path, default=Path("fuzz"), help="for the state and tests (default: fuzz)")
    parser.add_argument("--batch", type=int, default=24, help="programs in one compilation (default: 24)")
    parser.add_argument("--jobs", type=int, default=1, help="batches beside each other (default: 1)")
    parser.add_argument("--device", default="cpu", help="cpu (default) or gpu; with SDFGAD_EMULATE=1 in the emulation")
    parser.add_argument("--no-shrink", action="store_true", help="leave failing programs as large as they are")
    parser.add_argument("--expressions", metavar="THEMES", help=f"batches of expressions: all, or {', '.join(THEMES)}")
    parser.add_argument("--language", metavar="SUBJECTS", help=f"Python's constructs: all, or {', '.join(SUBJECTS)}")
    return parser.parse_args(argv)


def maker(themes: str | None, subjects: str | None = None) -> Callable[[int], Case] | None:
    """What makes batches of expressions of some themes, or programs of some subjects, if not those of the grammar.

    Raises:
        ValueError: there is no such theme or subject.
    """
    if themes is not None:
        return partial(batch_of_seed, themes=_named(themes, THEMES, "theme"))
    if subjects is not None:
        return partial(language_case_of_seed, subjects=_named(subjects, SUBJECTS, "subject"))
    return None


def _named(names: str, table: Iterable[str], what: str) -> tuple[str, ...]:
    """Those of a table that are named, separated by commas, or all."""
    chosen = tuple(table) if names == "all" else tuple(names.split(","))
    if unknown := set(chosen) - set(table):
        raise ValueError(f"no such {what}: {', '.join(sorted(unknown))}; there are {', '.join(table)}")
    return chosen


class Progress:
    """A line for each batch; on a terminal also what is being done."""

    def __init__(self, programs: int) -> None:
        self.programs, self.start, self.is_terminal = programs, time.monotonic(), sys.stdout.isatty()

    def tell(self, what: str) -> None:
        """Say what is being done."""
        if self.is_terminal:
            print(f"\r\x1b[K  {what}"[:WIDTH], end="", flush=True)
        elif what.startswith(RARE):
            print(f"  {what}", flush=True)

    def after(self, state: State) -> None:
        """Say how far it is."""
        found = ", ".join(f"{number} {status}" for status, number in sorted(state.statuses.items()))
        lead = "\r\x1b[K" if self.is_terminal else ""
        print(f"{lead}{state.programs}/{self.programs} programs, {state.seconds:.0f} s: {found}", flush=True)


def summary(state: State) -> str:
    """The totals, as text."""
    lines = [f"seeds {state.first} to {state.following - 1}: {state.programs} programs in {state.seconds:.0f} s"]
    lines += [f"  {number:6d} {status}" for status, number in sorted(state.statuses.items())]
    lines += ["refusals:"] if state.refusals else []
    lines += [f"  {number:6d} {kind}" for kind, number in sorted(state.refusals.items(), key=lambda row: -row[1])]
    lines += ["counted:", *(f"  {number:8.4g} {name}" for name, number in sorted(state.notes.items()))]
    lines += ["processor's seconds:", *(f"  {used:8.1f} {phase}" for phase, used in sorted(state.phases.items()))]
    for seed, failure in state.failures.items():
        blame = f" (blame: {failure['blame']})" if "blame" in failure else ""
        lines.append(f"failure at seed {seed}: {failure['kind']}{blame}\n  {failure['test']}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    chosen = parse_arguments(argv)
    progress = Progress(chosen.programs)
    try:
        campaign = Campaign(
            chosen.folder,
            chosen.seed,
            chosen.batch,
            jobs=chosen.jobs,
            shrinks=not chosen.no_shrink,
            device=chosen.device,
            make=maker(chosen.expressions, chosen.language),
            tell=progress.tell,
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    state = campaign.run(chosen.programs, chosen.seconds, progress.after)
    print(summary(state))
    return 1 if state.failures else 0


if __name__ == "__main__":
    sys.exit(main())
