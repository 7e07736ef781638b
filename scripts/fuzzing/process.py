"""Checks programs in a process of their own, which may crash or hang: then it is started again without the culprit."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scripts.fuzzing.case import Case
from scripts.fuzzing.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent.parent
# So long may one step of one program, or one compilation of a batch, take.
PATIENCE = 300.0
# A process is replaced after so many programs: what it has loaded stays in its memory.
LIFETIME = 400


class Process:
    """Checks batches of programs, one after the other.

    Args:
        cache: where compiled programs go.
        plain: whether to compile without most optimisations.
        everything: whether no check is left out.
        before: "module:function", called first in the process.
        device: where the programs run.
        patience: seconds that a step may take.
    """

    def __init__(
        self,
        cache: Path,
        *,
        plain: bool = False,
        everything: bool = False,
        before: str = "",
        device: str = "cpu",
        patience: float = PATIENCE,
    ) -> None:
        self.cache, self.patience = cache, patience
        self.options = [*(["--plain"] if plain else []), *(["--everything"] if everything else [])]
        self.options += ["--before", before] if before else []
        self.options += ["--device", device]
        self.worker: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.checked = 0
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self.worker is not None:
            self.worker.kill()
            self.worker.wait()
            for stream in (self.worker.stdin, self.worker.stdout):
                if stream is not None:
                    stream.close()
        self.worker, self.checked = None, 0

    def take_seconds(self) -> dict[str, float]:
        """The processor's seconds by phase, since this was last asked."""
        taken, self.seconds = self.seconds, {}
        return taken

    def check(self, cases: Sequence[Case], tell: Callable[[str], None] = lambda _: None) -> list[Verdict]:
        """The verdicts, in order. `tell` is called with what is being done."""
        left, verdicts = list(cases), {}
        while left:
            found, culprit = self._attempt(left, tell)
            for verdict in [*found, *([culprit] if culprit else [])]:
                verdicts[verdict.seed] = verdict
            remaining = [case for case in left if case.seed not in verdicts]
            if len(remaining) == len(left):
                # Nobody is to blame in particular, so the programs are checked one by one.
                alone = [self._alone(case, tell) for case in left]
                verdicts |= {verdict.seed: verdict for verdict in alone}
                remaining = []
            left = remaining
        return [verdicts[case.seed] for case in cases]

    def _alone(self, case: Case, tell: Callable[[str], None]) -> Verdict:
        found, culprit = self._attempt([case], tell)
        return found[0] if found else culprit or Verdict(case.seed, "failed", "dies", "the process ends")

    def _attempt(self, cases: list[Case], tell: Callable[[str], None]) -> tuple[list[Verdict], Verdict | None]:
        """The verdicts that were reached, and one of the program during which the process ended."""
        if self.worker is None or self.checked > LIFETIME:
            self._start()
        assert self.worker is not None
        assert self.worker.stdin is not None
        self.checked += len(cases)
        self.worker.stdin.write(json.dumps([case.as_dict() for case in cases]) + "\n")
        self.worker.stdin.flush()
        verdicts: list[Verdict] = []
        at: dict[str, Any] = {"at": None, "phase": "start"}
        while True:
            try:
                line = self.lines.get(timeout=self.patience)
            except queue.Empty:
                self.close()
                return verdicts, _ended(at, f"takes more than {self.patience:.0f} s", "hangs")
            if line is None:
                status = self.worker.wait()
                self.close()
                return verdicts, _ended(at, f"the process ended with status {status} ({_signal(status)})", "crashes")
            told = json.loads(line)
            if "phase" in told:
                at = told
                tell(f"{told['phase']}{'' if told['at'] is None else ' ' + str(told['at'])}")
            elif "verdict" in told:
                verdicts.append(Verdict(**told["verdict"]))
            elif "seconds" in told:
                for phase, seconds in told["seconds"].items():
                    self.seconds[phase] = self.seconds.get(phase, 0) + seconds
                return verdicts, None

    def _start(self) -> None:
        self.close()
        command = [sys.executable, "-m", "scripts.fuzzing.worker", *self.options]
        environment = {**os.environ, "SDFGAD_CACHE_DIR": str(self.cache), "PYTHONPATH": str(ROOT)}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SDFGAD_CHECK": "off"}
        self.worker = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
            env=environment,
        )  # fmt: skip
        # A new queue: what an earlier process has written still goes to the old one.
        self.lines = queue.Queue()
        threading.Thread(target=_read, args=(self.worker.stdout, self.lines), daemon=True).start()


def _read(stream: Any, lines: queue.Queue[str | None]) -> None:
    try:
        for line in stream:
            lines.put(line)
    except ValueError:  # It was closed meanwhile.
        pass
    lines.put(None)


def _ended(at: dict[str, Any], detail: str, kind: str) -> Verdict | None:
    if at["at"] is None:
        return None
    return Verdict(at["at"], "failed", f"{kind} in {at['phase']}", detail)


def _signal(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else "no signal"


def checked_once(case: Case, cache: Path) -> Verdict:
    """The verdict on one program with all checks, in a process of its own."""
    with Process(cache, everything=True) as process:
        return process.check([case])[0]
