"""Times and checks the gradients of NumPy programs, by all floating arguments, in sdfgad, JAX and DaCe.

Each framework runs in a process of its own, all are timed in turn, round after round, and what is wrong has no times.
With --device gpu arguments and results are on a GPU, and several programs are compiled at the same time.
The exit status is 1 where sdfgad is wrong or fails, or with --guard where it lost speed.
"""

import argparse
import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

# Read once, when the libraries that run threads are loaded.
os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rich import box
from rich.console import Console

import npbench_suite
from scripts.gradients import gpu, guard, pictures, results, shares, table
from scripts.gradients.registry import FRAMEWORKS, ON, framework_called
from scripts.gradients.results import Record
from scripts.gradients.runs import TIMEOUTS, run_all
from scripts.gradients.shares import Rates
from scripts.gradients.table import Outcome

PLAIN_WIDTH = 200
OURS = {name for on in ON.values() for name, framework in on.items() if framework.family == "sdfgad"}


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is asked for; `chosen.frameworks` are `Framework`s."""
    parser = argparse.ArgumentParser(description="Time the gradients of NumPy programs in several frameworks.")
    parser.add_argument("-b", "--benchmarks", nargs="+", metavar="NAME", help="programs (default: all with gradients)")
    parser.add_argument(
        "--suite",
        choices=npbench_suite.SUITES,
        default="npbench",
        help="which programs, where none are named: NPBench's, or others of the sciences (default: npbench)",
    )
    parser.add_argument(
        "-f",
        "--frameworks",
        nargs="+",
        metavar="NAME",
        help=f"of {', '.join(FRAMEWORKS)} (default: all; not all are on GPUs), or FILE.py:function",
    )
    parser.add_argument("-p", "--preset", default="S", help="sizes: S, M, L, paper, test, test2 (default: S)")
    parser.add_argument(
        "-v", "--validate", "--v", action=argparse.BooleanOptionalAction, default=True, help="check all results"
    )
    parser.add_argument("-r", "--repeats", type=int, default=5, help="rounds, fewer of slow calls (default: 5)")
    parser.add_argument("-t", "--timeout", type=float, help="seconds for each step (default: 200; on a GPU: 20)")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="begin with no further programs after so many seconds"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FOLDER", help="keep a database, the tables, and logs of failures as they come"
    )
    parser.add_argument("--database", type=Path, metavar="FILE", help="add the results to this SQLite database")
    parser.add_argument("--no-run", action="store_true", help="show the latest results in the database instead")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw a heat map, and bars of JAX's times")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables in Markdown")
    parser.add_argument(
        "--shares", action="store_true", help="also which share of the machine's speed the gradients reach"
    )
    parser.add_argument("--guard", type=Path, metavar="FILE", help="fail where a ratio is much worse than in this file")
    parser.add_argument("--set-guard", type=Path, metavar="FILE", help="put the ratios into such a file")
    add_gpu(parser)
    chosen = parser.parse_args(argv)
    check_device(parser, chosen)
    check(parser, chosen)
    return chosen


def add_gpu(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", choices=ON, default="cpu", help="where the gradients run (default: cpu)")
    parser.add_argument(
        "--jax-platform", choices=("cuda", "cpu"), default="cuda", help="with --device gpu; cpu: to try it without one"
    )
    parser.add_argument(
        "--together",
        type=int,
        default=13,
        metavar="N",
        help="programs made ready at the same time, on a GPU (default: 13)",
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="of those that compile, on a GPU"
    )


def check_device(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    if chosen.device == "gpu" and chosen.shares:
        parser.error("--shares measures the CPU")
    if min(chosen.together, chosen.processes) < 1:
        parser.error("--together and --processes must be at least 1")
    if chosen.results:
        chosen.results.mkdir(parents=True, exist_ok=True)
        chosen.database = chosen.database or chosen.results / "results.db"
        chosen.markdown = chosen.markdown or chosen.results / "results.md"
    chosen.timeout = chosen.timeout or TIMEOUTS[chosen.device]
    chosen.frameworks = chosen.frameworks or list(ON[chosen.device])


def check(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    known = [name for suite in npbench_suite.SUITES for name in npbench_suite.names(suite)]
    if unknown := [name for name in chosen.benchmarks or () if name not in known]:
        parser.error(f"unknown programs: {', '.join(unknown)}; known are: {', '.join(known)}")
    entries = [
        npbench_suite.load(name) for name in dict.fromkeys(chosen.benchmarks or npbench_suite.names(chosen.suite))
    ]
    chosen.benchmarks = [entry.name for entry in entries if entry.arrays and entry.output]
    if not chosen.benchmarks:
        parser.error("programs on integers have no gradients")
    if lacking := [entry.name for entry in entries if chosen.preset not in entry.presets]:
        parser.error(f"no preset {chosen.preset!r} in: {', '.join(lacking)}")
    if chosen.no_run and not (chosen.database and chosen.database.exists()):
        parser.error("--no-run needs --database with a file that exists")
    if chosen.guard and not chosen.guard.exists():
        parser.error(f"there is no {chosen.guard}; --set-guard makes one")
    if chosen.repeats < 1:
        parser.error("repeats must be at least 1")
    try:
        chosen.frameworks = [framework_called(name, chosen.device) for name in dict.fromkeys(chosen.frameworks)]
    except (ValueError, AttributeError, ImportError) as problem:
        parser.error(str(problem))


def measured(chosen: argparse.Namespace, console: Console, argv: Sequence[str]) -> tuple[list[Record], dict]:
    """New records, stored as they come, and on what they are measured."""
    where = results.machine(chosen.device, gpu.name_of_device() if chosen.device == "gpu" else "")
    records: list[Record] = []
    with contextlib.closing(run_all(chosen, console)) as runs:
        for found in runs:
            records += found
            if chosen.database:
                results.store(chosen.database, found, where)
            if chosen.results:
                results.store_logs(chosen.results / "failures.txt", found)
                write_page(Outcome(records), chosen, None, where, argv)
    return records, where


def stored(chosen: argparse.Namespace) -> tuple[list[Record], dict]:
    """The latest records in the database, in the order of what is asked for."""
    records, where = results.load(chosen.database, chosen.preset, chosen.device)
    by_name = {(record.benchmark, record.framework): record for record in records}
    wanted = [(name, framework.name) for name in chosen.benchmarks for framework in chosen.frameworks]
    return [by_name[key] for key in wanted if key in by_name], where


def show(outcome: Outcome, preset: str, rates: Rates | None, device: str, console: Console) -> None:
    """All tables, and what there is to know."""
    captions = table.captions(device)
    console.print(table.times_table(outcome, title="times"))
    console.print(captions["times"], style="dim", markup=False, soft_wrap=True)
    if outcome.ratios:
        console.print()
        console.print(table.ratios_table(outcome, title="ratios"))
        console.print(captions["ratios"], style="dim", markup=False, soft_wrap=True)
    console.print()
    console.print(table.costs_table(outcome, title="first calls and memory"))
    console.print(captions["costs"], style="dim", markup=False, soft_wrap=True)
    if rates:
        console.print()
        console.print(shares.shares_table(outcome, preset, rates))
        console.print(rates.caption, style="dim", markup=False, soft_wrap=True)
    for line in table.problems(outcome):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def write(outcome: Outcome, chosen: argparse.Namespace, rates: Rates | None, where: dict, argv: Sequence[str]) -> None:
    """The files that are asked for; the database is written as results come."""
    if chosen.markdown:
        write_page(outcome, chosen, rates, where, argv)
    if chosen.pictures:
        subtitle = f"preset {chosen.preset}, {where['gpu'] or '{threads} threads, {cpu}'.format(**where)}"
        pictures.draw(outcome, chosen.pictures, subtitle)


def write_page(
    outcome: Outcome, chosen: argparse.Namespace, rates: Rates | None, where: dict, argv: Sequence[str]
) -> None:
    command = shlex.join(["python", "scripts/npbench_gradients.py", *argv])
    extra = ()
    if rates:
        extra = (rates.caption, table.as_text(shares.shares_table(outcome, chosen.preset, rates, box.MARKDOWN)))
    chosen.markdown.write_text(table.markdown(outcome, command, where, extra))


def guarded(outcome: Outcome, chosen: argparse.Namespace, console: Console) -> bool:
    """Whether no ratio is much worse than it was; the ratios are kept where that is asked for."""
    found = guard.ratios_of(outcome)
    key = chosen.preset if chosen.device == "cpu" else f"{chosen.preset} on {chosen.device}"
    lost = guard.losses(found, guard.read(chosen.guard, key)) if chosen.guard else []
    for line in lost:
        console.print(f"slower: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
    if chosen.set_guard:
        guard.write(chosen.set_guard, key, found)
    return not lost


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run the benchmark; the exit status is 1 unless sdfgad is right wherever it is run, and as fast as asked for."""
    argv = sys.argv[1:] if argv is None else argv
    chosen = parse_arguments(argv)
    console = console or (Console() if sys.stdout.isatty() else Console(width=PLAIN_WIDTH))
    rates = shares.measure() if chosen.shares else None
    records, where = stored(chosen) if chosen.no_run else measured(chosen, console, argv)
    if not records:
        console.print("there are no such results")
        return 1
    if rates:
        rates |= shares.measure()  # The better, as the machine may be busy.
    outcome = Outcome(records)
    show(outcome, chosen.preset, rates, chosen.device, console)
    write(outcome, chosen, rates, where, argv)
    is_right = all(record.status in ("ok", "n/a") for record in records if record.framework in OURS)
    return 0 if guarded(outcome, chosen, console) and is_right else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # Folders and processes are cleared away then, too.
    sys.exit(main())
