"""Tests optimised code of the suite's programs by plain code at small sizes, where vectors have odd ends.

    python scripts/sweep.py --seconds 3600 --seed 0 --folder /tmp/sweep

Each dimension of a program runs from 1 to ``--most`` while the others are as in the preset "test", thinned to what the
time allows: sizes come in an order that the seed draws. The value and the gradients of each program at a size are
compared with plain code of the same text (`sdfgad/runtime/differential.py`), the value with NumPy's, and the gradients
with the interpreter of the tests where that does not take long (`scripts/references.py`). The programs of one batch are
compiled together. The same command again goes on where it stopped. The exit status is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import npbench_suite
import sdfgad
from npbench_suite import Entry
from scripts.checking import random_like
from scripts.fuzzing.interpreter import TooLong
from scripts.references import wrong_gradient, wrong_value
from sdfgad.runtime import differential
from sdfgad.runtime.batch import Batch

Case = tuple[str, str, int]
# What NumPy raises at sizes that a program was not made for.
RAISED = (ArithmeticError, IndexError, ValueError)


@dataclass
class Totals:
    """How far a sweep has come.

    Attributes:
        done: how many cases of the drawn order are behind it.
        right, impossible: of these, those that agreed, and that NumPy cannot compute.
        interpreted: how many of the right ones the interpreter has computed, too.
        refused: how many sdfgad refused, by the kind of the error and the program.
        wrong: the cases in which something differed, with what was said.
        seconds: of the clock, of all parts together.
    """

    done: int = 0
    right: int = 0
    impossible: int = 0
    interpreted: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    wrong: list[tuple[Case, str]] = field(default_factory=list)
    seconds: float = 0.0


def cases(names: Sequence[str], most: int, seed: int) -> list[Case]:
    """Program, dimension and size, in the order that the seed draws."""
    found = [
        (name, dimension, size)
        for name in names
        for dimension in dimensions(npbench_suite.load(name))
        for size in range(1, most + 1)
    ]
    order = np.random.default_rng(seed).permutation(len(found))
    return [found[k] for k in order]


def dimensions(entry: Entry) -> list[str]:
    """The parameters that may have any size."""
    return [n for n, value in entry.presets["test"].items() if isinstance(value, int) and n not in entry.exempt]


def arguments_of(case: Case) -> tuple[Any, ...] | None:
    """The program's arguments, or None where there are none of that size or NumPy fails on them."""
    name, dimension, size = case
    entry = npbench_suite.load(name)
    parameters = {**entry.presets["test"], dimension: size}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            args = entry.arguments_with(parameters)
            entry.program(*entry.arguments_with(parameters))
    except RAISED:
        return None
    return args


