"""Runs the frameworks of one program, each in a process of its own: they are made ready, checked, and timed in turn."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from scripts.gradients import verify
from scripts.gradients.frameworks import Framework
from scripts.gradients.results import Record

ROOT = Path(__file__).resolve().parent.parent.parent
# The same for all. Threads of OpenMP that wait let others run; else, on a busy machine, they keep the one that they
# wait for from running, and take time from other children.
DEFAULTS = {"OMP_NUM_THREADS": str(os.cpu_count() or 1)}
IMPORT_SECONDS = 120.0
PAUSE = 0.05  # After a batch, until the threads of that child wait no more for work but sleep.
LONG_ENOUGH = 20.0  # Seconds after which a framework's calls are not repeated any more.


class Failure(Exception):
    """What a child could not do: the status "n/a", "ERROR" or "TIMEOUT", and why."""

    def __init__(self, status: str, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


class Child:
    """A process that does what it is asked for."""

    def __init__(self, log: Path) -> None:
        self.pipe, other = Pipe()
        # DaCe calls the cmake that is installed beside Python, and leaves files in the working directory.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        environment = DEFAULTS | os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "PATH": path}
        command = [sys.executable, "-m", "scripts.gradients.child", str(other.fileno())]
        self.log = log
        with open(log, "w") as out:
            self.process = subprocess.Popen(
                command,
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environment,
                cwd=log.parent,
            )
        other.close()

    def send(self, *request: Any) -> None:
        try:
            self.pipe.send(request)
        except OSError:
            raise Failure("ERROR", self._last_words()) from None

    def receive(self, seconds: float) -> Any:
        """The answer; raises `Failure` where there is none in time, and then the child is no more."""
        try:
            if not self.pipe.poll(seconds):
                self.close()
                raise Failure("TIMEOUT", f"not finished after {seconds:g} s")
            status, result = self.pipe.recv()
        except (EOFError, OSError):
            raise Failure("ERROR", self._last_words()) from None
        if status != "ok":
            raise Failure(status, result)
        return result

    def ask(self, seconds: float, *request: Any) -> Any:
        self.send(*request)
        return self.receive(seconds)

    def _last_words(self) -> str:
        """How the process ended."""
        self.close()
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return f"the process ended with status {self.process.returncode}" + (f": {lines[-1][:200]}" if lines else "")

    def close(self) -> None:
        self.pipe.close()
        try:
            self.process.wait(0.5)  # It ends where its pipe does.
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass(frozen=True)
class Options:
    """How programs are run: the preset, whether results are checked, how often they are timed, and the time-out."""

    preset: str = "S"
    is_validating: bool = True
    repeats: int = 5
    timeout: float = 200.0


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

    def prepare(self, label: str, timeout: float) -> None:
        found = self.attempt(lambda: self.child.ask(timeout, "prepare", label))
        if found:
            self.record.first_call, self.record.peak_bytes = found["first_call"], found["peak_bytes"]
            self.file, self.record.message = found["file"], found["note"]

    def time(self, timeout: float) -> None:
        """One batch of calls, unless there have been enough."""
        if self.spent > LONG_ENOUGH and self.record.seconds:
            return
        found = self.attempt(lambda: self.child.ask(timeout, "time"))
        if found:
            self.record.seconds.append(found[0])
            self.spent += found[0] * found[1]


def race(name: str, frameworks: Sequence[Framework], options: Options, report: Callable[[str], None]) -> list[Record]:
    """What each framework makes of a program."""
    with tempfile.TemporaryDirectory(prefix="gradients-") as place, ExitStack() as stack:
        folder = Path(place)
        opened = ("open", name, options.preset, place)
        judge = stack.enter_context(child_in(folder / "judge.log"))
        runners = []
        for k, framework in enumerate(frameworks):
            child = stack.enter_context(child_in(folder / f"{k}.log"))
            record = Record(name, framework.name, framework.mode, options.preset, framework.family)
            runners.append(Runner(framework, record, child))
        report("start")
        try:
            judge.ask(IMPORT_SECONDS, *opened)
            judge.ask(max(options.timeout, IMPORT_SECONDS), "make_weights")
        except Failure as failure:
            return [failed(runner.record, failure) for runner in runners]
        start(runners, opened)
        make_ready(runners, options, report)
        if options.is_validating:
            report("check")
            checked = {runner.file: runner for runner in runners if runner.is_alive}
            judged = verify.Judge(lambda *request: judge.ask(options.timeout, *request))
            for file, verdict in verify.verify({file: r.record for file, r in checked.items()}, judged).items():
                apply(verdict, checked[file])
        time_in_turn(runners, options, report)
        return [runner.record for runner in runners]


@contextmanager
def child_in(log: Path) -> Iterator[Child]:
    child = Child(log)
    try:
        yield child
    finally:
        child.close()


def failed(record: Record, failure: Failure) -> Record:
    record.status, record.message = failure.status, f"no weights: {failure.message}"
    return record


def start(runners: Sequence[Runner], opened: tuple) -> None:
    """All children import at the same time."""
    for runner in runners:
        runner.attempt(lambda runner=runner: runner.child.send(*opened))
        if runner.is_alive:
            runner.attempt(lambda runner=runner: runner.child.send("load", runner.framework.full_name))
    for _ in ("open", "load"):
        for runner in runners:
            if runner.is_alive:
                runner.attempt(lambda runner=runner: runner.child.receive(IMPORT_SECONDS))


def make_ready(runners: Sequence[Runner], options: Options, report: Callable[[str], None]) -> None:
    """One child after the other compiles and makes its first call, so that it has the machine for itself."""
    for k, runner in enumerate(runners):
        if runner.is_alive:
            report(f"prepare {runner.framework.name}")
            runner.prepare(str(k), options.timeout)


def apply(verdict: verify.Verdict, runner: Runner) -> None:
    """A result that is wrong is not timed."""
    runner.record.error, runner.record.validated = verdict.error, verdict.is_right
    if verdict.is_right is False:
        runner.fail(f"WRONG {verdict.error:.0e}", verdict.message)
    else:
        runner.record.message = "; ".join(filter(None, (runner.record.message, verdict.message)))


def time_in_turn(runners: Sequence[Runner], options: Options, report: Callable[[str], None]) -> None:
    """Rounds over all frameworks, so that a slow spell of the machine is not one framework's alone."""
    for turn in range(options.repeats):
        for runner in runners if turn % 2 == 0 else reversed(runners):
            if runner.is_alive:
                report(f"round {turn + 1} of {options.repeats}: {runner.framework.name}")
                runner.time(options.timeout)
                time.sleep(PAUSE)
