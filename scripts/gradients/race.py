"""Runs the frameworks of one program, each in a process of its own: they are made ready, checked, and timed in turn."""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.gradients import verify
from scripts.gradients.children import CPU_SETTINGS, Child, Failure, child_in
from scripts.gradients.frameworks import Framework
from scripts.gradients.results import Record

IMPORT_SECONDS = 120.0
PAUSE = 0.05  # After a batch, until the threads of that child wait no more for work but sleep.
LONG_ENOUGH = 20.0  # Seconds after which a framework's calls are not repeated any more.
LAST_OF_LOG = 4000


@dataclass(frozen=True)
class Options:
    """How programs are run.

    Attributes:
        repeats: how often they are timed.
        timeout: seconds for each step: compiling with the first call, a batch of calls, a check.
        enough: seconds of calls after which a framework's are not repeated any more.
        device: "cpu" or "gpu".
        settings: environment variables of the frameworks' processes.
        processes: how many work at the same time, where `race_together` runs them.
    """

    preset: str = "S"
    is_validating: bool = True
    repeats: int = 5
    timeout: float = 200.0
    enough: float = LONG_ENOUGH
    device: str = "cpu"
    settings: Mapping[str, str] = field(default_factory=lambda: CPU_SETTINGS)
    processes: int = 1


@dataclass
class Runner:
    """A framework on a program: its child, while there is one, and what came of it so far."""

    framework: Framework
    record: Record
    child: Child
    file: str = ""
    spent: float = 0.0

    @property
    def is_alive(self) -> bool:
        return self.record.status == "ok"

    def attempt(self, action: Callable[[], Any]) -> Any:
        """The result of an action, or None where it fails; then the child is no more."""
        try:
            return action()
        except Failure as failure:
            self.fail(failure.status, failure.message)
            return None

    def fail(self, status: str, message: str) -> None:
        self.record.status, self.record.message = status, message
        self.record.seconds = []
        self.child.close()
        self.record.log = self.child.written()[-LAST_OF_LOG:]

    def begin(self, opened: tuple, device: str) -> None:
        """Let the child import; `started` waits for it."""
        self.attempt(lambda: self.child.send(*opened))
        if self.is_alive:
            self.attempt(lambda: self.child.send("load", self.framework.full_name, device))

    def started(self) -> None:
        for _ in ("open", "load"):
            if self.is_alive:
                self.attempt(lambda: self.child.receive(IMPORT_SECONDS))

    def prepare(self, label: str, timeout: float) -> None:
        found = self.attempt(lambda: self.child.ask(timeout, "prepare", label))
        if found:
            self.record.first_call, self.record.peak_bytes = found["first_call"], found["peak_bytes"]
            self.file, self.record.message = found["file"], found["note"]

    def time(self, timeout: float, enough: float) -> None:
        """One batch of calls, unless there have been enough."""
        if self.spent > enough and self.record.seconds:
            return
        found = self.attempt(lambda: self.child.ask(timeout, "time"))
        if found:
            self.record.seconds.append(found[0])
            self.spent += found[0] * found[1]


@dataclass
class Race:
    """A program: the frameworks on it, and the process that knows its weights and judges results."""

    name: str
    options: Options
    runners: list[Runner]
    judge: Child
    opened: tuple

    @property
    def records(self) -> list[Record]:
        return [runner.record for runner in self.runners]

    def weigh(self) -> bool:
        """Let weights be made; whether there are any."""
        try:
            self.judge.ask(IMPORT_SECONDS, *self.opened)
            self.judge.ask(max(self.options.timeout, IMPORT_SECONDS), "make_weights")
        except Failure as failure:
            for runner in self.runners:
                runner.fail(failure.status, f"no weights: {failure.message}")
            return False
        return True

    def check(self) -> None:
        """Results that are wrong are not timed."""
        checked = {runner.file: runner for runner in self.runners if runner.is_alive}
        judge = verify.Judge(lambda *request: self.judge.ask(self.options.timeout, *request))
        for file, verdict in verify.verify({file: r.record for file, r in checked.items()}, judge).items():
            apply(verdict, checked[file])

    def time(self, report: Callable[[str], None]) -> None:
        """Rounds over all frameworks, so that a slow spell of the machine is not one framework's alone."""
        options = self.options
        for turn in range(options.repeats):
            for runner in self.runners if turn % 2 == 0 else reversed(self.runners):
                if runner.is_alive:
                    report(f"round {turn + 1} of {options.repeats}: {runner.framework.name}")
                    runner.time(options.timeout, options.enough)
                    time.sleep(PAUSE)


def enter(name: str, frameworks: Sequence[Framework], options: Options, folder: Path, stack: ExitStack) -> Race:
    """A race whose processes wait for what they are asked; they end with the stack."""
    runners = []
    for k, framework in enumerate(frameworks):
        child = stack.enter_context(child_in(folder / f"{k}.log", options.settings))
        record = Record(name, framework.name, framework.mode, options.preset, framework.family)
        runners.append(Runner(framework, record, child))
    judge = stack.enter_context(child_in(folder / "judge.log"))
    return Race(name, options, runners, judge, ("open", name, options.preset, str(folder)))


def race(name: str, frameworks: Sequence[Framework], options: Options, report: Callable[[str], None]) -> list[Record]:
    """What each framework makes of a program."""
    with tempfile.TemporaryDirectory(prefix="gradients-") as place, ExitStack() as stack:
        one = enter(name, frameworks, options, Path(place), stack)
        report("start")
        if not one.weigh():
            return one.records
        start(one)
        make_ready(one, report)
        if options.is_validating:
            report("check")
            one.check()
        one.time(report)
        return one.records


def start(one: Race) -> None:
    """All children import at the same time."""
    for runner in one.runners:
        runner.begin(one.opened, one.options.device)
    for runner in one.runners:
        runner.started()


def make_ready(one: Race, report: Callable[[str], None]) -> None:
    """One child after the other compiles and makes its first call, so that it has the machine for itself."""
    for k, runner in enumerate(one.runners):
        if runner.is_alive:
            report(f"prepare {runner.framework.name}")
            runner.prepare(str(k), one.options.timeout)


def apply(verdict: verify.Verdict, runner: Runner) -> None:
    """A result that is wrong is not timed."""
    runner.record.error, runner.record.validated = verdict.error, verdict.is_right
    if verdict.is_right is False:
        runner.fail(f"WRONG {verdict.error:.0e}", verdict.message)
    else:
        runner.record.message = "; ".join(filter(None, (runner.record.message, verdict.message)))
