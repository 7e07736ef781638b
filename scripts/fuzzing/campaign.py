"""A run over many seeds: batches are checked, failures looked into, totals kept."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from scripts.fuzzing.batches import failing_parts
from scripts.fuzzing.case import Case
from scripts.fuzzing.grammar import case_of_seed
from scripts.fuzzing.process import Process
from scripts.fuzzing.report import write_test
from scripts.fuzzing.shrink import shrunk
from scripts.fuzzing.state import State, state_in
from scripts.fuzzing.verdict import Verdict

# What is built once is kept when compiled programs are thrown away.
LASTING = ("headers", "helpers", "machine")
# These are looked for in plain code, too: what is right there is a fault of the compiler.
NUMBERS = ("wrong", "another", "the interpreter")


class Campaign:
    """Checks programs until there were enough, or the time is over.

    Args:
        folder: where the state, the tests and the compiled programs go.
        first: the first seed.
        batch: programs that are compiled together.
        jobs: batches that are checked beside each other.
        shrinks: whether failures are made smaller.
        before: what `Process` is told to call first.
        device: where the programs run.
        make: the program of a seed, if not that of the grammar.
        tell: is called with what is being done.
    """

    def __init__(
        self,
        folder: Path,
        first: int,
        batch: int,
        *,
        jobs: int = 1,
        shrinks: bool = True,
        before: str = "",
        device: str = "cpu",
        make: Callable[[int], Case] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder, self.batch, self.jobs, self.shrinks = folder, batch, jobs, shrinks
        self.before, self.device, self.make, self.tell = before, device, make, tell
        folder.mkdir(parents=True, exist_ok=True)
        self.file, self.cache = folder / "state.json", folder / "cache"
        self.state = state_in(self.file, first)

    def run(self, programs: int, seconds: float, after: Callable[[State], None] = lambda _: None) -> State:
        """Check programs until there are so many in all, or so many seconds have passed; `after` each round of batches.

        A round that is cut off is done again by the next run.
        """
        deadline = time.monotonic() + seconds
        with ExitStack() as stack, ThreadPoolExecutor(self.jobs) as pool:
            processes = [stack.enter_context(self._process()) for _ in range(self.jobs)]
            while self.state.programs < programs and time.monotonic() < deadline:
                self._round(pool, processes, programs - self.state.programs)
                after(self.state)
        return self.state

    def _process(self, **options: bool) -> Process:
        return Process(self.cache, before=self.before, device=self.device, **options)

    def _round(self, pool: ThreadPoolExecutor, processes: list[Process], left: int) -> None:
        """Check a batch in each process."""
        start, batches = time.monotonic(), self._batches(left)
        found = [pool.submit(one.check, batch, self.tell) for one, batch in zip(processes, batches, strict=False)]
        for batch, verdicts in zip(batches, [one.result() for one in found], strict=True):
            self._count(batch, verdicts)
        self.state.following += sum(map(len, batches))
        self.state.seconds += time.monotonic() - start
        for process in processes:
            self.state.add_seconds(process.take_seconds())
        self.state.save(self.file)
        self._clean()

    def _batches(self, left: int) -> list[list[Case]]:
        """The programs of the next round, a batch for each job."""
        first, make = self.state.following, self.make or case_of_seed
        seeds = range(first, first + min(left, self.batch * self.jobs))
        return [[make(seed) for seed in seeds[at : at + self.batch]] for at in range(0, len(seeds), self.batch)]

    def _count(self, cases: list[Case], verdicts: list[Verdict]) -> None:
        for case, verdict in zip(cases, verdicts, strict=True):
            for name, (part, why) in failing_parts(case, verdict).items():
                self.state.failures[name] = self._looked_into(name, part, why)
        self.state.add(verdicts)

    def _clean(self) -> None:
        """Throw away what was compiled: no two programs are the same."""
        for entry in self.cache.iterdir() if self.cache.exists() else ():
            if entry.is_dir() and not entry.name.startswith(LASTING):
                shutil.rmtree(entry)

    def _looked_into(self, name: str, case: Case, verdict: Verdict) -> dict[str, str]:
        """Whether the compiler is to blame, and a test of the program, made smaller."""
        self.tell(f"looking into {name}: {verdict.kind}")
        found = {"kind": verdict.kind, "detail": verdict.detail[:600]}
        if verdict.kind.startswith(NUMBERS):
            with self._process(plain=True, everything=True) as plain:
                is_right = not plain.check([case])[0].is_failure
            found["blame"] = "compiler" if is_right else "engine"
        small = self._shrunk(case, verdict) if self.shrinks else case
        return found | {"test": str(write_test(small, verdict, self.folder / "failures", name)), "text": small.text}

    def _shrunk(self, case: Case, verdict: Verdict) -> Case:
        with self._process() as process:

            def fails(candidates: list[Case]) -> list[bool]:
                return [found.is_like(verdict) for found in process.check(candidates)]

            return shrunk(case, fails)
