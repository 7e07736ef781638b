"""Runs over programs, with a progress display: one program at a time, or on a GPU several made ready together."""

import contextlib
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from scripts.gradients import gpu, table
from scripts.gradients.race import LONG_ENOUGH, Options, race
from scripts.gradients.results import Record
from scripts.gradients.together import race_together

# By device, in seconds; GPUs are often lent for minutes.
TIMEOUTS = {"cpu": 200.0, "gpu": 20.0}
ENOUGH = {"cpu": LONG_ENOUGH, "gpu": 2.0}


class Progression:
    """What is told of a run: a display where a person is watching, else lines."""

    def __init__(self, progress: Progress, count: int, is_watched: bool) -> None:
        self.count, self._progress, self._is_watched = count, progress, is_watched
        self._task = progress.add_task("", total=count)

    def report(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def advance(self) -> None:
        self._progress.advance(self._task)

    def print(self, *lines: str) -> None:
        if not self._is_watched:
            print(*lines, sep="\n", file=sys.stderr, flush=True)


def run_all(chosen: Namespace, console: Console) -> Iterator[list[Record]]:
    """The records of each program that is begun in time."""
    columns = (SpinnerColumn(), MofNCompleteColumn(), BarColumn(20), TextColumn("{task.description}"))
    watched = console.is_terminal
    with (
        options_of(chosen) as options,
        Progress(*columns, TimeElapsedColumn(), console=console, transient=True, disable=not watched) as progress,
    ):
        told = Progression(progress, len(chosen.benchmarks), watched)
        runs = on_gpu if chosen.device == "gpu" else one_by_one
        with contextlib.closing(runs(chosen, options, told, in_time(chosen.seconds))) as found:
            for records in found:
                yield records
                told.advance()


@contextlib.contextmanager
def options_of(chosen: Namespace) -> Iterator[Options]:
    """How to run; for a GPU with a folder, shared by all processes, for what is compiled."""
    own = Options(chosen.preset, chosen.validate, chosen.repeats, chosen.timeout, ENOUGH[chosen.device])
    if chosen.device == "cpu":
        yield own
        return
    with tempfile.TemporaryDirectory(prefix="gradients-cache-") as cache:
        settings = gpu.settings(chosen.jax_platform, cache)
        yield replace(own, device="gpu", settings=settings, processes=chosen.processes)


def in_time(seconds: float | None) -> Callable[[], bool]:
    """Whether so many seconds have not passed from now on."""
    start = time.monotonic()
    return lambda: seconds is None or time.monotonic() - start < seconds


def one_by_one(
    chosen: Namespace, options: Options, told: Progression, is_in_time: Callable[[], bool]
) -> Iterator[list[Record]]:
    for number, name in enumerate(chosen.benchmarks, 1):
        if not is_in_time():
            told.print(f"no time for {' '.join(chosen.benchmarks[number - 1 :])}")
            return
        told.print(f"{number}/{told.count} {name}")
        yield race(name, chosen.frameworks, options, lambda text, name=name: told.report(f"{name}: {text}"))


def on_gpu(
    chosen: Namespace, options: Options, told: Progression, is_in_time: Callable[[], bool]
) -> Iterator[list[Record]]:
    start = time.monotonic()
    for first in range(0, told.count, chosen.together):
        names = chosen.benchmarks[first : first + chosen.together]
        if not is_in_time():
            told.print(f"no time for {' '.join(chosen.benchmarks[first:])}")
            return
        told.print(f"after {time.monotonic() - start:.0f} s: {' '.join(names)}")
        with contextlib.closing(race_together(names, chosen.frameworks, options, told.report)) as races:
            for found in races:
                told.print(*map(table.line, found))
                yield found
