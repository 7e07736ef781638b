"""The process that checks programs: it reads cases and writes verdicts, a line of JSON each.

Before anything that may crash it says which program it is at, so that whoever started it knows whom to blame.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scripts.build_times import processor_seconds
from scripts.fuzzing.batch_check import BatchCheck
from scripts.fuzzing.case import Case, case_of
from scripts.fuzzing.check import Check
from scripts.fuzzing.language.check import LanguageCheck
from scripts.fuzzing.language.subjects import SUBJECTS
from sdfgad.errors import CompilerError
from sdfgad.runtime import differential
from sdfgad.runtime.batch import Batch


class Worker:
    """Checks batches of programs.

    Args:
        say: where to write lines.
        everything: whether no check is left out.
        device: where the programs run.
    """

    def __init__(
        self, say: Callable[[dict[str, Any]], None], folder: Path, *, everything: bool, device: str = "cpu"
    ) -> None:
        self.say, self.folder, self.everything, self.device = say, folder, everything, device
        self.seconds: dict[str, float] = {}

    def run(self, cases: Sequence[dict[str, Any]]) -> None:
        """Check some programs, which are compiled together."""
        checks = [self._check(case_of(case)) for case in cases]
        self._each("prepare", checks, lambda c: c.prepare)
        batch = Batch()
        self._each("analyse", checks, lambda c: lambda: c.add_default(batch))
        self._compile(batch)
        self._each("check", checks, lambda c: c.check_default)
        self._each("check", checks, lambda c: c.check_forward)
        self._each("plan", checks, lambda c: lambda: c.add_plans(batch))
        self._compile(batch)
        self._each("check plans", checks, lambda c: c.check_plans)
        self._each("threads", checks, lambda c: c.check_threads)
        self._each("interpret", checks, lambda c: c.check_interpreter)
        for check in checks:
            self.say({"verdict": check.verdict.as_dict()})
        self.say({"seconds": self.seconds})
        self.seconds = {}

    def _check(self, case: Case) -> Check:
        kind = LanguageCheck if case.theme in SUBJECTS else BatchCheck if case.theme else Check
        return kind(case, self.folder, everything=self.everything, device=self.device)

    def _each(self, phase: str, checks: list[Check], action: Callable[[Check], Callable[[], None]]) -> None:
        start = processor_seconds()
        for check in checks:
            if check.is_open:
                self.say({"at": check.case.seed, "phase": phase})
                check.step(action(check))
        self.seconds[phase] = self.seconds.get(phase, 0) + processor_seconds() - start

    def _compile(self, batch: Batch) -> None:
        start = processor_seconds()
        self.say({"at": None, "phase": "compile"})
        try:
            batch.build(with_plain=differential.mode() is differential.Mode.PLAIN)
        except CompilerError:
            # One of them does not compile. Each is compiled alone when it is called, and says so.
            self.say({"note": "a batch does not compile"})
        self.seconds["compile"] = self.seconds.get("compile", 0) + processor_seconds() - start


def main(argv: Sequence[str] | None = None) -> int:
    """Check batches, each a line of JSON on standard input, until that ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--everything", action="store_true", help="leave out no check")
    parser.add_argument("--plain", action="store_true", help="compile without most optimisations")
    parser.add_argument("--before", metavar="MODULE:FUNCTION", help="call this first: tests plant faults with it")
    parser.add_argument("--device", default="cpu", help="where the programs run")
    chosen = parser.parse_args(argv)
    if chosen.plain:
        # To tell faults of the compiler from ours.
        os.environ[differential.VARIABLE] = "plain"
    if chosen.before:
        module, _, function = chosen.before.partition(":")
        getattr(importlib.import_module(module), function)()
    # Most of what is made stays, so it is not worth while to look for garbage often.
    gc.set_threshold(200_000, 20, 20)
    # What programs print is not for whoever reads the verdicts.
    out, sys.stdout = sys.stdout, sys.stderr

    def say(line: dict[str, Any]) -> None:
        print(json.dumps(line), file=out, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(say, Path(folder), everything=chosen.everything, device=chosen.device)
        for line in sys.stdin:
            worker.run(json.loads(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
