"""One specialisation of a program: from parsing to a loaded library, stage after stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import islpy as isl
import numpy as np

from sdfgad.api.signature import Call, as_contiguous, as_input
from sdfgad.errors import ArgumentError, OutputError, UnusedArgument
from sdfgad.frontend.parse import Primal, parse
from sdfgad.ir.program import Buffer, Program
from sdfgad.ir.specialise import NeedsConstant
from sdfgad.lowering.assemble import GradientProgram, assemble
from sdfgad.lowering.sdfg import lower
from sdfgad.optimize import optimise
from sdfgad.plan import Plan, store_all
from sdfgad.reverse.adjoint import Adjoint, differentiate_program
from sdfgad.runtime.call import Executable
from sdfgad.runtime.compile import compile_sdfg

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Specialisation:
    """A program parsed for one signature; what follows is made when it is first needed."""

    primal: Primal
    wrt: tuple[str, ...]
    output: str
    allow_unused: bool

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
    def plan(self) -> Plan:
        residuals = self.adjoint.residuals
        buffers = self.primal.program.buffers
        return store_all((k, buffers[r.buffer].source or r.buffer, str(r.where)) for k, r in residuals.items())

    @cached_property
    def gradient(self) -> GradientProgram:
        wrt = tuple(self.primal.inputs[name] for name in self.wrt)
        return assemble(self.adjoint, self.plan, wrt, self.output)

    @cached_property
    def gradient_sdfg(self) -> Any:
        return lower(optimise(self.gradient.program))

    @cached_property
    def _gradient_executable(self) -> Executable:
        return Executable(compile_sdfg(self.gradient_sdfg))

    @cached_property
    def _counting_executable(self) -> Executable | None:
        """Counts the trips of loops whose number of trips is data."""
        counting = self.gradient.counting
        return None if counting is None else Executable(compile_sdfg(lower(optimise(counting))))

    @cached_property
    def _forward(self) -> Program:
        program = self.primal.program
        return replace(program, outputs={self.output: program.outputs[self.output]})

    @cached_property
    def forward_sdfg(self) -> Any:
        return lower(optimise(self._forward))

    @cached_property
    def _forward_executable(self) -> Executable:
        return Executable(compile_sdfg(self.forward_sdfg))

    # --- running

    @property
    def output_shape(self) -> tuple[int, ...]:
        return _shape(self._output_buffer)

    @property
    def output_dtype(self) -> np.dtype[Any]:
        return self._output_buffer.dtype

    @property
    def _output_buffer(self) -> Buffer:
        return self.primal.program.buffers[self.primal.program.outputs[self.output]]

    def prepare(self) -> None:
        """Compile the gradient now."""
        _ = self._gradient_executable, self._counting_executable

    def value(self, call: Call) -> Array:
        """The output, from the forward program alone.

        Raises:
            InvalidIndex: an index was out of range.
        """
        program = self._forward
        arrays = self._inputs(call) | _outputs(program)
        self._forward_executable(arrays, self._integers(call))
        self._raise_failed_checks(arrays)
        return arrays[program.outputs[self.output]]

    def value_and_gradients(self, call: Call, cotangent: Array) -> tuple[Array, dict[str, Array]]:
        """The output, and for each argument of `wrt` the gradient of the output's product with `cotangent`.

        Raises:
            InvalidIndex: an index was out of range.
        """
        made = self.gradient
        inputs, integers = self._inputs(call), self._integers(call)
        if made.counting is not None and self._counting_executable is not None:
            counts = _outputs(made.counting)
            self._counting_executable(inputs | counts, integers)
            self._raise_failed_checks(counts)
            integers |= {symbol: int(counts[buffer]) for symbol, buffer in made.totals.items()}
        arrays = inputs | {made.cotangent: cotangent} | _outputs(made.program)
        self._gradient_executable(arrays, integers)
        self._raise_failed_checks(arrays)
        gradients: dict[str, Array] = {}
        for name in self.wrt:
            kind = call.kinds[name]
            bar = made.gradients.get(self.primal.inputs[name])
            gradients[name] = np.zeros(kind.shape, kind.dtype) if bar is None else arrays[bar]
        return arrays[made.value], gradients

    def _inputs(self, call: Call) -> dict[str, Array]:
        self._refuse_shared_memory(call)
        arrays = {name: as_contiguous(array, array.dtype) for name, array in self.primal.captured.items()}
        for name, buffer in self.primal.inputs.items():
            arrays[buffer] = as_input(call.values[name], call.kinds[name])
        return arrays

    def _refuse_shared_memory(self, call: Call) -> None:
        """An update of one argument must not change another: the compiled program sees them as separate."""
        updated = [name for name in self.primal.inputs if name in self.primal.program.outputs]
        for name in updated:
            others = {n: call.values[n] for n in self.primal.inputs if n != name} | dict(self.primal.captured)
            for other, array in others.items():
                if _may_overlap(call.values[name], array):
                    raise ArgumentError(
                        f"the arguments `{name}` and `{other}` share memory, and the program updates `{name}`",
                        self.primal.source.where(self.primal.source.node),
                        "Pass a copy of one of them.",
                    )

    def _integers(self, call: Call) -> dict[str, int]:
        return {symbol: call.kinds[name] for name, symbol in self.primal.integers.items()}

    def _raise_failed_checks(self, arrays: Mapping[str, Array]) -> None:
        program = self.primal.program
        failed = program.failed(int(arrays["status"])) if program.checks else None
        if failed is not None:
            raise failed.failure()

    def fits(self, call: Call) -> bool:
        """Whether this specialisation holds for the values of a call's integers."""
        if any(call.kinds[name] != value for name, value in self.primal.fixed.items()):
            return False
        values = self._integers(call)
        point = " and ".join(f"{symbol} = {value}" for symbol, value in values.items())
        return not (self.primal.context & isl.Set(f"[{', '.join(values)}] -> {{ : {point or '0 = 0'} }}")).is_empty()


