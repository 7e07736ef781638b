"""All that is checked of one program, through compiled code."""

from __future__ import annotations

import copy
import random
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sdfgad
from scripts.checking import random_like
from scripts.fuzzing.case import Case, function_of
from scripts.fuzzing.reference import Line, Rejected, is_chaotic, moderate_value
from scripts.fuzzing.verdict import Verdict, of_error
from sdfgad.errors import InfeasibleBudget, SdfgadError
from sdfgad.runtime.batch import Batch

DRAWS = 3
# Relative errors that rounding explains, of values and gradients, in double and in single precision.
DOUBLE, SINGLE = (1e-10, 1e-6), (2e-4, 5e-3)
# Gradients of the same program, in double and in single precision, that were computed in another order.
SAME = (1e-11, 1e-3)
# Shares of what storing everything takes beside arguments and results; one is chosen for each program.
SHARES = (0.9, 0.6, 0.3)
# Finding out that a limit cannot be kept takes several times as long.
SOLVER_SECONDS = 0.4
# How often the dear checks are made.
PLANS, THREADS, INTERPRETER, FORWARD = 0.12, 0.2, 0.15, 0.12
SLOW_FOR_INTERPRETER = 400
# How often rounding is varied to find out whether a program is ill-conditioned.
MOVES = 8
# What NumPy may say to a program that is itself at fault.
RAISED = (ArithmeticError, IndexError, ValueError)


class Failed(Exception):
    """A check failed.

    Attributes:
        kind: in a few words; equal for what is alike.
    """

    def __init__(self, kind: str, detail: str) -> None:
        self.kind = kind
        super().__init__(detail)


