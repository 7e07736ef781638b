"""Runs another program to its end: never through a shell, and never beyond an interrupt."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

SECONDS_TO_END = 2.0


def run(command: Sequence[str | Path], log: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a program says and returns.

    If the caller is interrupted (Ctrl-C), it is ended with all that it has started: g++ is a driver of others.

    Args:
        command: the program and its arguments, one by one, each taken as it is.
        log: where its output goes, instead of into the result.
    """
    if log is None:
        return _run(command, subprocess.PIPE, subprocess.PIPE)
    with log.open("w") as file:
        return _run(command, file.fileno(), subprocess.STDOUT)


def _run(command: Sequence[str | Path], out: int, error: int) -> subprocess.CompletedProcess[str]:
    # A group of its own can be killed as one.
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out, stderr=error, text=True, errors="replace", process_group=0
    ) as process:
        try:
            said, complaint = process.communicate()
        except BaseException:
            _end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, said, complaint)


def _end(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGTERM)  # g++ removes its temporary files.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
