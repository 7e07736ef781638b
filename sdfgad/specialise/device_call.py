"""Calls with arguments on a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sdfgad.specialise.device_argument import DeviceArgument
from sdfgad.specialise.signature import Call, bound_arguments, flattened_arguments, key_of, kind_of_argument

if TYPE_CHECKING:
    from sdfgad.runtime.gpu.caller import Caller


@dataclass(frozen=True)
class DeviceCall(Call):
    """A call with arguments on a device, which are `DeviceArgument`s among the values."""

    caller: Caller | None = None  # type: ignore[misc]  # In calls of the CPU it takes no time.

    @property
    def known(self) -> Mapping[str, Any]:
        are_data = {name: isinstance(v, DeviceArgument) and v.dtype.kind in "iub" for name, v in self.values.items()}
        return {name: np.asarray(value) if are_data[name] else value for name, value in self.values.items()}


def bind_on_device(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
    """Binds arguments of which some are on a device; calls on the CPU never share a specialisation with them.

    Raises:
        ArgumentError: they do not fit, or are on different devices, or of a kind that a compiled program does not take.
    """
    passed = bound_arguments(function, args, kwargs)
    values, structures = flattened_arguments(function, passed)
    found: dict[str, DeviceArgument] = {}
    kinds = {name: kind_of_argument(function, name, value, found) for name, value in values.items()}
    key, integers = key_of(function, kinds, structures)
    caller = next(iter(found.values())).caller
    containers = {name: passed[name] for name in structures}
    return DeviceCall({**values, **found}, kinds, ("gpu", key), integers, structures, containers, caller=caller)
