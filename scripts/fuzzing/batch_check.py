"""What is checked of a batch: each expression's value, dtype, shape, gradient and tangent, through compiled code."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import sdfgad
from scripts.checking import inner, random_like
from scripts.fuzzing.batches import DRAWS, alone, expressions_of, line_numbers, quiet, without
from scripts.fuzzing.case import function_of
from scripts.fuzzing.check import SINGLE, Check
from scripts.fuzzing.closeness import Closeness
from scripts.fuzzing.reference import Line, Rejected, is_chaotic
from scripts.fuzzing.verdict import of_error
from sdfgad.api.joint import paired
from sdfgad.errors import InfeasibleBudget, SdfgadError
from sdfgad.runtime.batch import Batch

# The draw at which there are gradients.
SMOOTH = 1
LARGEST = 1e6
GRADIENT, TANGENT = 1e-6, 1e-8
# The share of batches of which tangents are checked.
FORWARD = 0.3
OPTIONS: tuple[dict[str, Any], ...] = ({}, {}, {"strategy": "store_all"}, {"strategy": "recompute_all"}, {"share": 0.5})
Outputs = tuple[Any, ...]


class Infinite(Exception):
    """A cotangent of zero meets a derivative that is infinite, and the sum of all is NaN (ADR 19)."""


class BatchCheck(Check):
    """The checks of a batch. An expression that is refused or fails is taken out of it, and the others go on."""

    def prepare(self) -> None:
        """Have NumPy compute the values."""
        self.names = list(expressions_of(self.case))
        self.draws = [(args := self.case.drawn(k), self._numpy(args)) for k in DRAWS]
        if not self.names:
            raise Rejected
        self.verdict.note("expressions", len(self.names))

    def _numpy(self, args: Outputs) -> Outputs:
        with quiet():
            return tuple(map(np.asarray, function_of(self.case, self.folder)(*args)))

    def add_default(self, batch: Batch) -> None:
        """Nothing is compiled together with other programs: a batch is large enough."""

    def add_plans(self, batch: Batch) -> None:
        """Nothing, as above."""

    def check_default(self) -> None:
        """The values are NumPy's, and the gradients those of NumPy's differences."""
        closeness = Closeness(self.case)
        for args, expected in self.draws:
            found = self._survived(lambda args=args: sdfgad.vjp(self._function(), *args)[0])
            for name, one, other in zip(expressions_of(self.case), found, expected, strict=True):
                if name in self.names and (wrong := closeness.problem(name, one, other, args)):
                    self._blame(name, *wrong)
        self._survived(self._check_gradients)
        if self.verdict.culprits:
            self._fail()

    def check_forward(self) -> None:
        """The tangents are those of the gradients; that is looked at together with them."""

    def check_threads(self) -> None:
        """Nothing: expressions are small."""

    def check_interpreter(self) -> None:
        """Nothing: the same statements are in other programs."""

    # --- what fails is taken out

    def _function(self, names: Iterable[str] | None = None) -> Callable[..., Any]:
        """The program of what is left, or of some of that."""
        kept = set(self.names if names is None else names)
        return function_of(without(self.case, set(expressions_of(self.case)) - kept), self.folder)

    def _survived(self, run: Callable[[], Any]) -> Any:
        """What `run` returns, without the expressions with which it raises."""
        while True:
            try:
                return run()
            except Exception as error:
                guilty = self._guilty(error, run)
                if not guilty:
                    raise
                for name in guilty:
                    self._blame(name, *self._kind(error))

    def _guilty(self, error: Exception, run: Callable[[], Any]) -> list[str]:
        """The expressions with which something raises: those that the error names, or else found by halves."""
        places = [getattr(error, "where", None), *(w for _, w in getattr(error, "operations", ()))]
        named = {line_numbers(self.case).get(place.line) for place in places if place} & set(self.names)
        return sorted(named) if named else self._halved(self.names, run)

    def _halved(self, names: list[str], run: Callable[[], Any]) -> list[str]:
        if len(names) < 2:
            return names
        before, found = self.names, []
        for half in (names[: len(names) // 2], names[len(names) // 2 :]):
            self.names = half
            try:
                run()
            except Exception:  # Whatever it is, it is looked into.
                found += self._halved(half, run)
        self.names = before
        return found or names

    def _blame(self, name: str, kind: str, detail: str) -> None:
        self.names = [one for one in self.names if one != name]
        if kind.startswith("refused"):
            self.verdict.note("expressions refused")
            self.verdict.note(kind)
        else:
            self.verdict.culprits[name] = kind, f"{expressions_of(self.case)[name][0]}\n{detail}"

    def _kind(self, error: Exception) -> tuple[str, str]:
        if isinstance(error, Infinite):
            return "refused: an infinite derivative", ""
        if isinstance(error, SdfgadError) and of_error(0, error).status == "refused":
            return f"refused: {error.what.splitlines()[0]}"[:150], str(error)
        kind = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:120]
        return kind, "".join(traceback.format_exception(error))[-2500:]

    def _fail(self) -> None:
        culprits = self.verdict.culprits
        self.verdict.status, self.verdict.kind = "failed", next(iter(culprits.values()))[0]
        self.verdict.detail = "\n".join(f"{name}: {kind}: {detail}" for name, (kind, detail) in culprits.items())

    # --- derivatives

    def _check_gradients(self) -> None:
        """Each expression's gradient, by the others' having cotangents of zero; and its tangent."""
        self.args, found = self.draws[SMOOTH]
        values = dict(zip(expressions_of(self.case), found, strict=True))
        rng = np.random.default_rng(self.case.seed)
        self.names = [name for name in self.names if self._is_smooth(name, values[name])]
        smooth = {name: random_like(values[name], rng) for name in self.names}
        zeros = {name: np.zeros(np.shape(value), np.result_type(value, np.float32)) for name, value in values.items()}
        gradient, tangents = self._gradient(zeros), self._tangents()
        if not all(np.isfinite(one).all() for one in gradient(self.args, tuple(zeros.values()))):
            raise Infinite
        for name, cotangent in smooth.items():
            given = zeros | {name: np.asarray(cotangent, zeros[name].dtype)}
            found = gradient(self.args, tuple(given.values()))
            self._judge(name, given[name], dict(zip(self._floating(), found, strict=True)), tangents.get(name))

    def _floating(self) -> list[str]:
        return [name for name, argument in self.case.arguments.items() if argument.is_floating]

    def _is_smooth(self, name: str, value: Any) -> bool:
        """Whether NumPy can tell the derivative of an expression."""
        text, is_moderate = expressions_of(self.case)[name][0], value.dtype.kind in "fc" and value.size > 0
        is_moderate = is_moderate and np.isfinite(value).all() and np.max(np.abs(value)) < LARGEST
        return bool(is_moderate) and not re.search(r"float32|complex64", text)

    def _gradient(self, zeros: dict[str, Any]) -> Callable[..., Any]:
        """The gradient of the sum of all outputs times cotangents."""
        places = [f"primals[{list(self.case.arguments).index(name)}]" for name in self._floating()]
        options = dict(self.rng.choice(OPTIONS))
        program, given = paired(self._function()), {"wrt": places, "allow_unused": True, "device": self.device}
        if (share := options.pop("share", None)) is not None:
            stored = sdfgad.differentiate(program, strategy="store_all", **given)
            options["memory_limit"] = int(share * stored.plan(self.args, tuple(zeros.values())).peak_bytes)
        made = sdfgad.differentiate(program, **options, **given)
        try:
            made.plan(self.args, tuple(zeros.values()))
        except InfeasibleBudget as error:
            made = sdfgad.differentiate(program, memory_limit=error.minimum_bytes, **given)
        return made

    def _tangents(self) -> dict[str, Any]:
        if not self.chosen(FORWARD):
            return {}
        line = self._line(self._function(), 1.0)
        given = [
            np.asarray(line.directions.get(name, np.zeros(np.shape(a))), np.result_type(np.asarray(a), np.float32))
            for name, a in zip(self.case.arguments, self.args, strict=True)
        ]
        found = sdfgad.jvp(self._function(), self.args, tuple(given))[1]
        return dict(zip(expressions_of(self.case), found, strict=True))

    def _line(self, function: Callable[..., Any], cotangent: Any) -> Line:
        return Line(function, self.case, self.args, cotangent, 0)

    def _judge(self, name: str, cotangent: Any, gradients: dict[str, Any], tangent: Any) -> None:
        only = function_of(alone(self.case, name), self.folder)

        def function(*args: Any) -> Any:
            return only(*args)[0]

        if is_chaotic(function, self.case, self.args):
            return
        is_single = Closeness(self.case).is_single(name)
        line = self._line(function, cotangent)
        judged = line.judged(gradients, SINGLE[1] if is_single else GRADIENT)
        self.verdict.note(f"gradients {judged.state}")
        if judged.state == "wrong":
            self._blame(name, "wrong gradient", f"slope {judged.slope!r}, differences {judged.measured!r}")
        elif judged.state == "right" and tangent is not None:
            slope = inner(cotangent, tangent)
            size = sum(np.sum(np.abs(g * line.directions[n])) for n, g in gradients.items())
            self.verdict.note("tangents")
            if not abs(slope - judged.slope) <= (SINGLE[1] if is_single else TANGENT) * (1 + size):
                self._blame(name, "wrong tangent", f"slope {slope!r}, by the gradient {judged.slope!r}")
