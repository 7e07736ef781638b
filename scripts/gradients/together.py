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

# Checks at a time: they hold the arrays of two results.
CHECKERS = 4
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
                one.time(lambda text, name=one.name: report(f"{name}: {text}"))
                kill(one)
                yield one.records
        finally:
            for one in races:  # All at once; they are closed one by one.
                kill(one)


def make_ready(races: Sequence[Race], options: Options, report: Report) -> None:
    """All children import, compile and make their first calls, several at a time, and their results are checked."""
    workers, checkers = ThreadPoolExecutor(options.processes), ThreadPoolExecutor(CHECKERS)
    try:
        weighed = [workers.submit(one.weigh) for one in races]
        prepared = [
            [workers.submit(prepare, one, number, runner, has_weights) for number, runner in enumerate(one.runners)]
            for one, has_weights in zip(races, weighed, strict=True)
        ]
        jobs = [checkers.submit(check, one, own) for one, own in zip(races, prepared, strict=True)]
        for count, job in enumerate(as_completed(jobs), 1):
            job.result()
            report(f"{count} of {len(jobs)} are ready")
    except BaseException:
        for one in races:  # Else the pools wait for them.
            kill(one)
        raise
    finally:
        workers.shutdown(cancel_futures=True)
        checkers.shutdown(cancel_futures=True)


def prepare(one: Race, number: int, runner: Runner, has_weights: "Future[bool]") -> None:
    if has_weights.result():
        runner.begin(one.opened, one.options.device)
        runner.started()
        if runner.is_alive:
            runner.prepare(str(number), one.options.timeout)


def check(one: Race, prepared: "Sequence[Future[None]]") -> None:
    """Check results, when all are there."""
    for job in prepared:
        job.result()
    if one.options.is_validating:
        try:
            one.check()
        except Exception as failure:  # Such as a lack of memory: the other programs go on.
            for runner in one.runners:
                if runner.is_alive:
                    runner.fail("ERROR", f"not checked: {type(failure).__name__}: {failure}")
    one.judge.kill()


def kill(one: Race) -> None:
    for child in (one.judge, *(runner.child for runner in one.runners)):
        child.kill()
