"""Runs another program to its end: never through a shell, and never beyond an interrupt."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

Command = Sequence[str | Path]
SECONDS_TO_END = 2.0


def run(command: Command, log: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a program says and returns.

    If the caller is interrupted (Ctrl-C), it is ended with all that it has started: g++ is a driver of others.

    Args:
        command: the program and its arguments, one by one, each taken as it is.
        log: where its output goes, instead of into the result.
    """
    if log is None:
        return run_beside([command])[0]
    with log.open("w") as file:
        return _run([command], file.fileno(), subprocess.STDOUT)[0]


def run_beside(commands: Sequence[Command]) -> list[subprocess.CompletedProcess[str]]:
    """The same of several programs that run beside each other."""
    return _run(commands, subprocess.PIPE, subprocess.PIPE)


def _run(commands: Sequence[Command], out: int, error: int) -> list[subprocess.CompletedProcess[str]]:
    started: list[subprocess.Popen[str]] = []
    with contextlib.ExitStack() as stack:
        try:
            for command in commands:
                started.append(stack.enter_context(_started(command, out, error)))
            said = [process.communicate() for process in started]
        except BaseException:
            for process in started:
                _end(process)
            raise
    return [subprocess.CompletedProcess(p.args, p.returncode, *texts) for p, texts in zip(started, said, strict=True)]


def _started(command: Command, out: int, error: int) -> subprocess.Popen[str]:
    # A group of its own can be killed as one.
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=error, text=True, errors="replace", process_group=0
    )


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)  # g++ removes its temporary files.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