class Sweep:
    """Checks cases, batch after batch."""

    def __init__(self, folder: Path, say: Any) -> None:
        self.file, self.say = folder / "sweep.json", say
        folder.mkdir(parents=True, exist_ok=True)
        self.totals = Totals(**json.loads(self.file.read_text())) if self.file.exists() else Totals()

    def run(self, order: Sequence[Case], batch: int, seconds: float) -> Totals:
        """Check cases until none is left, or for so many seconds."""
        start, before = time.monotonic(), self.totals.seconds
        for position in range(self.totals.done, len(order), batch):
            if time.monotonic() - start > seconds:
                break
            self.batch(order[position : position + batch])
            self.totals.done = min(position + batch, len(order))
            self.totals.seconds = before + time.monotonic() - start
            self.file.write_text(json.dumps(asdict(self.totals), indent=1))
            totals = self.totals
            self.say(
                f"{totals.done}/{len(order)} cases, {totals.right} right ({totals.interpreted} interpreted), "
                f"{sum(totals.refused.values())} refused, {totals.impossible} impossible, {len(totals.wrong)} wrong, "
                f"{totals.seconds:.0f} s"
            )
        return self.totals

    def batch(self, chosen: Sequence[Case]) -> None:
        """Check cases whose programs are compiled together."""
        calls = list(self.calls(chosen))
        together = Batch()
        for _, gradient, args in calls:
            for program in gradient.programs(*args):
                together.add(program)
        together.build(with_plain=True)
        for case, gradient, args in calls:
            self.check(case, gradient, args)

    def calls(self, chosen: Sequence[Case]) -> Iterator[tuple[Case, sdfgad.DifferentiatedProgram, tuple[Any, ...]]]:
        """What can be differentiated."""
        for case in chosen:
            args = arguments_of(case)
            if args is None:
                self.totals.impossible += 1
                continue
            entry = npbench_suite.load(case[0])
            gradient = sdfgad.differentiate(
                entry.program, wrt=entry.arrays, output=entry.output, reduce="sum", allow_unused=True
            )
            try:
                gradient.programs(*args)
            except sdfgad.SdfgadError as error:
                self.refuse(case, error)
                continue
            yield case, gradient, args

    def refuse(self, case: Case, error: sdfgad.SdfgadError) -> None:
        """Count a refusal; a compiler that fails is none.

        Raises:
            CompilerError: the error is one.
        """
        if isinstance(error, sdfgad.CompilerError):
            raise error
        kind = f"{type(error).__name__}: {case[0]}"
        self.totals.refused[kind] = self.totals.refused.get(kind, 0) + 1

    def check(self, case: Case, gradient: sdfgad.DifferentiatedProgram, args: tuple[Any, ...]) -> None:
        """Compute value and gradients, which tests optimised code by plain code, and compare them with references."""
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                wrong = list(self.compared(npbench_suite.load(case[0]), gradient, args))
            except sdfgad.SdfgadError as error:
                self.refuse(case, error)
                return
        wrong += [str(one.message) for one in caught if issubclass(one.category, sdfgad.MiscompiledWarning)]
        self.totals.wrong += [(case, text) for text in wrong]
        self.totals.right += not wrong
        for text in wrong:
            self.say(f"WRONG {case}: {text}")

    def compared(self, entry: Entry, gradient: sdfgad.DifferentiatedProgram, args: tuple[Any, ...]) -> Iterator[str]:
        """What is wrong with the value and the gradients."""
        call, made = gradient._bind_and_specialise(args, {})
        rng = np.random.default_rng(1)
        cotangent = np.asarray(random_like(np.empty(made.output_shape, made.output_dtype), rng), made.output_dtype)
        value, _ = made.value_and_gradients(call, cotangent)
        yield from filter(None, [wrong_value(entry, args, value)])
        found = dict(zip(entry.arrays, gradient.vjp(*args, cotangent=cotangent), strict=True))
        with contextlib.suppress(TooLong):
            yield from filter(None, [wrong_gradient(entry, args, cotangent, found)])
            self.totals.interpreted += 1


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Test optimised code of the suite's programs at small sizes.")
    parser.add_argument("names", nargs="*", help="programs of the suite (default: all)")
    parser.add_argument("-s", "--seconds", type=float, default=600.0, help="stop after so many (default: 600)")
    parser.add_argument("--most", type=int, default=40, help="the largest size of a dimension (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="of the order (default: 0)")
    parser.add_argument("--batch", type=int, default=12, help="cases in one compilation (default: 12)")
    parser.add_argument("--cases", type=int, help="check no more than so many")
    parser.add_argument("--folder", type=Path, default=Path("sweep"), help="for the state (default: sweep)")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    chosen = parse_arguments(argv)
    os.environ[differential.VARIABLE] = "on"
    order = cases(chosen.names or npbench_suite.names(), chosen.most, chosen.seed)[: chosen.cases]
    sweep = Sweep(chosen.folder, lambda text: print(text, flush=True))
    totals = sweep.run(order, chosen.batch, chosen.seconds)
    return 1 if totals.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
