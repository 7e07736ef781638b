"""Times of code that array sizes share (`shapes="any"`) beside code for one size (`shapes="exact"`), for the suites.

For each program: the first call of both, the time of a call of shared code over that of exact code (medians, in turn)
or that the first call has found no code to share, and the largest relative difference of a gradient.

    python scripts/many_sizes.py --suite science --preset S --markdown sizes.md
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import os

import numpy as np

import npbench_suite
import sdfgad
from scripts.build_times import ONCE, numpy_run
from scripts.stopwatch import stopwatch

SECONDS, FEWEST, MOST = 1.0, 5, 100


def in_turn(one, other):
    """The median time of one call over that of another."""
    runs = max(FEWEST, min(MOST, int(SECONDS / (1e-5 + stopwatch(other)[0]))))
    pairs = [(stopwatch(one)[0], stopwatch(other)[0]) for _ in range(runs)]
    return median(a for a, _ in pairs) / median(b for _, b in pairs)


def difference(found, expected):
    """The largest difference of an element, relative to the largest element of its array."""
    pairs = zip(found, expected, strict=True)
    return max(float(np.max(np.abs(a - b), initial=0) / (np.max(np.abs(b), initial=0) or 1)) for a, b in pairs)


def row(name, preset):
    """The columns of the table for one program."""
    entry = npbench_suite.load(name)
    args = entry.arguments_for(preset)
    weights = np.ones_like(entry.outputs_from(*numpy_run(entry.program, args))[entry.output])
    of = {"wrt": entry.arrays, "output": entry.output, "allow_unused": True}
    shared, exact = (sdfgad.differentiate(entry.program, **of, shapes=shapes) for shapes in ("any", "exact"))
    calls = [lambda g=g: g.vjp(*args, cotangent=weights) for g in (shared, exact)]
    first, found = stopwatch(calls[0])
    first_exact, expected = stopwatch(calls[1])
    libraries = [g._bind_and_specialise(args, {}) for g in (shared, exact)]
    keys = [s.built(s.layout(call)).gradient_executable.library.key for call, s in libraries]
    ratio = in_turn(*calls) if keys[0] != keys[1] else None
    return name, first, first_exact, ratio, difference(found, expected)


def line(name, first, first_exact, ratio, error):
    text = "own code" if ratio is None else f"{ratio:.2f}"
    return f"| {name} | {first:.2f} | {first_exact:.2f} | {text} | {'equal bits' if error == 0 else f'{error:.0e}'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--benchmarks", nargs="+", help="default: all of the suite")
    parser.add_argument("--suite", default="npbench", choices=sorted(npbench_suite.SUITES))
    parser.add_argument("-p", "--preset", default="S")
    parser.add_argument("--markdown", type=Path)
    chosen = parser.parse_args()
    lines = [
        "| program | first call, any [s] | exact [s] | shared / exact | difference |",
        "|---|---|---|---|---|",
    ]
    print(*lines, sep="\n")
    ratios = []
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SDFGAD_CACHE_DIR"] = cache
        exec(ONCE, {})
        for name in chosen.benchmarks or npbench_suite.names(chosen.suite):
            found = row(name, chosen.preset)
            ratios += [] if found[3] is None else [found[3]]
            lines.append(line(*found))
            print(lines[-1], flush=True)
    mean = geometric_mean(ratios) if ratios else float("nan")
    lines.append(f"\nShared by {len(ratios)} of {len(lines) - 2}; shared / exact {mean:.3f} in the geometric mean.")
    print(lines[-1])
    if chosen.markdown:
        chosen.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