class Check:
    """The checks of one program, in the order of the methods; what they find is in `verdict`.

    Args:
        everything: whether no check is left out.
        device: where the program runs.
    """

    raised: tuple[type[Exception], ...] = RAISED

    def __init__(self, case: Case, folder: Path, *, everything: bool = False, device: str = "cpu") -> None:
        self.case, self.folder, self.everything, self.device = case, folder, everything, device
        self.verdict = Verdict(case.seed)
        self.is_open = True
        self.rng = random.Random(f"extras {case.seed}")
        self.limited: dict[str, Any] = {}

    def step(self, action: Callable[..., None], *args: Any) -> None:
        """Do a part of the checks, unless an earlier one settled the verdict."""
        if not self.is_open:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                action(*args)
        except Rejected:
            self._settle(Verdict(self.case.seed, "rejected"))
        except SdfgadError as error:
            self._settle(of_error(self.case.seed, error))
        except Failed as failure:
            self._settle(Verdict(self.case.seed, "failed", failure.kind, str(failure)))
        except Exception as error:
            kind = f"{type(error).__name__} in {_place(error)}"
            self._settle(Verdict(self.case.seed, "failed", kind, traceback.format_exc()))

    def _settle(self, verdict: Verdict) -> None:
        verdict.notes = self.verdict.notes
        self.verdict, self.is_open = verdict, False

    def chosen(self, share: float) -> bool:
        """Whether a dear check is made for this program."""
        return self.rng.random() < share or self.everything

    # --- before anything is compiled

    def prepare(self) -> None:
        """Run NumPy, and find the arguments with which it computes something moderate."""
        self.function = function_of(self.case, self.folder)
        self.draws = [draw for k in range(DRAWS) if (draw := self._drawn(k)) is not None]
        if not self.draws:
            raise Rejected
        self.args, self.value = self.draws[0]
        rng = np.random.default_rng([self.case.seed, 99])
        self.cotangent = np.asarray(random_like(self.value, rng), self.value.dtype)
        self.gradient = self.differentiated()

    def _drawn(self, number: int) -> tuple[tuple[Any, ...], Any] | None:
        args = self.case.drawn(number)
        try:
            value = moderate_value(self.function, self.case, args)
            # Runs the program with other arguments, with which it may fail.
            return None if is_chaotic(self.function, self.case, args) else (args, value)
        except (Rejected, *self.raised):
            return None

    def differentiated(self, **options: Any) -> Any:
        """The gradient with some strategy."""
        return sdfgad.differentiate(
            self.function,
            output=self.case.output,
            reduce="sum",
            allow_unused=True,
            solver_seconds=SOLVER_SECONDS,
            device=self.device,
            **options,
        )

    def add_default(self, batch: Batch) -> None:
        """Have the gradient as it comes by default compiled, and for some of the programs the forward program."""
        _add(batch, self.gradient, self.args)
        self.has_forward = self.chosen(FORWARD)
        if self.has_forward:
            batch.add(self.gradient._bind_and_specialise(self.args, {})[1].pipeline.forward)

    def add_plans(self, batch: Batch) -> None:
        """Have gradients under several plans compiled, for some of the programs."""
        if not self.chosen(PLANS):
            return
        plans: dict[str, dict[str, Any]] = {
            name: {"strategy": name} for name in ("store_all", "recompute_all", "revolve")
        }
        stored = self.differentiated(strategy="store_all")
        _add(batch, stored, self.args)
        peak = stored.plan(*self.args).peak_bytes
        passed = 2 * sum(np.asarray(a).nbytes for a in self.args) + 2 * self.value.nbytes
        plans["limit as stored"] = {"memory_limit": peak}
        for share in SHARES if self.everything else (self.rng.choice(SHARES),):
            plans[f"limit {share}"] = {"memory_limit": int(passed + share * max(peak - passed, 0))}
        for name, options in plans.items():
            refused = self._add_plan(batch, name, options)
            if refused is not None:
                self._check_floor(batch, refused, options["memory_limit"], peak)

    def _add_plan(self, batch: Batch, name: str, options: dict[str, Any]) -> InfeasibleBudget | None:
        """Have the gradient under a plan compiled, or give the error that says that there is none."""
        gradient = self.differentiated(**options)
        try:
            _add(batch, gradient, self.args)
        except InfeasibleBudget as error:
            return error
        self.limited[name] = gradient, options.get("memory_limit")
        return None

    def _check_floor(self, batch: Batch, refused: InfeasibleBudget, limit: int, peak: int) -> None:
        """The least limit that a refusal names can be kept, and below it the same one is named."""
        self.verdict.note("limits refused")
        least = refused.minimum_bytes
        below = self._add_plan(Batch(), "below", {"memory_limit": int(0.99 * least)})
        again = self._add_plan(batch, "least", {"memory_limit": least})
        if again is None and below is not None and limit < least <= peak and below.minimum_bytes == least:
            return
        said = "".join(f"\n{error}" for error in (refused, below, again))
        raise Failed("least limit is no such thing", f"limit {limit}, storing everything takes {peak}; said was:{said}")

    # --- what was compiled

    def check_default(self) -> None:
        """The value is NumPy's; the gradient is right, and the same with the value and without."""
        states = [self._check_draw(k, *draw) for k, draw in enumerate(self.draws)]
        self.verdict.note("gradients judged", sum(state == "right" for state in states))
        self.verdict.note("gradients unjudged", sum(state == "unclear" for state in states))
        if "right" not in states:
            self.verdict.status = "unjudged"

    def check_forward(self) -> None:
        """The forward program computes NumPy's values."""
        if not self.has_forward:
            return
        self.verdict.note("forward programs")
        self._check_value(self.gradient.value(*self.args), self.value, self.args)

    def _check_draw(self, number: int, args: tuple[Any, ...], value: Any) -> str:
        before = copy.deepcopy(args)
        if number and not _is_compiled(self.gradient, args):
            return "left out"
        found, gradients = self._run(self.gradient, args)
        self._check_value(found, value, args)
        alone = self.gradient.vjp(*args, cotangent=self.cotangent)
        for one, old in zip(args, before, strict=True):
            if not np.array_equal(one, old):
                raise Failed("an argument is changed", f"{one} was {old}")
        self._compare("without the value", alone, gradients, SAME[self.case.is_single])
        judged = Line(self.function, self.case, args, self.cotangent, number).judged(alone, self._tolerance[1])
        if judged.state == "wrong":
            raise Failed("wrong gradient", f"draw {number}: slope {judged.slope!r}, differences {judged.measured!r}")
        return judged.state

    @property
    def _tolerance(self) -> tuple[float, float]:
        return SINGLE if self.case.is_single else DOUBLE

    def _run(self, gradient: Any, args: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
        """The output and the gradients, of one run of one compiled program."""
        call, made = gradient._bind_and_specialise(args, {})
        # NumPy's dtype may depend on which statements run, the compiled program's does not.
        return made.value_and_gradients(call, np.ascontiguousarray(self.cotangent, made.output_dtype))

    def _check_value(self, found: Any, expected: Any, args: tuple[Any, ...]) -> None:
        error = difference(found, expected)
        if error <= self._tolerance[0]:
            return
        # An ill-conditioned program differs with every rounding, if perhaps not with each of the arguments'.
        if any(difference(value, expected) > 0.01 * error for value in self._moved_values(args)):
            raise Rejected
        raise Failed("wrong value", f"{found!r}\nNumPy: {expected!r}")

    def _moved_values(self, args: tuple[Any, ...]) -> Iterator[Any]:
        """What NumPy computes of arguments in which some bits are others."""
        for seed in range(MOVES):
            rng = np.random.default_rng(seed)
            moved = tuple(
                a * (1 + 4e-16 * random_like(a, rng)) if np.asarray(a).dtype.kind in "fc" else a for a in args
            )
            yield moderate_value(self.function, self.case, moved)

    def _compare(self, what: str, found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
        """Gradients that only rounding may tell apart; counts those that are not equal bit by bit."""
        for name, mine in expected.items():
            if np.array_equal(found[name], mine, equal_nan=True):
                continue
            error = difference(found[name], mine)
            self.verdict.note(f"differs in bits: {what}")
            self.verdict.notes["largest"] = max(self.verdict.notes.get("largest", 0), error)
            if not error <= tolerance:
                raise Failed(f"another gradient {what}", f"{name}, error {error}: {found[name]!r}\nand: {mine!r}")

    def check_plans(self) -> None:
        """All plans give the same gradient, and hold no more than they promise."""
        if not self.limited:
            return
        self.verdict.note("programs under several plans")
        expected = self._run(self.gradient, self.args)
        for name, (gradient, limit) in self.limited.items():
            value, gradients = self._run(gradient, self.args)
            if difference(value, expected[0]) > self._tolerance[0]:
                raise Failed("another value under a plan", f"{name}: {value!r}\ndefault: {expected[0]!r}")
            self._compare(f"under {name.split()[0]}", gradients, expected[1], SAME[self.case.is_single])
            measured = gradient.measure(*self.args, repeats=1)
            self.verdict.note("peaks measured")
            if limit is not None and measured.peak_bytes > limit:
                raise Failed("over budget", f"{name}: {measured.peak_bytes} bytes, the limit is {limit}")

    def check_threads(self) -> None:
        """Two threads give what one gives."""
        if not self.chosen(1.0 if _is_large(self.args) else THREADS):
            return
        from tests.helpers_compiled import threads

        expected = self._run(self.gradient, self.args)
        with threads(2):
            value, gradients = self._run(self.gradient, self.args)
        self.verdict.note("programs on two threads")
        if not np.array_equal(value, expected[0], equal_nan=True):
            raise Failed("another value on two threads", f"{value!r}\none: {expected[0]!r}")
        for name, mine in gradients.items():
            if not np.array_equal(mine, expected[1][name], equal_nan=True):
                raise Failed("another gradient on two threads", f"{name}: {mine!r}\none: {expected[1][name]!r}")

    def check_interpreter(self) -> None:
        """An interpreter of the adjoint program in plain Python gives what the compiled program gives."""
        small = sum(np.size(a) for a in self.args) <= SLOW_FOR_INTERPRETER
        if not small or not self.chosen(INTERPRETER):
            return
        from scripts.fuzzing.interpreter import interpreted

        wrt = [name for name, argument in self.case.arguments.items() if argument.is_floating]
        value, gradients = interpreted(self.function, self.args, self.case.output, wrt, self.cotangent)
        found = self.gradient.vjp(*self.args, cotangent=self.cotangent)
        self.verdict.note("programs interpreted")
        if difference(value, self.value) > self._tolerance[0]:
            raise Failed("the interpreter has another value", f"{value!r}\nNumPy: {self.value!r}")
        for name, mine in gradients.items():
            error = difference(found[name], mine)
            if not error <= 10 * SAME[self.case.is_single]:
                raise Failed("another gradient than interpreted", f"{name}: {found[name]!r}\ninterpreted: {mine!r}")


def _add(batch: Batch, gradient: Any, args: tuple[Any, ...]) -> None:
    for program in gradient.programs(*args):
        batch.add(program)


def _is_compiled(gradient: Any, args: tuple[Any, ...]) -> bool:
    """Whether a specialisation that is there serves other arguments."""
    from sdfgad.specialise.signature import bind

    call = bind(gradient._function, args, {})
    return any(made.arguments.fits(call) for made in gradient._specialisations.found.get(call.key, ()))


def _is_large(args: tuple[Any, ...]) -> bool:
    return sum(np.size(a) for a in args) > 3000


def difference(found: Any, expected: Any) -> float:
    """The largest difference, relative to the largest number if that is above 1; infinity where one is NaN."""
    x, y = np.asarray(found), np.asarray(expected)
    if x.shape != y.shape or not np.isfinite(x).all() or not np.isfinite(y).all():
        return float("inf")
    wide = np.result_type(x.dtype, np.float64)
    scale = max(1.0, float(np.max(np.abs(y), initial=0)))
    return float(np.max(np.abs(x.astype(wide) - y.astype(wide)), initial=0)) / scale


def _place(error: BaseException) -> str:
    """The function of the package in which something went wrong."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "sdfgad" in f.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).name}:{last.name}"
