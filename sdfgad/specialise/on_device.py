"""Specialisation of a program for a device: it runs on the caller's stream; results are of the caller's library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdfgad.options import Device
from sdfgad.planning.layout import Layout
from sdfgad.runtime.gpu.arrays import DeviceArray, like
from sdfgad.runtime.gpu.caller import Caller
from sdfgad.specialise.compiled import Compiled, Outputs
from sdfgad.specialise.device_argument import DeviceArgument
from sdfgad.specialise.signature import Call
from sdfgad.specialise.specialise import Specialisation

Array = np.ndarray[Any, Any]


class OnDevice(Specialisation):
    """A program for one signature that runs on a device.

    Where no argument is on a device, results are NumPy's. Else the gradient by an argument is an array of its library,
    and so is the value, of the library of the first argument on the device.
    """

    device: ClassVar[Device] = "gpu"

    def ones(self) -> Array:
        """As of the CPU; it is the same array each time, of which devices keep copies."""
        return self._ones

    @cached_property
    def _ones(self) -> Array:
        return super().ones()

    @cached_property
    def _ones_there(self) -> dict[int, DeviceArray]:
        return {}

    def working(self, call: Call, others: Iterable[Any] = ()) -> AbstractContextManager[None]:
        return _working(call, *others)

    def result(self, call: Call, array: Any) -> Any:
        if call.caller is None:
            return super().result(call, array)
        return like(call.caller.first, array if isinstance(array, DeviceArray) else call.caller.array(array))

    def value(self, call: Call) -> Any:
        with _working(call):
            return _of_first(call, super().value(call))

    def outputs_and_gradients(self, call: Call, cotangent: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        with _working(call, cotangent):
            outputs, gradients = super().outputs_and_gradients(call, cotangent)
            return {name: _of_first(call, array) for name, array in outputs.items()}, gradients

    def gradients(self, call: Call, cotangent: Any) -> dict[str, Any]:
        with _working(call, cotangent):
            return super().gradients(call, cotangent)

    def _gradients(self, call: Call, built: Compiled, arrays: Mapping[str, Any]) -> dict[str, Any]:
        found = super()._gradients(call, built, arrays)
        return {name: _of_library(call.values[name], gradient) for name, gradient in found.items()}

    def measure(self, call: Call, cotangent: Any) -> tuple[int, float]:
        with _working(call, cotangent):
            return super().measure(call, cotangent)

    def counted(self, call: Call, built: Compiled) -> dict[str, int]:
        with _working(call):
            return super().counted(call, built)

    def marshalled(
        self, call: Call, layout: Layout, built: Compiled, cotangent: Any, with_value: bool
    ) -> tuple[dict[str, Any], dict[str, int]]:
        if cotangent is self._ones and cotangent.shape and call.caller is not None:
            cotangent = self._ones_on(call.caller)
        return super().marshalled(call, layout, built, cotangent, with_value)

    def _ones_on(self, caller: Caller) -> DeviceArray:
        if caller.ordinal not in self._ones_there:
            self._ones_there[caller.ordinal] = caller.array(self._ones)
            caller.wait()  # Other callers have other streams.
        return self._ones_there[caller.ordinal]

    def _on_device(self, call: Call, outputs: Outputs, built: Compiled | None) -> dict[str, Any]:
        """Results are there that the caller gets there; the status, and numbers of trips, are not."""
        assert call.caller is not None
        if built is None:
            return outputs.partly(self.pipeline.forward.outputs.values(), call.caller.empty)
        program = built.gradient_program
        of_arguments = [name for name in self.wrt if isinstance(call.values[name], DeviceArgument)]
        chosen = {program.gradients.get(self.primal.inputs[name], "") for name in of_arguments}
        # Auxiliary integers, such as numbers of steps, are numbers of the host.
        buffers = [program.program.buffers[name] for name in (program.value, *program.others.values())]
        chosen |= {buffer.name for buffer in buffers if buffer.is_floating or buffer.shape}
        return outputs.partly(chosen, call.caller.empty)


@contextmanager
def _working(call: Call, *others: Any) -> Iterator[None]:
    """Work on the caller's stream, if it has one, in order with what is done there before and after."""
    if call.caller is None:
        yield
        return
    passed = [value for value in (*call.values.values(), *others) if isinstance(value, DeviceArgument)]
    with call.caller.entered(passed):
        yield


def _of_library(argument: Any, array: Any) -> Any:
    """A gradient in an array of its argument's library."""
    if not isinstance(argument, DeviceArgument):
        return array
    # Zeros of what has no influence are made on the host.
    there = array if isinstance(array, DeviceArray) else argument.caller.array(array)
    return like(argument.owner, there)


def _of_first(call: Call, array: Any) -> Any:
    return like(call.caller.first, array) if call.caller is not None and isinstance(array, DeviceArray) else array
