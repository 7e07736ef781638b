"""A program mapped over a batch: parsed for one entry, and run, or inlined in another program, for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sdfgad.batch.program import Batched, batched
from sdfgad.errors import ArgumentError, UnsupportedProgram
from sdfgad.ir.expr import Lin
from sdfgad.ir.program import Program
from sdfgad.optimise.prepared import live, prepared
from sdfgad.options import Options
from sdfgad.parse.parse import parse
from sdfgad.runtime.differential import Runnable, load
from sdfgad.runtime.sizes import Sharing
from sdfgad.specialise.arguments import Arguments
from sdfgad.specialise.compiled import Outputs
from sdfgad.specialise.forward import returning
from sdfgad.specialise.signature import Call, definition

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class MappedCall(Call):
    """A call for all entries of a batch; `kinds` are those of one entry.

    Attributes:
        stacked: the arguments and leaves that differ from entry to entry, with the numbers of their entries; their
            values have the entries along the first axis.
    """

    stacked: Mapping[str, int] = field(default_factory=dict)


class Mapped:
    """A program for one signature of its entries, over a batch of one size.

    Attributes:
        primal: the program for one entry.
        batch: the program for all of them; it gives what the function returns.
    """

    def __init__(self, function: Callable[..., Any], options: Options, call: MappedCall, constant: bool) -> None:
        """Parses the program; with `constant`, all of its integers are constants.

        Raises:
            ArgumentError: it returns nothing, or the batches of two arguments have different sizes.
            UnsupportedProgram: as `parse` does, or it draws random numbers.
        """
        same = {name: value for name, value in call.values.items() if name not in call.stacked}
        integers = [name for name, kind in call.kinds.items() if type(kind) is int] if constant else ()
        parsed = parse(function, call.kinds, integers, {} if constant else same, call.structures)
        self.primal = prepared(live(returning(parsed), options), options)
        if parsed.draws:
            what = f"`{parsed.source.name}` draws random numbers, and is mapped over a batch"
            raise UnsupportedProgram(what, definition(function), "Draw them outside, and pass them as an argument.")
        self.arguments, self.size = Arguments(self.primal), _size(function, call.stacked)
        program = self.primal.program
        inputs = [self.primal.inputs[name] for name in call.stacked if self.primal.inputs[name] in program.inputs]
        self.batch: Batched = batched(program, inputs, self.size)
        self._sharing = Sharing(options.shapes)

    @property
    def program(self) -> Program:
        return self.batch.program

    def fits(self, call: Call) -> bool:
        return self.arguments.fits(call)

    def is_stacked(self, output: str) -> bool:
        """Whether an output differs from entry to entry."""
        return self.program.outputs[output] in self.batch.buffers

    def shape(self, output: str) -> tuple[Lin, ...]:
        """The shape of an output for all entries."""
        entry = self.primal.program.buffers[self.primal.program.outputs[output]].shape
        return (Lin(self.size), *entry)

    def result(self, output: Callable[[str], Any], *make: Callable[..., Any]) -> Any:
        """What the function returns, of the values of outputs by name."""
        return self.primal.returned.filled(output, *make)

    @cached_property
    def _executable(self) -> Runnable:
        return load(self.program, sharing=self._sharing)

    @cached_property
    def _outputs(self) -> Outputs:
        return Outputs(self.program)

    def run(self, call: MappedCall) -> dict[str, Array]:
        """The outputs for all entries, along the first axis.

        Raises:
            InvalidIndex and other errors of what the program has found at run time.
        """
        arrays = self.arguments.inputs(call) | self._outputs()
        self._executable(arrays, self.arguments.integers(call))
        self.arguments.raise_failed_checks(arrays)
        return {name: self._whole(name, arrays[buffer]) for name, buffer in self.program.outputs.items()}

    def _whole(self, output: str, values: Array) -> Array:
        return values if self.is_stacked(output) else np.repeat(values[None], self.size, axis=0)


def _size(function: Callable[..., Any], stacked: Mapping[str, int]) -> int:
    """The number of entries.

    Raises:
        ArgumentError: it is not the same for all arguments.
    """
    sizes = set(stacked.values())
    if len(sizes) == 1:
        return sizes.pop()
    listed = ", ".join(f"`{name}` has {size}" for name, size in stacked.items())
    raise ArgumentError(
        f"the mapped axes have different lengths: {listed}" if stacked else "no argument is mapped",
        definition(function),
        "Pass arrays of one length along these axes; in_axes=(0, None) maps over the first argument only.",
    )
