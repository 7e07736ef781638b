"""Processes that run one framework each (`child.py`), as their parent sees them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
# The same for all. Threads of OpenMP that wait let others run; else, on a busy machine, they keep the one that they
# wait for from running, and take time from other children.
DEFAULTS = {"OMP_NUM_THREADS": str(os.cpu_count() or 1)}
CPU_SETTINGS = {"JAX_PLATFORMS": "cpu"}


class Failure(Exception):
    """What a child could not do: the status "n/a", "ERROR" or "TIMEOUT", and why."""

    def __init__(self, status: str, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


class Child:
    """A process that does what it is asked for; `settings` are environment variables."""

    def __init__(self, log: Path, settings: Mapping[str, str] = CPU_SETTINGS) -> None:
        self.pipe, other = Pipe()
        # DaCe calls the cmake that is installed beside Python, and leaves files in the working directory.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        packages = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = DEFAULTS | os.environ | settings | {"PYTHONPATH": packages, "PATH": path}
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
        lines = [line.strip() for line in self.written().splitlines() if line.strip()]
        return f"the process ended with status {self.process.returncode}" + (f": {lines[-1][:200]}" if lines else "")

    def written(self) -> str:
        """What it wrote on its standard output and error."""
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """End it without waiting; to be closed, too."""
        self.process.kill()

    def close(self) -> None:
        self.pipe.close()
        try:
            self.process.wait(0.5)  # It ends where its pipe does.
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def child_in(log: Path, settings: Mapping[str, str] = CPU_SETTINGS) -> Iterator[Child]:
    child = Child(log, settings)
    try:
        yield child
    finally:
        child.close()
