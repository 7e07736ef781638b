"""Races of several programs: all are made ready concurrently, and then timed one by one, while nothing else runs.

So the cores of a machine compile while its GPU waits, and what is timed has the GPU for itself. First calls take longer
than alone.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path

from scripts.gradients.frameworks import Framework
from scripts.gradients.race import Options, Race, Runner, enter
from scripts.gradients.results import Record

Report = Callable[[str], None]


def race_together(
    names: Sequence[str], frameworks: Sequence[Framework], options: Options, report: Report
) -> Iterator[list[Record]]:
    """What each framework makes of each program, in the order of the programs."""
    races: list[Race] = []
    with tempfile.TemporaryDirectory(prefix="gradients-") as place, ExitStack() as stack:
        try:
            # By this thread: children die with the thread that started them.
            for name in names:
                folder = Path(place) / name
                folder.mkdir()
                races.append(enter(name, frameworks, options, folder, stack))
            make_ready(races, options, report)
            for one in races:
                finish(one, report)
                kill(one)
                yield one.records
        finally:
            for one in races:  # All at once; they are closed one by one.
                kill(one)


def make_ready(races: Sequence[Race], options: Options, report: Report) -> None:
    """All children import, compile and make their first calls, several at a time."""
    pool = ThreadPoolExecutor(options.processes)
    try:
        weighed = [pool.submit(one.weigh) for one in races]
        jobs = [
            pool.submit(prepare, one, number, runner, has_weights)
            for one, has_weights in zip(races, weighed, strict=True)
            for number, runner in enumerate(one.runners)
        ]
        for count, job in enumerate(as_completed(jobs), 1):
            job.result()
            report(f"{count} of {len(jobs)} are ready")
    except BaseException:
        for one in races:  # Else the pool waits for them.
            kill(one)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def prepare(one: Race, number: int, runner: Runner, has_weights: "Future[bool]") -> None:
    if has_weights.result():
        runner.begin(one.opened, one.options.device)
        runner.started()
        if runner.is_alive:
            runner.prepare(str(number), one.options.timeout)


def finish(one: Race, report: Report) -> None:
    """Check results, and time those that are right."""
    if one.options.is_validating:
        report(f"check {one.name}")
        one.check()
    one.time(lambda text: report(f"{one.name}: {text}"))


def kill(one: Race) -> None:
    for child in (one.judge, *(runner.child for runner in one.runners)):
        child.kill()
