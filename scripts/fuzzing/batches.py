"""From a seed a batch: one program that computes many expressions, each of which is compared with NumPy's.

Most of what a gradient takes is done once for each program, so that an expression of a batch takes a hundredth of it.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.special as sp

from scripts.fuzzing.case import Argument, Case
from scripts.fuzzing.templates import OPERANDS, Theme
from scripts.fuzzing.themes import THEMES
from scripts.fuzzing.verdict import Verdict

# Expressions of a batch.
MANY = 40
EXTENTS = (0, 1, 2, 3, 3, 4, 5, 5, 7, 8, 9, 17)
# Shares of operands that are expressions, of programs in loops, and of draws of no special numbers.
NESTED, LOOPED, TAME = 0.3, 0.25, 0.4
MOST_ELEMENTS = 3000
ANY = "xxifbc"
# Draws of arguments; those of odd numbers have no special numbers.
DRAWS = (0, 1, 2)
# The line of an expression: its name, its text, and whether it has no rounding errors.
_LINE = re.compile(r"^ +(e\d+) = (.*?)(  # exact)?$", re.MULTILINE)


def batch_of_seed(seed: int, themes: tuple[str, ...] = tuple(THEMES), many: int = MANY) -> Case:
    """The batch of a seed, of one of some themes; equal arguments give equal batches."""
    rng = random.Random(f"batch {seed}")
    name = rng.choice(themes)
    theme = THEMES[name]
    arguments = _arguments(rng, is_tame=theme.is_tame or rng.random() < TAME)
    empty = Case(seed, "", arguments, theme=name)
    values = [dict(zip(arguments, empty.drawn(draw), strict=True)) for draw in DRAWS]
    maker, lines = _Maker(theme, rng), dict[str, bool]()
    for _ in range(4 * many):
        text, is_exact = maker.expression()
        if len(lines) < many and _is_computed(text, values):
            lines.setdefault(text, is_exact)
    return empty.with_text(_program(arguments, lines, is_looped=rng.random() < LOOPED))


def expressions_of(case: Case) -> dict[str, tuple[str, bool]]:
    """The expressions by name, and whether each has no rounding errors."""
    return {name: (text, bool(exact)) for name, text, exact in _LINE.findall(case.text)}


def without(case: Case, names: set[str]) -> Case:
    """The batch with 0 in the place of some expressions; lines stay where they are."""
    return case.with_text(_LINE.sub(lambda m: m[0].replace(m[2], "0.0") if m[1] in names else m[0], case.text))


def alone(case: Case, name: str) -> Case:
    """A batch of one of the expressions."""
    lines = [line for line in case.text.splitlines() if not (m := _LINE.match(line)) or m[1] == name]
    return case.with_text("\n".join([*lines[:-1], f"    return ({name},)", ""]))


def failing_parts(case: Case, verdict: Verdict) -> dict[str, tuple[Case, Verdict]]:
    """What failed, by name: a program, or of a batch the expressions, each in a batch of its own."""
    if not verdict.culprits:
        return {str(case.seed): (case, verdict)} if verdict.is_failure else {}
    return {
        f"{case.seed}_{name}": (alone(case, name), Verdict(case.seed, "failed", kind, detail))
        for name, (kind, detail) in verdict.culprits.items()
    }


def line_numbers(case: Case) -> dict[int, str]:
    """The expressions by their lines in the text."""
    lines = enumerate(case.text.splitlines(), 1)
    return {number: m[1] for number, line in lines if (m := _LINE.match(line))}


def _arguments(rng: random.Random, *, is_tame: bool) -> dict[str, Argument]:
    """Of each kind of operand a vector and a matrix; what an `Argument` is called stands in `templates.py`."""
    n, m = rng.choice(EXTENTS), rng.choice(EXTENTS)
    kind = "float" if is_tame else "special"
    found = {name: Argument(kind, (n,)) for name in "xy"} | {name: Argument(kind, (n, m)) for name in "AB"}
    found |= {"p": Argument("float", (max(n, 4),)), "T": Argument(kind, (2, n, m)), "Q": Argument("float", (4, 4))}
    found |= {"o": Argument(kind, (1,)), "e": Argument("float", (0,)), "s": Argument("float")}
    found |= {"f": Argument(kind, (n,), "float32"), "F": Argument(kind, (n, m), "float32")}
    found |= {"c": Argument("float", (n,), "complex128"), "C": Argument("float", (n, m), "complex128")}
    found |= {"b": Argument("mask", (n,)), "M": Argument("mask", (n, m))}
    found |= {name: Argument("integer", (n,), d) for name, d in zip("ijuhw", INTEGERS, strict=True)}
    return found | {"K": Argument("integer", (n, m), rng.choice(INTEGERS))}


INTEGERS = ("int64", "int64", "uint8", "int8", "int32")


class _Maker:
    """Makes expressions of a theme."""

    def __init__(self, theme: Theme, rng: random.Random) -> None:
        self.theme, self.rng = theme, rng

    def expression(self, depth: int = 1) -> tuple[str, bool]:
        """An expression, and whether it has no rounding errors."""
        is_exact = self.rng.random() < len(self.theme.exact) / (len(self.theme.exact) + len(self.theme.rounded))
        template = self.rng.choice(self.theme.exact if is_exact else self.theme.rounded)
        exact = [is_exact]

        def operand(match: re.Match[str]) -> str:
            kind = self.rng.choice(ANY) if match[1] == "z" else match[1]
            if kind in "xv" and depth and self.rng.random() < NESTED:
                inner, is_inner_exact = self.expression(depth - 1)
                exact.append(is_inner_exact)
                return f"({inner})"
            return self.rng.choice(OPERANDS[kind])

        return re.sub(r"\{(\w)\}", operand, template), all(exact)


def _is_computed(text: str, values: list[dict[str, Any]]) -> bool:
    """Whether NumPy computes an array of numbers, not a large one, with each of some arguments."""
    code = compile(text, "batch", "eval")
    for given in values:
        try:
            with quiet():
                found = np.asarray(eval(code, {"np": np, "sp": sp, **given}))
        except Exception:  # Whatever NumPy or Python says to operands that do not fit.
            return False
        if found.dtype.kind not in "biufc" or found.size > MOST_ELEMENTS:
            return False
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """NumPy says nothing of numbers that are not finite."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _program(arguments: dict[str, Argument], lines: dict[str, bool], *, is_looped: bool) -> str:
    """The text of a module; in a loop the expressions are computed twice, the second time of a smaller `x`."""
    body = [f"e{k} = {text}{'  # exact' if exact else ''}" for k, (text, exact) in enumerate(lines.items())]
    if is_looped:
        body = ["for t in range(2):", *(f"    {line}" for line in ["x = x * (1.0 - 0.25 * t)", *body])]
    names = "".join(f"e{k}, " for k in range(len(lines)))
    head = f"import numpy as np\nimport scipy.special as sp\n\n\ndef program({', '.join(arguments)}):\n"
    return head + "".join(f"    {line}\n" for line in [*body, f"return ({names})"])
