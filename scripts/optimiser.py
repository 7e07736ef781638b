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
from sdfgad.optimise.pass_manager import Pass
from sdfgad.optimise.passes import TABLE, optimise
from sdfgad.planning.layout import Sizes
from sdfgad.runtime.build import Source, compile_source
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import source_of_optimised

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


def variants(name: str, preset: str, passes: Sequence[str]) -> Iterator[tuple[str, Variant]]:
    """The complete gradient of a program, and its gradients without one of these passes whose C++ is another one."""
    entry = npbench_suite.load(name)
    g = sdfgad.differentiate(entry.program, wrt=entry.arrays, output=entry.output, reduce="sum", allow_unused=True)
    arguments = entry.arguments_for(preset)

    def stages_without(*left: str) -> Stages:
        call, specialisation = specialised(g, arguments, {}, left)
        return Stages(specialisation, call)

    complete = Variant(stages_without(), source_of_optimised(stages_without().optimised))
    yield "", complete
    whole = complete.stages.optimised
    for left in passes:
        is_early = any(one.name == left for one in EARLY)
        stages = stages_without(left) if is_early else complete.stages
        optimised = stages.optimised if is_early else optimise(stages.gradient, without={left})
        if optimised != whole and (source := source_of_optimised(optimised)).code != complete.source.code:
            yield left, Variant(stages, source)


def measured(name: str, preset: str, passes: Sequence[str]) -> dict[str, Any]:
    """The seconds of a gradient, and of that without each pass that changes it; and examples of changes."""
    found = dict(variants(name, preset, passes))
    with ThreadPoolExecutor(COMPILERS) as pool:
        list(pool.map(compile_source, [one.source for one in found.values()]))
    runners = {left: one.runner() for left, one in found.items()}
    seconds = in_turns(runners)
    stages = found[""].stages
    examples = {step.name: shortest for step in (*stages.early, *stages.late) if (shortest := example(step))}
    return {"seconds": seconds, "examples": examples}


def merged(old: dict[str, Any], new: dict[str, Any], passes: Sequence[str]) -> dict[str, Any]:
    """Earlier results with these passes measured anew, relative to the complete gradient of each run."""
    factor = old["seconds"][""] / new["seconds"][""]
    kept = {left: one for left, one in old["seconds"].items() if left not in passes}
    again = {left: one * factor for left, one in new["seconds"].items() if left}
    return {"seconds": {**kept, **again}, "examples": {**old["examples"], **new["examples"]}}


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


# --- the page


HEAD = """# The optimiser

<!-- Written by scripts/optimiser.py: `measure`, then `write`. -->

Passes go from program to program; they keep what is computed, and take less time or memory. They are records in one
table (`sdfgad/optimise/passes.py`), from which the order, this page, `explain --diff`, `--without` and `--bisect` come.
What passes assume of the machine is one record, too (`sdfgad/schedule/target.py`).

**Left out** is the time of a gradient without the pass, divided by that with it: the geometric mean and the largest,
over the programs of NPBench and of the second suite (`benchmarks/`, which no pass was written for) whose C++ is
another one without it. A pass runs where it stands in the table; `clean` runs again where other passes leave work for
it. Ratios within 5 % of 1 are noise. A mean below 1 says that a pass costs time where it was measured.
"""


def page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    known = {name: suite for suite in npbench_suite.SUITES for name in npbench_suite.names(suite)}
    counts = {suite: sum(known[name] == suite for name in results) for suite in npbench_suite.SUITES}
    measured_on = (
        f"Measured at S on {counts['npbench']} programs of NPBench and {counts['science']} of the second suite."
    )
    passes = list({one.name: one for one in TABLE}.values())
    rows = [f"| {' | '.join(cells(one, results, known))} |" for one in passes]
    head = "| phase | pass | NPBench | second suite | left out: mean | largest |", "|---|---|--:|--:|--:|---|"
    parts = [section(one, results) for one in passes]
    return "\n".join([HEAD, measured_on, "", *head, *rows, "", *parts])


def cells(one: Pass, results: dict[str, Any], known: dict[str, str]) -> list[str]:
    """A pass's row: how many programs of each suite it changes, and what leaving it out costs them."""
    found = ratios(one, results)
    counts = [str(sum(known[name] == suite for name in found)) for suite in npbench_suite.SUITES]
    mean = f"{statistics.geometric_mean(found.values()):.2f}" if found else "–"
    worst = max(found, key=lambda name: found[name], default="")
    largest = f"{found[worst]:.2f} ({worst})" if found else "–"
    return [one.phase.value, f"[`{one.name}`](#{one.name})", *counts, mean, largest]


def ratios(one: Pass, results: dict[str, Any]) -> dict[str, float]:
    """Of the programs that a pass changes, the time without it relative to that with it."""
    seconds = {name: result["seconds"] for name, result in results.items()}
    return {name: times[one.name] / times[""] for name, times in seconds.items() if one.name in times}


def section(one: Pass, results: dict[str, Any]) -> str:
    """What a pass does, and the shortest of its changes as an example."""
    changes = [result["examples"][one.name] for result in results.values() if one.name in result["examples"]]
    example = min(changes, key=len, default=[])
    needs = f" Runs after {', '.join(f'`{name}`' for name in one.needs)}." if one.needs else ""
    block = ["", "```diff", *example, "```"] if example else []
    return "\n".join([f"## {one.name}", "", one.motive + needs, *block, ""])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("measure", "write"))
    parser.add_argument("-b", "--benchmarks", nargs="+", metavar="NAME", help="programs (default: both suites)")
    parser.add_argument("-p", "--preset", default="S", help="sizes (default: S)")
    parser.add_argument("--passes", nargs="+", metavar="NAME", help="measure only these anew (default: all)")
    parser.add_argument("-o", "--results", type=Path, default=RESULTS, help="what was measured, as JSON")
    chosen = parser.parse_args(argv)
    results = json.loads(chosen.results.read_text()) if chosen.results.exists() else {}
    if chosen.what == "write":
        PAGE.write_text(page(results))
        return 0
    known = [name for suite in npbench_suite.SUITES for name in npbench_suite.names(suite)]
    if unknown := set(chosen.benchmarks or ()) - set(known):
        parser.error(f"unknown programs: {', '.join(sorted(unknown))}")
    passes = chosen.passes or list(dict.fromkeys(one.name for one in TABLE))
    missing = [name for name in known if name not in results]
    names = chosen.benchmarks or (list(results) if chosen.passes else missing)
    for number, name in enumerate(names, 1):
        entry, start = npbench_suite.load(name), time.perf_counter()
        if not (entry.arrays and entry.output):
            continue
        new = measured(name, chosen.preset, passes)
        results[name] = merged(results[name], new, passes) if chosen.passes and name in results else new
        chosen.results.write_text(json.dumps(results, indent=1))
        times = results[name]["seconds"]
        slower = {left: round(one / times[""], 2) for left, one in times.items() if left}
        print(f"{number} of {len(names)}: {name}, {time.perf_counter() - start:.0f} s: {slower}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
