"""Ablation study of the passes: writes docs/optimiser.md, what each pass does and what is lost when it is left out.

``measure`` goes through the programs of both suites: it leaves out one pass after the other, and where the C++ becomes
another one compiles and times it, in turns with the complete one. ``write`` makes the page of what was measured.
"""

import argparse
import difflib
import functools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import npbench_suite
import sdfgad
from sdfgad.api.differentiate import specialised
from sdfgad.explain.listing import program_listing
from sdfgad.explain.stages import Stages
from sdfgad.optimise.before_ad import EARLY
from sdfgad.optimise.passes import TABLE, optimise
from sdfgad.planning.layout import Sizes
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import Source, compile_source, source_of_optimised

RESULTS, PAGE = ROOT / "docs" / "optimiser.json", ROOT / "docs" / "optimiser.md"
COMPILERS = 2
# Seconds of each timing at least, of all timings of a variant at most, and rounds in which the variants take turns.
LEAST, MOST, ROUNDS = 0.01, 1.0, 9
# The longest change that is shown as an example, in lines.
LONGEST = 16


@dataclass(frozen=True)
class Variant:
    """A program's gradient without some passes: its stages, and its C++."""

    stages: Stages
    source: Source

    def runner(self) -> Callable[[], None]:
        """What calls it once, compiled."""
        stages, call = self.stages, self.stages.call
        specialisation = stages.specialisation
        built = specialisation.built(stages.layout)
        arrays, integers = specialisation.marshalled(call, stages.layout, built, specialisation.ones(), True)
        if built.counting is not None:
            integers |= Sizes(integers, specialisation.counted(call, built)).of(built.gradient_program)
        return functools.partial(Executable(compile_source(self.source)), arrays, integers)


def variants(name: str, preset: str) -> Iterator[tuple[str, Variant]]:
    """The complete gradient of a program, and its gradients without one pass of those whose C++ is another one."""
    entry = npbench_suite.load(name)
    g = sdfgad.differentiate(entry.program, wrt=entry.arrays, output=entry.output, reduce="sum", allow_unused=True)
    arguments = entry.arguments_for(preset)

    def stages_without(*left: str) -> Stages:
        call, specialisation = specialised(g, arguments, {}, left)
        return Stages(specialisation, call)

    complete = Variant(stages_without(), source_of_optimised(stages_without().optimised))
    yield "", complete
    whole = complete.stages.optimised
    for left in dict.fromkeys(one.name for one in TABLE):
        is_early = any(one.name == left for one in EARLY)
        stages = stages_without(left) if is_early else complete.stages
        optimised = stages.optimised if is_early else optimise(stages.gradient, without={left})
        if optimised != whole and (source := source_of_optimised(optimised)).code != complete.source.code:
            yield left, Variant(stages, source)


def measured(name: str, preset: str) -> dict[str, Any]:
    """The seconds of a gradient, and of that without each pass that changes it; and examples of changes."""
    found = dict(variants(name, preset))
    with ThreadPoolExecutor(COMPILERS) as pool:
        list(pool.map(compile_source, [one.source for one in found.values()]))
    runners = {left: one.runner() for left, one in found.items()}
    seconds = in_turns(runners)
    examples = {step.name: shortest for step in found[""].stages.late if (shortest := example(step))}
    return {"seconds": seconds, "examples": examples}


def in_turns(runners: dict[str, Callable[[], None]]) -> dict[str, float]:
    """The median seconds of each, which run in turns; slow ones run fewer times."""
    first = {left: min(once(run), once(run)) for left, run in runners.items()}
    times: dict[str, list[float]] = {left: [] for left in runners}
    for turn in range(ROUNDS):
        for left, run in runners.items():
            if turn * first[left] < MOST:
                repeats = max(1, int(LEAST / first[left]))
                times[left].append(once(lambda run=run, repeats=repeats: [run() for _ in range(repeats)]) / repeats)
    return {left: statistics.median(one) for left, one in times.items()}


def once(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def example(step: Any) -> list[str]:
    """The lines that a pass removed and added, if they are few."""
    if not step.is_change:
        return []
    before, after = (program_listing(one).splitlines() for one in (step.before, step.after))
    lines = [line for line in list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:] if line[:2] != "@@"]
    return lines if len(lines) <= LONGEST and all(len(line) < 110 for line in lines) else []


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("measure", "write"))
    parser.add_argument("-b", "--benchmarks", nargs="+", metavar="NAME", help="programs (default: both suites)")
    parser.add_argument("-p", "--preset", default="S", help="sizes (default: S)")
    parser.add_argument("-o", "--results", type=Path, default=RESULTS, help="what was measured, as JSON")
    chosen = parser.parse_args(argv)
    known = [name for suite in npbench_suite.SUITES for name in npbench_suite.names(suite)]
    results = json.loads(chosen.results.read_text()) if chosen.results.exists() else {}
    for number, name in enumerate(chosen.benchmarks or known, 1):
        if chosen.what == "write" or (name in results and not chosen.benchmarks):
            continue
        start = time.perf_counter()
        entry = npbench_suite.load(name)
        if not (entry.arrays and entry.output):
            continue
        results[name] = measured(name, chosen.preset)
        chosen.results.write_text(json.dumps(results, indent=1))
        slower = {k: round(v / results[name]["seconds"][""], 2) for k, v in results[name]["seconds"].items() if k}
        print(f"{number} {name}, {time.perf_counter() - start:.0f} s: {slower}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
