"""Specialisation of a program for one signature: its layouts, their compiled programs, and their runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from sdfgad.collector import collected_rarely
from sdfgad.errors import InfeasibleBudget, OutputError, SdfgadError, UnsupportedProgram
from sdfgad.gradient.counting import counted_in, counts_in
from sdfgad.ir.library import communicates
from sdfgad.ir.program import Buffer
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.messages.recording import communicating_once
from sdfgad.optimise.prepared import live, prepared, without_deciding
from sdfgad.options import Device, Options
from sdfgad.parse.parse import parse
from sdfgad.parse.primal import Primal
from sdfgad.pipeline import Pipeline
from sdfgad.plan import Plan
from sdfgad.planning.layout import Layout, Sizes
from sdfgad.runtime.differential import CheckedExecutable, Runnable, load
from sdfgad.runtime.pool import empty, relax, shrink
from sdfgad.runtime.sizes import Sharing
from sdfgad.specialise.arguments import Arguments
from sdfgad.specialise.bisections import warn_of_bisections
from sdfgad.specialise.compiled import Compiled, Outputs, shape_of
from sdfgad.specialise.guards import measured_for
from sdfgad.specialise.layouts import Layouts
from sdfgad.specialise.other_sizes import other_sizes
from sdfgad.specialise.ranks import check_device, check_ranks, seed_of
from sdfgad.specialise.signature import Call, integers_of_lists
from sdfgad.specialise.trip_guess import TripGuess, Trips, made_within

Array = np.ndarray[Any, Any]


class Specialisation:
    """A program for one signature; the stages of its pipeline run when their results are first needed.

    Attributes:
        device: what its programs run on.
        has_rival: whether the program as it was written may keep a memory limit where this one does not.
    """

    device: ClassVar[Device] = "cpu"
    has_rival = False

    def __init__(self, pipeline: Pipeline, others: Callable[[], Iterable[Compiled]] = tuple) -> None:
        self.pipeline, self.primal, self.limit = pipeline, pipeline.primal, pipeline.options.limit
        self.wrt, self.output = pipeline.wrt, pipeline.output
        self.layouts, self.arguments = Layouts(pipeline, others), Arguments(pipeline.primal)
        self.trip_guess = TripGuess()

    def fits(self, call: Call) -> bool:
        """Whether the program is valid for a call's integers, and is the one to take with them."""
        return self.arguments.fits(call) and not (self.has_rival and self._least_bytes(call))

    def _least_bytes(self, call: Call) -> int:
        """The bytes that the program needs at least, where it does not keep the memory limit; else 0."""
        try:
            _ = self.layout(call)
        except InfeasibleBudget as error:
            return error.minimum_bytes
        return 0

    # --- layouts

    def layout(self, call: Call) -> Layout:
        """The layout that computes the gradient for a call.

        Raises:
            InfeasibleBudget: no layout is within the memory limit.
            UnsupportedProgram: ranks share values, and it is not said what is differentiated.
        """
        check_ranks(self.primal, self.pipeline.options)
        if self.limit is not None:
            return self.layouts.limited(call.integers, self.sizes(call))
        seen = self.layouts.seen(call.integers)
        return seen or self.layouts.unlimited(call.integers, Sizes(self.arguments.integers(call)))

    def sizes(self, call: Call) -> Sizes:
        """What the memory of a call depends on; trip counts that depend on data are counted by running the program."""
        arguments, stored = self.arguments, self._store_all
        if self not in call.counted:
            call.counted[self] = self.counted(call, stored)
        return Sizes(arguments.integers(call), call.counted[self], arguments.copied_bytes(call))

    @cached_property
    def _store_all(self) -> Compiled:
        return self.layouts.new(self.pipeline.planner.store_all)

    def built(self, layout: Layout) -> Compiled:
        """The compiled program of a layout."""
        return self.layouts.compiled(layout)

    def plan(self, call: Call) -> Plan:
        """The description of a call's layout for users.

        Raises:
            InfeasibleBudget: no layout is within the memory limit.
        """
        return self.pipeline.plan(self.layout(call), self.sizes(call))

    def prepare(self, call: Call) -> None:
        """Compiles the gradient now."""
        _ = self.built(self.layout(call)).gradient_executable

    def working(self, call: Call, others: Iterable[Any] = ()) -> AbstractContextManager[None]:
        """A context for runs of programs with the arguments of a call, and with other arrays."""
        return contextlib.nullcontext()

    def result(self, call: Call, array: Any) -> Any:
        """A result as the caller gets it."""
        return array[()]

    # --- the output

    @cached_property
    def _forward_outputs(self) -> Outputs:
        return Outputs(self.pipeline.forward)

    @cached_property
    def forward_executable(self) -> Runnable:
        return load(self.pipeline.forward, sharing=Sharing(self.pipeline.options.shapes))

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

    def value(self, call: Call) -> Array:
        """The output, from the forward program alone.

        Raises:
            InvalidIndex: an index was out of range.
        """
        outputs = self._forward_outputs
        results = outputs() if call.caller is None else self._on_device(call, outputs, None)
        arrays = self.arguments.inputs(call) | results
        self.forward_executable(arrays, self.arguments.integers(call))
        self.arguments.raise_failed_checks(arrays)
        return arrays[self.pipeline.forward.outputs[self.output]]

    def value_and_gradients(self, call: Call, cotangent: Array) -> tuple[Array, dict[str, Array]]:
        """The output, and for each argument of `wrt` the gradient of the output's product with `cotangent`.

        Raises:
            InvalidIndex: an index was out of range.
        """
        outputs, gradients = self.outputs_and_gradients(call, cotangent)
        return outputs[self.output], gradients

    def outputs_and_gradients(self, call: Call, cotangent: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """The outputs by name, all that are returned with `all_outputs`, and the gradients of `value_and_gradients`."""
        with self._call():
            layout = self.layout(call)
            built = self.built(layout)
            arrays = self._run(call, layout, built, cotangent, with_value=True)
        program = built.gradient_program
        buffers = {self.output: program.value, **program.others}
        return {name: arrays[buffer] for name, buffer in buffers.items()}, self._gradients(call, built, arrays)

    def gradients(self, call: Call, cotangent: Array) -> dict[str, Array]:
        """The gradients alone, without computing what only the value needs. Raises as `value_and_gradients` does."""
        with self._call():
            layout = self.layout(call)
            built = self.built(layout)
            arrays = self._run(call, layout, built, cotangent, with_value=False)
        return self._gradients(call, built, arrays)

    def _call(self) -> AbstractContextManager[None]:
        """The runs inside, also those that count trips, are of one call: they communicate once."""
        return communicating_once() if self._is_counted_with_messages else contextlib.nullcontext()

    @cached_property
    def _is_counted_with_messages(self) -> bool:
        has_messages = communicates(self.primal.program.body)
        return has_messages and self._store_all.gradient_program.counting is not None

    def _run(self, call: Call, layout: Layout, built: Compiled, cotangent: Array, with_value: bool) -> dict[str, Array]:
        """The arrays of one run of the gradient program."""
        arrays, integers = self.marshalled(call, layout, built, cotangent, with_value)
        executable = built.executable if with_value else built.gradient_executable

        def run(trips: Trips) -> Trips:
            tables, numbers = layout.passed(Sizes(integers, trips))
            executable(arrays | tables, numbers)
            self.arguments.raise_failed_checks(arrays)
            return made_within(trips, built.whole, arrays)

        if built.gradient_program.counting is None:
            run({})
        elif self.limit is not None:
            self.trip_guess.run_counted(run, lambda: self.trips(call, built))
        else:
            self.trip_guess.run(call.integers, counted_in(built.whole.outputs), run, lambda: self.trips(call, built))
        return arrays

    def _gradients(self, call: Call, built: Compiled, arrays: Mapping[str, Array]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for name in self.wrt:
            kind = call.kinds[name]
            bar = built.gradient_program.gradients.get(self.primal.inputs[name])
            found[name] = np.zeros(kind.shape, kind.dtype) if bar is None else arrays[bar]
        return found

    def measure(self, call: Call, cotangent: Array) -> tuple[int, float]:
        """The memory peak in bytes and the seconds of one call, measured in the compiled program."""
        with communicating_once():
            return self._measured(call, cotangent)

    def _measured(self, call: Call, cotangent: Array) -> tuple[int, float]:
        layout = self.layout(call)
        built = self.built(layout)
        arrays, integers = self.marshalled(call, layout, built, cotangent, with_value=True)
        executable = built.executable
        finish = call.caller.wait if call.caller is not None else lambda: None
        seconds = 0.0

        def run(trips: Trips) -> Trips:
            nonlocal seconds
            tables, numbers = layout.passed(Sizes(integers, trips))
            if isinstance(executable, CheckedExecutable) and not executable.is_settled(numbers):
                executable(arrays | tables, numbers)
            executable.reset_peak()
            finish()
            start = time.perf_counter()
            executable(arrays | tables, numbers)
            finish()
            seconds = time.perf_counter() - start
            return made_within(trips, built.whole, arrays)

        self.trip_guess.run_counted(run, lambda: self.trips(call, built))
        self.arguments.raise_failed_checks(arrays)
        held = executable.held_bytes(arrays) + self.arguments.copied_bytes(call)
        return executable.peak_bytes + held, seconds

    def marshalled(
        self, call: Call, layout: Layout, built: Compiled, cotangent: Array, with_value: bool
    ) -> tuple[dict[str, Array], dict[str, int]]:
        """All that the compiled gradient program is passed, but for numbers of trips that are data."""
        inputs, integers = self.arguments.inputs(call), self.arguments.integers(call)
        if self.limit is not None:
            # Blocks that earlier calls left idle count, too.
            passed = sum(array.nbytes for array in inputs.values()) + self.arguments.copied_bytes(call)
            shrink(max(self.limit - passed, 0))
        else:
            relax()
        cotangent = seed_of(self.primal, self.pipeline.options, cotangent)
        tables, lengths = layout.tables
        outputs = built.outputs if with_value else built.gradient_outputs
        results = outputs() if call.caller is None else self._on_device(call, outputs, built)
        return inputs | {built.gradient_program.cotangent: cotangent} | tables | results, integers | lengths

    def _on_device(self, call: Call, outputs: Outputs, built: Compiled | None) -> dict[str, Any]:
        """What a run of the gradient, or (None) of the value alone, writes, where arguments are on a device."""
        raise NotImplementedError

    def trips(self, call: Call, built: Compiled) -> Trips:
        """The numbers of trips that are data: those that the layout is planned for, if there is a limit."""
        return self.counted(call, built) if self.limit is None else self.sizes(call).trips

    def counted(self, call: Call, built: Compiled) -> dict[str, int]:
        """The numbers of trips that are data, by name (`sdfgad.gradient.counting`)."""
        counting = built.gradient_program.counting
        if counting is None or built.counting is None:
            return {}
        counts = Outputs(counting)()
        built.counting(self.arguments.inputs(call) | counts, self.arguments.integers(call))
        self.arguments.raise_failed_checks(counts)
        return counts_in(counting.outputs, counts)


@collected_rarely()
def specialise(
    function: Callable[..., Any],
    call: Call,
    resolve_wrt: Callable[[Call], tuple[tuple[str, ...], ...]],
    resolve_output: Callable[[Primal], str],
    allow_unused: bool,
    options: Options,
    made: type[Specialisation] = Specialisation,
) -> Specialisation:
    """Parses a program for one call.

    Args:
        resolve_wrt: the arguments to differentiate by, in groups: the output must depend on one of each group.
        resolve_output: the output to differentiate.
        allow_unused: whether the output may depend on none of them.
        made: the class of what is made: programs on a device have one of their own.
    """

    def at(other: Call) -> Specialisation:
        exact = replace(options, shapes="exact")
        return specialise(function, other, resolve_wrt, resolve_output, allow_unused, exact, made)

    groups = resolve_wrt(call)
    wrt, needed = tuple(dict.fromkeys(name for group in groups for name in group)), () if allow_unused else groups
    constant, are_enclosed_constant = integers_of_lists(call), False
    # What is on a device, the host does not read.
    measure = measured_for(call) if call.caller is None else None
    while True:
        parsed = parse(function, call.kinds, constant, call.known, call.structures, are_enclosed_constant, measure)
        parsed = replace(parsed, program=replace(parsed.program, device=made.device))
        check_device(parsed, made.device)
        output = _floating(parsed, resolve_output(parsed))
        # What one rank does not use, another one may.
        wanted = () if communicates(parsed.program.body) else without_deciding(parsed, needed)
        plain = Pipeline(parsed, live(parsed, options), wrt, output, wanted, options)
        pipeline = replace(plain, primal=prepared(plain.primal, options))
        try:
            _ = pipeline.planner.store_all
        except NeedsConstant as need:
            constant |= set(parsed.fixed) | {n for n, symbol in parsed.integers.items() if symbol in need.symbols}
        except UnsupportedProgram:
            if are_enclosed_constant or not parsed.has_enclosed_integers:
                raise
            # As data, they may be sizes of what is to be kept.
            are_enclosed_constant = True
        else:
            warn_of_bisections(parsed, wrt, output)
            return _fitting(pipeline, plain, call, partial(_elsewhere, at, call), made)


def _elsewhere(at: Callable[[Call], Specialisation], call: Call) -> Iterator[Compiled]:
    """The program at other sizes, where it can be compiled for them."""
    for other in other_sizes(call):
        with contextlib.suppress(SdfgadError):
            one = at(other)
            yield one.built(one.layout(other))


def _fitting(
    pipeline: Pipeline,
    plain: Pipeline,
    call: Call,
    others: Callable[[], Iterable[Compiled]],
    made: type[Specialisation],
) -> Specialisation:
    """The prepared program, unless the plain one needs less memory and only it fits the limit."""
    options = pipeline.options
    if options.limit is None:
        return made(pipeline, others if options.shapes == "any" else tuple)
    # Other sizes may have other plans, and planning may run the program on its arrays.
    prepared_one = made(pipeline)
    if pipeline.primal is plain.primal:
        return prepared_one
    prepared_one.has_rival = True
    if prepared_one.fits(call):
        return prepared_one
    return min(prepared_one, made(plain), key=lambda one: one._least_bytes(call))


def _floating(parsed: Primal, output: str) -> str:
    """The name of an output that has a derivative.

    Raises:
        OutputError: it has none.
    """
    buffer = parsed.program.buffers[parsed.program.outputs[output]]
    if not buffer.is_floating:
        raise OutputError(
            f"the output `{output}` is of dtype {buffer.dtype} and has no derivative",
            buffer.where or parsed.source.where(parsed.source.node),
            "Choose a floating output with `output=`.",
        )
    return output
