"""Progress of long first calls: which stage runs, as a spinner on a terminal, else in the log `sdfgad` (INFO).

Nothing is shown of what takes less than `PATIENCE` seconds, nor with SDFGAD_PROGRESS=off.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.5
# Stages that follow each other within so many seconds are of one piece of work.
PAUSE = 0.2
VARIABLE = "SDFGAD_PROGRESS"

_log = logging.getLogger("sdfgad")


class _Work:
    """The stages that a thread is in, innermost last, and since when it works."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.since = self.ended = 0.0
        self.spinner: Any = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def enter(self, what: str) -> None:
        now = time.perf_counter()
        if not self.stages and now - self.ended > PAUSE:
            self.since = now
        with self._lock:
            self.stages.append(what)
            if self.spinner is not None:
                self.spinner.update(_shown(self._text()))
                return
        left = self.since + PATIENCE - now
        if left <= 0:
            self.show()
        elif self._timer is None:
            self._timer = threading.Timer(left, self.show)
            self._timer.daemon = True
            self._timer.start()

    def leave(self) -> None:
        with self._lock:
            self.stages.pop()
            if self.stages:
                return
            self.ended = time.perf_counter()
            if self._timer is not None:
                self._timer.cancel()
            if self.spinner is not None:
                self.spinner.stop()
            self._timer = self.spinner = None

    def show(self) -> None:
        """Say what runs."""
        with self._lock:
            if not self.stages or self.spinner is not None:
                return
            if not _is_terminal():
                _log.info("%s (%.1f s)", self.stages[-1], time.perf_counter() - self.since)
                return
            self.spinner = _spinner(self._text())
            self.spinner.start()

    def _text(self) -> str:
        return f"sdfgad: {self.stages[-1]}"


def _is_terminal() -> bool:
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError):  # None or another object that only writes; closed.
        return False


def _spinner(text: str) -> Any:
    """A spinner that leaves what others print where it goes: `sys.stdout` may be a file."""
    from rich.console import Console
    from rich.live import Live

    options = {"transient": True, "redirect_stdout": False, "redirect_stderr": False, "refresh_per_second": 10.0}
    return Live(_shown(text), console=Console(stderr=True), **options)  # type: ignore[arg-type]


def _shown(text: str) -> Any:
    from rich.spinner import Spinner

    return Spinner("dots", text)


_works = threading.local()


@contextmanager
def stage(what: str) -> Iterator[None]:
    """While a stage of the compilation runs; `what` says so, such as "parsing heat".

    Example:
        >>> with stage("parsing heat"):
        ...     pass
    """
    if os.environ.get(VARIABLE) == "off":
        yield
        return
    work: _Work = vars(_works).setdefault("work", _Work())
    work.enter(what)
    try:
        yield
    finally:
        work.leave()
