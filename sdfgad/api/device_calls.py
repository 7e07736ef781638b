"""Calls of gradients with arrays on a device: cotangents, sums and copies there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from sdfgad.errors import ArgumentError
from sdfgad.specialise.device_argument import DeviceArgument, device_argument
from sdfgad.specialise.device_call import DeviceCall
from sdfgad.specialise.signature import Call, definition
from sdfgad.specialise.specialise import Specialisation


def with_cotangent(
    function: Callable[..., Any], call: Call, cotangent: Any, specialisation: Specialisation
) -> tuple[Call, Any]:
    """The call with a cotangent that may be on a device.

    Raises:
        ArgumentError: it is, and the call runs on the CPU; or it is of another dtype than the output.
    """
    found = {name: value for name, value in call.values.items() if isinstance(value, DeviceArgument)}
    is_there = specialisation.device != "cpu"
    passed = device_argument("cotangent", cotangent, found if is_there else None, partial(definition, function))
    if passed is None:
        return call, cotangent
    if passed.dtype != specialisation.output_dtype:
        raise ArgumentError(
            f"the cotangent is of dtype {passed.dtype}, the output `{specialisation.output}` of "
            f"{specialisation.output_dtype}",
            definition(function),
            "Convert the cotangent on the device.",
        )
    return (call if call.caller is not None else _with_caller(call, passed)), passed


def _with_caller(call: Call, passed: DeviceArgument) -> Call:
    values = {one.name: getattr(call, one.name) for one in fields(call)}
    return DeviceCall(**values, caller=passed.caller)


def total(call: Call, value: Any) -> Any:
    """The sum of an array of the caller's library."""
    if hasattr(value, "sum"):
        return value.sum()
    from sdfgad.runtime.gpu.arrays import DeviceArray, like  # The CPU needs nothing of the device.

    assert call.caller is not None
    on_host = value.to_numpy() if isinstance(value, DeviceArray) else value.copy_to_host()
    return like(call.caller.first, call.caller.array(np.sum(on_host)))


def copied(gradient: Any) -> Any:
    """A copy of a gradient, in whatever memory and library it is."""
    return gradient.clone() if hasattr(gradient, "clone") else copy.copy(gradient)