def specialise(
    function: Callable[..., Any],
    call: Call,
    resolve_wrt: Callable[[Call], tuple[str, ...]],
    resolve_output: Callable[[Primal], str],
    allow_unused: bool,
) -> Specialisation:
    """Parse a program for one call."""
    wrt = resolve_wrt(call)
    constant: set[str] = set()
    while True:
        primal = parse(function, call.kinds, constant)
        made = _checked(primal, wrt, resolve_output(primal), allow_unused)
        try:
            _ = made.gradient
        except NeedsConstant as need:
            constant |= set(primal.fixed) | {n for n, symbol in primal.integers.items() if symbol in need.symbols}
        else:
            return made


def _checked(primal: Primal, wrt: tuple[str, ...], output: str, allow_unused: bool) -> Specialisation:
    buffer = primal.program.buffers[primal.program.outputs[output]]
    if not buffer.is_floating:
        raise OutputError(
            f"the output `{output}` is of dtype {buffer.dtype} and has no derivative",
            buffer.where or primal.source.where(primal.source.node),
            "Choose a floating output with `output=`.",
        )
    return Specialisation(primal, wrt, output, allow_unused)


def _may_overlap(x: Array, y: Array) -> bool:
    try:
        return np.shares_memory(x, y, max_work=10_000)  # type: ignore[arg-type]  # The stub is too narrow.
    except np.exceptions.TooHardError:
        return True


def _outputs(program: Program) -> dict[str, Array]:
    names = {*program.outputs.values(), *(("status",) if program.checks else ())}
    return {name: np.empty(_shape(program.buffers[name]), program.buffers[name].dtype) for name in names}


def _shape(buffer: Buffer) -> tuple[int, ...]:
    return tuple(extent.const for extent in buffer.shape)
