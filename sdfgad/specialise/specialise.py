"""Specialisation of a program for one signature: from parsing to a loaded library, stage after stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import islpy as isl
import numpy as np

from sdfgad.collector import collected_rarely
from sdfgad.errors import ArgumentError, InfeasibleBudget, OutputError, UnusedArgument
from sdfgad.gradient.assemble import GradientProgram
from sdfgad.ir.program import Buffer, Program
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.options import Options
from sdfgad.parse.parse import Primal, parse
from sdfgad.plan import Plan
from sdfgad.planning.layout import Layout, Sizes
from sdfgad.planning.layout_cache import LayoutCache
from sdfgad.planning.report import infeasible, plan_of
from sdfgad.planning.search import Planner
from sdfgad.reverse.adjoint import Adjoint, differentiate_program
from sdfgad.runtime.differential import CheckedExecutable, Runnable, load
from sdfgad.runtime.pool import empty, shrink
from sdfgad.specialise.compiled import Compiled, Outputs, shape_of
from sdfgad.specialise.prepared import prepared
from sdfgad.specialise.signature import Call, as_contiguous, as_input
from sdfgad.specialise.trip_guess import TripGuess, Trips

Array = np.ndarray[Any, Any]

# A layout with a memory limit is made for given numbers of trips; so many are remembered.
MOST_LAYOUTS = 256


@dataclass(frozen=True, eq=False)
class Specialisation:
    """A program parsed for one signature; the later stages run when their results are first needed."""

    primal: Primal
    wrt: tuple[str, ...]
    output: str
    allow_unused: bool
    options: Options = field(default_factory=Options)
    _layouts: dict[Any, Layout] = field(default_factory=dict)
    _layouts_by_integers: dict[tuple[int, ...], Layout] = field(default_factory=dict)
    _builds: dict[Any, Compiled] = field(default_factory=dict)
    _trip_guess: TripGuess = field(default_factory=TripGuess)

    # --- stages

    @cached_property
    def adjoint(self) -> Adjoint:
        """Raises: MissingRule, UnusedArgument."""
        inputs = {self.primal.inputs[name]: name for name in self.wrt}
        program = self.primal.program
        adjoint = differentiate_program(program, self.primal.context, inputs, program.outputs[self.output])
        unused = [name for buffer, name in inputs.items() if buffer not in adjoint.bars]
        if unused and not self.allow_unused:
            names = ", ".join(f"`{name}`" for name in unused)
            raise UnusedArgument(
                f"the output `{self.output}` does not depend on {names} in a differentiable way",
                self.primal.source.where(self.primal.source.node),
                "Leave them out of `wrt`, or pass allow_unused=True to get zeros for them.",
            )
        return adjoint

    @cached_property
    def planner(self) -> Planner:
        wrt = tuple(self.primal.inputs[name] for name in self.wrt)
        layout_cache = LayoutCache(
            self.primal.program, str(self.primal.context), *wrt, self.output, str(self.allow_unused)
        )
        return Planner(lambda: self.adjoint, wrt, self.output, self.options, layout_cache)

    def layout(self, call: Call) -> Layout:
        """The layout that computes the gradient for a call.

        Raises:
            InfeasibleBudget: no layout is within the memory limit.
        """
        if self.options.limit is None:
            return self._layouts_by_integers.get(call.integers) or self._unlimited_layout(call)
        sizes = self.sizes(call)
        return self._remembered((call.integers, *sorted(sizes.trips.items()), sizes.copies), sizes)

    def _unlimited_layout(self, call: Call) -> Layout:
        """The layout without a memory limit: one solution serves all trip counts of about the same size."""
        integers = self._integers(call)
        key = tuple(value.bit_length() // 3 for value in integers.values())
        layout = self._remembered(key, Sizes(integers)).for_trips(integers)
        if len(self._layouts_by_integers) >= MOST_LAYOUTS:
            self._layouts_by_integers.clear()
        self._layouts_by_integers[call.integers] = layout
        return layout

    def _remembered(self, key: Any, sizes: Sizes) -> Layout:
        if key not in self._layouts:
            if len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.clear()
            layout, limit = self.planner.layout(sizes), self.options.limit
            if limit is not None and layout.peak_bytes(sizes) > limit:
                raise infeasible(limit, layout, sizes, self.planner.accounts(sizes), self.options.strategy)
            self._layouts[key] = layout
        return self._layouts[key]

    def sizes(self, call: Call) -> Sizes:
        """What the memory of a call depends on; trip counts that depend on data are counted by running the program."""
        stored = self.planner.store_all.gradient_program
        trips = self._counted(call, stored, self._store_all.counting) if stored.counting is not None else {}
        return Sizes(self._integers(call), trips, self._copied_bytes(call))

    @cached_property
    def _store_all(self) -> Compiled:
        layout = self.planner.store_all
        return self._compiled(layout)

    def built(self, layout: Layout) -> Compiled:
        """The compiled program of a layout; layouts that differ in numbers only share it."""
        if layout.structure not in self._builds:
            self._builds[layout.structure] = self._compiled(layout)
        return self._builds[layout.structure]

    def _compiled(self, layout: Layout) -> Compiled:
        code = layout.code
        return Compiled(layout.gradient_program, code.source, lambda: code.complete, self._gradients_only(layout))

    def plan(self, call: Call) -> Plan:
        """The description of a call's layout for users.

        Raises:
            InfeasibleBudget: no layout is within the memory limit.
        """
        sizes = self.sizes(call)
        accounts = self.planner.accounts(sizes)
        return plan_of(self.layout(call), self.planner.store_all, accounts, sizes, self.options)

    @cached_property
    def forward(self) -> Program:
        program = self.primal.program
        return replace(program, outputs={self.output: program.outputs[self.output]})

    @cached_property
    def _forward_outputs(self) -> Outputs:
        return Outputs(self.forward)

    @cached_property
    def forward_sdfg(self) -> Any:
        # These take a while, and a program that is found compiled does without.
        from sdfgad.optimise.passes import optimise
        from sdfgad.sdfg.writer import write

        return write(optimise(self.forward))

    @cached_property
    def _forward_executable(self) -> Runnable:
        return load(self.forward)

    # --- running

    @cached_property
    def output_shape(self) -> tuple[int, ...]:
        return shape_of(self._output_buffer)

    @cached_property
    def output_dtype(self) -> np.dtype[Any]:
        return self._output_buffer.dtype

    @property
    def _output_buffer(self) -> Buffer:
        return self.primal.program.buffers[self.primal.program.outputs[self.output]]

    def ones(self) -> Array:
        """An array of ones: the cotangent for the gradient of the output's sum."""
        if not self.output_shape:
            return self._one
        ones = empty(self.output_shape, self.output_dtype)
        ones.fill(1)
        return ones

    @cached_property
    def _one(self) -> Array:
        return np.ones((), self.output_dtype)

    def prepare(self, call: Call) -> None:
        """Compiles the gradient now."""
        built = self.built(self.layout(call))
        _ = built.gradient_executable, built.counting

    def value(self, call: Call) -> Array:
        """The output, from the forward program alone.

        Raises:
            InvalidIndex: an index was out of range.
        """
        arrays = self._inputs(call) | self._forward_outputs()
        self._forward_executable(arrays, self._integers(call))
        self._raise_failed_checks(arrays)
        return arrays[self.forward.outputs[self.output]]

    def value_and_gradients(self, call: Call, cotangent: Array) -> tuple[Array, dict[str, Array]]:
        """The output, and for each argument of `wrt` the gradient of the output's product with `cotangent`.

        Raises:
            InvalidIndex: an index was out of range.
        """
        layout = self.layout(call)
        built = self.built(layout)
        arrays = self._run(call, layout, built, cotangent, with_value=True)
        return arrays[built.gradient_program.value], self._gradients(call, built, arrays)

    def gradients(self, call: Call, cotangent: Array) -> dict[str, Array]:
        """The gradients alone, without computing what only the value needs. Raises as `value_and_gradients` does."""
        layout = self.layout(call)
        built = self.built(layout)
        arrays = self._run(call, layout, built, cotangent, with_value=False)
        return self._gradients(call, built, arrays)

    def _run(self, call: Call, layout: Layout, built: Compiled, cotangent: Array, with_value: bool) -> dict[str, Array]:
        """The arrays of one run of the gradient program."""
        arrays, integers = self._arguments(call, layout, built, cotangent, with_value)
        executable = built.executable if with_value else built.gradient_executable

        def run(trips: Trips) -> Trips:
            executable(arrays, integers | Sizes(integers, trips).of(built.gradient_program))
            self._raise_failed_checks(arrays)
            return trip_counts(built.gradient_program, built.whole, arrays)

        if built.counting is None:
            run({})
        elif self.options.limit is not None:
            # It was made for the very number of trips.
            self._trip_guess.run_counted(run, lambda: self._counted(call, built.gradient_program, built.counting))
        else:
            self._trip_guess.run(
                call.integers, run, lambda: self._counted(call, built.gradient_program, built.counting)
            )
        return arrays

    def _gradients(self, call: Call, built: Compiled, arrays: Mapping[str, Array]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for name in self.wrt:
            kind = call.kinds[name]
            bar = built.gradient_program.gradients.get(self.primal.inputs[name])
            found[name] = np.zeros(kind.shape, kind.dtype) if bar is None else arrays[bar]
        return found

    def _gradients_only(self, layout: Layout) -> Program:
        """The program for gradients without the value; the one with it where a limit was checked for that only."""
        return layout.code.source if self.options.limit is not None else layout.gradients_only

    def measure(self, call: Call, cotangent: Array) -> tuple[int, float]:
        """The memory peak in bytes and the seconds of one call, measured in the compiled program."""
        layout = self.layout(call)
        built = self.built(layout)
        arrays, integers = self._arguments(call, layout, built, cotangent, with_value=True)
        if built.counting is not None:
            trips = self._counted(call, built.gradient_program, built.counting)
            integers |= Sizes(integers, trips).of(built.gradient_program)
        executable = built.executable
        if isinstance(executable, CheckedExecutable) and not executable.is_settled(integers):
            executable(arrays, integers)
        executable.reset_peak()
        start = time.perf_counter()
        built.executable(arrays, integers)
        seconds = time.perf_counter() - start
        self._raise_failed_checks(arrays)
        passed = sum(array.nbytes for array in arrays.values())
        return built.executable.peak_bytes + passed + self._copied_bytes(call), seconds

    def _arguments(
        self, call: Call, layout: Layout, built: Compiled, cotangent: Array, with_value: bool
    ) -> tuple[dict[str, Array], dict[str, int]]:
        """All that the compiled gradient program is passed, but for numbers of trips that are data."""
        gradient_program, inputs, integers = built.gradient_program, self._inputs(call), self._integers(call)
        if self.options.limit is not None:
            # Blocks that earlier calls left idle count, too.
            passed = sum(array.nbytes for array in inputs.values()) + self._copied_bytes(call)
            shrink(max(self.options.limit - passed, 0))
        tables, lengths = layout.tables
        outputs = built.outputs() if with_value else built.gradient_outputs()
        return inputs | {gradient_program.cotangent: cotangent} | tables | outputs, integers | lengths

    def _counted(self, call: Call, gradient_program: GradientProgram, counting: Runnable | None) -> dict[str, int]:
        """Loop counter -> the trips of that loop in all."""
        assert gradient_program.counting is not None
        assert counting is not None
        counts = Outputs(gradient_program.counting)()
        counting(self._inputs(call) | counts, self._integers(call))
        self._raise_failed_checks(counts)
        return trip_counts(gradient_program, gradient_program.counting, counts)

    def _copied_bytes(self, call: Call) -> int:
        """What is copied because the compiled code reads row by row."""
        arrays = [(call.values[name], call.kinds[name]) for name in self.primal.inputs]
        return sum(np.size(v) * kind.dtype.itemsize for v, kind in arrays if not _is_plain(v, kind.dtype))

    def _inputs(self, call: Call) -> dict[str, Array]:
        self._refuse_shared_memory(call)
        arrays = {name: as_contiguous(array, array.dtype) for name, array in self.primal.captured.items()}
        for name, buffer in self.primal.inputs.items():
            arrays[buffer] = as_input(call.values[name], call.kinds[name])
        return arrays

    def _refuse_shared_memory(self, call: Call) -> None:
        """An update of one argument must not change another: the compiled program sees them as separate."""
        for name in self._updated:
            others = {n: call.values[n] for n in self.primal.inputs if n != name} | dict(self.primal.captured)
            for other, array in others.items():
                if _may_overlap(call.values[name], array):
                    raise ArgumentError(
                        f"the arguments `{name}` and `{other}` share memory, and the program updates `{name}`",
                        self.primal.source.where(self.primal.source.node),
                        "Pass a copy of one of them.",
                    )

    @cached_property
    def _updated(self) -> list[str]:
        return [name for name in self.primal.inputs if name in self.primal.program.outputs]

    def _integers(self, call: Call) -> dict[str, int]:
        return {symbol: call.kinds[name] for name, symbol in self.primal.integers.items()}

    def _raise_failed_checks(self, arrays: Mapping[str, Array]) -> None:
        program = self.primal.program
        failed = program.failed(int(arrays["status"])) if program.checks else None
        if failed is not None:
            raise failed.failure()

    def fits(self, call: Call) -> bool:
        """Whether this specialisation is valid for the values of a call's integers."""
        if any(call.kinds[name] != value for name, value in self.primal.fixed.items()):
            return False
        values = self._integers(call)
        point = " and ".join(f"{symbol} = {value}" for symbol, value in values.items())
        return not (self.primal.context & isl.Set(f"[{', '.join(values)}] -> {{ : {point or '0 = 0'} }}")).is_empty()


@collected_rarely()
def specialise(
    function: Callable[..., Any],
    call: Call,
    resolve_wrt: Callable[[Call], tuple[str, ...]],
    resolve_output: Callable[[Primal], str],
    allow_unused: bool,
    options: Options,
) -> Specialisation:
    """Parses a program for one call."""
    wrt = resolve_wrt(call)
    constant: set[str] = set()
    while True:
        primal = parse(function, call.kinds, constant)
        plain = _checked(primal, wrt, resolve_output(primal), allow_unused, options)
        specialisation = _checked(prepared(primal, options), wrt, resolve_output(primal), allow_unused, options)
        try:
            _ = specialisation.planner.store_all
        except NeedsConstant as need:
            constant |= set(primal.fixed) | {n for n, symbol in primal.integers.items() if symbol in need.symbols}
        else:
            return _fitting(specialisation, plain, call)


def _fitting(specialisation: Specialisation, plain: Specialisation, call: Call) -> Specialisation:
    """The prepared specialisation, unless the plain one needs less memory and only it fits the limit."""
    if specialisation.primal is plain.primal or specialisation.options.limit is None:
        return specialisation
    least: dict[int, Specialisation] = {}
    for one in (specialisation, plain):
        try:
            _ = one.layout(call)
        except InfeasibleBudget as error:
            least.setdefault(error.minimum_bytes, one)
        else:
            return one
    return least[min(least)]


def _checked(primal: Primal, wrt: tuple[str, ...], output: str, allow_unused: bool, options: Options) -> Specialisation:
    buffer = primal.program.buffers[primal.program.outputs[output]]
    if not buffer.is_floating:
        raise OutputError(
            f"the output `{output}` is of dtype {buffer.dtype} and has no derivative",
            buffer.where or primal.source.where(primal.source.node),
            "Choose a floating output with `output=`.",
        )
    return Specialisation(primal, wrt, output, allow_unused, options)


def trip_counts(gradient_program: GradientProgram, program: Program, arrays: Mapping[str, Array]) -> dict[str, int]:
    """Loop counter -> the loop's trips in all, where these depend on data, from the outputs of a program that ran."""
    names = gradient_program.counting.outputs if gradient_program.counting is not None else ()
    return {name.removeprefix("trips of "): int(arrays[program.outputs[name]]) for name in names}


def _is_plain(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether an array is passed to the compiled code as it is."""
    return not isinstance(value, np.ndarray) or (value.flags.c_contiguous and value.dtype == dtype)


def _may_overlap(x: Array, y: Array) -> bool:
    try:
        return np.shares_memory(x, y, max_work=10_000)  # type: ignore[arg-type]  # The stub is too narrow.
    except np.exceptions.TooHardError:
        return True
